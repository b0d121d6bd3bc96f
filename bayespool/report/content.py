"""What a page says, before it is HTML: sections of sentences, figures and tables, all in plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS, _TALL, _FEW_COLUMNS = 1000, 40, 8


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
    is_number : bool
        To the right, and sorted by value.
    """

    name: str
    is_number: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
    value : float or None
        What it is sorted by; None of a text, and of a number that is missing.
    shade : int or None
        From 0 to 9: how much of the color of a heat map is behind it.
    """

    text: str
    value: float | None = None
    shade: int | None = None


@dataclass(frozen=True)
class Table:
    """A table that sorts and filters. The first column is the row's heading.

    Attributes
    ----------
    name : str
        For its address in the page: letters, digits and hyphens.
    caption : str
    columns : tuple of Column
    rows : tuple of tuples of Cell
    note : str
        Below the table.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def is_tall(self) -> bool:
        """Whether it scrolls in a place of its own, but for print."""
        return len(self.rows) > _TALL

    @property
    def is_wide(self) -> bool:
        """Whether it needs a page in landscape format when printed."""
        return len(self.columns) > 10


@dataclass(frozen=True)
class Heat:
    """A heat map: a row per run, a narrow cell per topic.

    Attributes
    ----------
    caption, alternative : str
        What it shows; what it says, for who cannot see it.
    rows : tuple of (str, tuple of int)
        Names, and shades from 0 to 9.
    """

    caption: str
    alternative: str
    rows: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes
    ----------
    caption, alternative : str
        What it shows; what it says, for who cannot see it.
    wide, narrow : str
        SVG for a page and for a phone, of which no name is untrusted any more (`bayespool.report.drawing`).
    image : str
        A ``data:`` address in their place, of a file that a command drew.
    """

    caption: str
    alternative: str
    wide: str = ""
    narrow: str = ""
    image: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a page.

    Attributes
    ----------
    title : str
    name : str
        For its address in the page.
    sentences : tuple of str
        A paragraph each.
    points : tuple of str
        A list below them.
    command : str
        What is to be typed, below that.
    figures, heats, tables
        Below that, in this order.
    """

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
    """A report.

    Attributes
    ----------
    title : str
    summary : tuple of str
        Sentences that somebody reads who reads nothing else.
    problems : tuple of str
        What is off; empty where nothing is.
    sections : tuple of Section
    """

    title: str
    summary: tuple[str, ...]
    problems: tuple[str, ...]
    sections: tuple[Section, ...]


def shown(value: Any, digits: int = 4) -> str:
    """A value in a table: four digits after the point, more of a small number, a dash where there is none.

    Examples
    --------
    >>> shown(0.12345), shown(0.000012345), shown(12), shown(None), shown("a"), shown(float("nan"))
    ('0.1235', '1.23e-05', '12', '–', 'a', '–')
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
        return ", ".join(shown(part) for part in value)
    return str(value)


def frame_table(name: str, caption: str, frame: pd.DataFrame, *, whole: bool = False) -> Table:
    """A data frame as a table. Of a wide one columns that say the same in every row move into a note, unless
    it is to stay whole.

    A table of more than 1000 rows is left out, and a sentence says so: a page that nobody can scroll through
    helps nobody, and the file has it.
    """
    stays = whole or len(frame) < 2 or len(frame.columns) <= _FEW_COLUMNS
    same = [] if stays else [c for c in frame if frame[c].map(shown).nunique() == 1]
    kept = [c for c in frame if c not in same] or list(frame)
    said = {str(c): shown(frame[c].iloc[0]) for c in same if c not in kept}
    fixed = "; ".join(f"{c} {text}" for c, text in said.items() if text not in ("–", ""))
    note = f"In every row: {fixed}." if fixed else ""
    columns = tuple(Column(str(c).replace("_", " "), _is_number(frame[c])) for c in kept)
    if len(frame) > _MOST_ROWS:
        note = f"The table has {len(frame):,} rows, too many for a page; the result's own file has them."
        return Table(name, caption, columns, (), note)
    cells = [_cells(frame[c]) for c in kept]
    return Table(name, caption, columns, tuple(zip(*cells, strict=True)), note)


def _is_number(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "iuf"


def _cells(column: pd.Series[Any]) -> list[Cell]:
    if not _is_number(column):
        return [Cell(shown(value)) for value in column]
    values = column.to_numpy(dtype=float)
    if column.dtype.kind in "iu" or np.all(np.isnan(values) | (values % 1 == 0)):
        texts = ["–" if np.isnan(x) else f"{x:,.0f}" for x in values]
    else:
        texts = [shown(float(x)) if x % 1 else f"{x:.4f}" for x in values]
    return [Cell(text, None if np.isnan(x) else float(x)) for text, x in zip(texts, values, strict=True)]
