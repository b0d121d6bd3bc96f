"""Columns of numbers of documents, on a topic or all; attributes of a collection from tables of all kinds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayespool.arrays import FloatArray
from bayespool.collection.attributes import COLUMN_NAME, Table, value_text
from bayespool.errors import InputError
from bayespool.reading.archives import read_member
from bayespool.reading.frames import NAMES, all_columns, to_ids
from bayespool.reading.lines import parse_number, repeats
from bayespool.reading.readers import Reading, read_columns


@dataclass(frozen=True, eq=False)
class DocumentColumns:
    """Columns of numbers from one table of documents.

    Attributes
    ----------
    doc_id : pyarrow.StringArray, shape (row,)
    query_id : pyarrow.DictionaryArray, shape (row,), or None
        Topics of the rows; None if a document has the same values on all topics.
    columns : mapping of str to ndarray of float, shape (row,)
        By name; NaN where there is no value.
    """

    doc_id: pa.StringArray
    query_id: pa.DictionaryArray | None
    columns: Mapping[str, FloatArray]


def gather_document_columns(source: Table, *, reading: Reading = Reading()) -> tuple[DocumentColumns, ...]:
    """Return the columns of numbers of tables of documents: CSV or Parquet files, or a frame.

    Columns without a number are left out.

    Raises
    ------
    InputError
        No column of document ids, none of numbers, a text among numbers, or two values of one document.

    Examples
    --------
    >>> (table,) = gather_document_columns([{"document": "d1", "length": 7}, {"document": "d2", "length": 3}])
    >>> table.columns
    {'length': array([7., 3.])}
    """
    if source is None:
        return ()
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return (_table(*read_columns(path, reading), path),)
    if isinstance(source, list | tuple) and source and all(isinstance(s, str | os.PathLike) for s in source):
        return tuple(table for path in source for table in gather_document_columns(path, reading=reading))
    return (_table(all_columns(source, "table of documents"), [], None),)


def _table(columns: Mapping[str, Iterable[Any]], lines: Sequence[int], path: Path | None) -> DocumentColumns:
    lower, origin = {name.lower(): name for name in columns}, "table of documents"
    document, topic = (
        next((lower[n] for n in NAMES[kind] if n in lower), None) for kind in ("doc_id", "query_id")
    )
    if document is None:
        hint = f"it may be called {', '.join(NAMES['doc_id'])}; there are {', '.join(columns)}"
        raise InputError(f"no column of documents in the {origin}", path=path, hint=hint)
    try:
        doc_id = to_ids(columns[document], document, origin)
        topics = None if topic is None else to_ids(columns[topic], topic, origin).dictionary_encode()
    except InputError as error:
        raise InputError(error.reason, path=path, hint="give each row an id") from None
    by_name: dict[str, FloatArray] = {}
    for name, values in columns.items():
        if name in (document, topic) or not COLUMN_NAME.fullmatch(name):
            continue
        if (held := _numbers(list(map(value_text, values)), name, lines, path)) is not None:
            by_name[name] = held
    if not by_name:
        hint = f"name columns in letters, digits and underscores; there are {', '.join(columns)}"
        raise InputError(f"no column of numbers in the {origin}", path=path, hint=hint)
    of_all = pa.array([""] * len(doc_id), pa.string()).dictionary_encode()
    if (again := repeats(of_all if topics is None else topics, doc_id)).size:
        row = int(again[0])
        reason = f"document {doc_id[row].as_py()!r} is repeated{'' if topics is None else ' on its topic'}"
        raise InputError(reason, path=path, line=lines[row] if lines else None, hint="keep one of the rows")
    return DocumentColumns(doc_id, topics, by_name)


def _numbers(texts: Sequence[str], name: str, lines: Sequence[int], path: Path | None) -> FloatArray | None:
    """Return a column as numbers, NaN where it is empty; None if it has none."""
    parsed = [parse_number(text.encode()) if text else np.nan for text in texts]
    numbers = np.array([np.inf if number is None else number for number in parsed])
    if not np.isfinite(numbers).any():
        return None
    if np.isinf(numbers).any():
        row = int(np.isinf(numbers).argmax())
        reason = f"{name} is {texts[row]!r}{'' if lines else f' in row {row + 1}'}, no number"
        hint = "write a number, leave it empty if it is unknown, or take the column out"
        raise InputError(reason, path=path, line=lines[row] if lines else None, hint=hint)
    return numbers


def pack_columns(documents: Iterable[DocumentColumns]) -> dict[str, pa.Table]:
    """Return tables, by names of members of an archive, that `unpack_columns` makes the columns of."""
    members = {}
    for k, table in enumerate(documents):
        topics = {} if table.query_id is None else {"query_id": table.query_id.dictionary_decode()}
        members[f"{_MEMBER}{k}.parquet"] = pa.table({"doc_id": table.doc_id, **topics, **table.columns})
    return members


def unpack_columns(members: Mapping[str, bytes]) -> tuple[DocumentColumns, ...]:
    """Return the columns of documents that are among the members of an archive; ValueError for others."""
    names = sorted(name for name in members if name.startswith(_MEMBER))
    return tuple(table for name in names for table in gather_document_columns(read_member(members[name])))


_MEMBER = "columns-"
