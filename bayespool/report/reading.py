"""Results read back from files and folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from bayespool.errors import InputError
from bayespool.report.result import Figure, Result
from bayespool.tables import read_frame
from bayespool.tables.citations import CITATIONS, Citation, cite
from bayespool.tables.files import PathLike, container_of_bytes, digest, read_back, read_bytes_back
from bayespool.tables.formatting import some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table, table_of

if TYPE_CHECKING:
    import pandas as pd

_FOLDS = "folds"  # folder of the finished parts of an experiment
_OF_FILES = ("notes", "summary", "citations", "tables", "title", "experiment", "files", "digests", "figures")


@dataclass(frozen=True, eq=False, repr=False)
class StoredResult(Result):
    """A result of an earlier command or call, as it was written.

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
    _notes: tuple[str, ...] = ()
    _summary: tuple[str, ...] = ()
    _citations: tuple[str, ...] = ()
    _figures: tuple[Figure, ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)

    def __repr__(self) -> str:
        held = some_of((f"{table.name} ({len(table.frame)} rows)" for table in self._tables), 4)
        more = f", {len(self.paths)} other files" if self.paths else ""
        return one_line(type(self).__name__, f"{self.command}: {held or 'no table'}{more}")

    def tables(self) -> tuple[Table, ...]:
        """Stored tables."""
        return self._tables

    def notes(self) -> tuple[str, ...]:
        """Stored notes."""
        return self._notes

    def summary(self) -> tuple[str, ...]:
        """Stored summary."""
        return self._summary

    def figures(self) -> tuple[Figure, ...]:
        """Images of a folder."""
        return self._figures

    def citations(self) -> tuple[Citation, ...]:
        """What to cite, by author."""
        return cite([key for key in self._citations if key in CITATIONS])

    def files(self) -> Mapping[str, bytes | str]:
        """Contents of the other files."""
        return {name: read_bytes_back(path) or b"" for name, path in self.paths.items()}

    def container(self, name: str) -> Any:
        """Read a file that ends in ``.nc`` as an ``xarray.DataTree`` for ArviZ.

        Raises
        ------
        InputError
            There is no such file, or it holds no container.
        """
        containers = [file for file in self.paths if file.endswith(".nc")]
        if name not in containers:
            raise InputError(f"no container {name!r}", hint=f"there are: {', '.join(containers) or 'none'}")
        try:
            return container_of_bytes(read_bytes_back(self.paths[name]) or b"")
        except (OSError, ValueError):
            raise InputError("holds no container", path=self.paths[name]) from None


_CLASSES = {
    "compare": "bayespool.comparisons.comparing:StoredComparison",
    "reversals": "bayespool.comparisons.outcomes:StoredReversals",
    "score": "bayespool.scoring.scores:StoredScores",
}
"""By command: the class of its results that are read back, if it has one."""


def read_result(path: PathLike) -> StoredResult:
    """Read a result that a command or `Result.save` wrote.

    Parameters
    ----------
    path : path
        Ending in .json or .parquet, or a folder with a ``settings.json``. A .json file may also hold what
        ``--json`` printed, which has no captions and citations.

    Returns
    -------
    StoredResult
        With the six methods of `Result`.

    Raises
    ------
    InputError
        There is no such file or folder, it holds no result, or a file of the folder is missing or changed.
    """
    place = Path(path)
    if place.is_dir():
        return _of_folder(place)
    if not place.is_file():
        raise InputError("there is no such file or folder", path=place)
    if place.suffix not in (".json", ".parquet"):
        raise InputError(
            f"cannot read a result from {place.suffix or 'a file without ending'}",
            path=place,
            hint="name a .json or .parquet file, or a folder of results; a CSV file has no metadata",
        )
    content = read_bytes_back(place) or b""
    stored = result_of_json(content) if place.suffix == ".json" else _of_parquet(content)
    if stored is None:
        raise InputError("holds no result", path=place, hint="--output of the commands writes them")
    return stored


def stored_result(
    settings: Mapping[str, Any],
    frames: Mapping[str, pd.DataFrame],
    figures: tuple[Figure, ...] = (),
    paths: Mapping[str, Path] | None = None,
) -> StoredResult:
    """Result of what a file or folder has; KeyError, TypeError or ValueError where that is not a result."""
    described = settings["tables"]
    tables = tuple(table_of(name, frame, described[name]) for name, frame in frames.items())
    command = str(settings["experiment"])
    import_module("bayespool.scoring.estimators")  # registers those that a report describes and cites
    cls: type[StoredResult] = resolve_name(_CLASSES[command]) if command in _CLASSES else StoredResult
    return cls(
        command,
        str(settings["title"]),
        {name: value for name, value in settings.items() if name not in _OF_FILES},
        tables,
        tuple(map(str, settings["notes"])),
        tuple(map(str, settings["summary"])),
        tuple(map(str, settings["citations"])),
        figures,
        paths or {},
    )


_BROKEN = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, InputError)


def result_of_json(content: bytes) -> StoredResult | None:
    """Result in the content of a JSON file; None where it holds none."""
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
    """What ``--json`` prints in the form of a file: tables by name, and what describes them."""
    described = {
        name: {"caption": name, "columns": columns, "views": []}
        for name, columns in printed["columns"].items()
    }
    of_result = {name: printed[name] for name in ("notes", "summary")}
    experiment = {"experiment": printed["command"], "title": printed["command"], "citations": []}
    return {
        "metadata": {**printed["metadata"], **of_result, **experiment, "tables": described},
        **printed["tables"],
    }


def _of_parquet(content: bytes) -> StoredResult | None:
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


def _of_folder(folder: Path) -> StoredResult:
    try:
        settings = json.loads(read_back(folder / "settings.json") or "")
        digests = dict(settings["digests"])
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
                caption = str((settings.get("figures") or {}).get(name, path.stem))
                figures.append(Figure(path.stem, caption, image=content))
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
