"""Independent tasks on one collection, spread over processes or machines with joblib.

The collection travels as plain arrays, which joblib maps into memory once for all local workers and a Dask
cluster gets once each. A worker assembles it once, and registers the caller's own predictors, models and
engines.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.collection import Collection
from bayespool.compiled import has_cache, say_no_cache
from bayespool.errors import WorkerError
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
