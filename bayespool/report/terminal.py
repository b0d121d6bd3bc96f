"""What every printed result is made of: tables no number of which is cut short, titles, notes, numbers."""

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
    """Print a table as wide as it is, be the console narrower.

    Parameters
    ----------
    console : rich.console.Console
    header : sequence of str
    rows : iterable of sequences of str
    n_names : int, default 1
        The first columns are names, to the left; the others are numbers, to the right.
    """
    print_made(console, make_table(header, rows, n_names=n_names))


def print_made(console: Console, table: Table) -> None:
    """Print a table that `make_table` made, as wide as it is."""
    before = console.width
    console.width = max(before, table_width(table, console))  # rich cuts short what is wider
    console.print(table)
    console.width = before


def make_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, n_names: int = 1) -> Table:
    """The table that `print_table` prints."""
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


def room_of(console: Console) -> int | None:
    """Columns that tables have to fit: those of a terminal, or those that the variable COLUMNS says; None for
    a pipe, whose reader nobody knows.
    """
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
    """The table; where it is wider than there is room, without some columns, or as several tables with some
    of the columns each.

    Parameters
    ----------
    header : sequence of str
    rows : sequences of str
    n_names : int
        The first columns are names and stand in each table.
    console : rich.console.Console
    room : int or None
        Columns of the terminal; None for as many as there need be.
    may_go : sequence of str
        Headings of columns that are left out one after the other until the others fit.
    """

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
    """Print a note, wrapped at words where there is a terminal to wrap it for."""
    print_words(console, f"note: {text}")


def print_words(console: Console, text: str) -> None:
    """Print sentences, wrapped at words where there is a terminal to wrap them for."""
    wrapped = room_of(console) is not None
    console.print(printable(text), highlight=False, markup=False, soft_wrap=not wrapped)


def print_line(console: Console, text: str) -> None:
    """Print a line as it is, wrapped nowhere by us."""
    console.print(printable(text), highlight=False, markup=False, soft_wrap=True)
