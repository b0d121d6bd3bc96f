"""Results read back from files and folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from bayespool.errors import InputError
from bayespool.notes import Note
from bayespool.report.result import Figure, Result
from bayespool.tables import read_frame
from bayespool.tables.citations import CITATIONS, Citation, cite
from bayespool.tables.files import PathLike, digest, read_back, read_bytes_back
from bayespool.tables.formatting import some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table, table_from_json


class NotStoredError(InputError, AttributeError):
    """Error for what a result read from a file does not have, also for ``hasattr``."""


_FOLDS = "folds"  # folder of the finished parts of an experiment
_FILE_KEYS = (
    *("notes", "note_kinds", "summary", "citations", "tables", "title", "experiment", "files", "digests"),
    "figures",
)


@dataclass(frozen=True, eq=False, repr=False)
class StoredResult(Result):
    """Result read from files written by an earlier command or call.

    A subclass names the command whose results it reads, ``class StoredScores(StoredResult, reads="score")``.
    Its frames are methods as of the result that was written: ``stored.differences()``.

    Attributes
    ----------
    command : str
        Command that makes such a result.
    title : str
    metadata : mapping
        Version, fingerprint, pool and settings.
    paths : mapping of str to Path
        The other files of a folder: completed qrels, containers.
    """

    command: str = ""  # type: ignore[misc]
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    _tables: tuple[Table, ...] = ()
    _notes: tuple[Note, ...] = ()
    _sentences: tuple[str, ...] = ()
    _citations: tuple[str, ...] = ()
    _figures: tuple[Figure, ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)

    classes: ClassVar[dict[str, type[StoredResult]]] = {}

    def __init_subclass__(cls, *, reads: str, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        StoredResult.classes[reads] = cls

    def __getattr__(self, name: str) -> Any:
        """Return the method of a frame that is a table, or raise `NotStoredError`."""
        names = [table.name for table in self.__dict__.get("_tables", ())]
        if name in names:
            return partial(self.to_frame, name)
        hint = f"it has {', '.join(names)}; for all else make the result again" if names else None
        raise NotStoredError(f"a file of results has no {name!r}", hint=hint)

    def __repr__(self) -> str:
        table_sizes = some_of((f"{table.name} ({len(table.frame)} rows)" for table in self._tables), 4)
        more = f", {len(self.paths)} other files" if self.paths else ""
        return one_line(type(self).__name__, f"{self.command}: {table_sizes or 'no table'}{more}")

    def tables(self) -> tuple[Table, ...]:
        """Return the stored tables."""
        return self._tables

    def notes(self) -> tuple[Note, ...]:
        """Return the stored notes."""
        return self._notes

    def sentences(self) -> tuple[str, ...]:
        """Return the stored sentences."""
        return self._sentences

    def figures(self) -> tuple[Figure, ...]:
        """Return the images in the result's folder."""
        return self._figures

    def citations(self) -> tuple[Citation, ...]:
        """Return citations sorted by author."""
        return cite([key for key in self._citations if key in CITATIONS])

    def page(self) -> str:
        """Return the report as an HTML page; `InputError` where files are not as they were written."""
        from jinja2 import TemplateError

        try:
            return super().page()
        except InputError:
            raise
        except (*_BROKEN, LookupError, ArithmeticError, TemplateError):
            raise InputError("the result is not as it was written", hint="run its command again") from None

    def files(self) -> Mapping[str, bytes | str]:
        """Return the contents of the result's other files, by file name."""
        return {name: read_bytes_back(path) or b"" for name, path in self.paths.items()}


def read_result(path: PathLike) -> StoredResult:
    """Read a result written by a command or by `Result.save`.

    Parameters
    ----------
    path : path
        Ending in .json or .parquet, or a folder with a ``settings.json``. A .json file may also hold what
        ``--json`` printed, which has no captions and citations.

    Returns
    -------
    StoredResult
        With the six methods of `Result`; of a class for the command's results, if its module is loaded, which
        `bayespool.read_result` sees to.

    Raises
    ------
    InputError
        There is no such file or folder, it holds no result, or a file of the folder is missing or changed.
    """
    place = Path(path)
    if place.is_dir():
        return _folder_result(place)
    if not place.is_file():
        raise InputError("there is no such file or folder", path=place)
    if place.suffix not in (".json", ".parquet"):
        raise InputError(
            f"cannot read a result from {place.suffix or 'a file without ending'}",
            path=place,
            hint="name a .json or .parquet file, or a folder of results; a CSV file has no metadata",
        )
    content = read_bytes_back(place) or b""
    stored = result_of_json(content) if place.suffix == ".json" else _parquet_result(content)
    if stored is None:
        raise InputError("holds no result", path=place, hint="--output of the commands writes them")
    return stored


