"""Representations of results: one line, and in a notebook the line and the first rows of its table."""

from __future__ import annotations

import html
import numbers
from typing import TYPE_CHECKING, Any

from bayespool.tables.markup import TextTable, html_table
from bayespool.tables.printable import printable

if TYPE_CHECKING:
    import pandas as pd

_MAX_LINE_CHARACTERS = 190
_MAX_ROWS, _MAX_COLUMNS = 10, 12


def one_line(kind: str, content: str) -> str:
    """Representation of a result, shortened if long.

    Examples
    --------
    >>> one_line("Scores", "P@10 of 2 runs")
    '<Scores: P@10 of 2 runs>'
    """
    text = printable(f"{kind}: {content}", one_line=True)
    return f"<{text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + '…'}>"


class Shown:
    """A result that a notebook shows as its line and, if it has a ``to_frame``, the first rows of that."""

    def _repr_html_(self) -> str:
        to_frame = getattr(self, "to_frame", None)
        return html_repr(repr(self), () if to_frame is None else (first_rows(to_frame()),))


def html_repr(line: str, tables: tuple[TextTable, ...] = ()) -> str:
    """HTML of a line and tables below it, with all text escaped and the colors of the page."""
    heading = f"<p><code>{html.escape(line)}</code></p>"
    body = "\n".join(html_table(table) for table in tables)
    return f"<div>{heading}\n{body}</div>"


def first_rows(frame: pd.DataFrame) -> TextTable:
    """Upper left part of a data frame as text."""
    shown = frame.iloc[:_MAX_ROWS, :_MAX_COLUMNS]
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
