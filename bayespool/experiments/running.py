"""The one runner of experiments and checks: parts are worked on, stored, resumed and distributed.

A finished part (a fold, a random pool) is a Parquet file, written whole or not at all, whose metadata
describes its input, settings and versions. Parts of another description are not used.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pickle  # nosec B403 # of what this run itself sends its workers
import platform
import re
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

import bayespool.errors
from bayespool import __version__
from bayespool.arrays import Levels, Progress
from bayespool.collection import Collection
from bayespool.compiled import has_cache, say_no_cache
from bayespool.errors import (
    BayespoolWarning,
    CacheWarning,
    ExperimentChangedWarning,
    InputError,
    OutputError,
    WorkerError,
    warn_caller,
)
from bayespool.evidence import PREDICTORS
from bayespool.experiments.settings import user_code_versions
from bayespool.inference import ENGINES
from bayespool.interruption import before_workers
from bayespool.models import MODELS
from bayespool.models.terms import refuse_lacking_columns
from bayespool.notes import Note, likeness
from bayespool.posterior import PosteriorEstimator
from bayespool.tables import read_parquet
from bayespool.tables.files import atomic_write, lock, make_folder, parquet_bytes, remove, unlock
from bayespool.tables.formatting import counted

CaughtWarnings = tuple[tuple[str, str, str], ...]
"""Class name and text of each warning from a part, and what warnings of other parts alike share."""

Columns = dict[str, list[Any]]
Stored = tuple[Columns, dict[str, Any]]
"""Rows of a part and other stored data, as JSON types."""


@dataclass(frozen=True, eq=False)
class PartResult:
    """Result for one part of an experiment, such as a fold or a random pool.

    Attributes
    ----------
    part : object
    rows : dict of str to list
        Columns of the part's rows.
    rest : dict of str to object
        What else is stored, in the types of JSON; ``warnings`` are `CaughtWarnings`.
    """

    part: Any
    rows: Columns
    rest: dict[str, Any]

    @property
    def warnings(self) -> CaughtWarnings:
        """Warnings from the part."""
        return tuple((name, text, alike) for name, text, alike in self.rest["warnings"])


def add_rows(columns: Columns, row: Mapping[str, Any]) -> None:
    """Append rows to columns; scalars are repeated for every row.

    Arrays and lists have a value for each row.
    """
    values = {n: value.tolist() if isinstance(value, np.ndarray) else value for n, value in row.items()}
    n_rows = max((len(value) for value in values.values() if isinstance(value, list)), default=1)
    for name, value in values.items():
        columns.setdefault(name, []).extend(value if isinstance(value, list) else [value] * n_rows)


_FORMAT = 11  # of the files and of the engines' results in them
_NAME = re.compile(r".*-[0-9a-f]{12}\.parquet")


def describe_experiment(experiment: str, collection: Collection, settings: dict[str, Any]) -> dict[str, Any]:
    """Return a description of everything that affects an experiment's parts.

    ``settings`` are in the types of JSON.
    """
    import scipy

    return {
        "experiment": experiment,
        "collection": collection.fingerprint,
        **settings,
        "format of what is stored": _FORMAT,
        "version of bayespool": __version__,
        "version of numpy": np.__version__,
        "version of scipy": scipy.__version__,
        "machine": platform.machine(),
    }


def _plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is neither text nor a number")


class PartStore:
    """Folder with the stored parts of one experiment.

    Its ``description`` names all that the parts depend on.

    Opening removes parts of another experiment, with an `ExperimentChangedWarning`, and leaves all other
    files alone, unreadable ones too. Raises `InputError` for a description that is not JSON, `OutputError`
    where the folder is a link or cannot be written, or another process works in its parent.
    """

    def __init__(self, folder: Path, description: dict[str, Any]) -> None:
        self._folder = folder
        try:
            self._description: dict[str, Any] = json.loads(json.dumps(description, default=_plain))
        except (TypeError, ValueError) as error:
            hint = "give settings of text, numbers and lists of them, or leave the folder out"
            raise InputError(f"a setting cannot be stored with the results ({error})", hint=hint) from None
        if folder.is_symlink():
            raise OutputError(f"{folder}: is a link; remove it, or name another folder")
        make_folder(folder)
        lock(folder.parent)
        files = [p for p in sorted(folder.iterdir()) if _NAME.fullmatch(p.name) and not p.is_symlink()]
        parts = {path: _read(path) for path in files if path.is_file()}
        whole = {path: part for path, part in parts.items() if part is not None}
        self._parts = {p: part for p, part in whole.items() if part["description"] == self._description}
        others = [part["description"] for path, part in whole.items() if path not in self._parts]
        for path in whole.keys() - self._parts.keys():
            remove(path)
        if n_damaged := len(parts) - len(whole):
            message = f"{counted(n_damaged, 'file')} of finished work cannot be read; computing it again"
            warn_caller(f"{folder}: {message}", ExperimentChangedWarning)
        if others:
            names = dict.fromkeys(name for other in others for name in _differing(other, self._description))
            message = f"the experiment stored there differs in {', '.join(names)}; "
            message += "removing its finished work and starting over"
            warn_caller(f"{folder}: {message}", ExperimentChangedWarning)

    def close(self) -> None:
        """Release the lock on the parent folder."""
        unlock(self._folder.parent)

    def load(self, name: str, identity: Any) -> Stored | None:
        """Return a part's rows and other stored data, or None if it was not stored when the folder was
        opened.

        ``identity`` (JSON) tells parts apart.
        """
        part = self._parts.get(self._path(name, identity))
        if part is None or part["identity"] != identity:
            return None
        return part["rows"], part["rest"]

    def save(self, name: str, identity: Any, rows: Columns, rest: dict[str, Any]) -> None:
        """Store a part atomically, or raise `OutputError`.

        ``rest`` is in the types of JSON.
        """
        metadata = {"description": self._description, "identity": identity, "rest": rest}
        metadata["digest"] = _digest(metadata, rows)
        path = self._path(name, identity)
        if path.is_symlink():
            raise OutputError(f"{path}: is a link; remove it, or name another folder")
        atomic_write(path, parquet_bytes(rows, metadata))

    def _path(self, name: str, identity: Any) -> Path:
        digest = hashlib.blake2b(json.dumps(identity).encode(), digest_size=6).hexdigest()
        return self._folder / f"{re.sub('[^A-Za-z0-9]+', '-', name)[:40]}-{digest}.parquet"


def _read(path: Path) -> dict[str, Any] | None:
    """Return a part's file contents, or None if the file is damaged or not a part."""
    stored = read_parquet(path)
    if stored is None:
        return None
    rows, metadata = stored
    digest, description = metadata.pop("digest", None), metadata.get("description")
    is_whole = isinstance(description, dict) and {"identity", "rest"} <= metadata.keys()
    if not is_whole or digest != _digest(metadata, rows):
        return None
    return metadata | {"rows": rows}


