"""Finished parts of an experiment (folds, random pools) on disk, from which an interrupted one continues.

Each part is a Parquet file, written whole or not at all, whose metadata describes its input, settings and
versions. Parts of another description are not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.errors import ExperimentChangedWarning, InputError, OutputError, warn_caller
from bayespool.experiments.fold_results import FoldResult
from bayespool.experiments.folds import Fold
from bayespool.tables import read_parquet
from bayespool.tables.files import atomic_write, lock, parquet_bytes, remove, unlock

Columns = dict[str, list[Any]]

_FORMAT = 7  # of the files and of the engines' results in them
_NAME = re.compile(r".*-[0-9a-f]{12}\.parquet")


def description_of(experiment: str, collection: Collection, settings: dict[str, Any]) -> dict[str, Any]:
    """Everything that the parts of an experiment depend on; ``settings`` in the types of JSON."""
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
    """Python number of a NumPy number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is neither text nor a number")


class PartStore:
    """Stored parts of one experiment in a folder, under a ``description`` of all that they depend on.

    Opening removes parts of another experiment or unreadable ones, with an `ExperimentChangedWarning`, and
    leaves other files alone. Raises `InputError` for a description that is not JSON, `OutputError` where the
    folder cannot be written or another process works in its parent.
    """

    _has_fixed_columns = False  # all parts have the same columns

    def __init__(self, folder: Path, description: dict[str, Any]) -> None:
        self._folder = folder
        try:
            self._description: dict[str, Any] = json.loads(json.dumps(description, default=_plain))
        except (TypeError, ValueError) as error:
            hint = "give settings of text, numbers and lists of them, or leave the folder out"
            raise InputError(f"a setting cannot be stored with the results ({error})", hint=hint) from None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made: {error.strerror or error}") from None
        lock(folder.parent)
        self._parts: dict[Path, dict[str, Any]] = {}
        others: list[str] = []
        damaged = 0
        parts = {p: _read(p) for p in sorted(folder.iterdir()) if _NAME.fullmatch(p.name) and p.is_file()}
        ours = {
            path: part
            for path, part in parts.items()
            if part is not None and part["description"] == self._description
        }
        forms = Counter(_form(part["rows"]) for part in ours.values())
        for path, part in parts.items():
            mine = ours.get(path)
            if mine and not (self._has_fixed_columns and forms[_form(mine["rows"])] < max(forms.values())):
                self._parts[path] = mine
                continue
            remove(path)
            if part is None or mine:  # own parts with columns unlike the others were not written by bayespool
                damaged += 1
            else:
                others += _differing(part["description"], self._description)
        if damaged:
            files = "1 file" if damaged == 1 else f"{damaged} files"
            warn_caller(
                f"{folder}: {files} of finished work cannot be read; computing it again",
                ExperimentChangedWarning,
            )
        if others:
            warn_caller(
                f"{folder}: the experiment stored there differs in {', '.join(dict.fromkeys(others))}; "
                "removing its finished work and starting over",
                ExperimentChangedWarning,
            )

    def close(self) -> None:
        """Release the lock on the parent folder."""
        unlock(self._folder.parent)

    def load(self, name: str, identity: Any) -> tuple[Columns, dict[str, Any]] | None:
        """Rows and other contents of a part; None if it was not stored on opening. ``identity`` (JSON) tells
        parts apart.
        """
        part = self._parts.get(self._path(name, identity))
        if part is None or part["identity"] != identity:
            return None
        return part["rows"], part["rest"]

    def save(self, name: str, identity: Any, rows: Columns, rest: dict[str, Any]) -> None:
        """Store a part, whole or not at all, or raise an `OutputError`; ``rest`` in the types of JSON."""
        metadata = {"description": self._description, "identity": identity, "rest": rest}
        metadata["digest"] = _digest(metadata, rows)
        atomic_write(self._path(name, identity), parquet_bytes(rows, metadata))

    def _path(self, name: str, identity: Any) -> Path:
        digest = hashlib.blake2b(json.dumps(identity).encode(), digest_size=6).hexdigest()
        return self._folder / f"{re.sub('[^A-Za-z0-9]+', '-', name)[:40]}-{digest}.parquet"


@contextlib.contextmanager
def at_work(store: PartStore | None) -> Iterator[None]:
    """Close the store, if any, when the work is done or has failed."""
    try:
        yield
    finally:
        if store is not None:
            store.close()


class FoldStore(PartStore):
    """Stored folds of a leave-out experiment."""

    _has_fixed_columns = True

    def load_fold(self, fold: Fold) -> FoldResult | None:
        """The fold, if it is stored."""
        stored = self.load(fold.name, _identity(fold))
        if stored is None:
            return None
        rows, rest = stored
        try:
            result = FoldResult(
                fold,
                rows,
                {name: np.array(scores, dtype=np.float64) for name, scores in rest["true_scores"].items()},
                tuple((name, text) for name, text in rest["warnings"]),
                {name: float(spent) for name, spent in rest["seconds"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        return result if _is_of(fold, result) else None

    def save_fold(self, result: FoldResult) -> None:
        """Store a fold, whole or not at all."""
        rest = {
            "true_scores": {name: scores.tolist() for name, scores in result.true_scores.items()},
            "warnings": result.warnings,
            "seconds": result.seconds,
        }
        self.save(result.fold.name, _identity(result.fold), result.rows, rest)


def _read(path: Path) -> dict[str, Any] | None:
    """Contents of a file; None if it is damaged or no part."""
    stored = read_parquet(path)
    if stored is None:
        return None
    rows, metadata = stored
    digest, description = metadata.pop("digest", None), metadata.get("description")
    is_whole = isinstance(description, dict) and {"identity", "rest"} <= metadata.keys()
    if not is_whole or digest != _digest(metadata, rows):
        return None
    try:
        types = [(type(name), type(text)) for name, text in metadata["rest"]["warnings"]]
    except (KeyError, TypeError, ValueError):
        return None
    return metadata | {"rows": rows} if set(types) <= {(str, str)} else None


def _form(rows: Columns) -> tuple[tuple[str, bool], ...]:
    """Columns of a part and whether they hold text, the same for all parts of an experiment."""
    return tuple((name, any(isinstance(value, str) for value in values)) for name, values in rows.items())


def _is_of(fold: Fold, result: FoldResult) -> bool:
    """Whether rows and true scores are of the runs and measures of a fold."""
    measures = [str(measure) for measure in fold.measures]
    pairs = Counter(zip(result.rows.get("measure", ()), result.rows.get("run_id", ()), strict=False))
    shapes = {scores.shape[:1] for scores in result.true_scores.values()}
    return (
        set(pairs) == {(measure, run) for measure in measures for run in fold.run_ids}
        and len(set(pairs.values())) == 1
        and set(result.true_scores) == set(measures)
        and shapes == {(len(fold.run_ids),)}
    )


def _digest(more: dict[str, Any], rows: Columns) -> str:
    """Digest of a part's contents, which shows damage to its file."""
    return hashlib.blake2b(json.dumps([more, rows], sort_keys=True).encode(), digest_size=8).hexdigest()


def _identity(fold: Fold) -> list[Any]:
    """Properties that tell a fold from the others of its experiment."""
    pooled = hashlib.blake2b("\0".join(fold.pooled_run_ids).encode(), digest_size=8).hexdigest()
    return [fold.name, list(fold.run_ids), [str(m) for m in fold.measures], pooled]


def _differing(stored: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Names of the settings in which two descriptions differ."""
    return [name for name in wanted if stored.get(name) != wanted[name]] or ["settings unknown here"]
