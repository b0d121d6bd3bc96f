"""Scores as CSV, JSON or Parquet files, written whole or not at all."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

from bayespool.errors import OutputError
from bayespool.scoring import Scores
from bayespool.trec import atomic_write

__all__ = ["check_output", "write_scores"]

_FORMATS = (".csv", ".json", ".parquet")


def check_output(path: Path) -> None:
    """Raise before any work is done for an output that could not be written after it.

    Raises
    ------
    OutputError
        Unknown format, a folder, or no folder to write into.
    """
    if path.suffix not in _FORMATS:
        raise OutputError(
            f"{path}: cannot write {path.suffix or 'a file without ending'}; use {', '.join(_FORMATS)}"
        )
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
    check_output(path)
    frame = scores.frame(per_topic=per_topic)
    if path.suffix == ".csv":
        atomic_write(path, frame.to_csv(index=False, lineterminator="\n"))
    elif path.suffix == ".json":
        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        atomic_write(path, json.dumps({"metadata": dict(scores.metadata), "scores": rows}, indent=1) + "\n")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_pandas(frame, preserve_index=False)
        table = table.replace_schema_metadata(
            {"bayespool": json.dumps(dict(scores.metadata))} | (table.schema.metadata or {})
        )
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        atomic_write(path, buffer.getvalue())
