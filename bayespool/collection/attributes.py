"""Attributes of runs and topics: the columns of a table, by id; which column is of what."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.errors import InputError
from bayespool.reading.frames import NAMES, all_columns
from bayespool.reading.lines import parse_number
from bayespool.reading.readers import ORGANIZATION_NAMES, Reading, read_columns, with_organizations
from bayespool.tables.formatting import counted

Of: TypeAlias = Literal["run", "topic", "document"]
Table: TypeAlias = Any
"""A table with a row for each run, topic or document: one or several CSV or Parquet files, a data frame or
rows; of runs and topics also a mapping from ids to mappings from columns to values.
"""
UNKNOWN = "unknown"
"""Level of what a table has no value for."""

COLUMN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
"""Names that a formula can have."""
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
        if self.first_text(name):
            return None
        values = self.columns[name]
        return np.array([float(values.get(each, math.nan)) for each in ids])

    def first_text(self, name: str) -> str:
        """Return the first value of a column that is no finite number; empty without one."""
        numbers = ((text, parse_number(text.encode())) for text in self.columns[name].values())
        return next((text for text, n in numbers if n is None or not math.isfinite(n)), "")

    def joined(self, other: Attributes, of: Of, path: Path | None = None) -> Attributes:
        """Return these attributes with others added, of a file that errors name.

        A run or topic with two values is an `InputError`.
        """
        columns = {name: dict(values) for name, values in self.columns.items()}
        for name, values in other.columns.items():
            texts = columns.setdefault(name, {})
            for each, text in values.items():
                if texts.setdefault(each, text) != text:
                    reason = f"{of} {each!r} has {name} {text!r} here and {texts[each]!r} in another table"
                    raise InputError(reason, path=path, hint="keep one of them")
        return Attributes(columns)

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
        return _columns_of_ids(*read_columns(Path(source), reading), of, organization, Path(source))
    if isinstance(source, list | tuple) and all(isinstance(each, str | os.PathLike) for each in source):
        paths, joined = list(map(Path, source)), NO_ATTRIBUTES
        named = with_organizations(paths, reading) if of == "run" else paths
        for path in paths:
            of_path = organization if path in named else ()
            more = gather_attributes(path, of, reading=reading, organization=of_path)
            joined = joined.joined(more, of, path)
        return joined
    if isinstance(source, Mapping):
        rows = {str(each): row for each, row in source.items() if isinstance(row, Mapping)}
        if of == "topic" and len(rows) < len(source):
            raise InputError("topics without columns", hint='write {"topic": {"column": value}}')
        names = dict.fromkeys(name for row in rows.values() for name in row)
        columns: dict[str, Iterable[Any]] = {n: [row.get(n) for row in rows.values()] for n in names}
        return _columns_of_ids({_IDS[of][0]: list(rows), **columns}, [], of, organization)
    return _columns_of_ids(all_columns(source, f"table of {of}s"), [], of, organization)


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
    ids, by_name = [value_text(each) for each in columns[key]], dict[str, dict[str, str]]()
    for name, values in columns.items():
        if name in left_out or not COLUMN_NAME.fullmatch(name):  # no formula could name it
            continue
        texts = by_name.setdefault(name, {})
        for row, (each, text) in enumerate(zip(ids, map(value_text, values), strict=True)):
            if text and texts.setdefault(each, text) != text:
                reason = f"{of} {each!r} has {name} {text!r} here and {texts[each]!r} before"
                line = lines[row] if lines else None
                raise InputError(reason, path=path, line=line, hint="keep one of them")
    return Attributes({name: values for name, values in by_name.items() if values})


def value_text(value: object) -> str:
    """Return a value as text, empty where it is missing."""
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):  # NaN
        return ""
    return str(value).strip()


def unpack_attributes(columns: Any) -> Attributes:
    """Return attributes whose columns are of a file; ValueError for others."""
    if not all(isinstance(value, str) for column in columns.values() for value in column.values()):
        raise ValueError("attributes are no texts")
    return Attributes(columns)


def describe_unknown(of: Of, name: str, ids: Sequence[str], *, is_level: bool) -> str:
    """Return a text on runs or topics without a value in a column of levels, or of numbers."""
    verb, taken = "has" if len(ids) == 1 else "have", f"a level of its own, {UNKNOWN!r}"
    return f"{counted(len(ids), of)} {verb} no {name}, {ids[0]!r} for one: {taken if is_level else 'average'}"
