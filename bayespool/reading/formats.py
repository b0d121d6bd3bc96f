"""Detect the format of an input file from its first lines, and read its rows."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import io
import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayespool.arrays import IndexArray
from bayespool.errors import InputError
from bayespool.reading.files import PARQUET, name_memory_error, read_text
from bayespool.reading.frames import (
    NAMES,
    labels_from_frame,
    qrels_from_frame,
    refuse_other_kind,
    run_from_frame,
)
from bayespool.reading.lines import (
    MAX_LINE_BYTES,
    BadLine,
    FileLayout,
    Lines,
    Row,
    collect,
    is_whole,
    parse_fast,
    parse_number,
)
from bayespool.reading.lists import LIST_NAMES, TOPIC_NAMES, is_rank_eval
from bayespool.reading.records import topic_ranks
from bayespool.tables.files import parquet_table, readable_bytes

_FORMS = 'give {query_id: {doc_id: value}}, or rows such as {"query_id": …, "doc_id": …, "score": …}'
_NAMES = {name for ours in ("query_id", "doc_id", "score", "label", "rank", "run_id") for name in NAMES[ours]}
_NAMES |= LIST_NAMES | set(TOPIC_NAMES)
_MOST_OTHERS = 20  # columns of JSON that are read for messages alone


def parse_json(text: bytes, path: Path, layout: FileLayout) -> Lines:
    """Parse JSON input: ``{query_id: {doc_id: value}}``, a list of rows, or one object per line."""
    source = _json(text, path)
    rows = source if isinstance(source, list) else [source] if _is_row(source) else None
    if rows is not None and all(isinstance(row, Mapping) for row in rows):
        rows = [_flatten_row(row) for row in rows]
        named = list(dict.fromkeys(name for row in rows for name in row))
        names = [name for name in named if name in _NAMES]
        names += [name for name in named if name not in _NAMES][:_MOST_OTHERS]
        source = [{name: row.get(name) for name in names} for row in rows]
    if not isinstance(source, Mapping) and (rows is None or not source):
        raise InputError("is JSON of another form", path=path, hint=_FORMS)
    return _columns(source, path, layout)


def parquet_columns(
    data: bytes, path: Path, columns: Container[str] | None = None, *, max_size: int
) -> pa.Table:
    """Return the columns of a Parquet file, or all; `InputError` for damaged ones."""
    most = readable_bytes(len(data), max_size)
    try:
        table: pa.Table = parquet_table(data, columns, most=most)
    except InputError as error:
        raise InputError(error.reason, path=path, hint=error.hint) from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        detail = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        reason = f"the Parquet data are damaged ({detail})"
        raise InputError(reason, path=path, hint="copy or download the file again") from None
    return table


def _columns(source: Any, path: Path, layout: FileLayout) -> Lines:
    """Return the columns of an object in memory (`bayespool.reading.frames`)."""
    with _located(path):
        if layout.real == "score":
            run = run_from_frame(source, path.name, may_repeat=layout.may_repeat)
            return Lines(run.query_id, run.doc_id, run.score, run.rank, ())
        if layout.real == "label":
            labels = labels_from_frame(source)
            return Lines(labels.query_id, labels.doc_id, labels.label, None, ())
        qrels = qrels_from_frame(source)
        return Lines(qrels.query_id, qrels.doc_id, None, qrels.relevance.astype(np.int32), ())


@contextlib.contextmanager
def _located(path: Path, line: int | None = None) -> Iterator[None]:
    """Add the file and optionally the line to an `InputError` raised inside the block."""
    try:
        yield
    except InputError as error:
        raise InputError(error.reason, path=path, line=line, hint=error.hint) from None


def _json(text: bytes, path: Path) -> Any:
    """Parse JSON or JSON lines into one value: a list of rows, or one mapping with all topics."""
    lines = [(n, line) for n, line in enumerate(text.split(b"\n"), 1) if line and not line.isspace()]
    try:
        _load_json(lines[0][1])
    except (ValueError, RecursionError):
        lines = [(1, text)]  # an object over several lines
    values = []
    for number, line in lines:
        try:
            values.append(_load_json(line))
        except (ValueError, RecursionError) as error:
            reason = f"is no proper JSON ({str(error).partition(': line')[0]})"
            place = number + getattr(error, "lineno", 1) - 1
            raise InputError(reason, path=path, line=place, hint=f"write it again; {_FORMS}") from None
    if len(values) == 1:
        return values[0]
    if all(isinstance(value, Mapping) and not _is_row(value) and _has_topics(value) for value in values):
        topics = [item for value in values for item in value.items()]
        merged = dict(topics)
        if len(merged) == len(topics):
            return merged
        raise InputError("has a topic on two lines", path=path, hint="keep one object of each topic")
    return values


def _load_json(text: bytes) -> Any:
    return json.loads(text, object_pairs_hook=_unique_object)


def _unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dictionary, or raise ValueError if a key is repeated."""
    value = dict(pairs)
    if len(value) < len(pairs):
        name = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        raise ValueError(f"{name!r} is there twice")
    return value


