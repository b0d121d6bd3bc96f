"""What every printed result is made of: tables no number of which is cut short, titles, notes, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayespool.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "make_table",
    "number",
    "percent",
    "print_heading",
    "print_line",
    "print_made",
    "print_table",
    "table_width",
]


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


def table_width(table: Table, console: Console) -> int:
    """Columns of a terminal that a table takes."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def print_heading(console: Console, text: str) -> None:
    """Print a line in bold letters."""
    console.print(printable(text), style="bold", highlight=False, markup=False, soft_wrap=True)


def print_line(console: Console, text: str) -> None:
    """Print a line as it is, wrapped nowhere by us."""
    console.print(printable(text), highlight=False, markup=False, soft_wrap=True)


def number(x: float, digits: int = 4) -> str:
    """A number for a table; a dash where there is none.

    Examples
    --------
    >>> number(0.12345), number(float("nan"))
    ('0.1235', '–')
    """
    return "–" if np.isnan(x) else f"{x:.{digits}f}"


def percent(x: float) -> str:
    """A share as a percentage; a dash where there is none.

    Examples
    --------
    >>> percent(0.5)
    '50.0 %'
    """
    return "–" if np.isnan(x) else f"{100 * x:.1f} %"
