"""Finished folds on disk, so that an experiment that was interrupted goes on where it stopped.

Each fold is a Parquet file, written whole or not at all; what it was computed from stands in its metadata. A
fold of any other input, setting or version is not used.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bayespool.errors import ExperimentChangedWarning, OutputError
from bayespool.experiments.fold_results import FoldResult
from bayespool.experiments.folds import Fold
from bayespool.trec import atomic_write

__all__ = ["FoldStore"]

_KEY = b"bayespool"
_NAME = re.compile(r".*-[0-9a-f]{12}\.parquet")


class FoldStore:
    """Folds of one experiment in a folder.

    Parameters
    ----------
    folder : path
        Made where it is missing. Folds of another experiment in it are removed, other files are left alone.
    description : dict
        All that the folds depend on, as JSON can hold it.

    Raises
    ------
    OutputError
        The folder cannot be made.

    Warns
    -----
    ExperimentChangedWarning
        The folder holds folds of another experiment, and the message says what differs; or folds that cannot
        be read.
    """

    def __init__(self, folder: Path, description: dict[str, Any]) -> None:
        self._folder = folder
        self._description: dict[str, Any] = json.loads(json.dumps(description))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made: {error.strerror or error}") from None
        others: list[str] = []
        damaged = 0
        for path in sorted(p for p in folder.iterdir() if _NAME.fullmatch(p.name)):
            described = self._read(path)[0]
            if described == self._description:
                continue
            path.unlink()
            if isinstance(described, dict):
                others += _differing(described, self._description)
            else:
                damaged += 1
        if damaged:
            what = "1 stored fold" if damaged == 1 else f"{damaged} stored folds"
            warnings.warn(
                f"{folder}: {what} cannot be read and will be made again",
                ExperimentChangedWarning,
                stacklevel=3,
            )
        if others:
            warnings.warn(
                f"{folder}: the experiment stored there differs in {', '.join(dict.fromkeys(others))}; "
                "starting afresh",
                ExperimentChangedWarning,
                stacklevel=3,
            )

    def load(self, fold: Fold) -> FoldResult | None:
        """The fold if it is stored."""
        path = self._path(fold)
        if not path.is_file():
            return None
        _, result = self._read(path)
        if result is None or result["fold"] != _identity(fold):
            return None
        return FoldResult(
            fold,
            result["rows"],
            {name: np.array(counts, dtype=np.int32) for name, counts in result["true_counts"].items()},
            tuple((name, text) for name, text in result["warnings"]),
            result["seconds"],
        )

    def save(self, result: FoldResult) -> None:
        """Store a fold, whole or not at all.

        Raises
        ------
        OutputError
            It cannot be written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        rest = {
            "description": self._description,
            "fold": _identity(result.fold),
            "true_counts": {name: counts.tolist() for name, counts in result.true_counts.items()},
            "warnings": result.warnings,
            "seconds": result.seconds,
        }
        table = pa.table(result.rows).replace_schema_metadata({_KEY: json.dumps(rest)})
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        atomic_write(self._path(result.fold), buffer.getvalue())

    def _path(self, fold: Fold) -> Path:
        identity = json.dumps(_identity(fold))
        digest = hashlib.blake2b(identity.encode(), digest_size=6).hexdigest()
        return self._folder / f"{re.sub('[^A-Za-z0-9]+', '-', fold.name)[:40]}-{digest}.parquet"

    def _read(self, path: Path) -> tuple[Any, dict[str, Any] | None]:
        """Description and contents of a file, None for one that is no fold."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(path) as file:
                table = file.read()
            rest = json.loads(table.schema.metadata[_KEY])
            return rest["description"], rest | {"rows": table.to_pydict()}
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
            return None, None


def _identity(fold: Fold) -> list[Any]:
    """What tells a fold from the others of its experiment."""
    pooled = hashlib.blake2b("\0".join(fold.pooled_run_ids).encode(), digest_size=8).hexdigest()
    return [fold.name, list(fold.run_ids), [str(m) for m in fold.measures], pooled]


def _differing(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Names of the settings in which two descriptions differ."""
    return [name for name in wanted if found.get(name) != wanted[name]] or ["settings unknown here"]
