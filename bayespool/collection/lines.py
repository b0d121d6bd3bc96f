"""Columns from the text of a TREC file, and checks of its kind and of repeated documents."""

from __future__ import annotations

import dataclasses
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from bayespool.collection.memory import MEMORY
from bayespool.collection.records import Skipped
from bayespool.errors import InputError

_SHORT_INTEGER = re.compile(rb"[+-]?[0-9]{1,9}")
_MAX_LINES_INSPECTED = 100

Look = Callable[[list[bytes]], bool]

_GIVE_RUN = "give runs among the runs, and here lines of query_id iteration doc_id"
_GIVE_OTHERS = "give judgments as the qrels (--qrels), labels as a judge (--judge), and runs here"


def refuse_file_of_another_kind(text: bytes, path: Path, last: str) -> None:
    """Refuse text that looks like another kind of file; ``last`` is the column of numbers expected."""
    first = _first_lines(text)
    if last == "score":
        if line := _first_if_most(first, _is_judgment):
            reason = "looks like judgments or labels (query_id iteration doc_id relevance), not like a run"
            raise InputError(reason, path=path, line=line, hint=_GIVE_OTHERS)
        return
    expected = "judgments" if last == "relevance" else "labels of a judge"
    if line := _first_if_most(first, _is_of_run):
        reason = f"looks like a run (query_id Q0 doc_id rank score tag), not like {expected}"
        raise InputError(reason, path=path, line=line, hint=f"{_GIVE_RUN} {last}")
    if (
        last == "relevance"
        and (line := _first_if_most(first, _is_label))
        and any(_is_fraction(f) for _, f in first)
    ):
        reason = "looks like labels of a judge (numbers that are not whole), not like judgments"
        hint = "give labels as a judge (--judge), and here judgments with whole numbers"
        raise InputError(reason, path=path, line=line, hint=hint)


def refuse_columns_of_another_kind(names: Iterable[object], last: str, origin: str, kind: str) -> None:
    """Refuse columns in memory that look like another kind; ``kind`` is what their object claims to be."""
    texts = {name for name in names if isinstance(name, str)}
    judged, of_run = texts & {"relevance", "label", "rel"}, texts & {"rank", "run_id", "run", "tag"}
    scored = texts & {"score", "sim"}
    if last == "score" and (kind == "qrels" or (judged and not scored)):
        seen = _columns(judged or scored)
        reason = f"{origin}: looks like judgments or labels ({seen}), not like a run"
        raise InputError(reason, hint="give judgments as qrels, labels as judges, and here runs with a score")
    if last == "score" or judged or not scored:
        return
    if of_run or (kind == "run" and last == "relevance"):
        reason = f"{origin}: looks like a run ({_columns(of_run | scored)}), not like {origin}"
        raise InputError(reason, hint=f"give runs as runs, and here a column {last}")


