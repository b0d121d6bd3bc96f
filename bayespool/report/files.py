"""Scores and comparisons as CSV, JSON or Parquet files, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool.errors import InputError, OutputError
from bayespool.files import atomic_write, csv_text, json_text, parquet_bytes
from bayespool.provenance import with_provenance
from bayespool.scoring import Scores

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLE_FORMATS", "check_output", "check_place", "write_scores", "write_tables"]

TABLE_FORMATS = (".csv", ".json", ".parquet")


def check_output(path: Path) -> None:
    """Raise before any work is done for an output that could not be written after it.

    Raises
    ------
    OutputError
        Unknown format, a folder, or no folder to write into.
    """
    if path.suffix not in TABLE_FORMATS:
        raise OutputError(
            f"{path}: cannot write {path.suffix or 'a file without ending'}; use {', '.join(TABLE_FORMATS)}"
        )
    check_place(path)


def check_place(path: Path) -> None:
    """Raise for a path that no file can be written to.

    Raises
    ------
    OutputError
        A folder, or no folder to write into.
    """
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path}: the folder {path.parent} cannot be written into")


def write_scores(scores: Scores, path: Path, *, per_topic: bool = False) -> None:
    """Write `Scores.frame` to a file, in the format of its ending.

    JSON and Parquet carry the metadata (version, fingerprint, settings, pool) beside the rows; CSV has the
    rows alone.

    Raises
    ------
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    write_tables(path, {"scores": scores.frame(per_topic=per_topic)}, "scores", scores.metadata)


def write_tables(
    path: Path, tables: Mapping[str, pd.DataFrame], table: str, metadata: Mapping[str, Any]
) -> None:
    """Write a result to a file: JSON has every table and the metadata, Parquet one table and the metadata,
    CSV one table.

    Parameters
    ----------
    path : Path
        Ending in .csv, .json or .parquet.
    tables : mapping of str to pandas.DataFrame
    table : str
        The one for a file with room for one only.
    metadata : mapping
        As JSON can hold it.

    Raises
    ------
    InputError
        There is no such table.
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    check_output(path)
    if table not in tables:
        raise InputError(f"no table {table!r}", hint=f"known: {', '.join(tables)}")
    metadata = with_provenance(metadata)
    if path.suffix == ".csv":
        atomic_write(path, csv_text(tables[table]))
    elif path.suffix == ".json":
        atomic_write(path, json_text(tables, metadata))
    else:
        atomic_write(path, parquet_bytes(tables[table], metadata))