def _digest(more: dict[str, Any], rows: Columns) -> str:
    """Return a digest of a part's contents, used to detect a damaged file."""
    return hashlib.blake2b(json.dumps([more, rows], sort_keys=True).encode(), digest_size=8).hexdigest()


def _differing(stored: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return the names of settings that differ between two descriptions."""
    return [name for name in wanted if stored.get(name) != wanted[name]] or ["settings unknown here"]


Job = TypeVar("Job")
Result = TypeVar("Result")

_REGISTRIES: tuple[dict[str, Any], ...] = (PREDICTORS, MODELS, ENGINES)
_collections: dict[str, Collection] = {}  # of the current tasks, by fingerprint; at most one


def completed(
    function: Callable[[Collection, Job], Result],
    collection: Collection,
    tasks: Sequence[Job],
    *,
    n_jobs: int | None = None,
) -> Iterator[Result]:
    """Yield results of ``function(collection, task)`` as they finish.

    The number of processes does not change them.

    ``function`` is pure and importable. ``n_jobs`` is −1 for one process per core; by default 1, or as set by
    a ``joblib.parallel_config`` around the call. Raises `WorkerError` where a worker process died.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    if not tasks:
        return
    header, arrays = _pack(collection)
    registries = [dict(registry) for registry in _REGISTRIES]
    shared = collection.fingerprint, registries, header, *arrays
    jobs = (delayed(_work)(function, task, *shared) for task in tasks)
    n_processes = min(effective_n_jobs(n_jobs), len(tasks))
    if n_processes > 1:
        has_cache(_end_with)  # warns here, as workers do not
        before_workers()
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
    fingerprint: str,
    registries: Sequence[dict[str, Any]],
    header: bytes,
    *arrays: Levels,
) -> Result:
    from threadpoolctl import threadpool_limits

    if fingerprint not in _collections:
        _collections.clear()
        _collections[fingerprint] = pickle.loads(header, buffers=arrays)  # nosec B301 # made by this run
    for sent, registry in zip(registries, _REGISTRIES, strict=True):
        if sent != registry:
            registry.clear()
            registry.update(sent)
    with threadpool_limits(limits=1):  # so that results do not depend on the number of cores
        return function(_collections[fingerprint], task)


