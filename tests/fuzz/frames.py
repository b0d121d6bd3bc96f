"""Runs, judgments and labels in memory: frames of pandas, polars and Arrow, dictionaries and rows.

What has to be read of them is worked out cell by cell, from the values as the frame gives them back.
"""

from __future__ import annotations

import math
import random
from collections import namedtuple
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fuzz.engine import Target, refused
from fuzz.reference import has_failures

from bayespool.reading import labels_from_frame, qrels_from_frame, run_from_frame

IDS: list[Any] = [
    "d1", "d2", "1", "01", "é", " ", "a b", "", "\ud800", "\0", "x" * 300, 1, 2, -7, 10**30, 1.0, 1.5, None,
    True, float("nan"), b"d1", ("a",), [1], np.int64(5), np.float32(2), np.str_("s"), "\ufeffd", "nan",
]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, 2, -1, 0.5, 2.0, 32767, 32768, -32768, -32769, 1e39, 1e308, 10**400, 2**63, 2**31, math.inf,
    -math.inf, math.nan, None, "1", "x", "", True, b"2", Fraction(1, 3), [1], {}, np.int8(3), 1j,
]  # fmt: skip
FORMS = ("rows", "tuples", "nested", "pandas", "polars", "arrow", "lists")
NAMES = {
    "query_id": ["query_id", "qid", "q_id", "topic"], "doc_id": ["doc_id", "docno", "docid", "did"],
    "score": ["score", "sim"], "relevance": ["relevance", "label", "rel", "score"],
    "label": ["label", "relevance", "rel", "score"], "rank": ["rank"], "run_id": ["run_id", "run", "tag"],
}  # fmt: skip
READ = {
    "score": lambda frame: run_from_frame(frame, "r"),
    "relevance": qrels_from_frame,
    "label": labels_from_frame,
}


def _columns(rng: random.Random, value: str, n: int) -> dict[str, list[Any]]:
    """Plain columns, with some cells or whole columns of something else."""
    columns: dict[str, list[Any]] = {
        "query_id": [f"{1 + i // 4}" for i in range(n)],
        "doc_id": [f"d{i}" for i in range(n)],
        value: [float(n - i) if value != "relevance" else i % 3 for i in range(n)],
    }
    if value == "score" and rng.random() < 0.3:
        columns["rank"] = list(range(n))
    for name, cells in columns.items():
        odd = IDS if name.endswith("_id") else NUMBERS
        if rng.random() < 0.15:
            one = type(rng.choice(odd))
            cells[:] = [rng.choice([v for v in odd if type(v) is one]) for _ in cells]
        for _ in range(rng.choice((0, 0, 0, 1, 2))):
            cells[rng.randrange(n)] = rng.choice(odd)
    named = {rng.choice(NAMES[name]) if rng.random() < 0.3 else name: c for name, c in columns.items()}
    if rng.random() < 0.1:
        del named[rng.choice(list(named))]
    if rng.random() < 0.1:
        named[rng.choice(["run", "extra", "score", "", "rank"])] = [rng.choice(NUMBERS) for _ in range(n)]
    return named


