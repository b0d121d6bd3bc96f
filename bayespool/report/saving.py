"""Results as files and folders, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from bayespool import __version__, plots
from bayespool.errors import OutputError
from bayespool.report.provenance import with_provenance
from bayespool.report.result import FigureFormat, Result
from bayespool.tables import csv_text, json_text
from bayespool.tables.files import (
    PathLike,
    atomic_write,
    atomic_write_all,
    digest,
    locked,
    parquet_bytes,
    read_back,
    read_bytes_back,
    remove,
)
from bayespool.tables.markup import Arrangement

TABLE_FORMATS = (".csv", ".json", ".parquet")
PAPER_FORMATS = (".tex", ".md", ".html")
"""Endings of files with the tables that people read."""
FORMATS = (*TABLE_FORMATS, *PAPER_FORMATS)
"""Endings of the files that every result can be written to."""
_SETTINGS = "settings.json"
_ENDINGS = (".csv", ".parquet", ".png", ".svg", ".nc", ".txt")  # of files of a folder


def check_output(path: Path, formats: Sequence[str] = FORMATS, verb: str = "write") -> None:
    """Raise for a file that cannot be written, because of its ending or its folder."""
    if path.suffix not in formats:
        known = ", ".join(ending or "no ending" for ending in formats)
        raise OutputError(f"{path}: cannot {verb} {path.suffix or 'a file without ending'}; use {known}")
    check_place(path)


def check_place(path: Path) -> None:
    """Raise for a path that no file can be written to."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path}: the folder {path.parent} cannot be written into")


def check_folder(folder: Path, command: str) -> None:
    """Raise for a folder that cannot be written into, or that holds the results of another command."""
    if folder == Path("-"):
        raise OutputError("-: this command writes a folder; for standard output there is --json")
    place = folder if folder.exists() else folder.parent
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; name a folder")
    if not place.is_dir():
        raise OutputError(f"{folder}: there is no folder {place}; make it first")
    if not os.access(place, os.W_OK):
        raise OutputError(f"{folder}: the folder {place} cannot be written into")
    other = _earlier_result(folder)[0] or command
    if other != command:
        raise OutputError(f"{folder}: holds the results of {other}; name another folder")


def described(result: Result) -> dict[str, Any]:
    """Metadata of a result as files have them: with command, notes, summary, citations and columns."""
    made = with_provenance({"bayespool": __version__, "experiment": result.command, **result.metadata})
    made |= {"title": result.title, "notes": list(result.notes()), "summary": list(result.summary())}
    made["citations"] = [citation.key for citation in result.citations()]
    made["tables"] = {table.name: table.described() for table in result.tables()}
    return json_value(made)  # type: ignore[no-any-return]


def content(
    result: Result, suffix: str, *, table: str | None = None, arrangement: Arrangement | None = None
) -> bytes | str:
    """Content of a file of a result that ends in one of `FORMATS` or of its own."""
    if suffix in result.formats:
        return result.in_format(suffix)
    if suffix in PAPER_FORMATS:
        return result.text(suffix, arrangement)
    if suffix == ".json":
        return json_text({each.name: each.frame for each in result.tables()}, described(result))
    frame = result.table(table).frame
    return csv_text(frame) if suffix == ".csv" else parquet_bytes(frame, described(result))


def save(
    result: Result,
    path: PathLike,
    *,
    table: str | None = None,
    figures: FigureFormat = "png",
    arrangement: Arrangement | None = None,
) -> None:
    """Write a result as `Result.save` describes it, papers' tables arranged."""
    place = Path(path)
    if not place.suffix and "" not in result.formats:
        save_folder(result, place, figures=figures)
        return
    check_output(place, (*FORMATS, *result.formats))
    atomic_write(place, content(result, place.suffix, table=table, arrangement=arrangement))


def save_folder(result: Result, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write tables, files and ``settings.json``, all or none; remove those of an earlier result; draw."""
    check_folder(folder, result.command)
    files: dict[str, bytes | str] = {}
    for table in result.tables():
        files[f"{table.name}.csv"] = csv_text(table.frame)
        files[f"{table.name}.parquet"] = parquet_bytes(table.frame)
    files |= result.files()
    settings = described(result)
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
    _, before = _earlier_result(folder)
    atomic_write_all({folder / name: each for name, each in (*files.items(), (_SETTINGS, text))})
    for name, former in before.items():
        held = None if name in files else read_bytes_back(folder / name)
        if held is not None and digest(held) == former:  # not changed since
            remove(folder / name)


def _earlier_result(folder: Path) -> tuple[str | None, dict[str, str]]:
    """Command and file digests in ``settings.json`` of an earlier result; None and empty without one."""
    try:
        settings = json.loads(read_back(folder / _SETTINGS) or "")
        command, digests = settings["experiment"], settings.get("digests", {})
        is_result = "bayespool" in settings and isinstance(command, str)
        files = {name: former for name, former in digests.items() if _is_result_file(name)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, {}
    return (command, files) if is_result else (None, {})


def _is_result_file(name: str) -> bool:
    """Whether a result may have a file of this name, directly in the folder."""
    return Path(name).name == name and name.isprintable() and Path(name).suffix in _ENDINGS


def json_value(value: Any) -> Any:
    """The value in the types of JSON; NaN and infinite numbers are null, other objects their text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(name): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def check_figures(paths: Iterable[Path]) -> None:
    """Raise for figures that cannot be written, because of their ending or folder."""
    for path in paths:
        check_output(path, [f".{name}" for name in get_args(plots.ImageFormat)], "draw")


def write_figures(paths: Sequence[Path], draw: Callable[[], Any]) -> None:
    """Draw a figure once for each file, in its format, so that no file's bytes depend on another."""
    check_figures(paths)
    for path in paths:
        atomic_write(path, plots.render(draw(), cast("plots.ImageFormat", path.suffix[1:])))