def _end_with(parent: int) -> None:
    """Make a local worker exit with its parent process alone, and silence its cache warnings."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        say_no_cache()  # the parent process has warned already
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on a terminal reaches it, too
        threading.Thread(target=watch, daemon=True).start()


def _pack(collection: Collection) -> tuple[bytes, tuple[Levels, ...]]:
    """Pack a collection into a small header and large arrays that joblib and Dask can share. What was derived
    from the collection is left out.
    """
    buffers: list[pickle.PickleBuffer] = []
    header = pickle.dumps(dataclasses.replace(collection), protocol=5, buffer_callback=buffers.append)
    return header, tuple(np.frombuffer(buffer.raw(), dtype=np.uint8) for buffer in buffers)


_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?[^\s/:]+:[0-9]{1,5}")
_TIMEOUT_SECONDS = 10  # until a scheduler answers
_RESULT_PACKAGES = ("bayespool", "numpy", "scipy", "numba", "pyarrow")  # whose versions change results


def check_address(address: str) -> None:
    """Raise `InputError` unless the address is ``host:port`` (with or without a protocol) and Dask is
    installed.
    """
    if not _ADDRESS.fullmatch(address):
        raise InputError(f"{address!r} is no address of a scheduler", hint="give HOST:PORT, which it prints")
    if find_spec("distributed") is None:
        raise InputError("Dask is not installed", hint="pip install 'bayespool[cluster]'")


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Run experiments in this context on a Dask cluster, or locally if the address is None.

    Task of a lost worker is repeated by another. If the scheduler is lost the experiment ends; called again,
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
    """Return versions of Python and of the packages that affect results."""
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
    for worker, worker_versions in there_by_worker.items():
        for name in (name for name in here if worker_versions.get(name) != here[name]):
            message = f"worker {worker} has {name} {worker_versions.get(name)}, and here it is {here[name]}"
            raise InputError(message, hint="results are to be the same to the byte: install the same version")


class Task:
    """Base class for experiments and checks whose parts are computed independently.

    A pure and importable function of its parts.

    Attributes
    ----------
    name : str
        As in the description of stored parts.
    parts_name : str
        What its parts are called, in the plural.
    folder : str
        Subfolder of finished parts; default: the name.
    has_like_parts : bool
        Whether all parts have the same columns.
    """

    name: ClassVar[str]
    parts_name: ClassVar[str] = "parts"
    folder: ClassVar[str] = ""
    has_like_parts: ClassVar[bool] = True

    def compute(self, collection: Collection, part: Any, settings: Any) -> Stored:
        """Return a part's rows and other data to store, using only the collection and the settings."""
        raise NotImplementedError

    def work(self, collection: Collection, part: Any, settings: Any) -> PartResult:
        """Compute a part and return its result with bayespool's own warnings."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rows, rest = self.compute(collection, part, settings)
        return PartResult(part, rows, rest | {"warnings": own_warnings(caught)})

    def identity(self, part: Any, settings: Any) -> tuple[str, list[Any]]:
        """Return a part's file name and its identity, as JSON types.

        The identity tells the part from the others.
        """
        texts = [str(value) for value in part]
        return "-".join(texts), texts

    def describe(self, settings: Any) -> dict[str, Any]:
        """Return the settings that invalidate finished parts when they change, as JSON types.

        With the versions of the user's own measures, models and so on.
        """
        estimators = [("", settings.estimator)]
        return dict(settings.describe()) | user_code_versions(estimators, settings.measures)

    def prepare(self, collection: Collection, settings: Any) -> None:
        """Inspect the collection as given, before any part is computed."""

    def subfolder(self, settings: Any) -> str:
        """Return the name of the folder of finished parts."""
        return self.folder or self.name

    def progress_text(self, settings: Any) -> str:
        """Return what the callback on progress is told that parts are."""
        return self.parts_name

    def warn(self, results: Sequence[PartResult]) -> None:
        """Issue the warnings from all parts, each distinct one once."""
        warn_once([result.warnings for result in results], self.parts_name)

    def run(
        self,
        collection: Collection,
        parts: Sequence[Any],
        settings: Any,
        *,
        folder: str | Path | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        given: Collection | None = None,
    ) -> list[PartResult]:
        """Return the results of all parts in order, loaded from the folder or computed and stored.

        Their description names the collection as it was `given`.
        """
        for _, estimator in getattr(settings, "estimators", ()):
            if isinstance(estimator, PosteriorEstimator):
                refuse_lacking_columns(collection, estimator.terms)
        self.prepare(given or collection, settings)
        store, show = None, partial(progress or (lambda *_: None), self.progress_text(settings))
        if folder is not None:
            description = describe_experiment(self.name, given or collection, self.describe(settings))
            store = PartStore(Path(folder) / self.subfolder(settings), description)
        results: dict[Any, PartResult] = {}
        with nullcontext() if store is None else closing(store):
            for part in parts:
                stored = None if store is None else store.load(*self.identity(part, settings))
                if stored is not None:
                    results[part] = PartResult(part, *stored)
            show(len(results), len(parts))
            remaining = [part for part in parts if part not in results]
            work = partial(self.work, settings=settings)
            for result in completed(work, collection, remaining, n_jobs=n_jobs):
                if store is not None:
                    store.save(*self.identity(result.part, settings), result.rows, result.rest)
                results[result.part] = result
                show(len(results), len(parts))
        in_order = [results[part] for part in parts]
        is_stored = folder is not None and self.has_like_parts
        if is_stored and any(not _is_like(result, in_order[0]) for result in in_order):
            raise unlike_ours(Path(str(folder)) / self.subfolder(settings))
        self.warn(in_order)
        return in_order


def unlike_ours(folder: str | Path) -> InputError:
    """Return the error for finished work that only somebody else can have written."""
    hint = "remove it, and the same command works everything out again"
    return InputError("finished work is not as bayespool writes it", path=folder, hint=hint)


def _is_like(result: PartResult, other: PartResult) -> bool:
    """Return whether two parts have the same columns, and values of the same types beside them."""
    n_rows = {len(values) for values in result.rows.values()}
    has_same_names = result.rows.keys() == other.rows.keys() and result.rest.keys() == other.rest.keys()
    return has_same_names and len(n_rows) <= 1 and _is_same(result.rest, other.rest)


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two values in the types of JSON have the same types."""
    if isinstance(value, dict) and isinstance(other, dict):
        return all(_is_same(value[name], other[name]) for name in value.keys() & other.keys())
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return not other or all(_is_same(each, other[0]) for each in value)
    kinds = [float if isinstance(each, int | float) else type(each) for each in (value, other)]
    return kinds[0] is kinds[1] or None in (value, other)


