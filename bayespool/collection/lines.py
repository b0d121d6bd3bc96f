r"""Parsers of the text of a TREC file into columns: a fast one by pyarrow, and a tolerant one line by line.

Both read UTF-8 with ``\n`` line ends, as `bayespool.collection.files.read_text` returns it. White space is
ASCII's, as in trec_eval; an id may hold any other character.
"""

from __future__ import annotations

import dataclasses
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from bayespool.collection.kinds import refuse_file_of_another_kind
from bayespool.collection.records import Skipped
from bayespool.collection.repeats import has_repeats, pair_codes, repeats
from bayespool.collection.resources import MEMORY
from bayespool.errors import InputError

_BLANKS_TO_SPACE = bytes.maketrans(b"\t\v\f", b"   ")
_INVISIBLE = tuple(c.encode() for c in "\ufeff\xa0\u2007\u202f")  # byte order mark, no-break spaces
_INVISIBLE_ANYWHERE = re.compile(b"|".join(_INVISIBLE))
_INVISIBLE_AT_AN_END = re.compile(
    b"^(?:%b)+|(?:%b)+$" % (_INVISIBLE_ANYWHERE.pattern, _INVISIBLE_ANYWHERE.pattern)
)
_INVISIBLE_REMOVED = "read without byte order marks and no-break spaces"
_INTEGER = re.compile(rb"[+-]?[0-9]{1,100}")
_BLOCK_BYTES = 1 << 24  # parsed by pyarrow at a time: bounds its memory
_MAX_LINE_BYTES = 1 << 20
_SCAN_BLOCK_BYTES = 1 << 16  # a block that stays in the processor's cache
_LENIENT_HINT = "fix the file, or pass strict=False (--lenient) to "


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns of a kind of file, and which of them are read."""

    name: str  # of the kind of file, in messages
    columns: tuple[str, ...]  # in the order of the file; query_id and doc_id are always read
    width: str  # number of columns in words
    integer: str | None  # column read as integers (rank, relevance)
    bounds: tuple[int, int]  # smallest and largest integer accepted
    real: str | None  # column read as real numbers (score, label)
    wants_tag: bool  # whether distinct values of ``tag`` are collected
    keep: str  # which of several lines about one document strict=False keeps


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Columns of a file, shape (line,) each, for the lines kept, in file order."""

    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    real: npt.NDArray[np.float64] | None
    integer: npt.NDArray[np.int32] | None
    tags: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()


QRELS = Layout(
    name="a qrels file",
    columns=("query_id", "iteration", "doc_id", "relevance"),
    width="four",
    integer="relevance",
    bounds=(-(2**15), 2**15 - 1),
    real=None,
    wants_tag=False,
    keep="last line",
)

LABELS = dataclasses.replace(
    QRELS,
    name="a file of labels",
    columns=("query_id", "iteration", "doc_id", "label"),
    integer=None,
    real="label",
)


def run_layout(*, ranks: bool, tag: bool) -> Layout:
    """Layout of a run file, with ranks and tag where requested."""
    return Layout(
        name="a run file",
        columns=("query_id", "iteration", "doc_id", "rank", "score", "tag"),
        width="six",
        integer="rank" if ranks else None,
        bounds=(-(2**31), 2**31 - 1),
        real="score",
        wants_tag=tag,
        keep="lowest rank" if ranks else "best score",
    )


def parse_lines(text: bytes, path: Path, layout: Layout, *, strict: bool) -> Lines:
    """Columns of a text in a layout, by the fast parser where possible."""
    lines = parse_fast(text, layout)
    if lines is not None:
        return lines
    refuse_file_of_another_kind(text, path, layout.columns[4 if layout.real == "score" else 3])
    return parse_tolerantly(text, path, layout, strict=strict)


def parse_fast(text: bytes, layout: Layout) -> Lines | None:
    """Columns by pyarrow, or None if anything about the lines is unusual."""
    if _has_invisible(text) or _has_long_line(text):
        return None
    text, delimiter = _one_delimiter(text)
    symbols = pa.dictionary(pa.int32(), pa.string())
    types = {"query_id": symbols, "doc_id": pa.string()}
    if layout.integer:
        types[layout.integer] = symbols  # few distinct values, which `_integer` converts
    if layout.real:
        types[layout.real] = pa.float64()
    if layout.wants_tag:
        types["tag"] = symbols
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            read_options=pa.csv.ReadOptions(
                use_threads=False, block_size=_BLOCK_BYTES, column_names=list(layout.columns)
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter, quote_char=False, double_quote=False, escape_char=False
            ),
            convert_options=pa.csv.ConvertOptions(
                check_utf8=False,  # read_text has checked
                column_types=types,
                include_columns=list(types),
                null_values=[],
                strings_can_be_null=False,
            ),
            memory_pool=MEMORY,
        )
        query_id, doc_id = _one_chunk(table, "query_id"), _one_chunk(table, "doc_id")
        integer = None if layout.integer is None else _integers(_one_chunk(table, layout.integer), layout)
        real = None if layout.real is None else _one_chunk(table, layout.real).to_numpy()
        tags = tuple(_one_chunk(table, "tag").dictionary.to_pylist()) if layout.wants_tag else ()
    except (pa.ArrowException, _BadLine):
        return None
    if real is not None and np.isnan(real).any():
        return None
    if has_repeats(query_id, doc_id):
        return None
    return Lines(query_id, doc_id, real, integer, tags)


