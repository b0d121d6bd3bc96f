"""What ``score`` wrote, read back: its table, what it must be quoted with, and draws where they were kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.containers import container_of_bytes
from bayespool.errors import InputError
from bayespool.files import PathLike, json_text, read_back, read_bytes_back, read_parquet
from bayespool.measures import Measure, parse_measure

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StoredScores", "read_scores", "with_scores"]

_GROUP = "scores"  # of a container: one variable, the table and the metadata as the JSON file has them
_TEXTS = ("run_id", "query_id", "measure", "note")  # columns; all others are numbers


@dataclass(frozen=True, eq=False)
class StoredScores:
    """Scores of an earlier call. Nothing of it is worked out anew.

    Attributes
    ----------
    columns : mapping of str to sequence
        Those of the table that was stored.
    metadata : mapping
        Version, fingerprint, pool, settings: what a result must be quoted with, as JSON has it.
    """

    columns: Mapping[str, Sequence[Any]] = field(repr=False)
    metadata: Mapping[str, Any]
    _container: Any = field(default=None, repr=False)

    @property
    def per_topic(self) -> bool:
        """Whether the table has a row per topic."""
        return "query_id" in self.columns

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Runs that were scored."""
        return tuple(dict.fromkeys(self.columns["run_id"]))

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Measures, in their order; one's own have to be registered."""
        return tuple(parse_measure(measure) for measure in dict.fromkeys(self.columns["measure"]))

    @cached_property
    def notes(self) -> dict[tuple[str, Measure], str]:
        """What is off, by run and measure; empty text where nothing is."""
        of = {str(measure): measure for measure in self.measures}
        rows = zip(*(self.columns[name] for name in ("run_id", "measure", "note")), strict=True)
        return {(run, of[measure]): note for run, measure, note in rows}

    def frame(self) -> pd.DataFrame:
        """The table that was stored, `bayespool.Scores.frame` to the last digit."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: np.array(values, dtype=object if name in _TEXTS else np.float64)
                for name, values in self.columns.items()
            }
        )

    def to_arviz(self) -> Any:
        """Draws of the estimates, as `bayespool.Scores.to_arviz` made them.

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


def read_scores(path: PathLike) -> StoredScores:
    """Scores that ``bayespool score --output``, `bayespool.report.write_scores` or
    `bayespool.Scores.to_netcdf` wrote.

    Parameters
    ----------
    path : path
        Ending in .json, .parquet or .nc. A CSV file has no metadata and is no result to be read back.

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
    ...     scores.to_netcdf(f"{folder}/scores.nc")
    ...     stored = read_scores(f"{folder}/scores.nc")
    >>> stored.frame().equals(scores.frame()), stored.to_arviz().identical(scores.to_arviz())
    (True, True)
    """
    place = Path(path)
    readers = {".json": _from_json, ".parquet": _from_parquet, ".nc": _from_netcdf}
    if place.suffix not in readers:
        what = place.suffix or "a file without ending"
        raise InputError(f"cannot read scores from {what}", path=place, hint=f"use {', '.join(readers)}")
    if not place.is_file():
        raise InputError("there is no such file", path=place)
    found = readers[place.suffix](place)
    wanted = {"run_id", "measure", "as_judged", "note"}
    if found is None or not wanted <= set(found.columns) or not isinstance(found.metadata, dict):
        raise InputError("holds no scores", path=place, hint="score --output writes them")
    return found


def with_scores(container: Any, frame: pd.DataFrame, metadata: Mapping[str, Any]) -> Any:
    """A container of draws with the table and the metadata in a group of its own."""
    import xarray as xr

    text = np.array(json_text({"scores": frame}, metadata), dtype=object)
    made = container.copy()
    made[_GROUP] = xr.DataTree(xr.Dataset({"json": ((), text)}))
    return made


def _from_json(path: Path) -> StoredScores | None:
    return _of_text(read_back(path))


def _from_parquet(path: Path) -> StoredScores | None:
    found = read_parquet(path)
    return None if found is None else StoredScores(*found)


def _from_netcdf(path: Path) -> StoredScores | None:
    try:
        container = container_of_bytes(read_bytes_back(path) or b"")
        text = str(container[_GROUP]["json"].item())
    except (OSError, ValueError, KeyError):
        return None
    return _of_text(text, container.filter(lambda group: group.name != _GROUP))


def _of_text(text: str | None, container: Any = None) -> StoredScores | None:
    """Of the text of a JSON file."""
    try:
        found = json.loads(text or "")
        rows, metadata = found["scores"], found["metadata"]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
    except (ValueError, KeyError, TypeError, IndexError):
        return None
    return StoredScores(columns, metadata, container)