def _is_row(value: Any) -> bool:
    """Return whether a JSON object is a row with topic and document, at the top level or one level below, or
    one with a list of documents.
    """
    if not isinstance(value, Mapping) or is_rank_eval(value):
        return False
    names = set(_flatten_row(value))
    has_pair = bool(names & set(NAMES["query_id"])) and bool(names & set(NAMES["doc_id"]))
    return has_pair or bool(LIST_NAMES & set(value))


def _has_topics(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object may have the form ``{query_id: {doc_id: value}}``, or that with lists."""
    return all(isinstance(documents, Mapping | list) for documents in value.values())


def _flatten_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with nested fields moved to the top level, as for UMBRELA's
    ``{"query": {"qid": …}, "passage": {"docid": …}}``.
    """
    flat: dict[str, Any] = {}
    for name, value in row.items():
        flat |= dict(value) if isinstance(value, Mapping) else {name: value}
    return flat


_MAX_LINES_INSPECTED = 100
_COMMENT = re.compile(rb"^[ \t\v\f]*#(.*)\n?", re.MULTILINE)
_LEVELS = {b"S": b"3", b"A": b"2", b"B": b"1", b"C": b"0"} | {b"L%d" % n: b"%d" % n for n in range(10)}

_HAS_EMPTY = re.compile(rb"[ \v\f]|\t[\t\n]|\n\t")  # where tabs are not all that separates columns

Columns = list[bytes]
Numbered = list[tuple[int, Columns]]


def read_lines(path: Path, layout: FileLayout, *, strict: bool, max_size: int) -> Lines:
    """Read the columns of a file in any supported format."""
    with name_memory_error(path):
        text = read_text(path, max_size=max_size, tables=True)
        return parse_text(text, path, layout, strict=strict, max_size=max_size)


def parse_text(text: bytes, path: Path, layout: FileLayout, *, strict: bool, max_size: int) -> Lines:
    """Parse the content of a file in any supported format, with the fast parser if possible."""
    if text.startswith(PARQUET):
        return _columns(parquet_columns(text, path, _NAMES, max_size=max_size), path, layout)
    lines = parse_fast(text, layout)
    if lines is not None:
        if layout.real != "score":  # a run of four columns passes for judgments of documents 1, 2, 3
            _refuse_another_kind(_first_rows(text, path, layout, ""), path, layout)
        return lines
    if text.lstrip()[:1] in (b"{", b"["):
        return parse_json(text, path, layout)
    if (table := _list_table(text, path, layout)) is not None:
        return _columns(table, path, layout)
    detected = detect_format(text, path, layout)
    comments = tuple(match.decode().strip() for match in _COMMENT.findall(text))
    bare = _COMMENT.sub(b"", text) if comments else text
    if not detected.has_levels and b'"' not in bare and detected.delimiter in ("", "\t"):
        if detected.header:
            bare = bare.lstrip().partition(b"\n")[2]
        is_new = comments or detected != layout
        if is_new and not (detected.delimiter and _HAS_EMPTY.search(bare)):
            lines = parse_fast(bare, detected)
    lines = lines or collect(_rows(text, path, detected), path, detected, strict=strict)
    if detected.real is None and detected.integer == "rank":
        _refuse_gaps(lines, path)
    return dataclasses.replace(lines, comments=comments) if comments else lines


# --- what a file is -----------------------------------------------------------------------------------------


def detect_format(text: bytes, path: Path, layout: FileLayout) -> FileLayout:
    """Return the layout of a text from its first lines, or raise `InputError` for another kind of file."""
    split = {d: _first_rows(text, path, layout, d) for d in ("", "\t", ",", ";")}
    for delimiter in ("\t", ",", ";", ""):
        if split[delimiter]:
            number, names = split[delimiter][0]
            if columns := _named_columns(names, layout, path, number):
                named = _with_columns(layout, columns, delimiter, number)
                _refuse_grades_as_scores(named, split[delimiter], path)
                return _with_levels(named, split[delimiter])
    by_words = split[""]
    if not (layout.real == "score" and _counts(by_words, 2, 4)):
        _refuse_another_kind(by_words, path, layout)
    for delimiter, rows in split.items():
        if detected := _headerless_layout(rows, delimiter, layout, path):
            return detected
    if layout.real == "score" and _most(by_words, lambda f: len(f) == 3 and parse_number(f[2]) is not None):
        reason = (
            "has three columns, the last neither ranks (1, 2, 3, … in each topic) nor scores with fractions"
        )
        hint = "say which by a first line: query_id doc_id rank, or query_id doc_id score"
        raise InputError(reason, path=path, line=by_words[0][0], hint=hint)
    return layout


def _list_table(text: bytes, path: Path, layout: FileLayout) -> pa.Table | None:
    """Return the topics and lists of documents of a text with columns, or None if it has no lists.

    Lists under unknown names are returned for the message.
    """
    for delimiter in (",", "\t", ";"):
        rows = itertools.islice(numbered_lines(text, path, layout), 2)
        header, *first = [_split(line, delimiter) for _, line in rows] or [[]]
        known = {name.decode().lower() for name in header}
        has_list = any(cell[:1] == b"[" for row in first for cell in row)
        has_topic = not known.isdisjoint((*NAMES["query_id"], *TOPIC_NAMES))
        if known & LIST_NAMES or (has_list and has_topic and known.isdisjoint(NAMES["doc_id"])):
            break
    else:
        return None
    names, columns = list[str](), list[list[str]]()
    for cells, _ in csv_rows(text, path, delimiter):
        if not names:
            names, columns = list(map(str.lower, cells)), [[] for _ in cells]
            continue
        for name, column, cell in zip(names, columns, cells, strict=True):
            column.append(cell if name in _NAMES else "")
    return pa.Table.from_arrays([pa.array(column, pa.large_string()) for column in columns], names)


def csv_rows(text: bytes, path: Path, delimiter: str = ",") -> Iterator[tuple[list[str], int]]:
    """Yield the fields and line number of each row that is not blank, the header first.

    A cell may have line ends between quotes.
    """
    lines, n_columns = io.StringIO(text.decode(), newline=""), 0
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in rows:
            fields = [field.strip() for field in row]
            if not any(fields):
                continue
            n_columns = n_columns or len(fields)
            if len(fields) != n_columns:
                reason = f"expected {n_columns} columns as in the header, found {len(fields)}"
                hint = "put a cell that has the delimiter in it between double quotes"
                raise InputError(reason, path=path, line=rows.line_num, hint=hint)
            yield fields, rows.line_num
    except csv.Error as error:
        reason, hint = f"is no proper text with columns ({error})", "write it again as CSV"
        raise InputError(reason, path=path, line=rows.line_num, hint=hint) from None


def numbered_lines(text: bytes, path: Path, layout: FileLayout) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither blank nor comments, with line numbers.

    A line longer than the limit is an `InputError`.
    """
    for number, line in enumerate(
        iter(functools.partial(io.BytesIO(text).readline, MAX_LINE_BYTES + 1), b""), start=1
    ):
        if len(line) > MAX_LINE_BYTES:
            reason = f"is longer than {MAX_LINE_BYTES:,} bytes"
            raise InputError(reason, path=path, line=number, hint=f"{layout.name} has short lines")
        if (bare := line.lstrip()) and not bare.startswith(b"#"):
            yield number, line


def _first_rows(text: bytes, path: Path, layout: FileLayout, delimiter: str) -> Numbered:
    lines = itertools.islice(numbered_lines(text, path, layout), _MAX_LINES_INSPECTED)
    return [(number, _split(line, delimiter)) for number, line in lines]


def _split(line: bytes, delimiter: str) -> Columns:
    if not delimiter:
        return line.split()
    if b'"' not in line:
        return [field.strip() for field in line.split(delimiter.encode())]
    try:
        (row,) = csv.reader([line.decode()], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return []
    return [field.encode().strip() for field in row]


def _most(rows: Numbered, look: Callable[[Columns], bool]) -> int:
    """Return the number of the first line that satisfies a test, or 0 unless most lines do."""
    matches = [number for number, fields in rows if look(fields)]
    return matches[0] if 2 * len(matches) > len(rows) else 0


def _named_columns(names: Columns, layout: FileLayout, path: Path, line: int) -> tuple[str, ...]:
    """Return bayespool's column names for a header line, or an empty tuple if the line is no header."""
    lowered = [name.decode().strip('"').lower() for name in names]
    value = layout.columns[4 if layout.real == "score" else 3]
    wanted = ["query_id", "doc_id", value, *(["rank", "run_id"] if value == "score" else ["iteration"])]
    columns = [f"({name})" for name in lowered]
    for ours in wanted:
        name = next((name for name in NAMES[ours] if name in lowered), None)
        if name is not None and columns[lowered.index(name)].startswith("("):
            columns[lowered.index(name)] = "tag" if ours == "run_id" else ours
    if not {"query_id", "doc_id"} <= set(columns):
        return ()
    if repeated := [name for name, n in Counter(lowered).items() if n > 1]:
        reason = f"the header names {repeated[0]!r} twice"
        raise InputError(reason, path=path, line=line, hint="keep one of them")
    with _located(path, line):
        refuse_other_kind(lowered, value, "the header", "")
    if value not in columns and not (value == "score" and "rank" in columns):
        hint = f"it may be called {', '.join(NAMES[value])}; there are {', '.join(lowered)}"
        raise InputError(f"the header names no column {value}", path=path, line=line, hint=hint)
    return tuple(columns)


def _refuse_grades_as_scores(detected: FileLayout, rows: Numbered, path: Path) -> None:
    """Raise `InputError` if a run file looks like BEIR qrels, which call relevance grades scores."""
    if detected.real != "score" or len(detected.columns) > 3:
        return
    place = detected.columns.index("score")
    values = {fields[place] for _, fields in rows[1:] if len(fields) == len(detected.columns)}
    if (
        values
        and len(rows) > len(values) + 1
        and all(value in (b"-1", b"0", b"1", b"2", b"3") for value in values)
    ):
        reason = "looks like judgments (its scores are a few whole numbers), not like a run"
        raise InputError(reason, path=path, line=detected.header, hint=_GIVE_OTHERS)


def _with_columns(
    layout: FileLayout, columns: tuple[str, ...], delimiter: str = "", header: int = 0
) -> FileLayout:
    """Return the layout of a file with these columns alone; one that is not read has another name."""
    integer, real = (name if name in columns else None for name in (layout.integer, layout.real))
    is_ranked, keep = real is None and integer == "rank", layout.keep
    if is_ranked or (real == "score" and not integer):
        keep = "lowest rank" if is_ranked else "best score"
    return dataclasses.replace(
        layout,
        columns=columns,
        integer=integer,
        needs_integer=layout.needs_integer or is_ranked,
        real=real,
        wants_tag=layout.wants_tag and "tag" in columns,
        keep=keep,
        delimiter=delimiter,
        header=header,
    )


def _headerless_layout(rows: Numbered, delimiter: str, layout: FileLayout, path: Path) -> FileLayout | None:
    """Return the layout that lines without a header have if they are split at this delimiter, or None."""
    value = layout.columns[-2 if layout.real == "score" else -1]
    pair = "query_id", "doc_id"
    if layout.real == "score":
        if _most(rows, _is_run_line):
            return _with_columns(layout, layout.columns, delimiter)
        if _counts(rows, 2, 4):
            return _with_columns(layout, (*pair, "rank", "score"), delimiter)
        if _counts(rows, 2, 3):
            return _with_columns(layout, (*pair, "rank"), delimiter)
        if _most(rows, lambda f: len(f) == 3 and parse_number(f[2]) is not None) and any(
            len(f) == 3 and not is_whole(f[2]) for _, f in rows
        ):
            return _with_columns(layout, (*pair, "score"), delimiter)
        return None
    is_value = _is_relevance if value == "relevance" else lambda token: parse_number(token) is not None
    if _most(rows, lambda f: len(f) == 4 and is_value(f[3])):
        return _with_levels(_with_columns(layout, layout.columns, delimiter), rows)
    if _most(rows, lambda f: len(f) == 3 and is_value(f[2])):
        return _with_levels(_with_columns(layout, (*pair, value), delimiter), rows)
    if _most(rows, _is_prels_line):
        reason = "looks like prels (topic document relevance method probability): judgments of a sample"
        hint = f"for scores as judged give four columns: awk '{{print $1, 0, $2, $3}}' {path.name}"
        raise InputError(reason, path=path, line=rows[0][0], hint=hint)
    if _most(rows, lambda f: len(f) == 5 and None not in map(parse_number, f[3:])):
        reason = (
            "has five columns, as judgments of a sample do (topic iteration document, and a stratum or "
            "probability beside the relevance)"
        )
        hint = (
            "for scores as judged give four columns, topic iteration document relevance: "
            f"awk '{{print $1, $2, $3, $5}}' {path.name}, or $4 where the relevance is in the fourth"
        )
        raise InputError(reason, path=path, line=rows[0][0], hint=hint)
    if value == "relevance" and all(len(fields) == 2 and all(fields) for _, fields in rows):
        return _with_columns(layout, pair, delimiter)
    return None


def _with_levels(layout: FileLayout, rows: Numbered) -> FileLayout:
    """Return the layout, marked if relevance is written as NTCIR levels."""
    if "relevance" not in layout.columns:
        return layout
    place, width = layout.columns.index("relevance"), len(layout.columns)
    rows = [(number, fields) for number, fields in rows if number != layout.header]
    has_levels = bool(_most(rows, lambda f: len(f) == width and f[place] in _LEVELS))
    return dataclasses.replace(layout, has_levels=has_levels)


def _counts(rows: Numbered, place: int, width: int, *, least: int = 2) -> bool:
    """Return whether a column numbers the lines for each topic (from 0 or 1), as ranks do."""
    if not _most(rows, lambda f: len(f) == width and is_whole(f[place])):
        return False
    ranks, documents = defaultdict[bytes, list[float]](list), set()
    for _, fields in rows:
        if len(fields) == width and is_whole(fields[place]):
            ranks[fields[0]].append(float(fields[place]))
            documents.add((fields[0], fields[1]))
    n_lines = sum(map(len, ranks.values()))
    counted = sum(a + 1 == b for topic_ranks in ranks.values() for a, b in itertools.pairwise(topic_ranks))
    starts = {topic_ranks[0] for topic_ranks in ranks.values()}
    return (
        len(documents) == n_lines
        and starts <= {0.0, 1.0}
        and max(map(len, ranks.values())) >= least
        and counted == n_lines - len(ranks)
    )


def _is_run_line(fields: Columns) -> bool:
    """Return whether a line looks like a TREC run line, with rank, score, and a tag or ``Q0``."""
    return (
        len(fields) >= 5
        and (len(fields) == 6 or fields[1].upper() == b"Q0")
        and is_whole(fields[3])
        and parse_number(fields[4]) is not None
    )


def _is_prels_line(fields: Columns) -> bool:
    """Return whether a line looks like prels: topic, document, two whole numbers and a probability."""
    if len(fields) != 5 or not (is_whole(fields[2]) and is_whole(fields[3])):
        return False
    probability = parse_number(fields[4])
    return probability is not None and 0 < probability <= 1 and fields[1].upper() not in (b"0", b"Q0")


def _is_relevance(token: bytes) -> bool:
    return parse_number(token) is not None or token in _LEVELS


_GIVE_RUN = "give runs among the runs, and here lines of query_id iteration doc_id"
_GIVE_OTHERS = "give judgments as the qrels (--qrels), labels as a judge (--judge), and runs here"


def _refuse_another_kind(rows: Numbered, path: Path, layout: FileLayout) -> None:
    """Raise `InputError` if lines look like another kind of file."""
    if layout.real == "score":
        if line := _most(rows, lambda f: len(f) == 4 and parse_number(f[3]) is not None):
            reason = "looks like judgments or labels (query_id iteration doc_id relevance), not like a run"
            raise InputError(reason, path=path, line=line, hint=_GIVE_OTHERS)
        return
    last = layout.columns[3]
    expected = "judgments" if last == "relevance" else "labels of a judge"
    run_form = "query_id Q0 doc_id rank score tag"
    line = _most(rows, _is_run_line)
    if not line and _counts(rows, 2, 3, least=5):
        line, run_form = rows[0][0], "query_id doc_id rank"
    if not line and _counts(rows, 2, 4, least=5):
        line, run_form = rows[0][0], "query_id doc_id rank score"
    if line:
        reason = f"looks like a run ({run_form}), not like {expected}"
        raise InputError(reason, path=path, line=line, hint=f"{_GIVE_RUN} {last}")


# --- rows and columns of a format ---------------------------------------------------------------------------


def _rows(text: bytes, path: Path, layout: FileLayout) -> Iterator[Row]:
    """Yield the rows of a text in the given format, without the header."""
    rows: Iterable[Row]
    if layout.delimiter:
        rows = _delimited(text, path, layout)
    else:
        rows = ((number, line.split()) for number, line in numbered_lines(text, path, layout))
    place = layout.columns.index("relevance") if layout.has_levels else -1
    for number, fields in rows:
        if number == layout.header:
            continue
        if place >= 0 and isinstance(fields, list) and place < len(fields):
            fields[place] = _LEVELS.get(fields[place], fields[place])
        yield number, fields


def _delimited(text: bytes, path: Path, layout: FileLayout) -> Iterator[Row]:
    """Yield the rows of a delimited text, whose fields may be quoted."""
    lines = list(numbered_lines(text, path, layout))
    reader = csv.reader((line.decode() for _, line in lines), delimiter=layout.delimiter, strict=True)
    ids = [layout.columns.index(name) for name in ("query_id", "doc_id")]
    try:
        for row in reader:
            number = lines[reader.line_num - 1][0]
            fields = [field.encode().strip() for field in row]
            if not any(fields):
                continue
            if len(fields) > len(layout.columns):
                detail = f"expected {len(layout.columns)} columns, found {len(fields)}"
                yield number, BadLine(f"skipped, more than {layout.width} columns", detail)
            elif len(fields) == len(layout.columns) and not all(fields[i] for i in ids):
                yield number, BadLine("skipped, no topic or document", "a topic or document is empty")
            else:
                yield number, fields
    except csv.Error as error:
        hint = 'put a text with a quote in it between quotes, and double the quote: "a ""b"""'
        reason = f"is no proper text with columns ({error})"
        raise InputError(reason, path=path, line=lines[reader.line_num - 1][0], hint=hint) from None


def _refuse_gaps(lines: Lines, path: Path) -> None:
    """Raise `InputError` if the last of three columns, read as ranks, has gaps."""
    assert lines.integer is not None  # for the type checker: the layout needs it
    topic = lines.query_id.indices.to_numpy()
    ranks: IndexArray = lines.integer.astype(np.int64)
    order = np.lexsort((ranks, topic))
    start = ranks[order] - topic_ranks(topic[order])  # of each topic's ranks, if they count
    if not np.isin(start, (0, 1)).all() or (np.diff(start) * (np.diff(topic[order]) == 0)).any():
        reason = "has no scores, and its ranks do not count the documents of each topic (1, 2, 3, …)"
        hint = "if these are scores, say so in a first line (query_id doc_id score); else write ranks anew"
        raise InputError(reason, path=path, hint=hint)