def _one_delimiter(text: bytes) -> tuple[bytes, str]:
    """Text with one delimiter between columns and none at the ends of a line, and that delimiter."""
    delimiter = b" " if b" " in text else b"\t"
    if b"\v" in text or b"\f" in text or (delimiter == b" " and b"\t" in text):
        text, delimiter = text.translate(_BLANKS_TO_SPACE), b" "
    if not _has_blanks_together(text):
        return text.strip(delimiter), delimiter.decode()
    if delimiter * 2 in text:  # half the time of repeated bytes.replace, without the GIL
        characters = np.frombuffer(text, dtype=np.uint8)
        keep = characters != delimiter[0]
        keep[1:] |= keep[:-1].copy()
        text = characters[keep].tobytes()
    if delimiter + b"\n" in text:
        text = text.replace(delimiter + b"\n", b"\n")
    if b"\n" + delimiter in text:
        text = text.replace(b"\n" + delimiter, b"\n")
    return text.strip(delimiter), delimiter.decode()


def _has_blanks_together(text: bytes) -> bool:
    """Whether two bytes of white space follow each other; faster than a search for each pair."""
    characters = np.frombuffer(text, dtype=np.uint8)
    for start in range(0, len(text), _SCAN_BLOCK_BYTES):
        blank = characters[start : start + _SCAN_BLOCK_BYTES + 1] <= ord(" ")
        if (blank[1:] & blank[:-1]).any():
            return True
    return False


