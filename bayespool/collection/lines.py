"""Parse the rows of a file into columns, and find repeated documents."""

from __future__ import annotations

import dataclasses
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from bayespool.arrays import AnyArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection.files import MEMORY
from bayespool.collection.records import Skipped
from bayespool.errors import InputError

_LAST_BYTES = np.array([2**64 - 2 ** (64 - 8 * min(n, 8)) for n in range(17)], dtype="<u8")  # of a number
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def repeats(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> OrderArray:
    """Return the ascending indices of lines whose (topic, document) pair occurred on an earlier line."""
    in_order = np.sort(_fingerprints(query_id, doc_id))
    if not (in_order[1:] == in_order[:-1]).any():
        return np.empty(0, dtype=np.intp)
    codes = pair_codes(query_id, doc_id)
    order = np.argsort(codes, kind="stable")
    return np.sort(order[1:][np.diff(codes[order]) == 0])


def pair_codes(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> IndexArray:
    """Return an integer code for the (topic, document) pair of each line, shape (line,)."""
    documents = doc_id.dictionary_encode()
    codes: IndexArray = query_id.indices.to_numpy().astype(np.int64)
    codes *= len(documents.dictionary)
    codes += documents.indices.to_numpy()
    return codes


def _fingerprints(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> npt.NDArray[np.uint64]:
    """Return a hash of the topic and the last 16 bytes of the document id for each line, shape (line,)."""
    _, ends, data = doc_id.buffers()
    offsets = np.frombuffer(ends, dtype=np.int32)[doc_id.offset : doc_id.offset + len(doc_id) + 1]
    text = np.concatenate([np.zeros(16, dtype=np.uint8), np.frombuffer(data, dtype=np.uint8)])
    eight = np.ndarray(len(text) - 7, dtype="<u8", buffer=text, strides=(1,))  # bytes from each place on
    end, n = offsets[1:] + 8, np.minimum(np.diff(offsets), 16)
    low, high = eight[end] & _LAST_BYTES[n], eight[end - 8] & _LAST_BYTES[np.maximum(n - 8, 0)]
    mixed = (low ^ query_id.indices.to_numpy().astype(np.uint64) * _SECOND) * _FIRST
    return np.asarray((mixed ^ mixed >> np.uint64(32) ^ high) * _SECOND)


_BLANKS_TO_SPACE = bytes.maketrans(b"\t\v\f", b"   ")
_INVISIBLE = tuple(c.encode() for c in "\ufeff\xa0\u2007\u202f")  # byte order mark, no-break spaces
_INVISIBLE_ANYWHERE = re.compile(b"|".join(_INVISIBLE))
_INVISIBLE_AT_AN_END = re.compile(
    b"^(?:%b)+|(?:%b)+$" % (_INVISIBLE_ANYWHERE.pattern, _INVISIBLE_ANYWHERE.pattern)
)
_INVISIBLE_REMOVED = "read without byte order marks and no-break spaces"
_INTEGER = re.compile(rb"([+-]?[0-9]{1,100})(?:\.0*)?")
_BLOCK_BYTES = 1 << 24  # parsed by pyarrow at a time: bounds its memory
_MAX_LINE_BYTES = 1 << 20
_SCAN_BLOCK_BYTES = 1 << 16  # a block that stays in the processor's cache
_NO_LABEL = (b"none", b"null", b"")
NO_LABEL = "without a label (null, or -1 beside whole labels from 0)"
GRADES_HINT = (
    "write whole levels, and what each is worth in the measure, such as nDCG(gains={1:0.25,2:0.5,3:1})@10; "
    "labels of a judge are given as such (--judge, judges)"
)
_LENIENT_HINT = "fix the file, or pass strict=False (--reading lenient) to "


@dataclass(frozen=True, slots=True)
class FileLayout:
    """Expected column layout for a kind of input file."""

    name: str  # of the kind of file, in messages
    columns: tuple[str, ...]  # in the order of the file; query_id and doc_id are always read
    integer: str | None  # column read as integers (rank, relevance)
    needs_integer: bool  # whether a value that is no integer is a bad line; otherwise the column is left out
    bounds: tuple[int, int]  # smallest and largest integer accepted
    real: str | None  # column read as real numbers (score, label)
    wants_tag: bool  # whether distinct values of ``tag`` are collected
    apart: str  # column by which the lines of one document may be of several runs or subtopics
    keep: str  # which of several lines about one document strict=False keeps
    delimiter: str = ""  # between columns; empty for white space
    header: int = 0  # number of the line that names the columns; 0 for none
    has_levels: bool = False  # whether relevance is written as in NTCIR: L0 to L9, or S, A, B, C

    def with_columns(self, columns: tuple[str, ...], delimiter: str = "", header: int = 0) -> FileLayout:
        """Return the layout of a file with these columns alone; one that is not read has another name."""
        integer = self.integer if self.integer in columns else None
        real = self.real if self.real in columns else None
        is_ranked = real is None and integer == "rank"
        return dataclasses.replace(
            self,
            columns=columns,
            integer=integer,
            needs_integer=self.needs_integer or is_ranked,
            real=real,
            wants_tag=self.wants_tag and "tag" in columns,
            keep="lowest rank" if is_ranked else self.keep,
            delimiter=delimiter,
            header=header,
        )

    @property
    def width(self) -> str:
        """Number of columns as a word."""
        n = len(self.columns)
        return ("two", "three", "four", "five", "six")[n - 2] if 2 <= n <= 6 else str(n)


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Parsed columns of a file in file order, shape (line,) each, without skipped lines."""

    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    real: FloatArray | None
    integer: IntArray | None
    tags: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()
    comments: tuple[str, ...] = ()  # lines that begin with #, without it


QRELS = FileLayout(
    name="a qrels file",
    columns=("query_id", "iteration", "doc_id", "relevance"),
    integer="relevance",
    needs_integer=True,
    bounds=(-(2**15), 2**15 - 1),
    real=None,
    wants_tag=False,
    apart="iteration",
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
    """Return the layout of a run file, with ranks required or optional and the tag read or not."""
    return FileLayout(
        name="a run file",
        columns=("query_id", "iteration", "doc_id", "rank", "score", "tag"),
        integer="rank",
        needs_integer=ranks,
        bounds=(-(2**31), 2**31 - 1),
        real="score",
        wants_tag=tag,
        apart="tag",
        keep="lowest rank" if ranks else "best score",
    )


def parse_fast(text: bytes, layout: FileLayout) -> Lines | None:
    """Parse lines with pyarrow, or return None if a line needs the slower parser."""
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
    except (pa.ArrowException, BadLine):
        return None
    if any(query.startswith("#") for query in query_id.dictionary.to_pylist()):  # a comment
        return None
    if real is not None and np.isnan(real).any():
        return None
    if repeats(query_id, doc_id).size:
        return None
    return Lines(query_id, doc_id, real, integer, tags)


def _one_delimiter(text: bytes) -> tuple[bytes, str]:
    """Return the text with single delimiters between columns and none at line ends, and the delimiter."""
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
    """Return whether the text has two consecutive white-space bytes."""
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


def _integers(column: pa.DictionaryArray, layout: FileLayout) -> IntArray | None:
    try:
        values = [_integer(value.encode(), layout) for value in column.dictionary.to_pylist()]
    except BadLine:
        if layout.needs_integer:
            raise
        return None
    return np.asarray(np.array(values, dtype=np.int32)[column.indices.to_numpy()])


Row = tuple[int, "list[bytes] | BadLine"]
"""Line number of a row, and either its columns or the error in it."""


def numbered_lines(text: bytes, path: Path, layout: FileLayout) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither blank nor comments, with line numbers.

    A line longer than the limit is an `InputError`.
    """
    for number, line in enumerate(iter(partial(BytesIO(text).readline, _MAX_LINE_BYTES + 1), b""), start=1):
        if len(line) > _MAX_LINE_BYTES:
            reason = f"is longer than {_MAX_LINE_BYTES:,} bytes"
            raise InputError(reason, path=path, line=number, hint=f"{layout.name} has short lines")
        if (bare := line.lstrip()) and not bare.startswith(b"#"):
            yield number, line


def collect(rows: Iterable[Row], path: Path, layout: FileLayout, *, strict: bool) -> Lines:
    """Parse rows into columns, raising `InputError` on a bad row if strict and skipping it otherwise.

    Not strict, an `InputError` is raised where a wrong column would be read, or a tenth of the rows be lost.
    """
    queries: dict[bytes, int] = {}
    documents: list[bytes] = []
    apart: dict[bytes, int] = {}
    query_codes, integers, apart_codes = array("i"), array("i"), array("i")
    reals, numbers = array("d"), array("q")
    tally: dict[str, list[int]] = {}  # reason -> [rows, first line]
    bad_rows: list[tuple[int, BadLine]] = []  # the first of each reason, and those that nobody may skip
    has_integers = layout.integer is not None
    width, place = len(layout.columns), {name: i for i, name in enumerate(layout.columns)}
    query, doc = place["query_id"], place["doc_id"]
    real_place, integer_place, apart_place = (
        place.get(name) if name else None for name in (layout.real, layout.integer, layout.apart)
    )
    n_rows = 0

    def note(number: int, bad: BadLine) -> None:
        if bad.reason not in tally or bad.hint:
            bad_rows.append((number, bad))
        tally.setdefault(bad.reason, [0, number])[0] += 1

    for number, fields in rows:
        n_rows += 1
        try:
            if isinstance(fields, BadLine):
                raise fields
            if _has_invisible(b" ".join(fields)):
                fields, problem = _without_invisible(fields, layout)
                if problem:
                    note(number, BadLine(_INVISIBLE_REMOVED, problem, "take such characters off"))
            surplus = _wrong_width(fields, layout) if len(fields) != width else None
            if surplus is not None and surplus.is_lost:
                raise surplus
            if layout.real == "label" and fields[place["label"]].lower() in _NO_LABEL:
                tally.setdefault(NO_LABEL, [0, number])[0] += 1
                continue
            real = 0.0 if real_place is None else _real(fields[real_place], layout.real or "")
            integer = 0
            if has_integers and integer_place is not None:
                try:
                    integer = _integer(fields[integer_place], layout)
                except BadLine:
                    if layout.needs_integer:
                        raise
                    has_integers = False
        except BadLine as error:
            note(number, error)
            continue
        if surplus is not None:
            note(number, surplus)
        query_codes.append(queries.setdefault(fields[query], len(queries)))
        documents.append(fields[doc])
        reals.append(real)
        integers.append(integer)
        numbers.append(number)
        if apart_place is not None:
            apart_codes.append(apart.setdefault(fields[apart_place], len(apart)))

    names = pa.array([name.decode() for name in queries], pa.string())
    query_id = pa.DictionaryArray.from_arrays(pa.array(np.array(query_codes, dtype=np.int32)), names)
    doc_id = pa.array(documents, pa.binary()).cast(pa.string())
    again = repeats(query_id, doc_id)
    if again.size:
        values = (
            np.array(list(apart), dtype=object)[np.array(apart_codes)] if apart else np.zeros(len(doc_id))
        )
        entry, bad = _repeat_problem(again, query_id, doc_id, numbers, values, path, layout)
        tally[bad.reason] = [again.size, numbers[int(again[0])]]
        bad_rows.append((numbers[entry], bad))
    n_lost = sum(n for reason, (n, _) in tally.items() if reason.startswith("skipped"))
    fatal = next((row for row in bad_rows if row[1].hint), None)
    if strict and bad_rows:
        number, bad = min(bad_rows, key=lambda row: row[0])
        may_skip = fatal is None and 10 * n_lost < n_rows
        hint = bad.hint or (_LENIENT_HINT + bad.remedy if may_skip else _columns_hint(bad, layout))
        raise InputError(bad.detail, path=path, line=number, hint=hint)
    if fatal is not None:
        raise InputError(fatal[1].detail, path=path, line=fatal[0], hint=fatal[1].hint)
    if not numbers:
        reason = f"no line can be used ({'; '.join(tally) or 'all are comments'})"
        raise InputError(reason, path=path, hint=_columns_hint(None, layout))
    if 10 * n_lost >= n_rows and n_lost:
        number, bad = next(row for row in bad_rows if row[1].is_lost)
        reason = f"{n_lost:,} of {n_rows:,} lines would be lost, a tenth or more ({'; '.join(tally)})"
        raise InputError(reason, path=path, line=number, hint=_columns_hint(bad, layout))
    kept = np.arange(len(numbers))
    if again.size:
        kept = _kept_entries(query_id, doc_id, np.array(reals), np.array(integers), layout)
    return Lines(
        query_id.take(pa.array(kept)),
        doc_id.take(pa.array(kept)),
        np.array(reals)[kept] if layout.real else None,
        np.array(integers, dtype=np.int32)[kept] if has_integers else None,
        tuple(tag.decode() for tag in apart) if layout.wants_tag else (),
        tuple(Skipped(path, reason, count, first) for reason, (count, first) in tally.items()),
    )


def _columns_hint(bad: BadLine | None, layout: FileLayout) -> str:
    """Return an error hint with the layout's columns, for errors that skipping lines cannot fix."""
    if bad is not None and bad.is_repeat:
        return "keep one line of each document and topic"
    return f"{layout.name} has {layout.width} columns: {' '.join(layout.columns)}"


def _kept_entries(
    query_id: pa.DictionaryArray,
    doc_id: pa.StringArray,
    reals: FloatArray,
    integers: IntArray,
    layout: FileLayout,
) -> OrderArray:
    """Return ascending indices of the lines to keep, one per (topic, document) pair (`FileLayout.keep`)."""
    codes, place = pair_codes(query_id, doc_id), np.arange(len(doc_id))
    if layout.integer == "rank" and layout.needs_integer:
        order = np.lexsort((place, integers, codes))
    elif layout.real == "score":
        order = np.lexsort((place, -reals, codes))
    else:
        order = np.lexsort((-place, codes))
    return np.sort(order[np.unique(codes[order], return_index=True)[1]])


def _has_long_line(text: bytes) -> bool:
    """Return whether the text may have a line longer than the limit."""
    half = _MAX_LINE_BYTES // 2
    return any(text.find(b"\n", end - half, end) < 0 for end in range(half, len(text) + 1, half))


def _has_invisible(text: bytes) -> bool:
    return not text.isascii() and any(character in text for character in _INVISIBLE)


def _without_invisible(fields: list[bytes], layout: FileLayout) -> tuple[list[bytes], str]:
    """Return columns without invisible characters in topic or document id, and the first problem or ''."""
    bare, problem = list(fields), ""
    for name, column, pattern in (
        ("topic", "query_id", _INVISIBLE_ANYWHERE),
        ("document", "doc_id", _INVISIBLE_AT_AN_END),
    ):
        place = layout.columns.index(column)
        if place < len(fields) and pattern.search(fields[place]):
            bare[place] = pattern.sub(b"", fields[place])
            problem = (
                problem or f"{name} {_quoted(fields[place])} has a byte order mark or a no-break space in it"
            )
    return [field for field in bare if field], problem


class BadLine(Exception):
    """Exception for a line that does not fit the layout.

    Attributes
    ----------
    reason, detail, remedy : str
        Its reason when counted, its reason when raised, and what strict=False does with it.
    hint : str
        What to do instead, where strict=False has no right remedy and is refused, too.
    is_lost : bool
        Whether strict=False skips it; otherwise it is read, as the reason says.
    is_repeat : bool
        Whether its document is on an earlier line.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        remedy: str = "skip such lines",
        *,
        hint: str = "",
        is_repeat: bool = False,
    ) -> None:
        super().__init__(detail)
        self.reason, self.detail, self.remedy, self.hint = reason, detail, remedy, hint
        self.is_lost, self.is_repeat = reason.startswith("skipped"), is_repeat


def _wrong_width(fields: list[bytes], layout: FileLayout) -> BadLine:
    """Return the error for a line with fewer or more columns than the layout."""
    detail = f"expected {len(layout.columns)} columns, found {len(fields)}"
    if len(fields) < len(layout.columns):
        return BadLine(f"skipped, fewer than {layout.width} columns", detail)
    skipped = f"skipped, more than {layout.width} columns"
    if layout.columns[1] != "iteration":
        return BadLine(skipped, detail)
    value = layout.columns.index(layout.real or layout.integer or "")
    is_run = layout.real == "score"
    if any(_ends_at(fields, place, is_run=is_run) for place in range(value + 1, len(fields))):
        blank = "a topic or a document with a blank in it, or columns out of place"
        hint = (
            "write ids without blanks, in runs and judgments alike, or give CSV or JSON, which may have them"
        )
        return BadLine(skipped, f"{detail}: {blank}", hint=hint)
    if _ends_at(fields, value, is_run=is_run):
        return BadLine(
            f"used the first {layout.width} columns", detail, f"use the first {layout.width} columns"
        )
    return BadLine(skipped, detail)


def _ends_at(fields: list[bytes], place: int, *, is_run: bool) -> bool:
    """Return whether this column may hold the line's value (score, relevance or label)."""
    if is_run and (place + 1 >= len(fields) or not is_whole(fields[place - 1])):
        return False
    return parse_number(fields[place]) is not None


def parse_number(token: bytes) -> float | None:
    """Return the number in a column, or None if it has none."""
    try:
        return float(token) if b"_" not in token else None  # Python reads 1_000 as a number
    except ValueError:
        return None


def is_whole(token: bytes) -> bool:
    """Return whether a column holds a whole number, such as 1 or 1.0."""
    return _INTEGER.fullmatch(token) is not None


def _real(token: bytes, name: str) -> float:
    value = parse_number(token)
    if value is None:
        raise BadLine(f"skipped, {name} is not a number", f"{name} {_quoted(token)} is not a number")
    if value != value:
        raise BadLine(f"skipped, {name} is NaN", f"{name} is NaN, which has no place in an order")
    return value


def _integer(token: bytes, layout: FileLayout) -> int:
    name, (low, high) = layout.integer, layout.bounds
    match = _INTEGER.fullmatch(token)
    if match is None:
        value = parse_number(token)
        if name == "relevance" and value is not None and value % 1 > 0:
            detail = f"relevance {_quoted(token)} is not whole"
            raise BadLine("skipped, relevance is not whole", detail, hint=GRADES_HINT)
        raise BadLine(f"skipped, {name} is not an integer", f"{name} {_quoted(token)} is not an integer")
    value = int(match[1])
    if not low <= value <= high:
        detail = f"{name} {_quoted(token)} is out of range ({low:,} to {high:,})"
        raise BadLine(f"skipped, {name} is out of range", detail)
    return value


def _quoted(token: bytes) -> str:
    text = token.decode()
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _repeat_problem(
    again: OrderArray,
    query_id: pa.DictionaryArray,
    doc_id: pa.StringArray,
    numbers: array[int],
    apart: AnyArray,
    path: Path,
    layout: FileLayout,
) -> tuple[int, BadLine]:
    """Return a repeated entry and its error, of those that differ in `FileLayout.apart` if any do."""
    _, firsts, inverse = np.unique(pair_codes(query_id, doc_id), return_index=True, return_inverse=True)
    first = firsts[inverse[again]]
    differs = apart[again] != apart[first]
    place = int(differs.argmax())
    entry, earlier = int(again[place]), int(first[place])
    document, topic = doc_id[entry].as_py(), query_id[entry].as_py()
    reason = "skipped, document repeated in its topic"
    if not differs[place]:
        detail = f"document {document} is repeated in topic {topic} (first on line {numbers[earlier]})"
        remedy = f"keep the {layout.keep} of each document"
        return entry, BadLine(f"{reason} ({layout.keep} kept)", detail, remedy, is_repeat=True)
    one, other = (_quoted(apart[i]) for i in (earlier, entry))
    if layout.apart == "tag":
        detail = (
            f"holds several runs: document {document} is in topic {topic} with the tags {one} and {other}"
        )
        column = layout.columns.index("tag") + 1
        hint = f"split it by tags, such as by awk '{{print > ${column} \".run\"}}' {path.name}"
    else:
        detail = (
            f"document {document} of topic {topic} is judged for {one} and for {other} (second column): "
            "subtopics, as in diversity qrels, or rounds"
        )
        hint = (
            "keep what counts, such as the best subtopic of each document: "
            f"sort -k4,4nr {path.name} | awk '!seen[$1,$3]++'"
        )
    return entry, BadLine(reason, detail, hint=hint, is_repeat=True)
