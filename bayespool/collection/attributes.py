"""Attributes of runs and topics: the columns of a table, by id."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection.files import read_bytes
from bayespool.collection.frames import NAMES, all_columns
from bayespool.collection.readers import ORGANIZATION_NAMES, Reading, csv_rows
from bayespool.errors import InputError, some
from bayespool.tables.formatting import counted

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

AnyCollection = TypeVar("AnyCollection", bound="Collection")

Of: TypeAlias = Literal["run", "topic"]
Table: TypeAlias = Any
"""A table with a row for each run or topic: one or several CSV files, a data frame, rows, or a mapping from
ids to mappings from columns to values.
"""
UNKNOWN = "unknown"
"""Level of what a table has no value for."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_IDS: Mapping[Of, tuple[str, ...]] = {"run": NAMES["run_id"], "topic": NAMES["query_id"]}


@dataclass(frozen=True)
class Attributes:
    """Columns of attributes of runs, or of topics; texts are levels, and numbers are numbers.

    Attributes
    ----------
    columns : mapping of str to mapping of str to str
        By column the values as texts, by id; what has no value is left out.
    """

    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.columns)

    def texts(self, name: str, ids: Iterable[str]) -> list[str]:
        """Return a column's values as texts, `UNKNOWN` where there is none."""
        return [self.columns[name].get(each, UNKNOWN) for each in ids]

    def numbers(self, name: str, ids: Iterable[str]) -> FloatArray | None:
        """Return a column's values as numbers, NaN where there is none; None if one of them is no number."""
        try:
            values = {each: float(text) for each, text in self.columns[name].items()}
        except ValueError:
            return None
        numbers = np.array([values.get(each, math.nan) for each in ids], dtype=float)
        return None if np.isinf(numbers).any() else numbers

    def joined(self, other: Attributes) -> Attributes:
        """Return these attributes with others added; those of both are the others'."""
        names = dict.fromkeys([*self.columns, *other.columns])
        return Attributes({n: {**self.columns.get(n, {}), **other.columns.get(n, {})} for n in names})

    def select(self, ids: Sequence[str]) -> Attributes:
        """Return the attributes of some runs or topics, without columns that have no value left."""
        kept = {n: {i: values[i] for i in ids if i in values} for n, values in self.columns.items()}
        return Attributes({name: values for name, values in kept.items() if values})


NO_ATTRIBUTES = Attributes()


def gather_attributes(
    source: Table, of: Of, *, reading: Reading = Reading(), organization: Sequence[str] = ORGANIZATION_NAMES
) -> Attributes:
    """Return the columns of a table of runs or topics but for the ids, and for organizations of runs.

    Organizations are in the column with the first of the names ``organization`` that the table has.

    Raises
    ------
    InputError
        No column of ids, or two values for one id.

    Examples
    --------
    >>> gather_attributes({"q1": {"length": 3}, "q2": {"length": None}}, "topic").columns
    {'length': {'q1': '3'}}
    """
    if source is None or hasattr(source, "__next__"):  # an iterator, which can be read once
        return NO_ATTRIBUTES
    if isinstance(source, str | os.PathLike):
        return _columns_of_ids(*_read(Path(source), reading), of, organization, Path(source))
    if isinstance(source, list | tuple) and all(isinstance(each, str | os.PathLike) for each in source):
        joined = NO_ATTRIBUTES
        for path in source:
            joined = joined.joined(gather_attributes(path, of, reading=reading, organization=organization))
        return joined
    if isinstance(source, Mapping):
        rows = {str(each): row for each, row in source.items() if isinstance(row, Mapping)}
        if of == "topic" and len(rows) < len(source):
            raise InputError("topics without columns", hint='write {"topic": {"column": value}}')
        names = dict.fromkeys(name for row in rows.values() for name in row)
        columns: dict[str, Iterable[Any]] = {n: [row.get(n) for row in rows.values()] for n in names}
        return _columns_of_ids({_IDS[of][0]: list(rows), **columns}, [], of, organization)
    return _columns_of_ids(all_columns(source, f"table of {of}s"), [], of, organization)


