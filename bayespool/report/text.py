"""Printed tables of scores, one row per run; narrow terminals get fewer columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayespool.report.terminal import (
    available_columns,
    fitting_tables,
    print_full_width,
    print_heading,
    print_note,
)
from bayespool.scoring import Scores
from bayespool.scoring.score_tables import (
    arranged,
    check_arrangement,
    columns_of,
    methods_in,
    score_notes,
    short_columns,
    whole_columns,
)
from bayespool.tables.arrangement import Arrangement

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_MAX_RUNS_WITH_ALL_NOTES = 40
_MAX_NOTE_LINES = 5


def print_scores(
    scores: Scores, console: Console, *, per_topic: bool = False, arrangement: Arrangement | None = None
) -> None:
    """Print a table per measure, then the notes.

    Parameters
    ----------
    scores : Scores
    console : rich.console.Console
        A terminal that is too narrow for all columns gets `short_columns` of
        `bayespool.scoring.score_tables`, in several tables if even these do not fit, and a note that says so.
        A pipe gets all columns unless the variable COLUMNS says how many fit.
    per_topic : bool
        One row per run and topic.
    arrangement : Arrangement, optional
        Columns, order of rows and number of rows.

    Raises
    ------
    InputError
        There is no such column.
    """
    frame, room = scores.to_frame(per_topic=per_topic), available_columns(console)
    chosen = arrangement or Arrangement()
    check_arrangement(chosen, list(methods_in(frame)))
    is_short, column_names = False, set[str]()
    n_names = 2 if per_topic else 1
    for measure in scores.measures:
        of_measure = frame[frame["measure"] == str(measure)]
        rows, n_runs = arranged(of_measure, chosen), of_measure["run_id"].nunique()
        wanted = chosen.columns or whole_columns(of_measure)
        tables = fitting_tables(
            *_cells(scores, rows, wanted, per_topic), 2 if per_topic else 1, console, room
        )
        if len(tables) > 1 and chosen.columns is None:
            is_short, wanted = True, short_columns(of_measure)
            tables = fitting_tables(*_cells(scores, rows, wanted, per_topic), n_names, console, room)
        column_names |= {column.name for column in columns_of(rows, wanted, scores.ci_prob)}
        some = "" if len(rows) == len(of_measure) else f", {len(rows)} of {len(of_measure)} rows"
        if some and not per_topic:
            some = f", {len(rows)} of {n_runs} runs"
        print_heading(console, f"{measure}, {_scope(scores)}{some}")
        for table in tables:
            print_full_width(console, table)
    notes = ["files and --columns all have the bounds and corrections, too"] if is_short else []
    notes += score_notes(frame, scores.metadata, scores.statements, column_names)
    is_long = room is not None and len(scores.run_ids) > _MAX_RUNS_WITH_ALL_NOTES
    for line in _first_notes(notes, room or 0) if is_long else notes:
        print_note(console, line)


def _first_notes(notes: Sequence[str], room: int) -> list[str]:
    """As many notes as leave the table of many runs in view, and a line that counts the others."""
    kept, n_lines = [], 0
    for note in notes:
        n_lines += math.ceil(len(f"note: {note}") / (0.9 * room))  # wrapping at words leaves lines shorter
        if n_lines >= _MAX_NOTE_LINES:
            break
        kept.append(note)
    if left := len(notes) - len(kept):
        kept.append(f"{left} more to note: a file of --output has all, and Scores.notes")
    return kept


def _scope(scores: Scores) -> str:
    extra = (
        ""
        if scores.metadata["estimand"] == "complete"
        else ", unjudged documents below the pool depth nonrelevant"
    )
    return f"mean over {len(scores.query_ids)} topics{extra}"


def _cells(
    scores: Scores, rows: pd.DataFrame, wanted: Sequence[str], per_topic: bool
) -> tuple[list[str], list[list[str]]]:
    columns = columns_of(rows, wanted, scores.ci_prob)
    names = [rows["run_id"].tolist(), *([rows["query_id"].tolist()] if per_topic else [])]
    header = ["run", *(["topic"] if per_topic else []), *(column.label for column in columns)]
    cells = [*names, *(column.cells for column in columns)]
    return header, [list(row) for row in zip(*cells, strict=True)]
