"""Read results back from files: tables, metadata, and draws where they were stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.errors import InputError
from bayespool.measures import Measure, parse_measure
from bayespool.scoring.paper_tables import Paper, WithPaper
from bayespool.scoring.score_tables import paper_tables, score_notes
from bayespool.tables import json_text, read_frame, read_parquet
from bayespool.tables.arrangement import Arrangement
from bayespool.tables.containers import container_of_bytes
from bayespool.tables.files import PathLike, digest, read_back, read_bytes_back
from bayespool.tables.printable import some_of
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    import pandas as pd

_GROUP = "scores"  # of a container: the table and the metadata as JSON
_FOLDS = "folds"  # folder of the finished parts of an experiment
_NOTE_KEYS = ("notes", "warnings", "problems")  # lists of lines in metadata
_STATEMENTS = "statements"  # in metadata of scores: by run and measure
_TEXT_COLUMNS = ("run_id", "query_id", "measure", "note")


@dataclass(frozen=True, eq=False, repr=False)
class StoredScores(WithPaper):
    """Scores of an earlier call, as they were written.

    Attributes
    ----------
    columns : mapping of str to sequence
        Columns of the stored table.
    metadata : mapping
        Version, fingerprint, pool and settings, to quote with a result.
    """

    columns: Mapping[str, Sequence[Any]] = field(repr=False)
    metadata: Mapping[str, Any]
    _container: Any = field(default=None, repr=False)
    _statements: Sequence[Mapping[str, Any]] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        measures = some_of(dict.fromkeys(self.columns["measure"]), 3)
        runs = f"{len(self.run_ids)} runs ({some_of(self.run_ids, 3)})"
        kept = "" if self._container is None else ", with draws"
        return one_line("StoredScores", f"{measures} of {runs}{kept}")

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
        """Measures, in their order; your own ones have to be registered."""
        return tuple(parse_measure(measure) for measure in dict.fromkeys(self.columns["measure"]))

    @cached_property
    def notes(self) -> dict[tuple[str, Measure], str]:
        """Notes by run and measure; empty text where there are none."""
        of = {str(measure): measure for measure in self.measures}
        rows = zip(*(self.columns[name] for name in ("run_id", "measure", "note")), strict=True)
        return {(run, of[measure]): note for run, measure, note in rows}

    @cached_property
    def statements(self) -> dict[tuple[str, Measure], tuple[str, ...]]:
        """Statements that `notes` join; a file without them has each note as one statement."""
        if self._statements is None:
            return {key: (note,) if note else () for key, note in self.notes.items()}
        of = {(row["run_id"], row["measure"]): tuple(row[_STATEMENTS]) for row in self._statements}
        return {(run, measure): of.get((run, str(measure)), ()) for run, measure in self.notes}

    @property
    def note_lines(self) -> tuple[str, ...]:
        """Notes, one line each, as in `bayespool.Scores.note_lines`."""
        return tuple(score_notes(self.to_frame(), self.metadata, self.statements))

    def to_frame(self) -> pd.DataFrame:
        """The stored table, equal to `bayespool.Scores.to_frame`."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: np.array(values, dtype=object if name in _TEXT_COLUMNS else np.float64)
                for name, values in self.columns.items()
            }
        )

    frame = to_frame

    def paper(self, arrangement: Arrangement | None = None) -> Paper:
        """Tables for a paper, as in `bayespool.Scores.paper`."""
        frame = self.to_frame()
        tables = paper_tables(
            frame,
            ci_prob=float(frame["ci_prob"].iloc[0]),
            scope="on each topic" if self.per_topic else "mean over topics",
            arrangement=arrangement,
            notes=self.note_lines,
        )
        quoted = f"bayespool {self.metadata['bayespool']}, collection {self.metadata['fingerprint']}"
        return Paper(f"Scores: {some_of(self.measures)}", tuple(tables), (quoted,))

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


def read_scores(path: PathLike) -> StoredScores:
    """Read scores written by ``score --output``, `bayespool.report.write_scores` or
    `bayespool.Scores.to_netcdf`.

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
    ...     scores.to_netcdf(f"{folder}/scores.nc")
    ...     stored = read_scores(f"{folder}/scores.nc")
    >>> stored.to_frame().equals(scores.to_frame()), stored.to_arviz().identical(scores.to_arviz())
    (True, True)
    """
    place = Path(path)
    readers = {".json": _from_json, ".parquet": _from_parquet, ".nc": _from_netcdf}
    if place.suffix not in readers:
        ending = place.suffix or "a file without ending"
        raise InputError(f"cannot read scores from {ending}", path=place, hint=f"use {', '.join(readers)}")
    if not place.is_file():
        raise InputError("there is no such file", path=place)
    stored = readers[place.suffix](place)
    if stored is None or not _are_scores(stored):
        raise InputError("holds no scores", path=place, hint="score --output writes them")
    return stored


