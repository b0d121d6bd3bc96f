"""A second reading of the files that bayespool reads, from the words of the documentation alone.

It is slow, short and shares nothing with the package, so that both are wrong in one way only by chance. Not
checked here: limits on size, and what a message says.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from xml.dom import minidom
from xml.parsers.expat import ExpatError

import pyarrow as pa

REAL = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)", re.I)
NUMBER = re.compile(REAL.pattern + r"|[+-]?nan", re.I)
INTEGER = re.compile(r"[+-]?[0-9]{1,100}(?:\.0*)?")
LONGEST_FIELD = 131_072
LEVELS = {"S": "3", "A": "2", "B": "1", "C": "0"} | {f"L{n}": str(n) for n in range(10)}
TOPIC = ("query_id", "qid", "q_id", "topic", "query-id", "topic_id", "query")
DOCUMENT = ("doc_id", "docno", "docid", "did", "corpus-id", "corpus_id", "pid", "doc", "document")
GRADE = ("relevance", "label", "rel", "rating", "judgment", "grade")
NAMES = {
    "topic": TOPIC, "document": DOCUMENT, "score": ("score", "sim"), "rank": ("rank",),
    "tag": ("run_id", "run", "tag"), "relevance": (*GRADE, "score"),
    "label": ("label", "relevance", "rel", "rating", "judgment", "grade", "score"),
    "iteration": ("iteration", "iter", "subtopic", "q0"),
}  # fmt: skip
TREC = {
    "run": ("topic", "iteration", "document", "rank", "score", "tag"),
    "qrels": ("topic", "iteration", "document", "relevance"),
    "labels": ("topic", "iteration", "document", "label"),
}

Rows = list[list[str]]
Format = tuple[tuple[str, ...], str, bool, bool]
"""Columns, delimiter, whether there is a header, whether relevances are levels of NTCIR."""


class Refused(Exception):
    """The file cannot be used."""


def is_number(token: str) -> bool:
    """Whether a text is a number, or NaN."""
    return token.isascii() and NUMBER.fullmatch(token) is not None


def is_fraction(token: str) -> bool:
    """Whether a text is a number that is not whole."""
    return is_number(token) and math.isfinite(float(token)) and float(token) % 1 > 0


def is_whole(token: str) -> bool:
    """Whether a text is a whole number."""
    return INTEGER.fullmatch(token) is not None


def has_failures(labels: list[float]) -> bool:
    """Whether −1 stands for no label: beside whole labels from 0."""
    whole = all(
        math.isfinite(label) and label % 1 == 0 for label in labels if label < 0 or math.isfinite(label)
    )
    return whole and min(labels) == -1 and 0 in labels


def check_ranks(ranked: list[tuple[str, float]]) -> None:
    """Refuse ranks that do not count the documents of each topic."""
    of_topic = defaultdict[str, list[float]](list)
    for topic, rank in ranked:
        of_topic[topic].append(rank)
    for ranks in of_topic.values():
        if sorted(ranks) not in (list(range(len(ranks))), list(range(1, len(ranks) + 1))):
            raise Refused("no ranks of a topic")


def sniff(lines: list[str], kind: str) -> Format:
    """What the first hundred lines look like."""
    first = lines[:100]
    split = {d: [_split(line, d) for line in first] for d in ("", "\t", ",", ";")}
    for delimiter in ("\t", ",", ";", ""):
        rows = split[delimiter]
        if rows and (columns := _header(rows[0], kind)):
            if kind == "run" and "score" in columns and len(columns) <= 3:
                values = [row[columns.index("score")] for row in rows[1:] if len(row) == len(columns)]
                if 0 < len(set(values)) < len(rows) - 1 and set(values) <= {"-1", "0", "1", "2", "3"}:
                    raise Refused("judgments")
            return columns, delimiter, True, _has_levels(rows[1:], columns, len(rows) - 1)
    words = split[""]
    if kind == "run":
        if not _counts(words, 4, 2) and _most(words, lambda r: len(r) == 4 and is_number(r[3])):
            raise Refused("judgments")
    elif _most(words, _of_run) or is_ranked(words):
        raise Refused("a run")
    for delimiter in ("", "\t", ",", ";"):
        rows = split[delimiter]
        if found := _placed(rows, kind):
            return found, delimiter, False, _has_levels(rows, found, len(rows))
    if kind == "run" and _most(words, lambda r: len(r) == 3 and is_number(r[2])):
        raise Refused("three columns")
    return TREC[kind], "", False, False


def is_ranked(words: Rows) -> bool:
    """Whether lines of three or four columns have ranks in the third."""
    return _counts(words, 3, 5) or _counts(words, 4, 5)


def _split(line: str, delimiter: str) -> list[str]:
    if not delimiter:
        return [field for field in re.split("[ \t\v\f]+", line) if field]
    try:
        rows = list(csv_rows(line, delimiter)) if '"' in line else [line.split(delimiter)]
    except Refused:
        return []
    return [field.strip(" \t\v\f") for field in rows[0]] if len(rows) == 1 else []


def _most(rows: Rows, look: Callable[[list[str]], bool]) -> bool:
    return 2 * sum(map(look, rows)) > len(rows)


def _header(fields: list[str], kind: str) -> tuple[str, ...]:
    names = [field.strip('"').lower() for field in fields]
    value = {"run": "score", "qrels": "relevance", "labels": "label"}[kind]
    columns = [f"({name})" for name in names]
    for ours in ("topic", "document", value, *(("rank", "tag") if kind == "run" else ("iteration",))):
        name = next((name for name in NAMES[ours] if name in names), None)
        if name is not None and columns[names.index(name)] == f"({name})":
            columns[names.index(name)] = ours
    if "topic" not in columns or "document" not in columns:
        return ()
    judged, scored = set(names) & set(GRADE), set(names) & {"score", "sim"}
    if len(set(names)) < len(names):
        raise Refused("a column twice")
    if kind == "run" and judged and not scored:
        raise Refused("judgments")
    if kind != "run" and not judged and scored and set(names) & {"rank", "run_id", "run", "tag"}:
        raise Refused("a run")
    if value not in columns and not (kind == "run" and "rank" in columns):
        raise Refused("no value")
    return tuple(columns)


def _placed(rows: Rows, kind: str) -> tuple[str, ...]:
    """Columns of lines without a header; none if they look like nothing."""
    value = TREC[kind][-1]
    if kind == "run":
        if _most(rows, _of_run):
            return TREC[kind]
        if _counts(rows, 4, 2):
            return ("topic", "document", "rank", "score")
        if _counts(rows, 3, 2):
            return ("topic", "document", "rank")
        of_three = [row for row in rows if len(row) == 3]
        if _most(rows, lambda r: len(r) == 3 and is_number(r[2])) and not all(
            is_whole(r[2]) for r in of_three
        ):
            return ("topic", "document", "score")
        return ()

    def is_value(token: str) -> bool:
        return is_number(token) or (kind == "qrels" and token in LEVELS)

    for width, columns in ((4, TREC[kind]), (3, ("topic", "document", value))):
        if _most(rows, lambda r, w=width: len(r) == w and is_value(r[-1])):  # type: ignore[misc]
            return columns
    if _most(rows, _of_prels) or _most(rows, lambda r: len(r) == 5 and is_number(r[3]) and is_number(r[4])):
        raise Refused("a sample")
    if kind == "qrels" and all(len(row) == 2 and all(row) for row in rows):
        return ("topic", "document")
    return ()


def _has_levels(rows: Rows, columns: tuple[str, ...], n: int) -> bool:
    if "relevance" not in columns:
        return False
    place = columns.index("relevance")
    return 2 * sum(len(row) == len(columns) and row[place] in LEVELS for row in rows) > n


def _of_run(row: list[str]) -> bool:
    named = len(row) == 6 or (len(row) >= 5 and row[1].upper() == "Q0")
    return named and is_whole(row[3]) and is_number(row[4])


def _of_prels(row: list[str]) -> bool:
    numbers = len(row) == 5 and is_whole(row[2]) and is_whole(row[3]) and is_number(row[4])
    return numbers and 0 < float(row[4]) <= 1 and row[1].upper() not in ("0", "Q0")


def _counts(rows: Rows, width: int, least: int) -> bool:
    """Whether the third column counts the documents of each topic, in one at least so many."""
    taken = [row for row in rows if len(row) == width and is_whole(row[2])]
    if 2 * len(taken) <= len(rows) or len({tuple(row[:2]) for row in taken}) < len(taken):
        return False
    of_topic = defaultdict[str, list[float]](list)
    for row in taken:
        of_topic[row[0]].append(float(row[2]))
    return max(map(len, of_topic.values())) >= least and all(
        ranks[0] in (0, 1) and ranks == [ranks[0] + i for i in range(len(ranks))]
        for ranks in of_topic.values()
    )


def csv_rows(content: str, delimiter: str = ",") -> Iterator[list[str]]:
    """Rows of CSV: a quoted field begins with a quote, ends with one, and has two for one inside."""
    row: list[str] = []
    field, state = "", "start"
    for character in content + ("" if content.endswith("\n") else "\n"):
        if len(field) > LONGEST_FIELD:
            raise Refused("a long field")
        if state == "quoted":
            state, field = ("closed", field) if character == '"' else ("quoted", field + character)
        elif state == "closed" and character == '"':
            state, field = "quoted", field + character
        elif character in (delimiter, "\n"):
            row, field, state = [*row, field], "", "start"
            if character == "\n":
                yield [] if row == [""] else row
                row = []
        elif state == "closed":
            raise Refused("text behind a quote")
        elif state == "start" and character == '"':
            state = "quoted"
        else:
            state, field = "plain", field + character
    if state == "quoted":
        raise Refused("a quote that is not closed")


UNSEEN = "\ufeff\xa0\u2007\u202f"
BLANKS = re.compile("[ \t\v\f]+")
BOUNDS = {"relevance": (-(2**15), 2**15 - 1), "rank": (-(2**31), 2**31 - 1)}
LONGEST_LINE = 2**20


@dataclass(frozen=True)
class Table:
    """Rows that are kept, and what is used of all: tags."""

    rows: tuple[tuple[str, str, float | int, int | None], ...]
    tags: frozenset[str]


def plain(data: bytes) -> bytes:
    """What a file holds, decompressed by what its first bytes say, without a byte order mark."""
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"\xfd7zXZ\x00"):
            data = lzma.decompress(data)
        elif re.match(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", data):
            data = bz2.decompress(data)
        elif data.startswith(b"\x28\xb5\x2f\xfd") or re.match(rb"[\x50-\x5f]\x2a\x4d\x18", data):
            data = b"".join(_frames(data))
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, struct.error) as error:
        raise Refused(f"damaged: {error}") from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        raise Refused("binary")
    if not data.strip(b" \t\r\n\v\f"):
        raise Refused("empty")
    return data


def _frames(data: bytes) -> Iterator[bytes]:
    """Frames of zstd, by Arrow's own decompressor; those to be passed over say how long they are."""
    while data:
        if re.match(rb"[\x50-\x5f]\x2a\x4d\x18", data):
            if len(data) < 8:
                raise EOFError("a frame without a length")
            end = 8 + int.from_bytes(data[4:8], "little")
            if end > len(data):
                raise EOFError("a frame that ends too early")
            data = data[end:]
            continue
        ends = [m.start() for m in re.finditer(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", data)]
        for end in (*(e for e in ends if e > 0), len(data)):
            try:
                with pa.CompressedInputStream(pa.BufferReader(data[:end]), "zstd") as stream:
                    piece = stream.read()
                break
            except (pa.ArrowException, OSError) as error:
                problem = error
        else:
            raise OSError(str(problem))
        yield piece
        data = data[end:]


def text(data: bytes) -> str:
    """UTF-8, or Latin-1 where it is none; every line ends with LF."""
    try:
        found = data.decode("utf-8")
    except UnicodeDecodeError:
        found = data.decode("latin-1")
    return found.replace("\r\n", "\n").replace("\r", "\n")


def table(data: bytes, kind: str, *, strict: bool, ranks: bool = False) -> Table:
    """Rows (topic, document, value, rank) of a run, of judgments or of labels."""
    lines = text(plain(data)).split("\n")
    if any(len(line.encode()) >= LONGEST_LINE for line in lines):
        raise Refused("a long line")
    lines = [line for line in lines if line.strip(" \t\v\f")]
    lines = [line for line in lines if not line.lstrip(" \t\v\f").startswith("#")]
    if not lines:
        raise Refused("comments alone")
    if kind != "run" and is_ranked([_words(line) for line in lines[:100]]):
        raise Refused("a run")
    try:
        return _table([_words(line) for line in lines], TREC[kind], kind, strict=True, ranks=ranks)
    except Refused:
        pass  # anything else than a file as it ought to be
    if lines[0].lstrip(" \t\v\f")[0] in "{[":
        raise Refused("JSON is another target's matter")
    columns, delimiter, has_header, has_levels = sniff(lines, kind)
    ranks = ranks and "rank" in columns
    rows = [_words(line) for line in lines] if not delimiter else list(csv_rows("\n".join(lines), delimiter))
    if delimiter:
        rows = [row for row in ([field.strip(" \t\v\f") for field in row] for row in rows) if any(row)]
    place = columns.index("relevance") if has_levels else -1
    for row in rows:
        if 0 <= place < len(row):
            row[place] = LEVELS.get(row[place], row[place])
        empty = (
            delimiter
            and len(row) == len(columns)
            and not all(row[columns.index(n)] for n in ("topic", "document"))
        )
        if (delimiter and len(row) > len(columns)) or empty:
            row.clear()  # of no use
    return _table(rows[has_header:], columns, kind, strict=strict, ranks=ranks)


def _words(line: str) -> list[str]:
    return [field for field in BLANKS.split(line) if field]


def _table(
    lines: list[list[str]], columns: tuple[str, ...], kind: str, *, strict: bool, ranks: bool
) -> Table:
    """Rows of lines that are divided into columns."""
    rows: list[tuple[str, str, float | int, int | None]] = []
    apart: list[str] = []
    tags: set[str] = set()
    n_unlabeled = 0
    is_ranked = kind == "run" and "score" not in columns
    for fields in lines:
        if any(character in UNSEEN for field in fields for character in field):
            places = {columns.index("topic"): 0, columns.index("document"): 2}
            bare = [_bare(field, places.get(place, 1)) for place, field in enumerate(fields)]
            if bare != fields and strict:
                raise Refused("an unseen character")
            fields = [field for field in bare if field]
        try:
            if len(fields) < len(columns) or (strict and len(fields) > len(columns)):
                raise Bad("a line of another width")
            if len(fields) > len(columns):
                _use_first(fields, columns, kind)
            named = dict(zip(columns, fields, strict=False))
            if kind == "labels" and named["label"].lower() in ("none", "null", ""):
                n_unlabeled += 1
                continue
            if kind == "qrels":
                value: float | int = _relevance(named["relevance"]) if "relevance" in named else 1
            elif is_ranked:
                value = -float(_integer(named["rank"], "rank"))
            else:
                value = _real(named["score" if kind == "run" else "label"])
            rank = _integer(named["rank"], "rank") if ranks else None
        except Bad as bad:
            if strict:
                raise Refused(str(bad)) from None
            continue
        rows.append((named["topic"], named["document"], value, rank))
        apart.append(named.get("tag" if kind == "run" else "iteration", ""))
        tags |= {named["tag"]} if "tag" in named else set()
    if not rows:
        raise Refused("no line")
    seen: dict[tuple[str, str], str] = {}
    if any(seen.setdefault(row[:2], value) != value for row, value in zip(rows, apart, strict=True)):
        raise Refused("several runs, or subtopics")
    n_read = len(rows)
    if len(seen) < n_read:
        if strict:
            raise Refused("a document twice")
        rows = list(_kept(rows, kind, ranks=ranks or is_ranked))
    n_lost = len(lines) - n_unlabeled - len(rows)
    if n_lost and 10 * n_lost >= len(lines):
        raise Refused("a tenth is lost")
    if is_ranked:
        check_ranks([(row[0], -row[2]) for row in rows])
    if kind == "labels" and has_failures([row[2] for row in rows]):
        rows = [row for row in rows if row[2] >= 0]
    return Table(tuple(rows), frozenset(tags))


class Bad(Exception):
    """The line cannot be used."""


def _use_first(fields: list[str], columns: tuple[str, ...], kind: str) -> None:
    """Accept columns too many behind a line as it ought to be; refuse what may be a blank in an id."""
    if columns[1] != "iteration":
        raise Bad("too many columns")
    ends = [
        place
        for place in range(len(columns) - 1 - (kind == "run"), len(fields))
        if _may_end(fields, place, kind)
    ]
    if any(place >= len(columns) - (kind == "run") for place in ends):
        raise Refused("a blank in an id")
    if not ends:
        raise Bad("too many columns")


def _may_end(fields: list[str], place: int, kind: str) -> bool:
    before = kind != "run" or (place + 1 < len(fields) and INTEGER.fullmatch(fields[place - 1]) is not None)
    return before and is_number(fields[place])


def _bare(field: str, place: int) -> str:
    """A topic without unseen characters, a document without any at its ends."""
    if place == 0:
        return "".join(character for character in field if character not in UNSEEN)
    return field.strip(UNSEEN) if place == 2 else field


def _real(token: str) -> float:
    if not REAL.fullmatch(token) or not token.isascii():
        raise Bad("no number")
    return float(token)


def _integer(token: str, name: str) -> int:
    low, high = BOUNDS[name]
    if not INTEGER.fullmatch(token) or not low <= int(token.partition(".")[0]) <= high:
        raise Bad("no integer")
    return int(token.partition(".")[0])


def _relevance(token: str) -> int:
    if not INTEGER.fullmatch(token) and is_fraction(token):
        raise Refused("a grade that is not whole")
    return _integer(token, "relevance")


def _kept(
    rows: list[tuple[str, str, float | int, int | None]], kind: str, *, ranks: bool
) -> Iterator[tuple[str, str, float | int, int | None]]:
    """One row of each document: the last judgment or label, the best score of a run or the lowest rank."""
    kept: dict[tuple[str, str], int] = {}
    for place, row in enumerate(rows):
        known = kept.get(row[:2])
        if known is None or kind != "run":
            better = True
        elif ranks:
            mine, other = row[3], rows[known][3]
            assert mine is not None
            assert other is not None
            better = mine < other
        else:
            better = row[2] > rows[known][2]
        if better:
            kept[row[:2]] = place
    return (rows[place] for place in sorted(kept.values()))


def organizations(data: bytes) -> dict[str, str]:
    """Organization of each run, of CSV or XML."""
    data = plain(data)
    is_xml = data.lstrip(b" \t\r\n\v\f").startswith(b"<")
    return _agreed(_of_xml(data) if is_xml else _of_csv(data, ["organization", "type", "run_type"]))


def _agreed(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in entries:
        if not name or not value or found.setdefault(name, value) != value:
            raise Refused(f"{name!r}: {value!r}")
    if not found:
        raise Refused("no run")
    return found


def _of_csv(data: bytes, names: list[str]) -> list[tuple[str, str]]:
    rows = [row for row in ([field.strip() for field in row] for row in csv_rows(text(data))) if any(row)]
    if not rows:
        raise Refused("no header")
    header = [name.lower() for name in rows[0]]
    places = []
    for wanted in (["run_id", "run", "tag"], names):
        named = [name for name in wanted if name in header]
        if not named or header.count(named[0]) > 1:
            raise Refused("no such column, or two")
        places.append(header.index(named[0]))
    if any(len(row) != len(header) for row in rows):
        raise Refused("a row of another width")
    return [(row[places[0]], row[places[1]]) for row in rows[1:]]


def _of_xml(data: bytes) -> list[tuple[str, str]]:
    if b"<!ENTITY" in data:
        raise Refused("entities")
    try:
        document = minidom.parseString(data)
    except (ExpatError, LookupError, ValueError) as error:
        raise Refused(str(error)) from None
    found = []
    for element in document.getElementsByTagName("*"):
        if _child(element, "tag") is not None:
            found.append((_content(element, "tag"), _content(element, "organization")))
    return found


def _child(element: minidom.Element, name: str) -> minidom.Element | None:
    for child in element.childNodes:
        if child.nodeType == child.ELEMENT_NODE and child.localName == name and not child.namespaceURI:
            return child  # type: ignore[return-value]
    return None


def _content(element: minidom.Element, name: str) -> str:
    """Text of a child before an element in it."""
    child, texts = _child(element, name), []
    for node in child.childNodes if child is not None else ():
        if node.nodeType == node.ELEMENT_NODE:
            break
        if node.nodeType in (node.TEXT_NODE, node.CDATA_SECTION_NODE):
            texts.append(node.data)
    return "".join(texts).strip()