def _columns(names: set[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"


def _first_lines(text: bytes) -> list[tuple[int, list[bytes]]]:
    """Line numbers and columns of the first lines that are not blank."""
    lines: list[tuple[int, list[bytes]]] = []
    start = number = 0
    while start < len(text) and len(lines) < _MAX_LINES_INSPECTED:
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        number += 1
        if fields := text[start:end].split():
            lines.append((number, fields))
        start = end + 1
    return lines


def _first_if_most(lines: list[tuple[int, list[bytes]]], look: Look) -> int:
    """Number of the first line that looks so, if most lines do; else 0."""
    matches = [number for number, fields in lines if look(fields)]
    return matches[0] if 2 * len(matches) > len(lines) else 0


def _is_of_run(fields: list[bytes]) -> bool:
    """Whether a line has rank and score, and a tag after them or Q0 before; a tag may have blanks in it."""
    return (
        len(fields) >= 5
        and (len(fields) == 6 or fields[1].upper() == b"Q0")
        and _SHORT_INTEGER.fullmatch(fields[3]) is not None
        and _number(fields[4]) is not None
    )


def _is_judgment(fields: list[bytes]) -> bool:
    return len(fields) == 4 and _number(fields[3]) is not None


def _is_label(fields: list[bytes]) -> bool:
    return _is_judgment(fields) and _SHORT_INTEGER.fullmatch(fields[3]) is None


def _is_fraction(fields: list[bytes]) -> bool:
    """Whether the label is a number that is not whole."""
    value = _number(fields[3]) if len(fields) == 4 else None
    return value is not None and value % 1 != 0


def _number(token: bytes) -> float | None:
    try:
        return float(token)
    except ValueError:
        return None


_BLOCK_LINES = 1 << 13  # that stay in the processor's cache
_N_BYTES = 16  # at the end of an id, in its fingerprint
_LOW = np.array([2 ** (8 * min(n, 8)) - 1 for n in range(_N_BYTES + 1)], dtype="<u8")
_HIGH = np.array([2 ** (8 * max(n - 8, 0)) - 1 for n in range(_N_BYTES + 1)], dtype="<u8")
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def repeats(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> npt.NDArray[np.intp]:
    """Positions of entries whose (topic, document) occurred before, ascending; both arrays without nulls."""
    in_order = np.sort(_fingerprints(query_id, doc_id))
    if not (in_order[1:] == in_order[:-1]).any():
        return np.empty(0, dtype=np.intp)
    codes = pair_codes(query_id, doc_id)
    order = np.argsort(codes, kind="stable")
    return np.sort(order[1:][np.diff(codes[order]) == 0])


def has_repeats(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> bool:
    """Whether a (topic, document) occurs twice."""
    return repeats(query_id, doc_id).size > 0


def pair_codes(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> npt.NDArray[np.int64]:
    """Integer codes of (topic, document), shape (line,), equal for equal pairs."""
    documents = doc_id.dictionary_encode()
    codes: npt.NDArray[np.int64] = query_id.indices.to_numpy().astype(np.int64)
    codes *= len(documents.dictionary)
    codes += documents.indices.to_numpy()
    return codes


def _fingerprints(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> npt.NDArray[np.uint64]:
    """Hashes of the topic and the last bytes of the document id, shape (line,)."""
    _, ends, data = doc_id.buffers()
    offsets = np.frombuffer(ends, dtype=np.int32)[doc_id.offset : doc_id.offset + len(doc_id) + 1]
    text = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    words = np.concatenate([text, np.zeros(24 - len(text) % 8, dtype=np.uint8)]).view("<u8")
    topic = query_id.indices.to_numpy().astype(np.uint64) * _SECOND
    hashes = np.empty(len(topic), dtype=np.uint64)
    for start in range(0, len(topic), _BLOCK_LINES):
        block = slice(start, start + _BLOCK_LINES)
        bounds = offsets[start : start + _BLOCK_LINES + 1].astype(np.int64) - offsets[0]
        n = np.minimum(np.diff(bounds), _N_BYTES)
        begin = bounds[1:] - n
        word, shift = begin >> 3, ((begin & 7) << 3).view(np.uint64)
        rest, middle = np.uint64(63) - shift, words[word + 1]  # 64 − shift in two steps: it may be 64
        low = (words[word] >> shift | middle << rest << np.uint64(1)) & _LOW[n]
        high = (middle >> shift | words[word + 2] << rest << np.uint64(1)) & _HIGH[n]
        mixed = (low ^ topic[block]) * _FIRST
        hashes[block] = (mixed ^ mixed >> np.uint64(32) ^ high) * _SECOND
    return hashes


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
class FileLayout:
    """Columns of a kind of file, and which of them are read."""

    name: str  # of the kind of file, in messages
    columns: tuple[str, ...]  # in the order of the file; query_id and doc_id are always read
    width: str  # number of columns in words
    integer: str | None  # column read as integers (rank, relevance)
    needs_integer: bool  # whether a value that is no integer is a bad line; otherwise the column is left out
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


QRELS = FileLayout(
    name="a qrels file",
    columns=("query_id", "iteration", "doc_id", "relevance"),
    width="four",
    integer="relevance",
    needs_integer=True,
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


def run_layout(*, ranks: bool, tag: bool) -> FileLayout:
    """Layout of a run file; ranks are required, or left out if one is no integer; the tag if it is wanted."""
    return FileLayout(
        name="a run file",
        columns=("query_id", "iteration", "doc_id", "rank", "score", "tag"),
        width="six",
        integer="rank",
        needs_integer=ranks,
        bounds=(-(2**31), 2**31 - 1),
        real="score",
        wants_tag=tag,
        keep="lowest rank" if ranks else "best score",
    )


def parse_lines(text: bytes, path: Path, layout: FileLayout, *, strict: bool) -> Lines:
    """Columns of a string in a layout, by the fast parser where possible."""
    lines = parse_fast(text, layout)
    if lines is not None:
        return lines
    refuse_file_of_another_kind(text, path, layout.columns[4 if layout.real == "score" else 3])
    return parse_tolerantly(text, path, layout, strict=strict)


def parse_fast(text: bytes, layout: FileLayout) -> Lines | None:
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


def _integers(column: pa.DictionaryArray, layout: FileLayout) -> npt.NDArray[np.int32] | None:
    try:
        values = [_integer(value.encode(), layout) for value in column.dictionary.to_pylist()]
    except _BadLine:
        if layout.needs_integer:
            raise
        return None
    return np.asarray(np.array(values, dtype=np.int32)[column.indices.to_numpy()])


def parse_tolerantly(text: bytes, path: Path, layout: FileLayout, *, strict: bool) -> Lines:
    """Columns line by line; the first bad line raises an `InputError` if strict, else it is skipped."""
    queries: dict[bytes, int] = {}
    documents: list[bytes] = []
    tags: dict[bytes, int] = {}
    query_codes, integers = array("i"), array("i")
    reals, numbers = array("d"), array("q")
    tally: dict[str, list[int]] = {}  # reason -> [lines, first line]
    malformed: InputError | None = None
    has_integers = layout.integer is not None
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
            integer = 0
            if has_integers and layout.integer:
                try:
                    integer = _integer(fields[layout.columns.index(layout.integer)], layout)
                except _BadLine:
                    if layout.needs_integer:
                        raise
                    has_integers = False
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
        np.array(integers, dtype=np.int32)[kept] if has_integers else None,
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
    layout: FileLayout,
) -> npt.NDArray[np.intp]:
    """Entries to keep, ascending, one per (topic, document): `FileLayout.keep`, the first of equals."""
    codes, place = pair_codes(query_id, doc_id), np.arange(len(doc_id))
    if layout.integer == "rank" and layout.needs_integer:
        order = np.lexsort((place, integers, codes))
    elif layout.real == "score":
        order = np.lexsort((place, -reals, codes))
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
    """Columns without invisible characters in topic and around document, and the first problem or ''."""
    bare, problem = list(fields), ""
    for name, place, pattern in (("topic", 0, _INVISIBLE_ANYWHERE), ("document", 2, _INVISIBLE_AT_AN_END)):
        if place < len(fields) and pattern.search(fields[place]):
            bare[place] = pattern.sub(b"", fields[place])
            problem = (
                problem or f"{name} {_quoted(fields[place])} has a byte order mark or a no-break space in it"
            )
    return [field for field in bare if field], problem


class _BadLine(Exception):
    """A line that breaks the layout: reason when counted, detail when raised, remedy of strict=False."""

    def __init__(self, reason: str, detail: str, remedy: str = "skip such lines") -> None:
        super().__init__(detail)
        self.reason, self.detail, self.remedy = reason, detail, remedy


def _wrong_width(n_columns: int, layout: FileLayout) -> _BadLine:
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


def _integer(token: bytes, layout: FileLayout) -> int:
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
    layout: FileLayout,
) -> InputError:
    codes = pair_codes(query_id, doc_id)
    first = numbers[int(np.argmax(codes == codes[entry]))]
    reason = f"document {doc_id[entry]} is repeated in topic {query_id[entry]} (first on line {first})"
    hint = f"{_LENIENT_HINT}keep the {layout.keep} of each document"
    return InputError(reason, path=path, line=numbers[entry], hint=hint)
