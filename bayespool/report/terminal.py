"""Results in a terminal or a pipe: tables with their headings, notes, sentences."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from bayespool.notes import Note
from bayespool.tables.formatting import counted, printable
from bayespool.tables.markup import TextColumn, TextTable, broken_heading

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MANY_ROWS, _MAX_NOTE_LINES = 40, 5


def brief_notes(notes: Iterable[Note]) -> list[str]:
    """Return notes as people read them, the gravest first, with bookkeeping as a number in one line.

    Examples
    --------
    >>> brief_notes([Note("nothing-unjudged", "u: nothing unjudged"), Note("no-pool", "no pool: priors")])
    ['no pool: priors', '1 minor note left out; files have it']
    """
    in_order = sorted(dict.fromkeys(notes), key=lambda note: note.severity)
    read = [note for note in in_order if note.severity < 2]
    n = len(in_order) - len(read)
    left_out = f"{counted(n, 'minor note')} left out; files have {'it' if n == 1 else 'them'}"
    return [*read, *[left_out] * bool(n)]


def terminal_text(
    tables: Sequence[TextTable], notes: Sequence[Note], sentences: Sequence[str], begins_with_sentences: bool
) -> str:
    """Return what the standard output would show of parts of a result, without styles."""
    from rich.console import Console

    console = Console(color_system=None, force_jupyter=False)
    with console.capture() as capture:
        print_parts(console, tables, notes, sentences, begins_with_sentences)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def print_parts(
    console: Console,
    tables: Sequence[TextTable],
    notes: Sequence[Note],
    sentences: Sequence[str],
    begins_with_sentences: bool = False,
) -> None:
    """Print parts of a result: tables with their headings, notes, sentences."""
    heading = ""
    for sentence in sentences if begins_with_sentences else ():
        print_words(console, sentence)
    if sentences and begins_with_sentences:
        console.print()
    for text in tables:
        if text.caption and text.caption != heading:
            heading = text.caption
            print_words(console, heading, style="bold", wrap=False)
        missing = print_text_table(console, text)
        for note in text.notes:
            print_words(console, note)
        if missing:
            print_note(console, f"too narrow for {', '.join(missing)}; the result's files have them")
    n_rows = max((len(text.rows) for text in tables), default=0)
    room = available_columns(console)
    brief = brief_notes(notes)
    for note in _first_notes(brief, room) if room is not None and n_rows > _MANY_ROWS else brief:
        print_note(console, note)
    for sentence in () if begins_with_sentences else sentences:
        print_words(console, sentence)


def _first_notes(notes: Sequence[str], room: int) -> list[str]:
    """Return the notes that fit on the screen above the table, and a note with the number of others."""
    first_notes, n_lines = [], 0
    for note in notes:
        n_lines += math.ceil(len(f"note: {note}") / (0.9 * room))  # wrapping at words leaves lines shorter
        if n_lines >= _MAX_NOTE_LINES:
            break
        first_notes.append(note)
    if n_more := len(notes) - len(first_notes):
        first_notes.append(f"{n_more} more to note: a file of --output has all, and the result's notes()")
    return first_notes


def print_text_table(console: Console, text: TextTable) -> list[str]:
    """Print a table and return the headings of columns that did not fit."""
    room = available_columns(console)
    spare = [column for name in text.spare for column in text.columns if column.name == name]
    for n_spared in range(len(spare) + 1):
        fewer = text.without(spare[:n_spared])
        table = _rich_table(fewer)
        if room is None or table_width(table, console) <= room:
            _print_full_width(console, table)
            return [column.title for column in spare[:n_spared]]
    for block in _blocks(fewer, console, room or 0):
        _print_full_width(console, _rich_table(block))
    return [column.title for column in spare]


def _blocks(text: TextTable, console: Console, room: int) -> list[TextTable]:
    """Return the table split into parts that fit, each with the row names."""
    names, columns = text.columns[: text.n_names], text.columns[text.n_names :]
    names_width = width = table_width(_rich_table(replace(text, columns=names)), console)
    blocks: list[list[TextColumn]] = [[]]
    for column in columns:
        more = table_width(_rich_table(replace(text, columns=(*names, column))), console) - names_width
        if blocks[-1] and width + more > room:
            blocks.append([])
            width = names_width
        blocks[-1].append(column)
        width += more
    return [replace(text, columns=(*names, *block)) for block in blocks]


def _rich_table(text: TextTable) -> Table:
    """Return a rich table with the column groups in its headings."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    firsts = {first: name for name, first, _ in text.spans}
    for place, column in enumerate(text.columns, 1):
        heading = f"{firsts.get(place, '')}\n{column.heading}" if firsts else column.heading
        shown = Text(printable(broken_heading(heading.strip("\n"))))
        justify: Literal["left", "right"] = "left" if column.is_text else "right"
        table.add_column(shown, justify=justify, no_wrap=True, vertical="bottom")
    for row in text.rows:
        table.add_row(*(Text(printable(cell, one_line=True)) for cell in row))
    return table


def _print_full_width(console: Console, table: Table) -> None:
    """Print a table at full width, even if the console is narrower."""
    before = console.width
    console.width = max(before, table_width(table, console))  # rich truncates wider tables
    console.print(table)
    console.width = before


def available_columns(console: Console) -> int | None:
    """Return the number of columns of the terminal or in COLUMNS, or None for a pipe."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else None


def table_width(table: Table, console: Console) -> int:
    """Return the width of a printed table in characters."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def print_note(console: Console, text: str) -> None:
    """Print a note, with lines wrapped at words on a terminal."""
    print_words(console, f"note: {text}")


def print_words(console: Console, text: str, *, style: str | None = None, wrap: bool = True) -> None:
    """Print text, with lines wrapped at words on a terminal."""
    soft_wrap = not wrap or available_columns(console) is None
    console.print(printable(text), style=style, highlight=False, markup=False, soft_wrap=soft_wrap)
