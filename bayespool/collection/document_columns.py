"""Columns of numbers of documents, on a topic or all; attributes of a collection from tables of all kinds."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import FloatArray
from bayespool.collection.attributes import (
    COLUMN_NAME,
    Attributes,
    Table,
    gather_attributes,
    value_text,
)
from bayespool.collection.judges import find_pairs
from bayespool.errors import InputError, some
from bayespool.reading.archives import read_member
from bayespool.reading.frames import NAMES, all_columns, to_ids
from bayespool.reading.lines import parse_number, repeats
from bayespool.reading.readers import Reading, read_columns

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

AnyCollection = TypeVar("AnyCollection", bound="Collection")


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

    def rows(self, collection: Collection) -> pa.Array:
        """Return the row of each document of a collection, null where there is none, shape (pair,)."""
        if self.query_id is None:
            return pc.index_in(collection.doc_ids, value_set=self.doc_id.cast(collection.doc_ids.type))
        pair, row = find_pairs(collection, self.query_id, self.doc_id), np.full(len(collection.doc_ids), -1)
        there = np.flatnonzero(pair >= 0)
        row[pair[there]] = there
        return pa.array(row, mask=row < 0)

    def values(self, collection: Collection, name: str) -> FloatArray:
        """Return a column's value of each document of a collection, NaN for none, shape (pair,)."""
        row = self.rows(collection).fill_null(-1).to_numpy()
        return np.asarray(np.append(self.columns[name], np.nan)[row])


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


def with_attributes(
    collection: AnyCollection,
    runs: Attributes,
    topics_table: Table,
    documents_table: Table = None,
    *,
    reading: Reading = Reading(),
) -> AnyCollection:
    """Return the collection with attributes of its runs, and those of tables of topics and of documents."""
    topics = gather_attributes(topics_table, "topic", reading=reading)
    if topics and not topics.select(collection.query_ids):
        listed = some(list(next(iter(topics.columns.values()))))
        names = f"{listed}, the collection {some(collection.query_ids)}"
        raise InputError(f"no topic with attributes is in the collection: the table has {names}")
    documents = gather_document_columns(documents_table, reading=reading)
    for table in documents:
        if table.rows(collection).null_count == len(collection.doc_ids):
            its, others = (some(ids[:4].to_pylist()) for ids in (table.doc_id, collection.doc_ids))
            reason = f"no document of the table is in the collection: it has {its}, the collection {others}"
            raise InputError(reason, hint="are its ids of documents and topics those of the judgments?")
    names_of = [name for table in documents for name in table.columns]
    if twice := [name for name in names_of if names_of.count(name) > 1]:
        raise InputError(f"two tables of documents have a column {twice[0]!r}", hint="rename one of them")
    given: dict[str, Any] = {"runs": runs, "topics": topics, "documents": documents}
    changed = {name: value for name, value in given.items() if value}
    return dataclasses.replace(collection, **changed) if changed else collection


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
