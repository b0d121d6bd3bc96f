"""Score tables for a terminal: one row per run, or one column per run where the terminal is too narrow for
that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayespool.measures import Precision
from bayespool.scoring import Scores

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_scores"]

_TWO_LINES = {
    "background": "back-\nground",
    "interpolated": "inter-\npolated",
    "smoothed": "smooth-\ned",
    "lower-bound": "lower\nbound",
    "systems-adjustment": "systems\nadjust.",
    "topics-adjustment": "topics\nadjust.",
    "anti-precision": "anti-\nprec.",
    "condensed-list": "con-\ndensed",
}


def print_scores(scores: Scores, console: Console, *, per_topic: bool = False) -> None:
    """Print a table per measure, then what there is to note.

    Parameters
    ----------
    scores : Scores
    console : rich.console.Console
        A terminal narrower than the table gets it with runs as columns; a pipe always gets one row per run.
    per_topic : bool
        One row per run and topic.
    """
    from rich.measure import Measurement

    for measure in scores.measures:
        header, rows = _cells(scores, measure, per_topic=per_topic)
        table = _table(header, rows, n_names=2 if per_topic else 1)
        width = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
        if console.is_terminal and width > console.width and not per_topic:
            flipped = [[_one_line(name), *values] for name, *values in zip(header, *rows, strict=True)]
            table = _table(flipped[0], flipped[1:], n_names=1)
        elif not console.is_terminal:
            console.width = max(console.width, width)
        console.print(f"{measure}, {_scope(scores)}", style="bold", highlight=False)
        console.print(table)
    notes: dict[str, list[str]] = {}
    for (run, measure), note in scores.notes.items():
        if note:
            notes.setdefault(f"{run}: {note}", []).append(str(measure))
    for note, measures in notes.items():
        of = "" if len(measures) == len(scores.measures) else f" ({', '.join(measures)})"
        console.print(f"note: {note}{of}", highlight=False, markup=False, soft_wrap=True)


def _scope(scores: Scores) -> str:
    extra = (
        ""
        if scores.metadata["estimand"] == "complete"
        else ", unjudged documents below the pool depth nonrelevant"
    )
    return f"mean over {len(scores.query_ids)} topics{extra}"


def _cells(scores: Scores, measure: Precision, *, per_topic: bool) -> tuple[list[str], list[list[str]]]:
    frame = scores.frame(per_topic=per_topic)
    frame = frame[frame["measure"] == str(measure)]
    estimates = [e for e in scores.estimates if e.measure == measure]
    header = ["run", *(["topic"] if per_topic else []), "lower", "upper", "resid-\nual"]
    columns = [frame["run_id"].tolist(), *([frame["query_id"].tolist()] if per_topic else [])]
    columns += [[_number(x) for x in frame[name]] for name in ("lower", "upper", "residual")]
    for e in estimates:
        header.append(_TWO_LINES.get(e.method, e.method.replace("posterior-", "posterior\n")))
        columns.append([_number(x) for x in frame[e.method]])
        if e.draws is not None:
            header.append(f"{100 * scores.ci_prob:g} %\ninterval")
            ends = zip(frame[f"{e.method}_ci_lower"], frame[f"{e.method}_ci_upper"], strict=True)
            columns.append([f"{_number(a)}–{_number(b)}" for a, b in ends])
    return header, [list(row) for row in zip(*columns, strict=True)]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], *, n_names: int) -> Table:
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


def _one_line(name: str) -> str:
    return name.replace("-\n", "").replace("\n", " ")


def _number(x: float) -> str:
    return "–" if np.isnan(x) else f"{x:.4f}"
