"""Printing of tables, titles, notes and lines on a terminal or into a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bayespool.tables.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def print_table(
    console: Console, header: Sequence[str], rows: Iterable[Sequence[str]], *, n_names: int = 1
) -> None:
    """Print a table in full width; the first ``n_names`` columns are names, the others numbers."""
    print_full_width(console, make_table(header, rows, n_names=n_names))


def print_full_width(console: Console, table: Table) -> None:
    """Print a table of `make_table` in full width, even where the console is narrower."""
    before = console.width
    console.width = max(before, table_width(table, console))  # rich truncates wider tables
    console.print(table)
    console.width = before


def make_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, n_names: int = 1) -> Table:
    """Table that `print_table` prints."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for i, name in enumerate(header):
        side = "left" if i < n_names else "right"
        table.add_column(Text(printable(name)), justify=side, no_wrap=True, vertical="bottom")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(printable(cell, one_line=True)) for cell in row))
    return table


def available_columns(console: Console) -> int | None:
    """Columns of the terminal, or of the variable COLUMNS; None for a pipe, whose width is unknown."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else None


def fitting_tables(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    n_names: int,
    console: Console,
    room: int | None,
    *,
    may_go: Sequence[str] = (),
) -> list[Table]:
    """The table; where it is too wide, without some of the columns ``may_go``, or in several tables."""

    def table(columns: Sequence[int]) -> Table:
        kept = [*range(n_names), *columns]
        return make_table(
            [header[i] for i in kept], [[row[i] for i in kept] for row in rows], n_names=n_names
        )

    columns = list(range(n_names, len(header)))
    whole = table(columns)
    if room is None or table_width(whole, console) <= room:
        return [whole]
    for name in may_go:
        columns = [i for i in columns if header[i] != name]
        if table_width(fewer := table(columns), console) <= room:
            return [fewer]
    columns = list(range(n_names, len(header)))
    names_width = width = table_width(table([]), console)
    blocks: list[list[int]] = [[]]
    for i in columns:
        more = table_width(table([i]), console) - names_width
        if blocks[-1] and width + more > room:
            blocks.append([])
            width = names_width
        blocks[-1].append(i)
        width += more
    return [table(block) for block in blocks]


def table_width(table: Table, console: Console) -> int:
    """Columns of a terminal that a table takes."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def print_heading(console: Console, text: str) -> None:
    """Print a line in bold letters."""
    console.print(printable(text), style="bold", highlight=False, markup=False, soft_wrap=True)


def print_note(console: Console, text: str) -> None:
    """Print a note, wrapped at words on a terminal."""
    print_words(console, f"note: {text}")


def print_words(console: Console, text: str) -> None:
    """Print sentences, wrapped at words on a terminal."""
    wrapped = available_columns(console) is not None
    console.print(printable(text), highlight=False, markup=False, soft_wrap=not wrapped)


def print_line(console: Console, text: str) -> None:
    """Print a line without wrapping it."""
    console.print(printable(text), highlight=False, markup=False, soft_wrap=True)
