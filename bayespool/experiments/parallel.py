"""Independent parts of an experiment, spread over processes or the machines of a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import os
import platform
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.collection import Collection
from bayespool.compiled import has_cache, say_no_cache
from bayespool.errors import InputError, WorkerError
from bayespool.evidence import PREDICTORS
from bayespool.inference import ENGINES
from bayespool.models import MODELS

Task = TypeVar("Task")
Result = TypeVar("Result")

_REGISTRIES: tuple[dict[str, Any], ...] = (PREDICTORS, MODELS, ENGINES)
_collections: dict[str, Collection] = {}  # of the current tasks, by fingerprint; at most one


def completed(
    function: Callable[[Collection, Task], Result],
    collection: Collection,
    tasks: Sequence[Task],
    *,
    n_jobs: int | None = None,
) -> Iterator[Result]:
    """Results of ``function(collection, task)`` as they are finished; the number of processes does not change
    them.

    ``function`` is pure and importable. ``n_jobs`` is −1 for one process per core; by default 1, or as set by
    a ``joblib.parallel_config`` around the call. Raises `WorkerError` where a worker process died.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    if not tasks:
        return
    header, arrays = _pack(collection)
    header["registries"] = [dict(registry) for registry in _REGISTRIES]
    jobs = (delayed(_work)(function, task, header, *arrays) for task in tasks)
    n_processes = min(effective_n_jobs(n_jobs), len(tasks))
    if n_processes > 1:
        has_cache(_end_with)  # warns here, as workers do not
    parallel = Parallel(
        n_jobs=n_processes,
        batch_size=1,
        return_as="generator_unordered",
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    try:
        yield from parallel(jobs)
    except BrokenExecutor as error:
        raise WorkerError(
            "a worker process died; perhaps there was not enough memory for as many jobs"
        ) from error
    finally:
        _collections.clear()


def _work(
    function: Callable[[Collection, Any], Result],
    task: Any,
    header: dict[str, Any],
    *arrays: npt.NDArray[Any],
) -> Result:
    from threadpoolctl import threadpool_limits

    fingerprint = header["fingerprint"]
    if fingerprint not in _collections:
        _collections.clear()
        _collections[fingerprint] = _unpack(header, arrays)
    for sent, registry in zip(header["registries"], _REGISTRIES, strict=True):
        if sent != registry:
            registry.clear()
            registry.update(sent)
    with threadpool_limits(limits=1):  # so that results do not depend on the number of cores
        return function(_collections[fingerprint], task)


def _end_with(parent: int) -> None:
    """Let a local worker end when its parent process is killed, and silence it about uncached compiled
    loops.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        say_no_cache()  # the parent process has warned already
    if os.name == "posix":
        threading.Thread(target=watch, daemon=True).start()


def _pack(collection: Collection) -> tuple[dict[str, Any], tuple[npt.NDArray[Any], ...]]:
    """A small header and the arrays of a collection, as arguments in which joblib and Dask look for large
    arrays.
    """
    fields = {f.name: getattr(collection, f.name) for f in dataclasses.fields(collection)}
    ids = fields.pop("doc_ids")
    arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    buffers = ids.buffers()
    header = {
        "fingerprint": collection.fingerprint,
        "plain": {name: value for name, value in fields.items() if name not in arrays},
        "arrays": list(arrays),
        "doc_ids": (str(ids.type), len(ids), ids.offset, [b is not None for b in buffers]),
    }
    bytes_of = (np.frombuffer(b, dtype=np.uint8) for b in buffers if b is not None)
    return header, (*arrays.values(), *bytes_of)


def _unpack(header: dict[str, Any], arrays: tuple[npt.NDArray[Any], ...]) -> Collection:
    plain = [np.asarray(array) for array in arrays]
    n_fields = len(header["arrays"])
    kind, length, offset, present = header["doc_ids"]
    left = iter(plain[n_fields:])
    buffers = [pa.py_buffer(next(left)) if is_present else None for is_present in present]
    doc_ids = pa.Array.from_buffers(getattr(pa, kind)(), length, buffers, offset=offset)
    fields: dict[str, Any] = header["plain"] | dict(zip(header["arrays"], plain, strict=False))
    return Collection(**fields, doc_ids=doc_ids)


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


def versions_for_results() -> dict[str, str]:
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
    here = versions_for_results()
    try:
        there_by_worker: dict[str, dict[str, str]] = client.run(versions_for_results)
    except Exception as error:  # workers can raise anything
        hint = "install the same version of bayespool there"
        raise InputError(f"workers cannot run bayespool ({error})", hint=hint) from None
    for worker, there in there_by_worker.items():
        for name in (name for name in here if there.get(name) != here[name]):
            message = f"worker {worker} has {name} {there.get(name)}, and here it is {here[name]}"
            raise InputError(message, hint="results are to be the same to the byte: install the same version")
