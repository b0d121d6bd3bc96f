"""Files that a new output may replace: earlier outputs of the same kind, and no judgments that it lacks."""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bayespool.errors import OutputError
from bayespool.tables.files import PathLike, read_bytes_back, read_frame, read_metadata
from bayespool.tables.formatting import counted

_MARKS = {
    ".tex": re.compile(rb"% needs \\usepackage\{booktabs\}"),
    ".md": re.compile(rb"<!-- bayespool "),
    ".html": re.compile(rb'.{,400}<meta name="generator" content="bayespool ', re.DOTALL),
    ".htm": re.compile(rb'.{,400}<meta name="generator" content="bayespool ', re.DOTALL),
    ".png": re.compile(rb"\x89PNG.{,400}Software\0bayespool", re.DOTALL),
    ".svg": re.compile(rb"<\?xml .{,1000}<dc:title>bayespool</dc:title>", re.DOTALL),
    ".pdf": re.compile(rb"%PDF.*/Creator \(bayespool\)", re.DOTALL),
    ".nc": re.compile(rb"\x89HDF.*bayespool", re.DOTALL),
    ".bayespool": re.compile(rb"PK\x03\x04.{,60}prepared\.json", re.DOTALL),
}
"""First bytes of the files that this package writes, by ending."""
_COLUMN = re.compile(r"[a-z][a-z0-9_]*")
_LEAST_COLUMNS = 3  # of a table; lists of organizations and of types have two
_MOST_BYTES = 1 << 28  # of a compressed list
_JUDGMENT = ("query_id", "doc_id", "relevance")

Judged = set[tuple[str, ...]]


def check_replaceable(path: PathLike, content: bytes | None = None) -> None:
    """Raise `OutputError` if a file stands where an output goes and is no earlier output of its kind.

    With the new content, also if the file is of another kind, or holds judgments that the new one lacks.
    """
    place = Path(path)
    if not place.is_file() or not place.stat().st_size:
        return
    former, hint = read_bytes_back(place), "name another file, or replace it with --overwrite"
    kind = None if former is None else output_kind(former, place.suffix)
    if kind is None or (content is not None and not _are_alike(kind, output_kind(content, place.suffix))):
        raise OutputError(f"{place}: is there already, and no earlier output of this command; {hint}")
    if former is None or content is None or former == content:
        return
    if lost := _judgments(former, place.suffix) - _judgments(content, place.suffix):
        n_lost = counted(len(lost), "judgment")
        raise OutputError(f"{place}: holds {n_lost} that the new list has not; {hint}")


def output_kind(content: bytes, suffix: str) -> tuple[str, ...] | None:
    """Return what kind of output a file's content is: its command or columns, or None for a foreign one."""
    if suffix in _MARKS:
        return (suffix,) if _MARKS[suffix].match(content) else None
    if suffix == ".parquet":
        metadata = read_metadata(content) or {}
        return (str(metadata["experiment"]),) if {"bayespool", "experiment"} <= metadata.keys() else None
    if suffix == ".csv":
        header = content[:100_000].partition(b"\n")[0].decode("utf-8", "replace").split(",")
        is_table = len(header) >= _LEAST_COLUMNS and all(map(_COLUMN.fullmatch, header))
        return tuple(header) if is_table else None
    if suffix == ".json" and (document := _document(content)):
        about = document["metadata"] if isinstance(document.get("metadata"), dict) else {}
        command = document.get("command") or about.get("experiment")
        return (str(command),) if command and {"bayespool", "version"} & {*about, *document} else None
    rows = list(_rows(content, suffix))
    return ("list",) if rows and all(row is not None for row in rows) else None


def _are_alike(one: tuple[str, ...], other: tuple[str, ...] | None) -> bool:
    """Return whether two kinds are one: the same, or tables that share half of their columns."""
    shared = len({*one} & {*(other or ())})
    return 2 * shared >= max(len(one), len(other or ()))


def _judgments(content: bytes, suffix: str) -> Judged:
    """Return the judgments in a list, or in a table of documents: topic, document, relevance."""
    rows: Iterable[Any]
    if suffix == ".csv":
        rows = csv.DictReader(io.StringIO(content.decode("utf-8", "replace")))
    elif suffix == ".parquet":
        read = read_frame(content)
        rows = () if read is None else read[0].to_dict("records")
    elif suffix == ".json" and (document := _document(content)):
        rows = [row for table in document.values() if isinstance(table, list) for row in table]
    else:
        rows = _rows(content, suffix)
    return {judged for row in rows if (judged := _judged(row))}


def _judged(row: Any) -> tuple[str, ...]:
    """Return topic, document and relevance of a row, empty for one that is not judged."""
    if not isinstance(row, Mapping) or not {*_JUDGMENT} <= row.keys() or row["relevance"] is None:
        return ()
    answer = str(row["relevance"]).strip().removesuffix(".0")
    is_open = answer.startswith("-") or answer in ("", "nan")
    return () if is_open else (str(row["query_id"]), str(row["doc_id"]), answer)


def _document(content: bytes) -> dict[str, Any]:
    """Return the object of a JSON file, empty for anything else."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _rows(content: bytes, suffix: str) -> Iterator[dict[str, Any] | None]:
    """Yield the rows of a list of documents, in lines of qrels or of JSON; None for any other line."""
    if suffix == ".gz":
        content = _unzipped(content)
    for line in content.decode("utf-8", "replace").splitlines():
        if line.startswith("{"):
            row = _document(line.encode())
            label = row.get("label", row.get("relevance"))
            yield {**row, "relevance": label} if {"query_id", "doc_id"} <= row.keys() else None
        elif fields := line.split():
            is_line = len(fields) == 4 and fields[3].lstrip("-").isdigit()
            yield dict(zip(_JUDGMENT, (fields[0], *fields[2:]), strict=True)) if is_line else None


def _unzipped(content: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(content, _MOST_BYTES)
    except zlib.error:
        return b""