def own_warnings(caught: Sequence[warnings.WarningMessage]) -> CaughtWarnings:
    """Return bayespool's own warnings, each once, and reissue all others.

    Warnings about this machine's cache are issued again, too.
    """
    ours: dict[tuple[str, str, str], None] = {}
    for message in caught:
        if issubclass(message.category, BayespoolWarning) and message.category is not CacheWarning:
            (text,) = message.message.args  # type: ignore[union-attr]  # an instance, once it is caught
            alike = str(likeness(text)) if isinstance(text, Note) else str(text)
            ours[message.category.__name__, str(text), alike] = None
        else:
            warnings.warn_explicit(message.message, message.category, message.filename, message.lineno)
    return tuple(ours)


def warn_once(warnings_of_parts: Sequence[CaughtWarnings], parts: str) -> None:
    """Issue the warnings from all parts, merging notes that differ only in numbers.

    `parts` is the plural that the text names ("folds").
    """
    texts: dict[tuple[str, str], dict[str, None]] = {}
    n_parts = Counter[tuple[str, str]]()
    for part_warnings in warnings_of_parts:
        for name, text, alike in part_warnings:
            texts.setdefault((name, alike), {})[text] = None
        n_parts.update({(name, alike) for name, _, alike in part_warnings})
    for kind, kind_texts in texts.items():
        more = " and the like" if len(kind_texts) > 1 else ""
        n = len(warnings_of_parts)
        where = f"in {n_parts[kind]} of {n} {parts}: " if n > 1 else ""
        category = getattr(bayespool.errors, kind[0], BayespoolWarning)
        warn_caller(f"{where}{next(iter(kind_texts))}{more}", category)
