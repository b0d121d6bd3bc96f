"""The folder that the results of one experiment stand in: whole files, and none left over from before."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayespool import __version__
from bayespool.errors import OutputError
from bayespool.trec import atomic_write, read_back

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FigureFormat", "check_folder", "tables", "write_folder"]

FigureFormat = Literal["png", "svg", "none"]

_SETTINGS = "settings.json"


def check_folder(folder: Path, experiment: str) -> None:
    """Raise before any work is done for a folder that could not be written into after it.

    Parameters
    ----------
    folder : Path
    experiment : str
        What is going to be written there.

    Raises
    ------
    OutputError
        A file of that name, no folder to make it in, no permission, or results of another experiment.
    """
    place = folder if folder.exists() else folder.parent
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; name a folder")
    if not place.is_dir():
        raise OutputError(f"{folder}: there is no folder {place}; make it first")
    if not os.access(place, os.W_OK):
        raise OutputError(f"{folder}: the folder {place} cannot be written into")
    other = _settings_in(folder).get("experiment", experiment)
    if other != experiment:
        raise OutputError(f"{folder}: holds the results of {other}; name another folder")


def write_folder(
    folder: Path, experiment: str, described: Mapping[str, Any], files: Mapping[str, bytes | str]
) -> None:
    """Write the files of a result and ``settings.json``, and remove those that an earlier result of the same
    experiment has left there and this one does not have.

    Parameters
    ----------
    folder : Path
        Made if it is missing.
    experiment : str
    described : mapping
        For ``settings.json``, where the experiment and the names of the files stand besides.
    files : mapping of str to bytes or str
        Contents by name.

    Raises
    ------
    OutputError
        A file cannot be written; see `check_folder`.
    """
    check_folder(folder, experiment)
    folder.mkdir(exist_ok=True)
    before = _settings_in(folder).get("files", [])
    for name, content in files.items():
        atomic_write(folder / name, content)
    whole = {"bayespool": __version__, "experiment": experiment, **described, "files": sorted(files)}
    atomic_write(folder / _SETTINGS, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    for name in before:
        if name not in files and Path(name).name == name:
            (folder / name).unlink(missing_ok=True)


def tables(frames: Mapping[str, pd.DataFrame]) -> dict[str, bytes | str]:
    """Each table as ``.csv`` and as ``.parquet``, by the names of the files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files: dict[str, bytes | str] = {}
    for name, frame in frames.items():
        files[f"{name}.csv"] = frame.to_csv(index=False, lineterminator="\n")
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), buffer)
        files[f"{name}.parquet"] = buffer.getvalue()
    return files


def _settings_in(folder: Path) -> dict[str, Any]:
    """What ``settings.json`` says; nothing where there is none, or one of somebody else's."""
    try:
        found = json.loads(read_back(folder / _SETTINGS) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
