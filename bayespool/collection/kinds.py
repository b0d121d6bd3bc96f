"""Recognition of files that were given in the place of another kind: runs, judgments or labels of a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from bayespool.errors import InputError

_INTEGER = re.compile(rb"[+-]?[0-9]{1,9}")
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
        and _INTEGER.fullmatch(fields[3]) is not None
        and _number(fields[4]) is not None
    )


def _is_judgment(fields: list[bytes]) -> bool:
    return len(fields) == 4 and _number(fields[3]) is not None


def _is_label(fields: list[bytes]) -> bool:
    return _is_judgment(fields) and _INTEGER.fullmatch(fields[3]) is None


def _is_fraction(fields: list[bytes]) -> bool:
    """Whether the label is a number that is not whole."""
    value = _number(fields[3]) if len(fields) == 4 else None
    return value is not None and value % 1 != 0


def _number(token: bytes) -> float | None:
    try:
        return float(token)
    except ValueError:
        return None