def _are_scores(stored: StoredScores) -> bool:
    """Whether the columns have the names and types of scores."""
    wanted = {"run_id", "measure", "as_judged", "bound_lower", "note"}
    if not isinstance(stored.metadata, dict) or not wanted <= set(stored.columns):
        return False
    if not isinstance(stored.metadata.get("ideals", {}), dict):
        return False
    for name, values in stored.columns.items():
        allowed = (str,) if name in _TEXT_COLUMNS else (int, float, type(None))
        if not values or not all(isinstance(value, allowed) for value in values):
            return False
    return stored._statements is None or _are_statements(stored._statements)


def _are_statements(rows: object) -> bool:
    """Whether rows are statements as of `with_notes`."""
    return isinstance(rows, list) and all(
        isinstance(row, dict)
        and all(isinstance(row.get(name), str) for name in ("run_id", "measure"))
        and isinstance(row.get(_STATEMENTS), list)
        and all(isinstance(statement, str) for statement in row[_STATEMENTS])
        for row in rows
    )


@dataclass(frozen=True, eq=False, repr=False)
class StoredResults(Shown):
    """Results of an earlier command or call of any kind, as they were written.

    Attributes
    ----------
    experiment : str
        ``leave-out``, ``budgets``, ``completed qrels``, … as in ``settings.json`` of a folder; empty for a
        file that does not name it.
    settings : mapping
        Metadata of the tables: version, fingerprint, pool, settings.
    tables : mapping of str to pandas.DataFrame
        Stored tables by name.
    notes : tuple of str
        Notes, warnings and problems.
    files : mapping of str to Path
        The other files of a folder: figures, completed qrels, containers.
    """

    experiment: str
    settings: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    notes: tuple[str, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict)

    def __repr__(self) -> str:
        held = some_of((f"{name} ({len(frame)} rows)" for name, frame in self.tables.items()), 4)
        more = f", {len(self.files)} other files" if self.files else ""
        return one_line("StoredResults", f"{self.experiment or 'tables'}: {held or 'no table'}{more}")

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """One of the tables; default: the first.

        Raises
        ------
        InputError
            There is no such table.
        """
        name = next(iter(self.tables), "") if table is None else table
        if name not in self.tables:
            raise InputError(f"no table {name!r}", hint=f"there are: {', '.join(self.tables) or 'none'}")
        return self.tables[name]

    def container(self, name: str) -> Any:
        """Read a file that ends in ``.nc`` as an ``xarray.DataTree`` for ArviZ.

        Raises
        ------
        InputError
            There is no such file, or it holds no container.
        """
        containers = [file for file in self.files if file.endswith(".nc")]
        if name not in containers:
            raise InputError(f"no container {name!r}", hint=f"there are: {', '.join(containers) or 'none'}")
        try:
            return container_of_bytes(read_bytes_back(self.files[name]) or b"")
        except (OSError, ValueError):
            raise InputError("holds no container", path=self.files[name]) from None


def read_results(path: PathLike) -> StoredResults:
    """Read results that a command wrote with ``--output``.

    Parameters
    ----------
    path : path
        A folder (``leave-out``, ``check``, ``judges``, ``budgets``, ``pool-width``, ``common-topics``,
        ``run-types``, ``impute``), or a file that ends in .json or .parquet (``score``, ``compare``,
        ``reversals``, ``pool``, ``judge-next``).

    Returns
    -------
    StoredResults

    Raises
    ------
    InputError
        There are no results; a file of the folder is missing or was changed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import load_example, read_results, score
    >>> from bayespool.report import write_scores
    >>> scores = score(load_example(), "new-a", "P@10", estimators="background")
    >>> with TemporaryDirectory() as folder:
    ...     write_scores(scores, Path(folder) / "scores.json")
    ...     stored = read_results(f"{folder}/scores.json")
    >>> stored
    <StoredResults: tables: scores (1 rows)>
    >>> stored.to_frame().equals(scores.to_frame())
    True
    """
    place = Path(path)
    if place.is_dir():
        return _from_folder(place)
    if place.suffix not in (".json", ".parquet"):
        ending = place.suffix or "a file without ending"
        raise InputError(
            f"cannot read results from {ending}",
            path=place,
            hint="name a folder, or a .json or .parquet file",
        )
    if not place.is_file():
        raise InputError("there is no such file or folder", path=place)
    content = read_bytes_back(place) or b""
    tables_and_settings = _tables_of_json(content) if place.suffix == ".json" else read_frame(content)
    if tables_and_settings is None:
        raise InputError("holds no results", path=place, hint="--output of the commands writes them")
    tables, settings = tables_and_settings
    held = tables if isinstance(tables, dict) else {place.stem: tables}
    return StoredResults("", settings, held, _notes_of(settings))