def _made(rng: random.Random, form: str, columns: dict[str, list[Any]], n: int) -> Any:
    """An object that holds the columns; what cannot be made is for the other package to refuse."""
    rows = [{name: cells[i] for name, cells in columns.items()} for i in range(n)]
    if form == "rows":
        if rng.random() < 0.1:
            rows[rng.randrange(n)].pop(next(iter(columns)))
        return rows
    if form == "tuples":
        return [namedtuple("Row", list(columns))(**row) for row in rows]
    if form == "nested":
        first, second, last = (list(columns.values()) * 3)[:3]
        nested: dict[Any, Any] = {}
        for topic, document, value in zip(first, second, last, strict=True):
            nested.setdefault(topic, {})[document] = value
        if rng.random() < 0.1:
            nested[rng.choice(["1", 1, None])] = rng.choice([1, [], {}, "x", None])
        return nested
    if form == "pandas":
        frame = pd.DataFrame(columns)
        if rng.random() < 0.2:
            frame = frame.convert_dtypes()
        if rng.random() < 0.1:
            frame = frame.astype({frame.columns[0]: "category"})
        if rng.random() < 0.1:
            frame = pd.concat([frame, frame[[frame.columns[-1]]]], axis=1)
        return frame.sort_index(ascending=rng.random() < 0.5)
    if form == "polars":
        made = pl.DataFrame(columns, strict=rng.random() < 0.5)
        return made.lazy() if rng.random() < 0.2 else made
    if form == "arrow":
        table = pa.table(columns)
        return (
            pa.concat_tables([table.slice(0, n // 2), table.slice(n // 2)]) if rng.random() < 0.3 else table
        )
    return rng.choice(
        [list(columns.values()), columns, [], {}, 5, None, object(), [[]], [None], [1, 2], iter(rows)]
    )


def _cells(frame: Any, form: str, value: str) -> list[tuple[Any, ...]] | None:
    """Topic, document, value and perhaps rank of each row as the object has them, or None."""
    wanted = ["query_id", "doc_id", value]
    if form == "nested":
        if any(not isinstance(inner, dict) for inner in frame.values()):
            return None
        return [(t, d, v) for t, inner in frame.items() for d, v in inner.items()]
    if form in ("rows", "tuples"):
        rows = [row if isinstance(row, dict) else row._asdict() for row in frame]
        names = list(rows[0])
        if any(set(row) != set(names) for row in rows):
            return None
        columns = {name: [row[name] for row in rows] for name in names}
    elif form == "pandas":
        names = list(frame.columns)
        known = {known for names in NAMES.values() for known in names} & set(names)
        if any(names.count(name) > 1 for name in known):
            return None
        columns = {name: list(frame[name]) for name in known}
    else:
        found = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
        columns = found.to_dict(as_series=False) if form == "polars" else found.to_pydict()
        names = list(columns)
    places = [next((called for called in NAMES[name] if called in names), None) for name in wanted]
    if None in places or (form == "tuples" and value == "relevance" and places[2] == "score"):
        return None  # such tuples are of runs
    if (
        value != "score"
        and places[2] in NAMES["score"]
        and {"rank", *NAMES.get("run_id", ("run",))} & set(names)
    ):
        return None
    if value == "score" and "rank" in names:
        places.append("rank")
    return list(zip(*(columns[name] for name in places if name is not None), strict=True))


def _id(cell: Any) -> str | None:
    if isinstance(cell, bool) or not isinstance(cell, str | int | np.integer):
        return None
    try:
        str(cell).encode()
    except UnicodeEncodeError:
        return None
    return str(cell) or None


def _number(cell: Any) -> float | None:
    """A number, or a text of one as numpy reads it; None where it is none or NaN."""
    if isinstance(cell, list | dict | tuple | complex) or cell is None or cell is pd.NA:
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _whole(number: float, low: int, high: int) -> bool:
    return math.isfinite(number) and number == int(number) and low <= number <= high


def _expected(cells: list[tuple[Any, ...]] | None, value: str) -> list[tuple[str, str, float]] | None:
    """Rows that have to be read, None where the object has to be refused."""
    found: dict[tuple[str, str], float] = {}
    for topic, document, *numbers in cells or ():
        pair, values = (_id(topic), _id(document)), [_number(number) for number in numbers]
        if None in pair or None in values or pair in found:
            return None
        if value == "relevance" and not _whole(values[0] or 0.0, -(2**15), 2**15 - 1):
            return None
        if len(values) > 1 and not _whole(values[1] or 0.0, -(2**31), 2**31 - 1):
            return None
        found[pair] = values[0]  # type: ignore[index, assignment]
    return [(*pair, number) for pair, number in found.items()] or None


def _check(rng: random.Random, folder: Path) -> bool:
    value, form, n = rng.choice(list(READ)), rng.choice(FORMS), rng.randint(1, 10)
    columns = _columns(rng, value, n)
    try:
        frame = _made(rng, form, columns, n)
        cells = _cells(frame, form, value) if form != "lists" else None
    except Exception:
        return False  # no such frame can be made
    found: Any = None
    with refused():
        found = READ[value](frame)
    if any(isinstance(cell, bytes) for row in cells or () for cell in row[2:]):
        return found is not None  # digits in bytes are numbers to numpy, and none to Arrow
    if value == "label" and form not in ("pandas", "lists"):  # null is no label
        cells = [row for row in cells or () if row[2] is not None] or None
    expected = _expected(cells, value)
    labels = [number for *_, number in expected or ()]
    if value == "label" and has_failures(labels or [0.0]):
        expected = [row for row in expected or () if row[2] >= 0]
    shown = f"{value} as {form}: {columns!r}"[:1500]
    if form == "lists":
        return found is not None
    if found is None:
        assert expected is None, f"refused, and it should be read: {shown}"
        return False
    read = found.query_id.to_pylist(), found.doc_id.to_pylist(), getattr(found, value).tolist()
    rows = list(zip(*read, strict=True))
    assert expected is not None, f"taken, and it should be refused: {shown}"
    assert rows == expected, f"{rows} is not {expected}: {shown}"
    return True


FRAMES = (Target("frames", _check),)