def _one_chunk(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.unify_dictionaries(MEMORY).combine_chunks(MEMORY)


def _integers(column: pa.DictionaryArray, layout: Layout) -> npt.NDArray[np.int32]:
    values = [_integer(value.encode(), layout) for value in column.dictionary.to_pylist()]
    integers: npt.NDArray[np.int32] = np.array(values, dtype=np.int32)[column.indices.to_numpy()]
    return integers


def parse_tolerantly(text: bytes, path: Path, layout: Layout, *, strict: bool) -> Lines:
    """Columns line by line; the first bad line raises an `InputError` if strict, else it is skipped."""
    queries: dict[bytes, int] = {}
    documents: list[bytes] = []
    tags: dict[bytes, int] = {}
    query_codes, integers = array("i"), array("i")
    reals, numbers = array("d"), array("q")
    tally: dict[str, list[int]] = {}  # reason -> [lines, first line]
    malformed: InputError | None = None
    width = len(layout.columns)
    for number, line in enumerate(iter(partial(BytesIO(text).readline, _MAX_LINE_BYTES + 1), b""), start=1):
        if len(line) > _MAX_LINE_BYTES:
            reason = f"is longer than {_MAX_LINE_BYTES:,} bytes"
            raise InputError(reason, path=path, line=number, hint=f"{layout.name} has short lines")
        fields = line.split()
        if not fields:
            continue
        fields, problem = _without_invisible(fields) if _has_invisible(line) else (fields, "")
        try:
            if problem and strict:
                raise _BadLine(_INVISIBLE_REMOVED, problem, "take such characters off")
            if problem:
                tally.setdefault(_INVISIBLE_REMOVED, [0, number])[0] += 1
            if len(fields) < width or (strict and len(fields) > width):
                raise _wrong_width(len(fields), layout)
            real = _real(fields[layout.columns.index(layout.real)], layout.real) if layout.real else 0.0
            integer = _integer(fields[layout.columns.index(layout.integer)], layout) if layout.integer else 0
        except _BadLine as bad:
            if strict:
                malformed = InputError(bad.detail, path=path, line=number, hint=_LENIENT_HINT + bad.remedy)
                break
            tally.setdefault(bad.reason, [0, number])[0] += 1
            continue
        if len(fields) > width:
            tally.setdefault(_wrong_width(len(fields), layout).reason, [0, number])[0] += 1
        query_codes.append(queries.setdefault(fields[0], len(queries)))
        documents.append(fields[2])
        reals.append(real)
        integers.append(integer)
        numbers.append(number)
        if layout.wants_tag:
            tags.setdefault(fields[5], number)

    query_id, doc_id = _symbols(query_codes, queries), _text(documents)
    again = repeats(query_id, doc_id)
    if strict and again.size:  # on an earlier line than the malformed one
        raise _repeated(int(again[0]), query_id, doc_id, numbers, path, layout)
    if malformed is not None:
        raise malformed
    if not numbers:
        reason = f"no line can be used ({'; '.join(tally)})"
        hint = f"{layout.name} has {layout.width} columns: {' '.join(layout.columns)}"
        raise InputError(reason, path=path, hint=hint)
    kept = np.arange(len(numbers))
    if again.size:
        reason = f"skipped, document repeated in its topic ({layout.keep} kept)"
        tally[reason] = [again.size, numbers[int(again[0])]]
        kept = _best_of_each(query_id, doc_id, np.array(reals), np.array(integers), layout)
    return Lines(
        query_id.take(pa.array(kept)),
        doc_id.take(pa.array(kept)),
        np.array(reals)[kept] if layout.real else None,
        np.array(integers, dtype=np.int32)[kept] if layout.integer else None,
        tuple(tag.decode() for tag in tags),
        tuple(Skipped(path, reason, count, first) for reason, (count, first) in tally.items()),
    )


def _symbols(codes: array[int], values: dict[bytes, int]) -> pa.DictionaryArray:
    names = pa.array([value.decode() for value in values], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(np.array(codes, dtype=np.int32)), names)


def _text(values: Sequence[bytes]) -> pa.StringArray:
    return pa.array(values, pa.binary()).cast(pa.string())


def _best_of_each(
    query_id: pa.DictionaryArray,
    doc_id: pa.StringArray,
    reals: npt.NDArray[np.float64],
    integers: npt.NDArray[np.int32],
    layout: Layout,
) -> npt.NDArray[np.intp]:
    """Entries to keep, ascending, one per (topic, document): `Layout.keep`, the first of equals."""
    codes, place = pair_codes(query_id, doc_id), np.arange(len(doc_id))
    if layout.integer == "rank":
        order = np.lexsort((place, integers, codes))
    elif layout.real == "score":
        with np.errstate(over="ignore"):  # single precision, in which trec_eval orders a ranking
            order = np.lexsort((place, -reals.astype(np.float32), codes))
    else:
        order = np.lexsort((-place, codes))
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.diff(codes[order]) != 0
    return np.sort(order[first])


def _has_long_line(text: bytes) -> bool:
    """Whether a line may be too long: such a line fills a block of half its length."""
    half = _MAX_LINE_BYTES // 2
    return any(text.find(b"\n", end - half, end) < 0 for end in range(half, len(text) + 1, half))


def _has_invisible(text: bytes) -> bool:
    return not text.isascii() and any(character in text for character in _INVISIBLE)


def _without_invisible(fields: list[bytes]) -> tuple[list[bytes], str]:
    """Columns without invisible characters in the topic and around the document, and the first problem
    or ''.
    """
    bare, problem = list(fields), ""
    for name, place, pattern in (("topic", 0, _INVISIBLE_ANYWHERE), ("document", 2, _INVISIBLE_AT_AN_END)):
        if place < len(fields) and pattern.search(fields[place]):
            bare[place] = pattern.sub(b"", fields[place])
            problem = (
                problem or f"{name} {_quoted(fields[place])} has a byte order mark or a no-break space in it"
            )
    return [field for field in bare if field], problem


class _BadLine(Exception):
    """A line that breaks the layout: its reason when counted, detail when raised, and remedy of
    strict=False.
    """

    def __init__(self, reason: str, detail: str, remedy: str = "skip such lines") -> None:
        super().__init__(detail)
        self.reason, self.detail, self.remedy = reason, detail, remedy


def _wrong_width(n_columns: int, layout: Layout) -> _BadLine:
    detail = f"expected {len(layout.columns)} columns, found {n_columns}"
    if n_columns < len(layout.columns):
        return _BadLine(f"skipped, fewer than {layout.width} columns", detail)
    return _BadLine(f"used the first {layout.width} columns", detail, f"use the first {layout.width} columns")


def _real(token: bytes, name: str) -> float:
    try:
        value = float(token) if b"_" not in token else None  # Python reads 1_000 as a number
    except ValueError:
        value = None
    if value is None:
        raise _BadLine(f"skipped, {name} is not a number", f"{name} {_quoted(token)} is not a number")
    if value != value:
        raise _BadLine(f"skipped, {name} is NaN", f"{name} is NaN, which has no place in an order")
    return value


def _integer(token: bytes, layout: Layout) -> int:
    name, (low, high) = layout.integer, layout.bounds
    if not _INTEGER.fullmatch(token):
        raise _BadLine(f"skipped, {name} is not an integer", f"{name} {_quoted(token)} is not an integer")
    value = int(token)
    if not low <= value <= high:
        detail = f"{name} {_quoted(token)} is out of range ({low:,} to {high:,})"
        raise _BadLine(f"skipped, {name} is out of range", detail)
    return value


def _quoted(token: bytes) -> str:
    text = token.decode()
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _repeated(
    entry: int,
    query_id: pa.DictionaryArray,
    doc_id: pa.StringArray,
    numbers: Sequence[int],
    path: Path,
    layout: Layout,
) -> InputError:
    codes = pair_codes(query_id, doc_id)
    first = numbers[int(np.argmax(codes == codes[entry]))]
    reason = f"document {doc_id[entry]} is repeated in topic {query_id[entry]} (first on line {first})"
    hint = f"{_LENIENT_HINT}keep the {layout.keep} of each document"
    return InputError(reason, path=path, line=numbers[entry], hint=hint)
