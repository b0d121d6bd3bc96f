"""Parse the rows of a file into columns, and find repeated documents."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from bayespool.arrays import AnyArray, FloatArray, IndexArray, IntArray, Levels, OrderArray
from bayespool.errors import InputError
from bayespool.reading.files import MEMORY
from bayespool.reading.records import Skipped

_LAST_BYTES = np.array([2**64 - 2 ** (64 - 8 * min(n, 8)) for n in range(17)], dtype="<u8")  # of a number
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def repeats(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> OrderArray:
    """Return the ascending indices of lines whose (topic, document) pair occurred on an earlier line."""
    in_order = np.sort(_fingerprints(query_id, doc_id))
    if not (in_order[1:] == in_order[:-1]).any():
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(first_lines(query_id, doc_id) != np.arange(len(doc_id)))


def first_lines(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> OrderArray:
    """Return the index of the first line of each line's (topic, document) pair, shape (line,)."""
    _, first, inverse = np.unique(pair_codes(query_id, doc_id), return_index=True, return_inverse=True)
    return first[inverse]


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
_SYMBOLS = pa.dictionary(pa.int32(), pa.string())
_BLOCK_BYTES = 1 << 24  # parsed by pyarrow at a time: bounds its memory
MAX_LINE_BYTES = 1 << 20
_NO_LABEL = (b"none", b"null", b"")
NO_LABEL = "without a label (null, or -1 beside whole labels from 0)"
GRADES_HINT = (
    "write whole levels, and what each is worth in the measure, such as nDCG(gains={1:0.25,2:0.5,3:1})@10; "
    "labels of a judge are given as such (--judge, judges)"
)
_LENIENT_HINT = "fix the file, or pass strict=False (--reading strict=false) to "


@dataclass(frozen=True, slots=True)
class FileLayout:
    """Expected column layout for a kind of input file."""

    name: str  # of the kind of file, in messages
    columns: tuple[str, ...]  # in the order of the file; query_id and doc_id are always read
    integer: str | None  # column read as integers (rank, relevance)
    bounds: tuple[int, int]  # smallest and largest integer accepted
    apart: str  # column by which the lines of one document may be of several runs or subtopics
    keep: str  # which of several lines about one document strict=False keeps
    needs_integer: bool = True  # whether another value is a bad line; otherwise the column is left out
    real: str | None = None  # column read as real numbers (score, label)
    wants_tag: bool = False  # whether distinct values of ``tag`` are collected
    delimiter: str = ""  # between columns; empty for white space
    header: int = 0  # number of the line that names the columns; 0 for none
    may_repeat: bool = False  # whether a document may be on several lines of a run
    has_levels: bool = False  # whether relevance is written as in NTCIR: L0 to L9, or S, A, B, C

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
    bounds=(-(2**15), 2**15 - 1),
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


def run_layout(*, ranks: bool, tag: bool, may_repeat: bool = False) -> FileLayout:
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
        may_repeat=may_repeat,
    )


def parse_fast(text: bytes, layout: FileLayout) -> Lines | None:
    """Parse lines with pyarrow, or return None if a line needs the slower parser."""
    if _has_invisible(text) or _has_long_line(text):
        return None
    text, delimiter = _one_delimiter(text)
    types = {"query_id": _SYMBOLS, "doc_id": pa.string()}
    # few distinct integers, which `_integers` converts
    kinds = ((layout.integer, _SYMBOLS), (layout.real, pa.float64()), (layout.wants_tag and "tag", _SYMBOLS))
    types |= {name: kind for name, kind in kinds if name}
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
        columns = {name: _one_chunk(table[name]) for name in types}
        query_id, doc_id = columns["query_id"], columns["doc_id"]
        integer = None if layout.integer is None else _integers(columns[layout.integer], layout)
    except (pa.ArrowException, BadLine):
        return None
    real = None if layout.real is None else columns[layout.real].to_numpy()
    has_comment = any(query.startswith("#") for query in query_id.dictionary.to_pylist())
    if has_comment or (real is not None and np.isnan(real).any()) or repeats(query_id, doc_id).size:
        return None
    tags = tuple(columns["tag"].dictionary.to_pylist()) if layout.wants_tag else ()
    return Lines(query_id, doc_id, real, integer, tags)


def _one_delimiter(text: bytes) -> tuple[bytes, str]:
    """Return the text with single delimiters between columns and none at line ends, and the delimiter."""
    delimiter = b" " if b" " in text else b"\t"
    if b"\v" in text or b"\f" in text or (delimiter == b" " and b"\t" in text):
        text, delimiter = text.translate(_BLANKS_TO_SPACE), b" "
    characters = np.frombuffer(text, dtype=np.uint8)
    if _has_blanks_together(characters):
        is_delimiter = characters == delimiter[0]
        before_end = np.append(is_delimiter[1:] | (characters[1:] == ord("\n")), True)
        text = characters[~(is_delimiter & before_end)].tobytes().replace(b"\n" + delimiter, b"\n")
    return text.strip(delimiter), delimiter.decode()