def _from_folder(folder: Path) -> StoredResults:
    try:
        settings = json.loads(read_back(folder / "settings.json") or "")
        experiment, digests = str(settings["experiment"]), dict(settings["digests"])
    except (ValueError, KeyError, TypeError, RecursionError):
        if (folder / _FOLDS).is_dir():
            raise InputError(
                "holds no results yet: the experiment was interrupted",
                path=folder,
                hint=f"what is finished is in {_FOLDS}; the same command goes on from there",
            ) from None
        raise InputError(
            "holds no results", path=folder, hint="--output of the commands writes settings.json there"
        ) from None
    tables, files = {}, {}
    for name, written in digests.items():
        path = folder / Path(name).name
        content = read_bytes_back(path)
        if content is None:
            raise InputError("is missing, which settings.json names", path=path)
        if path.suffix == ".csv":
            continue  # its table is also in a Parquet file
        if path.suffix != ".parquet":
            files[name] = path
            continue
        table = read_frame(content) if digest(content) == written else None
        if table is None:
            raise InputError("is not as it was written", path=path, hint="run the command again")
        tables[path.stem] = table[0]
    return StoredResults(experiment, settings, tables, _notes_of(settings), files)


def _tables_of_json(content: bytes) -> tuple[dict[str, pd.DataFrame], dict[str, Any]] | None:
    import pandas as pd

    try:
        document = json.loads(content)
        settings = dict(document.pop("metadata"))
        tables = {name: pd.DataFrame(rows) for name, rows in document.items()}
        for frame in tables.values():
            for name in frame.columns:  # null is NaN in a column of numbers
                if frame[name].isna().any() and not any(isinstance(x, str) for x in frame[name]):
                    frame[name] = frame[name].astype(float)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    return tables, settings


def _notes_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Notes, warnings and problems in settings."""
    lists = [settings.get(name) for name in _NOTE_KEYS]
    return tuple(dict.fromkeys(str(note) for notes in lists if isinstance(notes, list) for note in notes))


def with_notes(
    metadata: Mapping[str, Any],
    notes: Sequence[str],
    statements: Mapping[tuple[str, Measure], Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Metadata with notes, and with statements of scores by run and measure."""
    made = {**metadata, "notes": list(notes)}
    if statements is not None:
        made[_STATEMENTS] = [
            {"run_id": run, "measure": str(measure), _STATEMENTS: list(texts)}
            for (run, measure), texts in statements.items()
            if texts
        ]
    return made


def with_scores(container: Any, frame: pd.DataFrame, metadata: Mapping[str, Any]) -> Any:
    """Container of draws with the table and the metadata in a group of its own."""
    import xarray as xr

    text = np.array(json_text({"scores": frame}, metadata), dtype=object)
    made = container.copy()
    made[_GROUP] = xr.DataTree(xr.Dataset({"json": ((), text)}))
    return made


def _from_json(path: Path) -> StoredScores | None:
    return _of_text(read_back(path))


def _from_parquet(path: Path) -> StoredScores | None:
    parts = read_parquet(path)
    return None if parts is None else _scores_of(*parts)


def _from_netcdf(path: Path) -> StoredScores | None:
    try:
        container = container_of_bytes(read_bytes_back(path) or b"")
        text = str(container[_GROUP]["json"].item())
    except (OSError, ValueError, KeyError):
        return None
    return _of_text(text, container.filter(lambda group: group.name != _GROUP))


def _of_text(text: str | None, container: Any = None) -> StoredScores | None:
    """Scores in the text of a JSON file."""
    try:
        document = json.loads(text or "")
        rows, metadata = document["scores"], document["metadata"]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return _scores_of(columns, metadata, container)


def _scores_of(columns: Mapping[str, Sequence[Any]], metadata: Any, container: Any = None) -> StoredScores:
    """Scores from columns and metadata as of `with_notes`."""
    if not isinstance(metadata, dict):
        return StoredScores(columns, metadata, container)
    own = {name: value for name, value in metadata.items() if name not in ("notes", _STATEMENTS)}
    return StoredScores(columns, own, container, metadata.get(_STATEMENTS))
