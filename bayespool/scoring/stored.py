"""Scores read back from files: tables, metadata, and draws where they were stored."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.errors import InputError
from bayespool.measures import Measure, parse_measure
from bayespool.report.reading import (
    StoredResult,
    read_result,
    result_of_json,
)
from bayespool.scoring.readable import ReadableScores
from bayespool.tables.containers import container_of_bytes
from bayespool.tables.files import PathLike, read_bytes_back
from bayespool.tables.formatting import counted, some_of
from bayespool.tables.markup import one_line

if TYPE_CHECKING:
    import pandas as pd

_GROUP = "scores"  # of a container: the JSON document of the scores
_TEXT = {"run_id", "query_id", "measure", "estimator", "note"}
_NUMBERS = {
    "value",
    "lower",
    "upper",
    "ci_prob",
    "as_judged",
    "bound_lower",
    "bound_upper",
    "residual",
    "unjudged",
}


@dataclass(frozen=True, eq=False, repr=False)
class StoredScores(ReadableScores, StoredResult):
    """Scores of an earlier call, as they were written.

    Attributes
    ----------
    metadata : mapping
        Version, fingerprint, pool and settings, to quote with a result.
    """

    _container: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        runs = f"{counted(len(self.run_ids), 'run')} ({some_of(self.run_ids, 3)})"
        kept = "" if self._container is None else ", with draws"
        return one_line("StoredScores", f"{some_of(self._values('measure'), 3)} of {runs}{kept}")

    @property
    def run_ids(self) -> tuple[str, ...]:  # type: ignore[override]
        """Runs that were scored."""
        return self._values("run_id")

    @property
    def query_ids(self) -> tuple[str, ...]:  # type: ignore[override]
        """Topics."""
        return tuple(self.metadata.get("query_ids", ()))

    @cached_property
    def measures(self) -> tuple[Measure, ...]:  # type: ignore[override]
        """Measures, in their order; your own ones have to be registered."""
        return tuple(map(parse_measure, self._values("measure")))

    @cached_property
    def statements(self) -> dict[tuple[str, Measure], tuple[str, ...]]:
        """What to note, by run and measure; of a Parquet file, which has one table, the note of each row."""
        tables = {table.name: table.frame for table in self.tables()}
        rows = tables.get("statements", self.to_frame())[["run_id", "measure", "note"]].drop_duplicates()
        return {
            (run, measure): tuple(
                note
                for note in rows["note"][(rows["run_id"] == run) & (rows["measure"] == str(measure))]
                if note
            )
            for measure in self.measures
            for run in self.run_ids
        }

    def to_frame(self, table: str | None = None, *, per_topic: bool = False) -> pd.DataFrame:
        """A stored table, by default the first; of the file's ``topics`` with ``per_topic``.

        Raises
        ------
        InputError
            The file has no such table.
        """
        return self.table("topics" if per_topic else table).frame.copy()

    def to_arviz(self) -> Any:
        """Draws of the estimates, as in `bayespool.Scores.to_arviz`.

        Raises
        ------
        InputError
            They were not stored.
        """
        if self._container is None:
            raise InputError(
                "these scores were stored without draws", hint="Scores.to_netcdf stores them with their draws"
            )
        return self._container

    def _values(self, column: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.table().frame[column]))


def read_scores(path: PathLike) -> StoredScores:
    """Read scores written by ``score --output``, `bayespool.Scores.save` or `bayespool.Scores.to_netcdf`.

    Parameters
    ----------
    path : path
        Ending in .json, .parquet or .nc; a CSV file has no metadata and cannot be read back.

    Returns
    -------
    StoredScores

    Raises
    ------
    InputError
        There is no such file, or it does not hold scores.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import load_example, read_scores, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators="posterior-ratio", draws=100)
    >>> with TemporaryDirectory() as folder:
    ...     scores.save(f"{folder}/scores.nc")
    ...     stored = read_scores(f"{folder}/scores.nc")
    >>> stored.to_frame().equals(scores.to_frame()), stored.to_arviz().identical(scores.to_arviz())
    (True, True)
    """
    place = Path(path)
    endings = (".json", ".parquet", ".nc")
    if place.suffix not in endings:
        ending = place.suffix or "a file without ending"
        raise InputError(f"cannot read scores from {ending}", path=place, hint=f"use {', '.join(endings)}")
    if not place.is_file():
        raise InputError("there is no such file", path=place)
    try:
        stored = _of_netcdf(place) if place.suffix == ".nc" else read_result(place)
    except InputError:
        stored = None
    if not isinstance(stored, StoredScores) or not _are_scores(stored):
        raise InputError("holds no scores", path=place, hint="score --output writes them")
    return stored


def with_tables(container: Any, document: str) -> Any:
    """Container of draws with the JSON document of the scores in a group of its own."""
    import xarray as xr

    made = container.copy()
    made[_GROUP] = xr.DataTree(xr.Dataset({"json": ((), np.array(document, dtype=object))}))
    return made


def _of_netcdf(path: Path) -> StoredResult | None:
    try:
        container = container_of_bytes(read_bytes_back(path) or b"")
        stored = result_of_json(str(container[_GROUP]["json"].item()).encode())
    except (OSError, ValueError, KeyError):
        return None
    if not isinstance(stored, StoredScores):
        return None
    return dataclasses.replace(stored, _container=container.filter(lambda group: group.name != _GROUP))


def _are_scores(stored: StoredScores) -> bool:
    """Whether the columns of the first table have the names and types of scores."""
    frame = stored.table().frame
    if not len(frame) or not _NUMBERS | _TEXT - {"query_id"} <= set(frame):
        return False
    are_texts = all(isinstance(value, str) for name in _TEXT & set(frame) for value in frame[name])
    return are_texts and all(frame[name].dtype.kind in "iuf" for name in _NUMBERS)