def _has_blanks_together(characters: Levels) -> bool:
    """Return whether two neighbors are white space."""
    is_blank = characters <= ord(" ")
    n = len(is_blank)
    pairs = (is_blank[start : n - (n - start) % 2].view(np.uint16) for start in (0, 1))
    return any((pair == 0x0101).any() for pair in pairs)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.unify_dictionaries(MEMORY).combine_chunks(MEMORY)


def _integers(column: pa.DictionaryArray, layout: FileLayout) -> IntArray | None:
    texts, values = column.dictionary, None
    if pc.all(pc.match_substring_regex(texts, "^[0-9]{1,4}$")).as_py():
        values = texts.cast(pa.int32()).to_numpy()
    else:
        try:
            values = np.array([_integer(text.encode(), layout) for text in texts.to_pylist()], dtype=np.int32)
        except BadLine:
            if layout.needs_integer:
                raise
            return None
    return np.asarray(values[column.indices.to_numpy()])


Row = tuple[int, "list[bytes] | BadLine"]
"""Line number of a row, and either its columns or the error in it."""


_Problem = tuple[int, "BadLine"]
"""Line number of a row, and what is wrong with it."""


class _Entry(NamedTuple):
    """Columns of a row; ``apart`` is the one that tells several runs or subtopics apart."""

    number: int
    query_id: bytes
    doc_id: bytes
    real: float
    integer: int | None
    apart: bytes


def collect(rows: Iterable[Row], path: Path, layout: FileLayout, *, strict: bool) -> Lines:
    """Parse rows into columns, raising `InputError` on a bad row if strict and skipping it otherwise.

    Not strict, an `InputError` is raised where a wrong column would be read, or a tenth of the rows be lost.
    """
    entries: list[_Entry] = []
    problems: list[_Problem] = []
    n_rows = 0
    for number, fields in rows:
        n_rows += 1
        try:
            entries.append(_read_row(number, fields, layout, problems))
        except BadLine as bad:
            problems.append((number, bad))
    query_id = pa.array([e.query_id for e in entries], pa.binary()).cast(pa.string()).dictionary_encode()
    doc_id = pa.array([e.doc_id for e in entries], pa.binary()).cast(pa.string())
    again = repeats(query_id, doc_id) if entries else np.empty(0, dtype=np.intp)
    if again.size:
        repeated = _repeat_problems(again, query_id, doc_id, entries, path, layout)
        if not layout.may_repeat or any(bad.hint for _, bad in repeated):
            problems += repeated
    tally: dict[str, list[int]] = {}
    for number, problem in problems:
        tally.setdefault(problem.reason, []).append(number)
    failure = _failure(problems, list(tally), n_rows, layout, has_entries=bool(entries), strict=strict)
    if failure is not None:
        reason, line, hint = failure
        raise InputError(reason, path=path, line=line, hint=hint)
    real = np.array([entry.real for entry in entries])
    integers = [entry.integer for entry in entries]
    integer = None if None in integers else np.array(integers, dtype=np.int32)
    kept = kept_lines(query_id, doc_id, real, integer, layout) if again.size else np.arange(len(entries))
    return Lines(
        query_id.take(pa.array(kept)),
        doc_id.take(pa.array(kept)),
        real[kept] if layout.real else None,
        None if integer is None else integer[kept],
        tuple(dict.fromkeys(entry.apart.decode() for entry in entries)) if layout.wants_tag else (),
        tuple(Skipped(path, reason, len(numbers), numbers[0]) for reason, numbers in tally.items()),
    )


def _read_row(
    number: int, fields: list[bytes] | BadLine, layout: FileLayout, problems: list[_Problem]
) -> _Entry:
    """Return what is read of a row, and add what is wrong with it; raise `BadLine` if it is lost."""
    if isinstance(fields, BadLine):
        raise fields
    if _has_invisible(b" ".join(fields)):
        fields, detail = _without_invisible(fields, layout)
        if detail:
            problems.append((number, BadLine(_INVISIBLE_REMOVED, detail, "take such characters off")))
    surplus = _wrong_width(fields, layout) if len(fields) != len(layout.columns) else None
    if surplus is not None and surplus.is_lost:
        raise surplus
    named = dict(zip(layout.columns, fields, strict=False))
    if layout.real == "label" and named["label"].lower() in _NO_LABEL:
        raise BadLine(NO_LABEL, "")
    real = _real(named[layout.real], layout.real) if layout.real else 0.0
    integer = None
    if layout.integer:
        with contextlib.suppress(*() if layout.needs_integer else (BadLine,)):
            integer = _integer(named[layout.integer], layout)
    if surplus is not None:
        problems.append((number, surplus))
    return _Entry(number, named["query_id"], named["doc_id"], real, integer, named.get(layout.apart, b""))


