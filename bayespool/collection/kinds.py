"""What a file looks like that was given for another: a run, judgments, or labels of a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from bayespool.errors import InputError

_INTEGER = re.compile(rb"[+-]?[0-9]{1,9}")
_LOOKED_AT = 100  # lines

Look = Callable[[list[bytes]], bool]

_GIVE_RUN = "give runs among the runs, and here lines of query_id iteration doc_id"
_GIVE_OTHERS = "give judgments as the qrels (--qrels), labels as a judge (--judge), and runs here"


def refuse_file_of_another_kind(text: bytes, path: Path, last: str) -> None:
    """Refuse a file most of whose first lines are those of another kind of file, however bad lines are read.

    Parameters
    ----------
    text : bytes
    path : Path
    last : {"score", "relevance", "label"}
        The column of numbers that the file is to have: it is read as a run, as qrels, or as labels.

    Raises
    ------
    InputError
        With the first such line, what it looks like, and where to give it.
    """
    first = _first_lines(text)
    if last == "score":
        if line := _most(first, _is_judgment):
            reason = "looks like judgments or labels (query_id iteration doc_id relevance), not like a run"
            raise InputError(reason, path=path, line=line, hint=_GIVE_OTHERS)
        return
    what = "judgments" if last == "relevance" else "labels of a judge"
    if line := _most(first, _is_of_run):
        reason = f"looks like a run (query_id Q0 doc_id rank score tag), not like {what}"
        raise InputError(reason, path=path, line=line, hint=f"{_GIVE_RUN} {last}")
    if last == "relevance" and (line := _most(first, _is_label)) and any(_is_fraction(f) for _, f in first):
        reason = "looks like labels of a judge (numbers that are not whole), not like judgments"
        hint = "give labels as a judge (--judge), and here judgments with whole numbers"
        raise InputError(reason, path=path, line=line, hint=hint)


def refuse_columns_of_another_kind(names: Iterable[object], last: str, what: str, kind: str) -> None:
    """Refuse columns in memory that are those of another kind.

    Parameters
    ----------
    names : iterable of object
        Names of the columns.
    last : {"score", "relevance", "label"}
        The column of numbers that there is to be.
    what : str
        What they are to be, for the message.
    kind : {"run", "qrels", ""}
        What the object that holds them says it is, if it says so.

    Raises
    ------
    InputError
    """
    there = {name for name in names if isinstance(name, str)}
    judged, of_run = there & {"relevance", "label", "rel"}, there & {"rank", "run_id", "run", "tag"}
    scored = there & {"score", "sim"}
    if last == "score" and (kind == "qrels" or (judged and not scored)):
        seen = _columns(judged or scored)
        reason = f"{what}: looks like judgments or labels ({seen}), not like a run"
        raise InputError(reason, hint="give judgments as qrels, labels as judges, and here runs with a score")
    if last == "score" or judged or not scored:
        return
    if of_run or (kind == "run" and last == "relevance"):
        reason = f"{what}: looks like a run ({_columns(of_run | scored)}), not like {what}"
        raise InputError(reason, hint=f"give runs as runs, and here a column {last}")


def _columns(names: set[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"


def _first_lines(text: bytes) -> list[tuple[int, list[bytes]]]:
    """Numbers and columns of the first lines that are not blank."""
    found: list[tuple[int, list[bytes]]] = []
    start = number = 0
    while start < len(text) and len(found) < _LOOKED_AT:
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        number += 1
        if fields := text[start:end].split():
            found.append((number, fields))
        start = end + 1
    return found


def _most(lines: list[tuple[int, list[bytes]]], look: Look) -> int:
    """The first line that looks so, if most lines do; else 0."""
    found = [number for number, fields in lines if look(fields)]
    return found[0] if 2 * len(found) > len(lines) else 0


def _is_of_run(fields: list[bytes]) -> bool:
    """Rank and score, and a tag after them or Q0 before: with more columns where the tag has blanks in it."""
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
