"""A second reading of the files that bayespool reads, from the words of the documentation alone.

It is slow, short and shares nothing with the package, so that both are wrong in one way only by chance. Not
checked here: limits on size, and what a message says.
"""

from __future__ import annotations

import gzip
import lzma
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.dom import minidom
from xml.parsers.expat import ExpatError

import pyarrow as pa

__all__ = ["Refused", "Table", "organizations", "run_types", "table"]

UNSEEN = "\ufeff\xa0\u2007\u202f"
BLANKS = re.compile("[ \t\v\f]+")
REAL = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)", re.I)
INTEGER = re.compile("[+-]?[0-9]{1,100}")
BOUNDS = {"relevance": (-(2**15), 2**15 - 1), "rank": (-(2**31), 2**31 - 1)}
LONGEST_LINE = 2**20
LONGEST_FIELD = 131_072
COLUMNS = {
    "run": ("topic", "q0", "document", "rank", "score", "tag"),
    "qrels": ("topic", "iteration", "document", "relevance"),
    "labels": ("topic", "iteration", "document", "label"),
}


class Refused(Exception):
    """The file cannot be used."""


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
        elif data.startswith(b"\x28\xb5\x2f\xfd") or re.match(rb"[\x50-\x5f]\x2a\x4d\x18", data):
            data = b"".join(_frames(data))
    except (EOFError, OSError, zlib.error, lzma.LZMAError, struct.error) as error:
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
    columns = COLUMNS[kind]
    rows: list[tuple[str, str, float | int, int | None]] = []
    tags: set[str] = set()
    for line in text(plain(data)).split("\n"):
        if len(line.encode()) >= LONGEST_LINE:
            raise Refused("a long line")
        fields = [field for field in BLANKS.split(line) if field]
        if not fields:
            continue
        bare = [_bare(field, place) for place, field in enumerate(fields)]
        if bare != fields and strict:
            raise Refused("an unseen character")
        fields = [field for field in bare if field]
        try:
            if len(fields) < len(columns) or (strict and len(fields) > len(columns)):
                raise Refused("a line of another width")
            named = dict(zip(columns, fields, strict=False))
            value: float | int = (
                _integer(named["relevance"], "relevance")
                if kind == "qrels"
                else _real(named["score" if kind == "run" else "label"])
            )
            rank = _integer(named["rank"], "rank") if ranks else None
        except Refused:
            if strict:
                raise
            continue
        rows.append((named["topic"], named["document"], value, rank))
        tags.add(named.get("tag", ""))
    if not rows:
        raise Refused("no line")
    pairs = [row[:2] for row in rows]
    if len(set(pairs)) < len(pairs):
        if strict:
            raise Refused("a document twice")
        rows = list(_kept(rows, kind, ranks=ranks))
    return Table(tuple(rows), frozenset(tags))


def _bare(field: str, place: int) -> str:
    """A topic without unseen characters, a document without any at its ends."""
    if place == 0:
        return "".join(character for character in field if character not in UNSEEN)
    return field.strip(UNSEEN) if place == 2 else field


def _real(token: str) -> float:
    if not REAL.fullmatch(token) or not token.isascii():
        raise Refused("no number")
    return float(token)


def _integer(token: str, name: str) -> int:
    low, high = BOUNDS[name]
    if not INTEGER.fullmatch(token) or not low <= int(token) <= high:
        raise Refused("no integer")
    return int(token)


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
    return _agreed(_of_xml(data) if is_xml else _of_csv(data, ["organization"]))


def run_types(data: bytes) -> dict[str, str]:
    """Type of each run."""
    return _agreed(_of_csv(plain(data), ["type", "run_type"]))


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


def csv_rows(content: str) -> Iterator[list[str]]:
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
        elif character in ",\n":
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