def stored_result(
    settings: Mapping[str, Any],
    frames: Mapping[str, pd.DataFrame],
    figures: tuple[Figure, ...] = (),
    paths: Mapping[str, Path] | None = None,
) -> StoredResult:
    """Build a result from the contents of a file or folder. KeyError, TypeError or ValueError where that is
    not a result.
    """
    described = settings["tables"]
    tables = tuple(table_from_json(name, frame, described[name]) for name, frame in frames.items())
    command, texts = str(settings["experiment"]), map(str, settings["notes"])
    return StoredResult.classes.get(command, StoredResult)(
        command,
        str(settings["title"]),
        {name: value for name, value in settings.items() if name not in _FILE_KEYS},
        tables,
        tuple(Note(kind, text) for kind, text in zip(settings["note_kinds"], texts, strict=True)),
        tuple(map(str, settings["summary"])),
        tuple(map(str, settings["citations"])),
        figures,
        paths or {},
    )


_BROKEN = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)


def result_of_json(content: bytes) -> StoredResult | None:
    """Return the result stored in a JSON file's content, or None if there is none."""
    try:
        document = json.loads(content)
        if "command" in document:
            document = _as_in_a_file(document)
        settings = document.pop("metadata")
        frames = {name: pd.DataFrame(rows) for name, rows in document.items()}
        for name, frame in frames.items():
            columns = settings["tables"][name]["columns"]
            for column in frame:  # null is NaN in a column of numbers
                if columns[column]["kind"] not in ("flag", "count") and frame[column].isna().any():
                    numbers = not any(isinstance(x, str) for x in frame[column])
                    frame[column] = frame[column].astype(float) if numbers else frame[column]
        return stored_result(settings, frames)
    except _BROKEN:
        return None


def _as_in_a_file(printed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output of ``--json`` in the layout of a file: tables by name, and metadata."""
    described = {
        name: {"caption": name, "columns": columns, "views": []}
        for name, columns in printed["columns"].items()
    }
    sentences = {name: printed[name] for name in ("notes", "note_kinds", "summary")}
    experiment = {"experiment": printed["command"], "title": printed["command"], "citations": []}
    return {
        "metadata": {**printed["metadata"], **sentences, **experiment, "tables": described},
        **printed["tables"],
    }


def _parquet_result(content: bytes) -> StoredResult | None:
    try:
        read = read_frame(content)
        if read is None:
            return None
        frame, settings = read
        columns = list(map(str, frame))
        name = next(n for n, table in settings["tables"].items() if list(table["columns"]) == columns)
        return stored_result(settings, {name: frame})
    except (*_BROKEN, StopIteration):
        return None


def _folder_result(folder: Path) -> StoredResult:
    try:
        settings = json.loads(read_back(folder / "settings.json") or "")
        digests, captions = dict(settings["digests"]), dict(settings.get("figures") or {})
    except (ValueError, KeyError, TypeError, RecursionError):
        if (folder / _FOLDS).is_dir() or any(folder.glob(f"*/{_FOLDS}")):  # of one collection, or of several
            raise InputError(
                "holds no results yet: the experiment was interrupted",
                path=folder,
                hint=f"what is finished is in {_FOLDS}; the same command goes on from there",
            ) from None
        raise InputError(
            "holds no results", path=folder, hint="--output of the commands writes settings.json there"
        ) from None
    frames, figures, paths = {}, [], {}
    for name, written in digests.items():
        path = folder / Path(name).name
        content = read_bytes_back(path)
        if content is None:
            raise InputError("is missing, which settings.json names", path=path)
        if path.suffix in (".svg", ".png"):
            if digest(content) == written:
                figures.append(Figure(path.stem, str(captions.get(name, path.stem)), image=content))
        elif path.suffix == ".parquet":
            table = read_frame(content) if digest(content) == written else None
            if table is None:
                raise InputError("is not as it was written", path=path, hint="run the command again")
            frames[path.stem] = table[0]
        elif path.suffix != ".csv":  # whose table is also in a Parquet file
            paths[name] = path
    try:
        order = {name: frames[name] for name in settings["tables"] if name in frames}
        return stored_result(settings, order, tuple(figures), paths)
    except _BROKEN:
        raise InputError("holds no results that this version reads", path=folder) from None