def _read(path: Path, reading: Reading) -> tuple[dict[str, list[str]], list[int]]:
    """Return the columns of a CSV file with the line number of each row; none of an XML file."""
    data = read_bytes(path, max_size=reading.max_file_size)
    rows = [] if data.lstrip().startswith(b"<") else list(csv_rows(data, path))
    if not rows:
        return {}, []
    (header, _), *others = rows
    return {name: [row[k] for row, _ in others] for k, name in enumerate(header)}, [n for _, n in others]


def _columns_of_ids(
    columns: Mapping[str, Iterable[Any]],
    lines: Sequence[int],
    of: Of,
    organization: Sequence[str],
    path: Path | None = None,
) -> Attributes:
    if not columns:
        return NO_ATTRIBUTES
    lower = {name.lower(): name for name in columns}
    key = next((lower[name] for name in _IDS[of] if name in lower), None)
    if key is None:
        hint = f"begin with a column {_IDS[of][0]}; there are {', '.join(columns)}"
        raise InputError(f"no column {_IDS[of][0]} in the table of {of}s", path=path, hint=hint)
    left_out = {key, *([lower[n] for n in organization if n in lower][:1] if of == "run" else [])}
    ids, by_name = [_text(each) for each in columns[key]], dict[str, dict[str, str]]()
    for name, values in columns.items():
        if name in left_out or not _NAME.fullmatch(name):  # no formula could name it
            continue
        texts = by_name.setdefault(name, {})
        for row, (each, text) in enumerate(zip(ids, map(_text, values), strict=True)):
            if text and texts.setdefault(each, text) != text:
                reason = f"{of} {each!r} has {name} {text!r} here and {texts[each]!r} before"
                line = lines[row] if lines else None
                raise InputError(reason, path=path, line=line, hint="keep one of them")
    return Attributes({name: values for name, values in by_name.items() if values})


def _text(value: object) -> str:
    """Return a value as text, empty where it is missing."""
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):  # NaN
        return ""
    return str(value).strip()


def with_attributes(
    collection: AnyCollection, runs: Attributes, topics_table: Table, *, reading: Reading = Reading()
) -> AnyCollection:
    """Return the collection with attributes of its runs, and those of a table of topics."""
    topics = gather_attributes(topics_table, "topic", reading=reading)
    if topics and not topics.select(collection.query_ids):
        listed = some(list(next(iter(topics.columns.values()))))
        names = f"{listed}, the collection {some(collection.query_ids)}"
        raise InputError(f"no topic with attributes is in the collection: the table has {names}")
    if not runs and not topics:
        return collection
    return dataclasses.replace(collection, runs=runs or collection.runs, topics=topics or collection.topics)


def find_column(runs: Attributes, topics: Attributes, name: str) -> tuple[Of, Attributes]:
    """Return what a column is of, and the table that has it, or raise `InputError`."""
    tables: dict[Of, Attributes] = {"run": runs, "topic": topics}
    having = [(of, table) for of, table in tables.items() if name in table.columns]
    if len(having) == 2:
        raise InputError(f"runs and topics both have a column {name!r}", hint="rename one of them")
    if not having:
        named = [f"{', '.join(table.columns)} of {of}s" for of, table in tables.items() if table]
        hint = "give columns beside --organizations, or those of topics by --reading topics_table=FILE"
        hint = f"it has {' and '.join(named)}" if named else hint
        raise InputError(f"the collection has no column {name!r}", hint=hint)
    return having[0]


def describe_unknown(of: Of, name: str, ids: Sequence[str], *, is_level: bool) -> str:
    """Return a text on runs or topics without a value in a column of levels, or of numbers."""
    verb, taken = "has" if len(ids) == 1 else "have", f"a level of its own, {UNKNOWN!r}"
    return f"{counted(len(ids), of)} {verb} no {name}, {ids[0]!r} for one: {taken if is_level else 'average'}"
