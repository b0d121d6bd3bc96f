"""Columns of files that hold objects: JSON, lines of JSON, and Parquet."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayespool.collection.frames import NAMES, labels_from_frame, qrels_from_frame, run_from_frame
from bayespool.collection.lines import FileLayout, Lines
from bayespool.errors import InputError

_FORMS = 'give {query_id: {doc_id: value}}, or rows such as {"query_id": …, "doc_id": …, "score": …}'
_NAMES = {name for ours in ("query_id", "doc_id", "score", "label", "rank", "run_id") for name in NAMES[ours]}


def is_json(text: bytes) -> bool:
    """Whether a text looks like JSON."""
    return text.lstrip()[:1] in (b"{", b"[")


def lines_of_json(text: bytes, path: Path, layout: FileLayout) -> Lines:
    """Columns of ``{query_id: {doc_id: value}}``, of a list of rows, or of an object on each line."""
    source = _json(text, path)
    rows = source if isinstance(source, list) else [source] if _is_nested_row(source) else None
    if rows is not None and all(isinstance(row, Mapping) for row in rows):
        rows = [_flat(row) for row in rows]
        names = [name for name in dict.fromkeys(name for row in rows for name in row) if name in _NAMES]
        source = [{name: row.get(name) for name in names} for row in rows]
    if not isinstance(source, Mapping) and (rows is None or not source):
        raise InputError("is JSON of another form", path=path, hint=_FORMS)
    return _columns(source, path, layout)


def lines_of_parquet(data: bytes, path: Path, layout: FileLayout, *, max_size: int) -> Lines:
    """Columns of a Parquet file by their names."""
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(pa.BufferReader(data))
        groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        if sum(groups) > max_size << 20:
            hint = "allow more with max_file_size (--max-file-size), if it is what you take it for"
            raise InputError(f"holds more than {max_size:,} MiB", path=path, hint=hint)
        names = [name for name in metadata.schema.to_arrow_schema().names if name in _NAMES]
        table = pq.read_table(pa.BufferReader(data), columns=names)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        detail = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        reason = f"the Parquet data are damaged ({detail})"
        raise InputError(reason, path=path, hint="copy or download the file again") from None
    return _columns(table, path, layout)


def _columns(source: Any, path: Path, layout: FileLayout) -> Lines:
    """Columns of an object, as `bayespool.collection.frames` reads it."""
    with _located(path):
        if layout.real == "score":
            run = run_from_frame(source, path.name)
            if layout.needs_integer and run.rank is None:
                raise InputError("has no ranks to order by", hint="order by scores (--order score)")
            return Lines(run.query_id, run.doc_id, run.score, run.rank, ())
        if layout.real == "label":
            labels = labels_from_frame(source)
            return Lines(labels.query_id, labels.doc_id, labels.label, None, ())
        qrels = qrels_from_frame(source)
        return Lines(qrels.query_id, qrels.doc_id, None, qrels.relevance.astype(np.int32), ())


@contextlib.contextmanager
def _located(path: Path) -> Iterator[None]:
    """Name the file in an error about what is in it."""
    try:
        yield
    except InputError as error:
        raise InputError(error.reason, path=path, hint=error.hint) from None


def _json(text: bytes, path: Path) -> Any:
    """Value of a JSON text, or of the objects on its lines: a list of rows, or one mapping of all topics."""
    lines = [(n, line) for n, line in enumerate(text.split(b"\n"), 1) if line and not line.isspace()]
    try:
        _loaded(lines[0][1])
    except (ValueError, RecursionError):
        lines = [(1, text)]  # an object over several lines
    values = []
    for number, line in lines:
        try:
            values.append(_loaded(line))
        except (ValueError, RecursionError) as error:
            reason = f"is no proper JSON ({str(error).partition(': line')[0]})"
            place = number + getattr(error, "lineno", 1) - 1
            raise InputError(reason, path=path, line=place, hint=f"write it again; {_FORMS}") from None
    if len(values) == 1:
        return values[0]
    if all(isinstance(value, Mapping) and not _is_nested_row(value) for value in values):
        topics = [item for value in values for item in value.items()]
        merged = dict(topics)
        if len(merged) == len(topics):
            return merged
        raise InputError("has a topic on two lines", path=path, hint="keep one object of each topic")
    return values


def _loaded(text: bytes) -> Any:
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object of its pairs; a name that is there twice would hide a value."""
    value = dict(pairs)
    if len(value) < len(pairs):
        name = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        raise ValueError(f"{name!r} is there twice")
    return value


def _is_nested_row(value: Any) -> bool:
    """Whether an object is a row: with a topic and a document among its fields, or one level below."""
    names = set(_flat(value)) if isinstance(value, Mapping) else set()
    return bool(names & set(NAMES["query_id"])) and bool(names & set(NAMES["doc_id"]))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with what is one level below: UMBRELA has ``{"query": {"qid": …}, "passage": {"docid": …}}``."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        flat |= dict(value) if isinstance(value, Mapping) else {name: value}
    return flat
