"""Results as files and folders: written whole or not at all, and read back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast, get_args

from bayespool import __version__, plots
from bayespool.errors import InputError, OutputError
from bayespool.notes import Note
from bayespool.report.provenance import with_provenance
from bayespool.report.result import Figure, FigureFormat, Result
from bayespool.tables import csv_text, json_text, read_frame
from bayespool.tables.citations import CITATIONS, Citation, cite
from bayespool.tables.files import (
    PathLike,
    as_bytes,
    atomic_write,
    atomic_write_all,
    digest,
    json_value,
    locked,
    parquet_bytes,
    read_back,
    read_bytes_back,
    read_metadata,
    remove,
)
from bayespool.tables.formatting import some_of
from bayespool.tables.markup import Arrangement, one_line
from bayespool.tables.replacing import check_replaceable, output_kind
from bayespool.tables.table import Table, table_from_json

if TYPE_CHECKING:
    import pandas as pd

TABLE_FORMATS = (".csv", ".json", ".parquet")
PAPER_FORMATS = (".tex", ".md", ".html")
"""File endings for formatted tables."""
FORMATS = (*TABLE_FORMATS, *PAPER_FORMATS)
"""File endings supported for every result."""
_SETTINGS = "settings.json"
_COMPLETED = re.compile(r"qrels-\d+\.txt")


def check_output(path: Path, formats: Sequence[str] = FORMATS, verb: str = "write") -> None:
    """Raise `OutputError` if a file cannot be written because of its ending or folder."""
    if path.suffix not in formats:
        known_endings = ", ".join(ending or "no ending" for ending in formats)
        raise OutputError(
            f"{path}: cannot {verb} {path.suffix or 'a file without ending'}; use {known_endings}"
        )
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    _check_writable(path, path.parent)


def _check_writable(path: Path, folder: Path) -> None:
    if not folder.is_dir():
        raise OutputError(f"{path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: the folder {folder} cannot be written into")


def check_folder(folder: Path, command: str) -> None:
    """Raise `OutputError` if a folder is not writable or holds results from another command."""
    if str(folder) == "-" or str(folder).startswith("-."):
        raise OutputError(f"{folder}: this command writes a folder; for standard output there is --json")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; name a folder")
    _check_writable(folder, folder if folder.exists() else folder.parent)
    other, _ = _earlier_result(folder)
    if other is None and read_back(folder / _SETTINGS) != "" and (folder / _SETTINGS).exists():
        raise OutputError(f"{folder / _SETTINGS}: is not of bayespool; name another folder")
    if other not in (None, command):
        raise OutputError(f"{folder}: holds the results of {other}; name another folder")


def file_metadata(result: Result) -> dict[str, Any]:
    """Return a result's metadata for files, with command, notes, summary, citations and columns."""
    made = with_provenance({"bayespool": __version__, "experiment": result.command, **result.metadata})
    notes = result.notes()
    made |= {"title": result.title, "notes": list(notes), "note_kinds": [note.kind for note in notes]}
    made["summary"] = list(result.sentences())
    made["citations"] = [citation.key for citation in result.citations()]
    made["tables"] = {table.name: table.description() for table in result.tables()}
    return json_value(made)  # type: ignore[no-any-return]


def content(
    result: Result, suffix: str, *, table: str | None = None, arrangement: Arrangement | None = None
) -> bytes | str:
    """Return the content of a result's file for an ending in `FORMATS` or one of the result's own."""
    if suffix in result.formats:
        return result.to_format(suffix)
    if suffix in PAPER_FORMATS:
        mark = f"<!-- bayespool {__version__} -->\n\n" if suffix == ".md" else ""  # others have their own
        return mark + result.text(suffix, arrangement)
    if suffix == ".json":
        return json_text({each.name: each.frame for each in result.tables()}, file_metadata(result))
    frame = result.table(table).frame
    return csv_text(frame) if suffix == ".csv" else parquet_bytes(frame, file_metadata(result))


def save(
    result: Result,
    path: PathLike,
    *,
    table: str | None = None,
    figures: FigureFormat = "png",
    arrangement: Arrangement | None = None,
) -> None:
    """Write a result as in `Result.save`, with an arrangement for formatted tables."""
    place = Path(path)
    formats = (*FORMATS, *result.formats)
    is_ending = any(map(str.isalpha, place.suffix)) and not place.is_dir()  # runs-v1.2 has none
    if not (is_ending or {"", place.suffix} & {*formats}):
        save_folder(result, place, figures=figures)
        return
    check_output(place, formats)
    write_file(result, place, table=table, arrangement=arrangement)


