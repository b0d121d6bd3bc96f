"""Results as CSV, JSON, Parquet, LaTeX, Markdown or HTML files, written atomically."""

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
    """Raise for a file that cannot be written, because of its ending or its folder."""
    if path.suffix not in formats:
        raise OutputError(
            f"{path}: cannot write {path.suffix or 'a file without ending'}; use {', '.join(formats)}"
        )
    check_place(path)


def check_paper_output(path: Path) -> None:
    """Raise for a file that cannot be written, where formats for papers are allowed, too."""
    check_output(path, (*TABLE_FORMATS, *PAPER_FORMATS))


def check_place(path: Path) -> None:
    """Raise for a path that no file can be written to."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path}: the folder {path.parent} cannot be written into")


def write_scores(
    scores: Scores, path: Path, *, per_topic: bool = False, arrangement: Arrangement | None = None
) -> None:
    """Write `Scores.to_frame` to a .csv, .json or .parquet file, or the printed tables to .tex, .md or .html.

    JSON and Parquet carry the metadata (version, fingerprint, settings, pool) and the notes beside the rows;
    CSV has the rows alone.

    Parameters
    ----------
    scores : Scores
    path : Path
    per_topic : bool
        One row per run and topic.
    arrangement : Arrangement, optional
        Columns and rows of the printed tables; the frame is written whole.

    Raises
    ------
    OutputError
        The file cannot be written; an earlier file stays.
    """
    if path.suffix in PAPER_FORMATS:
        write_paper(scores.paper(arrangement, per_topic=per_topic), path)
        return
    described = with_notes(scores.metadata, scores.note_lines, scores.statements)
    write_tables(path, {"scores": scores.to_frame(per_topic=per_topic)}, "scores", described)


def write_paper(paper: Paper, path: Path) -> None:
    """Write tables for a paper in the format of the file's ending."""
    check_output(path, PAPER_FORMATS)
    atomic_write(path, paper.text(path.suffix))


def write_tables(
    path: Path, tables: Mapping[str, pd.DataFrame], table: str, metadata: Mapping[str, Any]
) -> None:
    """Write a result: every table and metadata to JSON, one table and metadata to Parquet, one to CSV."""
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
