"""Contents of a report page as plain text: sections of sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_MAX_ROWS, _MAX_ROWS_WITHOUT_SCROLLING, _MAX_COLUMNS_KEPT = 1000, 40, 8


@dataclass(frozen=True)
class Column:
    """Column of a table; numbers are aligned to the right and sorted by value."""

    name: str
    is_number: bool = False


@dataclass(frozen=True)
class Cell:
    """Cell of a table: its text, the value to sort by (None of texts and missing numbers), a shade 0 to 9."""

    text: str
    value: float | None = None
    shade: int | None = None


@dataclass(frozen=True)
class Table:
    """Table that sorts and filters; ``name`` is its address, the first column the heading of a row."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def is_tall(self) -> bool:
        """Whether it scrolls inside the page."""
        return len(self.rows) > _MAX_ROWS_WITHOUT_SCROLLING

    @property
    def is_wide(self) -> bool:
        """Whether it is printed in landscape format."""
        return len(self.columns) > 10


@dataclass(frozen=True)
class Heat:
    """Heat map: a row per run of shades 0 to 9, one per topic; ``alternative`` is for screen readers."""

    caption: str
    alternative: str
    rows: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Figure:
    """Figure: SVG for a page and for a phone that `page_svg` cleaned, or ``image``, a ``data:`` address."""

    caption: str
    alternative: str
    wide: str = ""
    narrow: str = ""
    image: str = ""


@dataclass(frozen=True)
class Section:
    """Section of a page, with its parts in the order in which the page has them."""

    title: str
    name: str
    sentences: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    command: str = ""
    figures: tuple[Figure, ...] = ()
    heats: tuple[Heat, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def is_wide(self) -> bool:
        """Whether it is printed in landscape format."""
        return any(table.is_wide for table in self.tables)


@dataclass(frozen=True)
class Page:
    """Report: title, summary, problems (empty where there are none) and sections."""

    title: str
    summary: tuple[str, ...]
    problems: tuple[str, ...]
    sections: tuple[Section, ...]


def cell_text(value: Any, digits: int = 4) -> str:
    """Text of a value in a table: four decimals, more of small numbers, a dash for missing ones.

    Examples
    --------
    >>> cell_text(0.12345), cell_text(0.000012345), cell_text(12), cell_text(None), cell_text("a")
    ('0.1235', '1.23e-05', '12', '–', 'a')
    >>> cell_text(float("nan"))
    '–'
    """
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        x = float(value)
        small = 0.0 < abs(x) < float(10.0**-digits)
        return f"{x:.2e}" if small else f"{x:,.{digits}f}" if x % 1 else f"{x:,.0f}"
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return ", ".join(cell_text(part) for part in value)
    return str(value)


def frame_table(name: str, caption: str, frame: pd.DataFrame, *, whole: bool = False) -> Table:
    """Table of a data frame, without its rows where there are more than 1000.

    Unless ``whole``, columns with the same value in every row move into a note.
    """
    stays = whole or len(frame) < 2 or len(frame.columns) <= _MAX_COLUMNS_KEPT
    same = [] if stays else [c for c in frame if frame[c].map(cell_text).nunique() == 1]
    kept = [c for c in frame if c not in same] or list(frame)
    values = {str(c): cell_text(frame[c].iloc[0]) for c in same if c not in kept}
    fixed = "; ".join(f"{c} {text}" for c, text in values.items() if text not in ("–", ""))
    note = f"In every row: {fixed}." if fixed else ""
    columns = tuple(Column(str(c).replace("_", " "), _is_number(frame[c])) for c in kept)
    if len(frame) > _MAX_ROWS:
        note = f"The table has {len(frame):,} rows, too many for a page; the result's own file has them."
        return Table(name, caption, columns, (), note)
    cells = [_cells(frame[c]) for c in kept]
    return Table(name, caption, columns, tuple(zip(*cells, strict=True)), note)


def _is_number(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "iuf"


def _cells(column: pd.Series[Any]) -> list[Cell]:
    if not _is_number(column):
        return [Cell(cell_text(value)) for value in column]
    values = column.to_numpy(dtype=float)
    if column.dtype.kind in "iu" or np.all(np.isnan(values) | (values % 1 == 0)):
        texts = ["–" if np.isnan(x) else f"{x:,.0f}" for x in values]
    else:
        texts = [cell_text(float(x)) if x % 1 else f"{x:.4f}" for x in values]
    return [Cell(text, None if np.isnan(x) else float(x)) for text, x in zip(texts, values, strict=True)]
