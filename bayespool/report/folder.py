"""Folders with the results of one experiment, written atomically and without files of earlier results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayespool import __version__
from bayespool.errors import OutputError
from bayespool.report.provenance import with_provenance
from bayespool.tables import csv_text
from bayespool.tables.containers import variable_name
from bayespool.tables.files import (
    atomic_write_all,
    digest,
    locked,
    parquet_bytes,
    read_back,
    read_bytes_back,
    remove,
)

if TYPE_CHECKING:
    import pandas as pd

FigureFormat = Literal["png", "svg", "none"]
Drawings = Iterable[tuple[str, Any]]
"""Names of figures, without an ending, and figures of matplotlib."""

_SETTINGS = "settings.json"
_ENDINGS = (".csv", ".parquet", ".png", ".svg", ".nc", ".txt")  # of result files


def check_folder(folder: Path, experiment: str) -> None:
    """Raise for a folder that cannot be written into, or that holds the results of another experiment."""
    if folder == Path("-"):
        raise OutputError("-: this command writes a folder; for standard output there is --json")
    place = folder if folder.exists() else folder.parent
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; name a folder")
    if not place.is_dir():
        raise OutputError(f"{folder}: there is no folder {place}; make it first")
    if not os.access(place, os.W_OK):
        raise OutputError(f"{folder}: the folder {place} cannot be written into")
    other = _earlier_result(folder)[0] or experiment
    if other != experiment:
        raise OutputError(f"{folder}: holds the results of {other}; name another folder")


def write_folder(
    folder: Path,
    experiment: str,
    described: Mapping[str, Any],
    files: Mapping[str, bytes | str],
    *,
    figures: FigureFormat = "none",
    draw: Callable[[], Drawings] = tuple,
) -> None:
    """Write files and ``settings.json``, all or none, remove those of an earlier result; then figures."""
    check_folder(folder, experiment)
    folder.mkdir(exist_ok=True)
    with locked(folder):
        _replace(folder, experiment, described, files)  # first, so that a failing figure takes no table away
        if figures != "none":
            from bayespool.plots import render

            drawn = {f"{name}.{figures}": render(figure, figures) for name, figure in draw()}
            _replace(folder, experiment, described, {**files, **drawn})


def _replace(
    folder: Path, experiment: str, described: Mapping[str, Any], files: Mapping[str, bytes | str]
) -> None:
    digests = {name: digest(files[name]) for name in sorted(files)}
    whole = {"bayespool": __version__, "experiment": experiment, **with_provenance(described)}
    whole |= {"files": list(digests), "digests": digests}
    settings = json.dumps(whole, indent=1, ensure_ascii=False, default=_json_value) + "\n"
    _, before = _earlier_result(folder)
    atomic_write_all({folder / name: content for name, content in (*files.items(), (_SETTINGS, settings))})
    for name, former in before.items():
        if name not in files:
            _remove_former(folder / name, former)


def _remove_former(path: Path, former: str) -> None:
    """Remove a file of an earlier result unless it was changed since."""
    content = read_bytes_back(path)
    if content is not None and digest(content) == former:
        remove(path)


def tables(frames: Mapping[str, pd.DataFrame]) -> dict[str, bytes | str]:
    """Contents of each table as ``.csv`` and as ``.parquet``, by file name."""
    files: dict[str, bytes | str] = {}
    for name, frame in frames.items():
        files[f"{name}.csv"] = csv_text(frame)
        files[f"{name}.parquet"] = parquet_bytes(frame)
    return files


def file_name(name: object) -> str:
    """A name that any file system takes.

    Examples
    --------
    >>> file_name("P(rel=2)@10")
    'P_rel_2_10'
    """
    return variable_name(name)


def _earlier_result(folder: Path) -> tuple[str | None, dict[str, str]]:
    """Experiment and file digests in ``settings.json`` of an earlier result; None and empty without one."""
    try:
        settings = json.loads(read_back(folder / _SETTINGS) or "")
        experiment, digests = settings["experiment"], settings.get("digests", {})
        is_result = "bayespool" in settings and isinstance(experiment, str)
        files = {name: former for name, former in digests.items() if _is_result_file(name)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, {}
    return (experiment, files) if is_result else (None, {})


def _is_result_file(name: str) -> bool:
    """Whether a result may have a file of this name, directly in the folder."""
    return Path(name).name == name and name.isprintable() and Path(name).suffix in _ENDINGS


def _json_value(value: Any) -> Any:
    """A number of numpy as Python's, anything else as its repr."""
    return value.item() if isinstance(value, np.generic) else repr(value)
