"""Documents to judge next, printed and as tables or lists for assessors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bayespool.collection import Qrels, write_qrels
from bayespool.errors import OutputError
from bayespool.report.files import check_output, write_tables
from bayespool.report.pooling import check_list
from bayespool.report.terminal import (
    available_columns,
    fitting_tables,
    print_full_width,
    print_line,
    print_note,
    print_words,
)
from bayespool.scoring import NextJudgments
from bayespool.scoring.stored import with_notes
from bayespool.tables.numbers import number

if TYPE_CHECKING:
    from rich.console import Console

_TABLE_ENDINGS = (".csv", ".json", ".parquet")
_LIST_ENDINGS = ("", ".txt", ".qrels", ".gz")
_COLUMNS = ("query_id", "doc_id", "rank", "chance", "expected", "runs")
_N_PRINTED_DOCUMENTS = 20


def check_judgments_file(path: Path) -> None:
    """Raise for a file that cannot be written, because of its ending or its folder."""
    if path.suffix in _TABLE_ENDINGS:
        check_output(path)
        return
    check_list(path)
    if path.suffix not in _LIST_ENDINGS:
        tables, lists = ", ".join(_TABLE_ENDINGS), ", ".join(_LIST_ENDINGS[1:])
        known = f"{tables} for a table, {lists} or none for a list in qrels format"
        raise OutputError(f"{path}: cannot write {path.suffix}; use {known}")


def write_next_judgments(result: NextJudgments, path: Path) -> None:
    """Write documents in the order of judging, as a table or as qrels with relevance −1."""
    frame = result.frame()
    if path.suffix in _TABLE_ENDINGS:
        described = with_notes(result.metadata, result.notes)
        write_tables(path, {"documents": frame}, "documents", described)
        return
    topics = pa.array(frame["query_id"].tolist(), pa.string()).dictionary_encode()
    doc_ids = pa.array(frame["doc_id"].tolist(), pa.string())
    write_qrels(Qrels(topics, doc_ids, np.full(len(frame), -1, dtype=np.int16)), path)


def print_next_judgments(result: NextJudgments, console: Console) -> None:
    """Print the present state, the first documents, and the state expected after judging all of them."""
    criterion = f"{result.measure}, {result.criterion}"
    if (after := result.afterwards) is not None:
        print_line(
            console,
            f"{_judgments(after.n)} of your own: {criterion} {number(after.before)} with none of them; "
            f"expected from there {number(after.expected)}; it is {number(after.now)}",
        )
    if result.target.goal == "interval":
        widths = ", ".join(
            f"{run} {number(width)}"
            for run, width in zip(result.target.names, result.target.now.tolist(), strict=True)
        )
        print_words(console, f"{result.measure}, widths of the intervals now: {widths}")
    elif after is None:
        print_line(console, f"{criterion} now: {number(result.now)}")
    if result.until is not None:
        print_line(console, _stopping_text(result))
    if len(result):
        _print_documents(result, console)
    elif not result.is_done:
        print_line(console, f"nothing to judge: {_reason_for_no_documents(result)}")
    for note in result.notes:
        print_note(console, note)


def _print_documents(result: NextJudgments, console: Console) -> None:
    """Print the first documents and the criterion expected after judging all of them."""
    header = ["", "topic", "document", "best\nrank", "chance of\nrelevance", "expected\nafter it", "runs"]
    columns = (result.frame().head(_N_PRINTED_DOCUMENTS)[name].tolist() for name in _COLUMNS)
    rows = [
        [str(i), query_id, doc_id, str(rank), number(chance), number(expected), runs]
        for i, (query_id, doc_id, rank, chance, expected, runs) in enumerate(zip(*columns, strict=True), 1)
    ]
    may_go = ("runs", "best\nrank")  # are in the file
    for table in fitting_tables(header, rows, 3, console, available_columns(console), may_go=may_go):
        print_full_width(console, table)
    if len(result) > _N_PRINTED_DOCUMENTS:
        print_line(console, f"and {len(result) - _N_PRINTED_DOCUMENTS} more, which --output writes")
    print_words(
        console,
        f"{_judgments(len(result))} {'are' if len(result) > 1 else 'is'} expected to bring the "
        f"{result.criterion} from {number(result.now)} to {number(result.expected_after)}"
        f"{_widest_clause(result)}",
    )


def _widest_clause(result: NextJudgments) -> str:
    """Clause on the widest interval, for several runs whose mean width is to shrink."""
    if result.target.goal != "interval" or result.until is not None or len(result.target.names) == 1:
        return ""
    return ", the widest from {} to {}".format(*map(number, result.widest))


def _reason_for_no_documents(result: NextJudgments) -> str:
    """Reason why no document is proposed before the goal is reached."""
    n_draws = result.completion.n_draws
    if result.target.goal == "interval" or result.now > 0 or not len(result.completion.unknowns):
        return "no unjudged document is expected to tell anything"
    which = "order is" if result.target.goal == "comparison" else "ranking is"
    return (
        f"the {which} the same in all {n_draws} draws, so that the chance of a wrong one is below "
        f"{1 / n_draws:.2g}, though there are unjudged documents and intervals are open (--goal interval)"
    )


def _stopping_text(result: NextJudgments) -> str:
    """Whether the goal is reached, or the number of judgments expected until then."""
    goal = f"{result.criterion} of at most {result.until:g}"
    if result.is_done:
        return f"stop: {goal} is reached ({number(result.now)})"
    if result.n_needed is None:
        return f"{goal}: not to be expected of the judgments that are looked ahead"
    return f"{goal}: expected after {_judgments(result.n_needed)}"


def _judgments(n: int) -> str:
    return f"{n} judgment" + "s" * (n != 1)
