"""Experiments on the machines of a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from bayespool.errors import InputError, WorkerError

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?[^\s/:]+:[0-9]{1,5}")
_TIMEOUT_SECONDS = 10  # until a scheduler answers
_RESULT_PACKAGES = ("bayespool", "numpy", "scipy", "numba", "pyarrow")  # whose versions change results


def check_address(address: str) -> None:
    """Refuse an address other than ``host:port``, with or without a protocol, and a machine without Dask."""
    if not _ADDRESS.fullmatch(address):
        raise InputError(f"{address!r} is no address of a scheduler", hint="give HOST:PORT, which it prints")
    if find_spec("distributed") is None:
        raise InputError("Dask is not installed", hint="pip install 'bayespool[cluster]'")


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Run the experiments in this context on a Dask cluster; on this machine for an address of None.

    Work of a lost worker is repeated by another. If the scheduler is lost the experiment ends; called again,
    it continues from its folder.

    Parameters
    ----------
    address : str or None
        Of the scheduler, ``host:port``.

    Raises
    ------
    InputError
        No scheduler answers; the cluster has no worker, a worker with several threads, or one with other
        versions of Python or of the packages that results depend on.
    WorkerError
        The scheduler was lost, or one part of the work lost several workers.
    """
    if address is None:
        yield
        return
    check_address(address)
    from joblib import parallel_config

    distributed: Any = import_module("distributed")
    try:
        client = distributed.Client(address, timeout=_TIMEOUT_SECONDS)
    except (OSError, ValueError) as error:  # a time-out is an OSError, too
        hint = "is the scheduler running, and can this machine reach it?"
        raise InputError(f"no Dask scheduler answers at {address} ({error})", hint=hint) from None
    cancelled = asyncio.CancelledError, concurrent.futures.CancelledError
    lost = (distributed.comm.core.CommClosedError, *cancelled)
    with client:
        _check_workers(client, address)
        try:
            with parallel_config(backend="dask"):
                yield
        except distributed.KilledWorker as error:
            hint = "perhaps there is not enough memory for it"
            raise WorkerError(
                f"the cluster lost several workers over one part of the work; {hint}"
            ) from error
        except lost as error:
            raise WorkerError(f"the scheduler at {address} was lost") from error


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results to the byte depend on."""
    return {"Python": platform.python_version()} | {name: version(name) for name in _RESULT_PACKAGES}


def _check_workers(client: Any, address: str) -> None:
    threads: dict[str, int] = client.nthreads()
    if not threads:
        hint = f"start some: dask worker {address} --nthreads 1"
        raise InputError(f"the cluster at {address} has no worker", hint=hint)
    for worker, n in threads.items():
        if n > 1:
            hint = "start it with --nthreads 1, and one for each core"
            raise InputError(f"worker {worker} has {n} threads", hint=hint)
    here = versions()
    try:
        there_by_worker: dict[str, dict[str, str]] = client.run(versions)
    except Exception as error:  # workers can raise anything
        hint = "install the same version of bayespool there"
        raise InputError(f"workers cannot run bayespool ({error})", hint=hint) from None
    for worker, there in there_by_worker.items():
        for name in (name for name in here if there.get(name) != here[name]):
            message = f"worker {worker} has {name} {there.get(name)}, and here it is {here[name]}"
            raise InputError(message, hint="results are to be the same to the byte: install the same version")
