"""Score tables for a terminal: one row per run, or one column per run where the terminal is too narrow for
that; no number is ever cut short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayespool.estimators import ESTIMATORS
from bayespool.measures import Measure
from bayespool.report.terminal import (
    make_table,
    number,
    print_heading,
    print_line,
    print_made,
    table_width,
)
from bayespool.scores import Scores

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_scores"]

_IDEALS = {
    "completed": "the judged documents and, in each draw, the completed ones in reach of these runs",
    "judged": "the judged documents as they stand, as trec_eval has it",
}


def print_scores(scores: Scores, console: Console, *, per_topic: bool = False) -> None:
    """Print a table per measure, then what there is to note.

    Parameters
    ----------
    scores : Scores
    console : rich.console.Console
        A terminal narrower than the table gets it with runs as columns, in several tables if need be; a pipe
        always gets one row per run.
    per_topic : bool
        One row per run and topic.
    """
    room = console.width if console.is_terminal else None
    frame = scores.frame(per_topic=per_topic)
    for measure in scores.measures:
        names, rows = _cells(scores, frame[frame["measure"] == str(measure)], measure, per_topic=per_topic)
        header, n_names = [_two_lines(name) for name in names], 2 if per_topic else 1
        tables = [make_table(header, rows, n_names=n_names)]
        if room is not None and table_width(tables[0], console) > room:
            if not per_topic:
                header, *rows = ([name, *values] for name, *values in zip(names, *rows, strict=True))
            tables = _fitting(header, rows, n_names, console, room)
        print_heading(console, f"{measure}, {_scope(scores)}")
        for table in tables:
            print_made(console, table)
    notes: dict[tuple[Measure, str], list[str]] = {}
    for (run, measure), note in scores.notes.items():
        if note:
            notes.setdefault((measure, note), []).append(run)
    lines: dict[str, list[str]] = {}
    for (measure, note), runs in notes.items():
        of_all = 1 < len(runs) == len(scores.run_ids)
        lines.setdefault(f"{'all runs' if of_all else ', '.join(runs)}: {note}", []).append(str(measure))
    for line in _on_ideals(scores, frame):
        print_line(console, f"note: {line}")
    for line, measures in lines.items():
        of = "" if len(measures) == len(scores.measures) else f" ({', '.join(measures)})"
        print_line(console, f"note: {line}{of}")


def _scope(scores: Scores) -> str:
    extra = (
        ""
        if scores.metadata["estimand"] == "complete"
        else ", unjudged documents below the pool depth nonrelevant"
    )
    return f"mean over {len(scores.query_ids)} topics{extra}"


def _cells(
    scores: Scores, frame: pd.DataFrame, measure: Measure, *, per_topic: bool
) -> tuple[list[str], list[list[str]]]:
    estimates = [e for e in scores.estimates if e.measure == measure]
    shown = {"lower": "bound_lower", "upper": "bound_upper", "residual": "residual"}
    if _is_below(frame):
        shown = {"as judged": "as_judged", **shown}
    names = ["run", *(["topic"] if per_topic else []), *shown]
    columns = [frame["run_id"].tolist(), *([frame["query_id"].tolist()] if per_topic else [])]
    columns += [[number(x) for x in frame[name]] for name in shown.values()]
    for e in estimates:
        names.append(e.method)
        columns.append([number(x) for x in frame[e.method]])
        if e.draws is not None:
            names.append(f"{100 * scores.ci_prob:g} % interval")
            ends = zip(frame[f"{e.method}_lower"], frame[f"{e.method}_upper"], strict=True)
            columns.append([f"{number(a)}–{number(b)}" for a, b in ends])
    return names, [list(row) for row in zip(*columns, strict=True)]


def _is_below(frame: pd.DataFrame) -> bool:
    """Whether a completion may take a run below its score as it stands."""
    return bool((frame["as_judged"] - frame["bound_lower"] > 1e-9).any())


def _on_ideals(scores: Scores, frame: pd.DataFrame) -> list[str]:
    """What ideal rankings are made of, and what the bounds then are."""
    lines = []
    for ideal, what in _IDEALS.items():
        if measures := [name for name, of_one in scores.metadata["ideals"].items() if of_one == ideal]:
            names = ", ".join(measures)
            lines.append(f"{names}: ideal ranking and number of relevant documents are of {what}")
    if _is_below(frame):
        lines.append(
            "as judged is the score with unjudged documents nonrelevant, as trec_eval has it; no completion "
            "of the judgments goes below lower or beyond upper"
        )
    return lines


def _fitting(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_names: int, console: Console, room: int
) -> list[Table]:
    """Tables with some of the columns each, no wider than there is room where that can be."""

    def table(columns: Sequence[int]) -> Table:
        kept = [*range(n_names), *columns]
        return make_table(
            [header[i] for i in kept], [[row[i] for i in kept] for row in rows], n_names=n_names
        )

    names_width = width = table_width(table([]), console)
    blocks: list[list[int]] = [[]]
    for i in range(n_names, len(header)):
        more = table_width(table([i]), console) - names_width
        if blocks[-1] and width + more > room:
            blocks.append([])
            width = names_width
        blocks[-1].append(i)
        width += more
    return [table(block) for block in blocks]


def _two_lines(name: str) -> str:
    if name in ESTIMATORS:
        return ESTIMATORS[name].label
    broken = name.replace("posterior-", "posterior\n").replace(" % ", " %\n")
    return {"residual": "resid-\nual", "as judged": "as\njudged"}.get(name, broken)
