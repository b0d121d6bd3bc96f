"""Finished parts of an experiment (folds, random pools) on disk, from which an interrupted one continues.

Each part is a Parquet file, written whole or not at all, whose metadata describes its input, settings and
versions. Parts of another description are not used.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.errors import ExperimentChangedWarning, InputError, warn_caller
from bayespool.tables import read_parquet
from bayespool.tables.files import atomic_write, lock, make_folder, parquet_bytes, remove, unlock
from bayespool.tables.formatting import counted

CaughtWarnings = tuple[tuple[str, str], ...]
"""Class and text of each warning of a part."""

Columns = dict[str, list[Any]]
Stored = tuple[Columns, dict[str, Any]]
"""Rows of a part, and what else is stored of it, in the types of JSON."""


@dataclass(frozen=True, eq=False)
class PartResult:
    """Result of a part of an experiment, such as a fold or a random pool.

    Attributes
    ----------
    part : object
    rows : dict of str to list
        Columns of the part's rows.
    rest : dict of str to object
        What else is stored, in the types of JSON; ``warnings`` has class and text of each.
    """

    part: Any
    rows: Columns
    rest: dict[str, Any]

    @property
    def warnings(self) -> CaughtWarnings:
        """Class and text of each warning of the part."""
        return tuple((name, text) for name, text in self.rest["warnings"])


def add_rows(columns: Columns, row: Mapping[str, Any]) -> None:
    """Add rows to columns: arrays and lists have a value for each row, other values are the same in all."""
    values = {n: value.tolist() if isinstance(value, np.ndarray) else value for n, value in row.items()}
    n_rows = max((len(value) for value in values.values() if isinstance(value, list)), default=1)
    for name, value in values.items():
        columns.setdefault(name, []).extend(value if isinstance(value, list) else [value] * n_rows)


_FORMAT = 8  # of the files and of the engines' results in them
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

    def __init__(self, folder: Path, description: dict[str, Any]) -> None:
        self._folder = folder
        try:
            self._description: dict[str, Any] = json.loads(json.dumps(description, default=_plain))
        except (TypeError, ValueError) as error:
            hint = "give settings of text, numbers and lists of them, or leave the folder out"
            raise InputError(f"a setting cannot be stored with the results ({error})", hint=hint) from None
        make_folder(folder)
        lock(folder.parent)
        self._parts: dict[Path, dict[str, Any]] = {}
        others: list[str] = []
        damaged = 0
        parts = {p: _read(p) for p in sorted(folder.iterdir()) if _NAME.fullmatch(p.name) and p.is_file()}
        for path, part in parts.items():
            if part is not None and part["description"] == self._description:
                self._parts[path] = part
                continue
            remove(path)
            if part is None:
                damaged += 1
            else:
                others += _differing(part["description"], self._description)
        if damaged:
            files = counted(damaged, "file")
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

    def load(self, name: str, identity: Any) -> Stored | None:
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
    return metadata | {"rows": rows}


def _digest(more: dict[str, Any], rows: Columns) -> str:
    """Digest of a part's contents, which shows damage to its file."""
    return hashlib.blake2b(json.dumps([more, rows], sort_keys=True).encode(), digest_size=8).hexdigest()


def _differing(stored: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Names of the settings in which two descriptions differ."""
    return [name for name in wanted if stored.get(name) != wanted[name]] or ["settings unknown here"]
