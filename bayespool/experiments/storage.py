"""Finished parts of an experiment on disk, so that one that was interrupted goes on where it stopped.

Each part (a fold, a random pool) is a Parquet file, written whole or not at all; what it was computed from
stands in its metadata. A part of any other input, setting or version is not used.
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

_FORMAT = 7  # of the files, and of what the engines computed that are kept in them
_NAME = re.compile(r".*-[0-9a-f]{12}\.parquet")


def description_of(experiment: str, collection: Collection, settings: dict[str, Any]) -> dict[str, Any]:
    """All that the parts of an experiment depend on.

    Parameters
    ----------
    experiment : str
        Its name.
    collection : Collection
    settings : dict
        Those that parts depend on, as JSON can hold them.
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
    """Numbers of numpy as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is neither text nor a number")


class PartStore:
    """Parts of one experiment in a folder.

    Parameters
    ----------
    folder : path
        Made where it is missing. Parts of another experiment in it are removed, other files are left alone.
    description : dict
        All that the parts depend on, as JSON can hold it.

    Raises
    ------
    InputError
        The description holds something that JSON cannot.
    OutputError
        The folder cannot be made, or written into; another process is at work in the folder that it is in.

    Warns
    -----
    ExperimentChangedWarning
        The folder holds parts of another experiment, and the message says what differs; or parts that cannot
        be read.
    """

    _of_one_form = False  # whether all parts have the same columns

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
        self._found: dict[Path, dict[str, Any]] = {}
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
            if mine and not (self._of_one_form and forms[_form(mine["rows"])] < max(forms.values())):
                self._found[path] = mine
                continue
            remove(path)
            if part is None or mine:  # or unlike its fellows: not written by bayespool
                damaged += 1
            else:
                others += _differing(part["description"], self._description)
        if damaged:
            what = "1 file" if damaged == 1 else f"{damaged} files"
            warn_caller(
                f"{folder}: {what} of finished work cannot be read; computing it again",
                ExperimentChangedWarning,
            )
        if others:
            warn_caller(
                f"{folder}: the experiment stored there differs in {', '.join(dict.fromkeys(others))}; "
                "removing its finished work and starting over",
                ExperimentChangedWarning,
            )

    def close(self) -> None:
        """Let other processes work in the folder that this one is in."""
        unlock(self._folder.parent)

    def load(self, name: str, identity: Any) -> tuple[Columns, dict[str, Any]] | None:
        """Rows of a part and what else was kept of it; None if it was not there when the store was opened.

        Parameters
        ----------
        name : str
            For the name of its file.
        identity : JSON
            What tells the part from the others of its experiment.
        """
        part = self._found.get(self._path(name, identity))
        if part is None or part["identity"] != identity:
            return None
        return part["rows"], part["rest"]

    def save(self, name: str, identity: Any, rows: Columns, rest: dict[str, Any]) -> None:
        """Store a part, whole or not at all.

        Parameters
        ----------
        name, identity
            As for `load`.
        rows : dict of str to list
        rest : dict
            As JSON can hold it.

        Raises
        ------
        OutputError
            It cannot be written.
        """
        more = {"description": self._description, "identity": identity, "rest": rest}
        more["digest"] = _digest(more, rows)
        atomic_write(self._path(name, identity), parquet_bytes(rows, more))

    def _path(self, name: str, identity: Any) -> Path:
        digest = hashlib.blake2b(json.dumps(identity).encode(), digest_size=6).hexdigest()
        return self._folder / f"{re.sub('[^A-Za-z0-9]+', '-', name)[:40]}-{digest}.parquet"


@contextlib.contextmanager
def at_work(store: PartStore | None) -> Iterator[None]:
    """Close the store, if there is one, once the work is done or has failed."""
    try:
        yield
    finally:
        if store is not None:
            store.close()


class FoldStore(PartStore):
    """Folds of one leave-out experiment in a folder."""

    _of_one_form = True

    def load_fold(self, fold: Fold) -> FoldResult | None:
        """The fold if it is stored."""
        found = self.load(fold.name, _identity(fold))
        if found is None:
            return None
        rows, rest = found
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
    """Contents of a file; None for one that is no part, or damaged."""
    found = read_parquet(path)
    if found is None:
        return None
    rows, more = found
    digest, description = more.pop("digest", None), more.get("description")
    is_whole = isinstance(description, dict) and {"identity", "rest"} <= more.keys()
    if not is_whole or digest != _digest(more, rows):
        return None
    try:
        said = [(type(name), type(text)) for name, text in more["rest"]["warnings"]]
    except (KeyError, TypeError, ValueError):
        return None
    return more | {"rows": rows} if set(said) <= {(str, str)} else None


def _form(rows: Columns) -> tuple[tuple[str, bool], ...]:
    """Columns of a part, and which of them hold texts: the same of all parts of an experiment."""
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
    """Of all that is stored of a part, so that damage to a file is seen."""
    return hashlib.blake2b(json.dumps([more, rows], sort_keys=True).encode(), digest_size=8).hexdigest()


def _identity(fold: Fold) -> list[Any]:
    """What tells a fold from the others of its experiment."""
    pooled = hashlib.blake2b("\0".join(fold.pooled_run_ids).encode(), digest_size=8).hexdigest()
    return [fold.name, list(fold.run_ids), [str(m) for m in fold.measures], pooled]


def _differing(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Names of the settings in which two descriptions differ."""
    return [name for name in wanted if found.get(name) != wanted[name]] or ["settings unknown here"]
