"""What a file is, told from its first lines a second time, from the words of the documentation alone."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

__all__ = [
    "Refused",
    "check_ranks",
    "csv_rows",
    "has_failures",
    "is_fraction",
    "is_number",
    "is_ranked",
    "sniff",
]

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