def write_file(
    result: Result,
    path: Path,
    *,
    table: str | None = None,
    arrangement: Arrangement | None = None,
    overwrite: bool = True,
) -> None:
    """Write a result to a file; not over one that is no earlier output of its kind, unless ``overwrite``."""
    text = as_bytes(content(result, path.suffix, table=table, arrangement=arrangement))
    if not overwrite:
        check_replaceable(path, text)
    atomic_write(path, text)


def save_folder(result: Result, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write a result's tables, files and settings to a folder atomically, then its figures. Files of an
    earlier result are removed.
    """
    check_folder(folder, result.command)
    files: dict[str, bytes | str] = {}
    for table in result.tables():
        files[f"{table.name}.csv"] = csv_text(table.frame)
        mark = {"bayespool": __version__, "experiment": result.command, "table": table.name}
        files[f"{table.name}.parquet"] = parquet_bytes(table.frame, mark)
    files |= result.files()
    settings = file_metadata(result)
    folder.mkdir(exist_ok=True)
    with locked(folder):
        _replace(folder, settings, files)  # first, so that a failing figure takes no table away
        if figures != "none" and (drawn := result.figures()):
            captions = {f"{figure.name}.{figures}": figure.caption for figure in drawn}
            images = {f"{figure.name}.{figures}": figure.render(figures) for figure in drawn}
            _replace(folder, settings | {"figures": captions}, {**files, **images})


def _replace(folder: Path, settings: Mapping[str, Any], files: Mapping[str, bytes | str]) -> None:
    digests = {name: digest(files[name]) for name in sorted(files)}
    whole = {**settings, "files": list(digests), "digests": digests}
    text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
    command, (_, before) = str(settings["experiment"]), _earlier_result(folder)
    for name in (*files, _SETTINGS):
        if (folder / name).is_symlink():
            raise OutputError(f"{folder / name}: is a link; remove it, or name another folder")
    for name in files.keys() - before.keys():
        is_there = (folder / name).exists() and read_bytes_back(folder / name) != as_bytes(files[name])
        if is_there and not _is_of_result(folder / name, command):
            raise OutputError(f"{folder / name}: is of no earlier result; move it, or name another folder")
    former = [name for name in before.keys() - files.keys() if _is_of_result(folder / name, command)]
    atomic_write_all({folder / name: each for name, each in (*files.items(), (_SETTINGS, text))})
    for name in former:
        if digest(read_bytes_back(folder / name) or b"") == before[name]:  # not changed since
            remove(folder / name)


def _is_of_result(path: Path, command: str) -> bool:
    """Return whether a file may be of a folder with results of a command, by its name and its content."""
    content_there = None if path.is_symlink() else read_bytes_back(path)
    if path.suffix == ".csv":  # whose table is also in a Parquet file
        return content_there is not None and _is_of_result(path.with_suffix(".parquet"), command)
    if content_there is None or (path.suffix == ".txt" and not _COMPLETED.fullmatch(path.name)):
        return False
    if path.suffix == ".parquet":
        metadata = read_metadata(content_there) or {}
        return (metadata.get("experiment"), metadata.get("table")) == (command, path.stem)
    return output_kind(content_there, path.suffix) is not None


def _earlier_result(folder: Path) -> tuple[str | None, dict[str, str]]:
    """Return the command and file digests for an earlier result, from ``settings.json``.

    None and empty without one.
    """
    try:
        settings = json.loads(read_back(folder / _SETTINGS) or "")
        command, digests = settings["experiment"], settings.get("digests", {})
        is_result = "bayespool" in settings and isinstance(command, str)
        files = {name: former for name, former in digests.items() if Path(name).name == name}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, {}
    return (command, files) if is_result else (None, {})


def check_figures(paths: Iterable[Path]) -> None:
    """Raise `OutputError` if figures cannot be written because of their ending or folder."""
    for path in paths:
        check_output(path, [f".{name}" for name in get_args(plots.ImageFormat)], "draw")


def write_figures(paths: Sequence[Path], draw: Callable[[], Any]) -> None:
    """Draw and write a figure once per file, so that the files' bytes are independent."""
    check_figures(paths)
    for path in paths:
        atomic_write(path, plots.render(draw(), cast("plots.ImageFormat", path.suffix[1:])))


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
    import pandas as pd

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
