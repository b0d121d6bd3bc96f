"""Scores and comparisons as files, written whole or not at all: CSV, JSON or Parquet for programs, LaTeX,
Markdown or HTML for readers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool.errors import InputError, OutputError, known_names
from bayespool.report.provenance import with_provenance
from bayespool.scoring import Scores
from bayespool.scoring.paper_tables import PAPER_FORMATS, Paper
from bayespool.scoring.stored import with_notes
from bayespool.tables import csv_text, json_text
from bayespool.tables.arrangement import Arrangement
from bayespool.tables.files import atomic_write, parquet_bytes

if TYPE_CHECKING:
    import pandas as pd

TABLE_FORMATS = (".csv", ".json", ".parquet")


def check_output(path: Path, formats: Sequence[str] = TABLE_FORMATS) -> None:
    """Raise before any work is done for an output that could not be written after it.

    Parameters
    ----------
    path : Path
    formats : sequence of str
        Endings that it may have.

    Raises
    ------
    OutputError
        Unknown format, a folder, or no folder to write into.
    """
    if path.suffix not in formats:
        raise OutputError(
            f"{path}: cannot write {path.suffix or 'a file without ending'}; use {', '.join(formats)}"
        )
    check_place(path)


def check_paper_output(path: Path) -> None:
    """Raise likewise for a result that has tables for a paper, too.

    Raises
    ------
    OutputError
        See `check_output`.
    """
    check_output(path, (*TABLE_FORMATS, *PAPER_FORMATS))


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


def write_scores(
    scores: Scores, path: Path, *, per_topic: bool = False, arrangement: Arrangement | None = None
) -> None:
    """Write `Scores.to_frame` to a file, in the format of its ending; or, to .tex, .md or .html, the tables
    that are read.

    JSON and Parquet carry the metadata (version, fingerprint, settings, pool) and the notes beside the rows;
    CSV has the rows alone.

    Parameters
    ----------
    scores : Scores
    path : Path
    per_topic : bool
        One row per run and topic.
    arrangement : Arrangement, optional
        Columns and rows of the tables that are read; the frame is written whole.

    Raises
    ------
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    if path.suffix in PAPER_FORMATS:
        write_paper(scores.paper(arrangement, per_topic=per_topic), path)
        return
    described = with_notes(scores.metadata, scores.note_lines, scores.statements)
    write_tables(path, {"scores": scores.to_frame(per_topic=per_topic)}, "scores", described)


def write_paper(paper: Paper, path: Path) -> None:
    """Write tables for a paper in the format of the file's ending.

    Raises
    ------
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    check_output(path, PAPER_FORMATS)
    atomic_write(path, paper.text(path.suffix))


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
        raise InputError(f"no table {table!r}", hint=known_names(table, tables))
    metadata = with_provenance(metadata)
    if path.suffix == ".csv":
        atomic_write(path, csv_text(tables[table]))
    elif path.suffix == ".json":
        atomic_write(path, json_text(tables, metadata))
    else:
        atomic_write(path, parquet_bytes(tables[table], metadata))