def _failure(
    problems: Sequence[_Problem],
    reasons: Sequence[str],
    n_rows: int,
    layout: FileLayout,
    *,
    has_entries: bool,
    strict: bool,
) -> tuple[str, int | None, str] | None:
    """Return the reason, line and hint of the problem that is not passed over, or None."""
    errors = [(number, bad) for number, bad in problems if bad.detail]
    fatal = [(number, bad) for number, bad in errors if bad.hint]
    n_lost = sum(bad.is_lost for _, bad in problems)
    loses_much = n_lost > 0 and 10 * n_lost >= n_rows
    if strict and errors:
        number, bad = min(errors, key=lambda row: row[0])
        may_skip = not fatal and not loses_much
        hint = bad.hint or (_LENIENT_HINT + bad.remedy if may_skip else _columns_hint(bad, layout))
        return bad.detail, number, hint
    if fatal:
        number, bad = fatal[0]
        return bad.detail, number, bad.hint
    if not has_entries:
        reason = f"no line can be used ({'; '.join(reasons) or 'all are comments'})"
        return reason, None, _columns_hint(None, layout)
    if loses_much:
        number, bad = next(row for row in errors if row[1].is_lost)
        reason = f"{n_lost:,} of {n_rows:,} lines would be lost, a tenth or more ({'; '.join(reasons)})"
        return reason, number, _columns_hint(bad, layout)
    return None


def _columns_hint(bad: BadLine | None, layout: FileLayout) -> str:
    """Return an error hint with the layout's columns, for errors that skipping lines cannot fix."""
    if bad is not None and bad.is_repeat:
        best = "; of passages the best counts with --reading documents=best-passage" * (
            layout.real == "score"
        )
        return f"keep one line of each document and topic{best}"
    return f"{layout.name} has {layout.width} columns: {' '.join(layout.columns)}"


def kept_lines(
    query_id: pa.DictionaryArray,
    doc_id: pa.StringArray,
    real: FloatArray,
    integer: IntArray | None,
    layout: FileLayout,
) -> OrderArray:
    """Return ascending indices of the lines to keep, one per (topic, document) pair (`FileLayout.keep`)."""
    codes, place = pair_codes(query_id, doc_id), np.arange(len(doc_id))
    keys: list[AnyArray] = [place, -real] if layout.real == "score" else [-place]
    if layout.needs_integer and layout.integer == "rank":
        keys = [place, np.asarray(integer)]
    order = np.lexsort((*keys, codes))
    return np.sort(order[np.unique(codes[order], return_index=True)[1]])


def _has_long_line(text: bytes) -> bool:
    """Return whether the text may have a line longer than the limit."""
    half = MAX_LINE_BYTES // 2
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


@dataclass(eq=False)
class BadLine(Exception):
    """Exception for a line that does not fit the layout.

    Attributes
    ----------
    reason, detail, remedy : str
        Its reason when counted; its reason when raised, empty where it is no error; and what strict=False
        does with it.
    hint : str
        What to do instead, where strict=False has no right remedy and is refused, too.
    is_repeat : bool
        Whether its document is on an earlier line.
    """

    reason: str
    detail: str
    remedy: str = "skip such lines"
    hint: str = ""
    is_repeat: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether strict=False skips it; otherwise it is read, as the reason says."""
        return self.reason.startswith("skipped")


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


def _repeat_problems(
    again: OrderArray,
    query_id: pa.DictionaryArray,
    doc_id: pa.StringArray,
    entries: Sequence[_Entry],
    path: Path,
    layout: FileLayout,
) -> list[_Problem]:
    """Return the repeated entries, one as an error: one that differs in `FileLayout.apart` if any does."""
    first = first_lines(query_id, doc_id)[again]
    pairs = [(entries[i], entries[j]) for i, j in zip(first.tolist(), again.tolist(), strict=True)]
    earlier, entry = next((pair for pair in pairs if pair[0].apart != pair[1].apart), pairs[0])
    document, topic = entry.doc_id.decode(), entry.query_id.decode()
    reason = "skipped, document repeated in its topic"
    one, other = _quoted(earlier.apart), _quoted(entry.apart)
    if earlier.apart == entry.apart:
        detail = f"document {document} is repeated in topic {topic} (first on line {earlier.number})"
        remedy = f"keep the {layout.keep} of each document"
        bad = BadLine(f"{reason} ({layout.keep} kept)", detail, remedy, is_repeat=True)
    elif layout.apart == "tag":
        detail = (
            f"holds several runs: document {document} is in topic {topic} with the tags {one} and {other}"
        )
        column = layout.columns.index("tag") + 1
        hint = f"split it by tags, such as by awk '{{print > ${column} \".run\"}}' {path.name}"
        bad = BadLine(reason, detail, hint=hint, is_repeat=True)
    else:
        detail = (
            f"document {document} of topic {topic} is judged for {one} and for {other} (second column): "
            "subtopics, as in diversity qrels, or rounds"
        )
        hint = (
            "keep what counts, such as the best subtopic of each document: "
            f"sort -k4,4nr {path.name} | awk '!seen[$1,$3]++'"
        )
        bad = BadLine(reason, detail, hint=hint, is_repeat=True)
    repeat = dataclasses.replace(bad, detail="", hint="")
    return [(each.number, bad if each is entry else repeat) for _, each in pairs]
