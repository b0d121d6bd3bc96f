"""What to judge next, in the terminal and as files: the list for assessors, and the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bayespool.collection import Qrels, write_qrels
from bayespool.errors import OutputError
from bayespool.report.files import check_output, write_tables
from bayespool.report.pooling import check_list
from bayespool.report.terminal import fitting_tables, print_line, print_made, print_note, print_words, room_of
from bayespool.scoring import NextJudgments
from bayespool.scoring.stored import with_notes
from bayespool.tables.numbers import number

if TYPE_CHECKING:
    from rich.console import Console

_TABLES = (".csv", ".json", ".parquet")
_LISTS = ("", ".txt", ".qrels", ".gz")
_COLUMNS = ("query_id", "doc_id", "rank", "chance", "expected", "runs")
_SHOWN = 20


def check_judgments_file(path: Path) -> None:
    """Raise before any work is done for a file that could not be written after it.

    Raises
    ------
    OutputError
        No place for a file, or an ending that is neither of a table nor of a list.
    """
    if path.suffix in _TABLES:
        check_output(path)
        return
    check_list(path)
    if path.suffix not in _LISTS:
        known = (
            f"{', '.join(_TABLES)} for a table, {', '.join(_LISTS[1:])} or none for a list in qrels format"
        )
        raise OutputError(f"{path}: cannot write {path.suffix}; use {known}")


def write_next_judgments(found: NextJudgments, path: Path) -> None:
    """Write the documents to a file: a table, and with JSON and Parquet the metadata, where the name ends in
    .csv, .json or .parquet; else as qrels with relevance −1, the most telling document first. Where there is
    nothing to judge the file is empty.

    Raises
    ------
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    frame = found.frame()
    if path.suffix in _TABLES:
        described = with_notes(found.metadata, found.notes)
        write_tables(path, {"documents": frame}, "documents", described)
        return
    topics = pa.array(frame["query_id"].tolist(), pa.string()).dictionary_encode()
    doc_ids = pa.array(frame["doc_id"].tolist(), pa.string())
    write_qrels(Qrels(topics, doc_ids, np.full(len(frame), -1, dtype=np.int16)), path)


def print_next_judgments(found: NextJudgments, console: Console) -> None:
    """Print how things stand, the first documents, and what is expected of all.

    Parameters
    ----------
    found : NextJudgments
    console : rich.console.Console
    """
    what = f"{found.measure}, {found.criterion}"
    if (after := found.afterwards) is not None:
        print_line(
            console,
            f"{_judgments(after.n)} of your own: {what} {number(after.before)} with none of them; expected "
            f"from there {number(after.expected)}; it is {number(after.now)}",
        )
    if found.target.goal == "interval":
        widths = ", ".join(
            f"{run} {number(width)}"
            for run, width in zip(found.target.names, found.target.now.tolist(), strict=True)
        )
        print_words(console, f"{found.measure}, widths of the intervals now: {widths}")
    elif after is None:
        print_line(console, f"{what} now: {number(found.now)}")
    if found.until is not None:
        print_line(console, _stopping(found))
    if len(found):
        _print_documents(found, console)
    elif not found.is_done:
        print_line(console, f"nothing to judge: {_why_nothing(found)}")
    for note in found.notes:
        print_note(console, note)


def _print_documents(found: NextJudgments, console: Console) -> None:
    """The first documents, and what is expected of all."""
    header = ["", "topic", "document", "best\nrank", "chance of\nrelevance", "expected\nafter it", "runs"]
    columns = (found.frame().head(_SHOWN)[name].tolist() for name in _COLUMNS)
    rows = [
        [str(i), query_id, doc_id, str(rank), number(chance), number(expected), runs]
        for i, (query_id, doc_id, rank, chance, expected, runs) in enumerate(zip(*columns, strict=True), 1)
    ]
    may_go = ("runs", "best\nrank")  # the file has them, too
    for table in fitting_tables(header, rows, 3, console, room_of(console), may_go=may_go):
        print_made(console, table)
    if len(found) > _SHOWN:
        print_line(console, f"and {len(found) - _SHOWN} more, which --output writes")
    print_words(
        console,
        f"{_judgments(len(found))} {'are' if len(found) > 1 else 'is'} expected to bring the "
        f"{found.criterion} from {number(found.now)} to {number(found.expected_after)}{_of_widest(found)}",
    )


def _of_widest(found: NextJudgments) -> str:
    """What becomes of the widest interval where the mean width is brought down."""
    if found.target.goal != "interval" or found.until is not None or len(found.target.names) == 1:
        return ""
    return ", the widest from {} to {}".format(*map(number, found.widest))


def _why_nothing(found: NextJudgments) -> str:
    """Why no document is proposed, though there is no word to stop."""
    n_draws = found.completion.n_draws
    if found.target.goal == "interval" or found.now > 0 or not len(found.completion.unknowns):
        return "no unjudged document is expected to tell anything"
    which = "order is" if found.target.goal == "comparison" else "ranking is"
    return (
        f"the {which} the same in all {n_draws} draws, so that the chance of a wrong one is below "
        f"{1 / n_draws:.2g}, though there are unjudged documents and intervals are open (--goal interval)"
    )


def _stopping(found: NextJudgments) -> str:
    """Whether judging may stop, or how long it is expected to take."""
    goal = f"{found.criterion} of at most {found.until:g}"
    if found.is_done:
        return f"stop: {goal} is reached ({number(found.now)})"
    if found.n_needed is None:
        return f"{goal}: not to be expected of the judgments that are looked ahead"
    return f"{goal}: expected after {_judgments(found.n_needed)}"


def _judgments(n: int) -> str:
    return f"{n} judgment" + "s" * (n != 1)
