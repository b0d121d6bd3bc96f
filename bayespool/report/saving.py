"""Files and folders of results: what may be written, and folders that are written whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from bayespool import plots
from bayespool.errors import OutputError
from bayespool.tables.files import (
    as_bytes,
    atomic_write,
    atomic_write_all,
    digest,
    read_back,
    read_bytes_back,
    read_metadata,
    remove,
)
from bayespool.tables.replacing import output_kind

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


def replace_files(folder: Path, settings: Mapping[str, Any], files: Mapping[str, bytes | str]) -> None:
    """Write files and ``settings.json`` into a folder; files of an earlier result are removed."""
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
