"""Score tables for a terminal: one row per run, or one column per run where the terminal is too narrow for
that; no number is ever cut short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayespool.estimators import ESTIMATORS
from bayespool.measures import Measure
from bayespool.scoring import Scores

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_scores"]


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
    for measure in scores.measures:
        names, rows = _cells(scores, measure, per_topic=per_topic)
        header, n_names = [_two_lines(name) for name in names], 2 if per_topic else 1
        tables = [_table(header, rows, n_names)]
        if room is not None and _width(tables[0], console) > room:
            if not per_topic:
                header, *rows = ([name, *values] for name, *values in zip(names, *rows, strict=True))
            tables = _fitting(header, rows, n_names, console, room)
        console.print(f"{measure}, {_scope(scores)}", style="bold", highlight=False)
        for table in tables:
            console.width = max(room or 0, _width(table, console))  # rich cuts short what is wider
            console.print(table)
    notes: dict[tuple[Measure, str], list[str]] = {}
    for (run, measure), note in scores.notes.items():
        if note:
            notes.setdefault((measure, note), []).append(run)
    lines: dict[str, list[str]] = {}
    for (measure, note), runs in notes.items():
        of_all = 1 < len(runs) == len(scores.run_ids)
        lines.setdefault(f"{'all runs' if of_all else ', '.join(runs)}: {note}", []).append(str(measure))
    for line, measures in lines.items():
        of = "" if len(measures) == len(scores.measures) else f" ({', '.join(measures)})"
        console.print(f"note: {line}{of}", highlight=False, markup=False, soft_wrap=True)


def _scope(scores: Scores) -> str:
    extra = (
        ""
        if scores.metadata["estimand"] == "complete"
        else ", unjudged documents below the pool depth nonrelevant"
    )
    return f"mean over {len(scores.query_ids)} topics{extra}"


def _cells(scores: Scores, measure: Measure, *, per_topic: bool) -> tuple[list[str], list[list[str]]]:
    frame = scores.frame(per_topic=per_topic)
    frame = frame[frame["measure"] == str(measure)]
    estimates = [e for e in scores.estimates if e.measure == measure]
    names = ["run", *(["topic"] if per_topic else []), "lower", "upper", "residual"]
    columns = [frame["run_id"].tolist(), *([frame["query_id"].tolist()] if per_topic else [])]
    columns += [[_number(x) for x in frame[name]] for name in ("lower", "upper", "residual")]
    for e in estimates:
        names.append(e.method)
        columns.append([_number(x) for x in frame[e.method]])
        if e.draws is not None:
            names.append(f"{100 * scores.ci_prob:g} % interval")
            ends = zip(frame[f"{e.method}_ci_lower"], frame[f"{e.method}_ci_upper"], strict=True)
            columns.append([f"{_number(a)}–{_number(b)}" for a, b in ends])
    return names, [list(row) for row in zip(*columns, strict=True)]


def _fitting(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_names: int, console: Console, room: int
) -> list[Table]:
    """Tables with some of the columns each, no wider than there is room where that can be."""

    def table(columns: Sequence[int]) -> Table:
        kept = [*range(n_names), *columns]
        return _table([header[i] for i in kept], [[row[i] for i in kept] for row in rows], n_names)

    names_width = width = _width(table([]), console)
    blocks: list[list[int]] = [[]]
    for i in range(n_names, len(header)):
        more = _width(table([i]), console) - names_width
        if blocks[-1] and width + more > room:
            blocks.append([])
            width = names_width
        blocks[-1].append(i)
        width += more
    return [table(block) for block in blocks]


def _width(table: Table, console: Console) -> int:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], n_names: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for i, name in enumerate(header):
        table.add_column(
            Text(name), justify="left" if i < n_names else "right", no_wrap=True, vertical="bottom"
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _two_lines(name: str) -> str:
    if name in ESTIMATORS:
        return ESTIMATORS[name].label
    broken = name.replace("posterior-", "posterior\n").replace(" % ", " %\n")
    return "resid-\nual" if name == "residual" else broken


def _number(x: float) -> str:
    return "–" if np.isnan(x) else f"{x:.4f}"
