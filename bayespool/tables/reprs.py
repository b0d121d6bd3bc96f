"""How a result shows itself: one line, and in a notebook the line and the first rows of its table."""

from __future__ import annotations

import html
import numbers
from typing import TYPE_CHECKING, Any

from bayespool.tables.markup import TextTable, html_table
from bayespool.tables.printable import printable

if TYPE_CHECKING:
    import pandas as pd

_MOST = 190  # characters of a line
_ROWS, _COLUMNS = 10, 12


def one_line(kind: str, said: str) -> str:
    r"""The line that stands for a result: its class and what it is of, shortened where it is long.

    Examples
    --------
    >>> one_line("Scores", "P@10 of 2 runs")
    '<Scores: P@10 of 2 runs>'
    """
    text = printable(f"{kind}: {said}", one_line=True)
    return f"<{text if len(text) <= _MOST else text[: _MOST - 1] + '…'}>"


class Shown:
    """A result that a notebook shows as its line and, where it has a ``to_frame``, the first rows of that."""

    def _repr_html_(self) -> str:
        to_frame = getattr(self, "to_frame", None)
        return html_repr(repr(self), () if to_frame is None else (first_rows(to_frame()),))


def html_repr(line: str, tables: tuple[TextTable, ...] = ()) -> str:
    """HTML of a line and tables below it, every text escaped; colors are the page's."""
    said = f"<p><code>{html.escape(line)}</code></p>"
    body = "\n".join(html_table(table) for table in tables)
    return f"<div>{said}\n{body}</div>"


def first_rows(frame: pd.DataFrame) -> TextTable:
    """The upper left of a data frame as text."""
    shown = frame.iloc[:_ROWS, :_COLUMNS]
    rows = shown.itertuples(index=False, name=None)
    whole = shown.shape == frame.shape
    n, k = frame.shape
    return TextTable(
        caption=f"{n} rows" if whole else f"{len(shown)} of {n} rows, {shown.shape[1]} of {k} columns",
        header=tuple(map(str, shown.columns)),
        rows=tuple(tuple(map(_cell, row)) for row in rows),
        n_names=next((i for i, kind in enumerate(shown.dtypes) if kind.kind in "iuf"), shown.shape[1]),
    )


def _cell(value: Any) -> str:
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return "–" if value != value else f"{float(value):.4g}"
    return str(value)
