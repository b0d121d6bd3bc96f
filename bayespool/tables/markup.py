"""Text tables as LaTeX, Markdown and HTML, with the rows and columns that a reader selects."""

from __future__ import annotations

import html
import numbers
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from bayespool import __version__
from bayespool.errors import InputError
from bayespool.tables.formatting import printable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Arrangement:
    """Columns, sort order and number of rows that a reader selects from a table.

    Raises `InputError` for an empty selection, or a column selected twice.
    """

    columns: Sequence[str] | None = None  # in the order shown; by default those that fit
    sort: str | None = None  # a column: text ascending, numbers descending; by default as in the table
    top: int | None = None  # the first rows; without ``sort`` the best ones
    width: Literal["page", "column"] = "page"  # of a paper: three decimals fit in one column of two

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise InputError(f"top cannot be {self.top}; 1 or more")
        if self.width not in ("page", "column"):
            raise InputError(f"width cannot be {self.width!r}", hint="page or column")
        if self.columns is not None:
            if isinstance(self.columns, str) or not self.columns:
                raise InputError("columns are a list of names, of one at least")
            if twice := [c for c in dict.fromkeys(self.columns) if list(self.columns).count(c) > 1]:
                raise InputError(f"column {twice[0]!r} is named twice")

    def check(self, columns: Sequence[str], keys: Sequence[str]) -> None:
        """Raise `InputError` for a column not in ``columns`` or a sort key not in ``keys``."""
        for name in self.columns or ():
            if name not in columns:
                raise InputError(f"no column {name!r}", hint=f"there are {', '.join(columns)}")
        if self.sort is not None and self.sort not in keys:
            raise InputError(f"cannot sort by {self.sort!r}", hint=f"use {', '.join(keys)}")


class Arranged(TypedDict, total=False):
    """Fields of `Arrangement`, as keywords."""

    columns: Sequence[str] | None
    sort: str | None
    top: int | None
    width: Literal["page", "column"]


@dataclass(frozen=True)
class TextColumn:
    """Column of a text table.

    Parameters
    ----------
    heading : str
        A line end in it marks where it may be broken, after a soft hyphen within a word.
    cells : tuple of str
    is_text : bool
        Whether it is aligned left and sorted as text; if not, it has numbers, with equal decimals.
    values : tuple of (float or None)
        Number to sort each cell by, None for text; default: none.
    name : str
        By which readers choose it.
    group : str
        Heading over this column and its neighbors of the same group.
    """

    heading: str
    cells: tuple[str, ...]
    is_text: bool = True
    values: tuple[float | None, ...] = ()
    name: str = ""
    group: str = ""

    @property
    def title(self) -> str:
        """Heading on one line, after that of the group, with hyphenated words joined."""
        lines = f"{self.group} {self.heading}".strip()
        return lines.replace("\xad\n", "").replace("-\n", "-").replace("\n", " ")

    def take(self, order: Sequence[int]) -> TextColumn:
        """Return the column with the rows at the given places."""
        values = tuple(self.values[i] for i in order) if self.values else ()
        return replace(self, cells=tuple(self.cells[i] for i in order), values=values)


@dataclass(frozen=True)
class TextTable:
    """Table whose cells are text.

    Parameters
    ----------
    caption : str
        Caption of the table.
    columns : tuple of TextColumn
    n_names : int, default 1
        Number of first columns that name a row.
    label : str
        Label of the LaTeX table, after ``tab:``.
    notes : tuple of str
        Notes, in sentences.
    spare : tuple of str
        Names of columns that a narrow terminal does without, the first ones first.
    medium : {"", "terminal", "paper", "report", "named"}
        Where it is read (`bayespool.tables.table.View`).
    is_compact : bool
        Whether it fits in a column of a paper: LaTeX sets it small.
    """

    caption: str
    columns: tuple[TextColumn, ...]
    n_names: int = 1
    label: str = ""
    notes: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    medium: str = ""
    is_compact: bool = False

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Cells by row."""
        return tuple(zip(*(column.cells for column in self.columns), strict=True))

    @property
    def spans(self) -> tuple[tuple[str, int, int], ...]:
        """Group headings with their first and last column, from 1; none without groups.

        Examples
        --------
        >>> columns = [TextColumn(name, ("1",), group=group) for name, group in zip("abc", "xxy")]
        >>> TextTable("", tuple(columns), n_names=0).spans
        (('x', 1, 2), ('y', 3, 3))
        """
        spans, place = [], self.n_names
        for name, same in groupby(self.columns[self.n_names :], lambda column: column.group):
            spans.append((name, place + 1, place := place + len(list(same))))
        return tuple(spans) if any(name for name, *_ in spans) else ()

    def without(self, columns: Collection[TextColumn]) -> TextTable:
        """Return the table without some of its columns."""
        return replace(self, columns=tuple(column for column in self.columns if column not in columns))

    def marked(self, names: Collection[str], mark: str, note: str) -> TextTable:
        """Return the table with a mark after some row names, and a note that explains the mark."""
        first = self.columns[: self.n_names]
        marked = tuple(
            replace(column, cells=tuple(f"{c}\xa0{mark}" if c in names else c for c in column.cells))
            for column in first
        )
        if marked == first:
            return self
        return replace(self, columns=(*marked, *self.columns[self.n_names :]), notes=(*self.notes, note))

    def first_rows(self, n: int = 10) -> TextTable:
        """Return the table's first rows, without notes."""
        n_rows = len(self.rows)
        more = f" The first {n} of {n_rows} rows." if n_rows > n else ""
        columns = tuple(column.take(range(min(n, n_rows))) for column in self.columns)
        return replace(self, columns=columns, caption=self.caption + more, notes=())


def text_table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], n_names: int = 1, **more: Any
) -> TextTable:
    """Return a table of rows of text, whose columns after the first ``n_names`` hold numbers.

    Examples
    --------
    >>> text_table("Two runs", ("run", "P@10"), (("a", "0.5000"), ("b", "0.2500"))).columns[1].cells
    ('0.5000', '0.2500')
    """
    columns = tuple(
        TextColumn(heading, tuple(row[i] for row in rows), is_text=i < n_names)
        for i, heading in enumerate(header)
    )
    return TextTable(caption, columns, n_names, **more)


SUPERSCRIPTS = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
"""Unicode superscripts for lower-case letters (all but q)."""
_GREEK = {"Δ": "Delta", "κ": "kappa", "λ": "lambda", "ρ": "rho", "τ": "tau", "Φ": "Phi"}
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "[": "{[}",  # would be an argument of the end of a row
    "]": "{]}",
    "*": "{*}",  # the same
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "…": r"\ldots{}",
    **{letter: rf"$\{name}$" for letter, name in _GREEK.items()},
    "²": r"\textsuperscript{2}",
    "→": r"$\to$",
    "†": r"$\dagger$",
    **{raised: rf"\textsuperscript{{{letter}}}" for letter, raised in SUPERSCRIPTS.items()},
    "\xa0": "~",
}
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~!$])")


def _tex(text: str) -> str:
    """Return text escaped for LaTeX."""
    escaped = "".join(_TEX.get(c, c) for c in _line(text).replace("--", "-\0-").replace("--", "-\0-"))
    return escaped.replace("\0", "{}")


def _tex_number(text: str) -> str:
    """Return text escaped for LaTeX, with hyphens before numbers as minus signs."""
    return _tex(re.sub(r"(?<![\w.])-(?=\.?\d)", "−", text))


def _markdown(text: str) -> str:
    escaped = _line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", escaped)


def _html(text: str) -> str:
    return html.escape(_line(text))


def _line(text: str) -> str:
    return printable(text, one_line=True)


def latex_tables(tables: Sequence[TextTable], comments: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    r"""Return tables as LaTeX for ``\input``, over both columns (``table*``) but for compact ones.

    Parameters
    ----------
    tables : sequence of TextTable
        Their notes stand below them.
    comments, notes : sequence of str
        Lines of comment above the first table and below the last one.

    Examples
    --------
    >>> table = text_table("Two runs", ("run", "P@10"), (("a_1", "0.5000"), ("b", "0.2500")), label="two")
    >>> print(latex_tables([table]))
    % needs \usepackage{booktabs}
    \begin{table*}
      \centering
      \caption{Two runs}
      \label{tab:two}
      \small
      \begin{tabular}{@{}lr@{}}
        \toprule
        run & P@10 \\
        \midrule
        a\_1 & 0.5000 \\
        b & 0.2500 \\
        \bottomrule
      \end{tabular}
    \end{table*}
    <BLANKLINE>
    """
    # labels that every LaTeX package accepts
    labels = [re.sub(r"[^a-z0-9]+", "-", table.label.lower()).strip("-") for table in tables]
    names = [
        f"{label}-{n}" if (n := labels[: i + 1].count(label)) > 1 else label for i, label in enumerate(labels)
    ]
    values = {"tables": list(zip(tables, names, strict=True)), "comments": comments, "notes": notes}
    return _rendered("tables.tex", **values) + "\n"


def markdown_tables(tables: Sequence[TextTable]) -> str:
    r"""Return tables as Markdown (GitHub, Pandoc), with a bold caption above and notes below.

    Examples
    --------
    >>> table = text_table("Two runs", ("run", "P@10"), (("a_1", "0.5000"), ("b|c", "0.2500")))
    >>> print(markdown_tables([table]))
    **Two runs**
    <BLANKLINE>
    | run  |   P@10 |
    | :--- | -----: |
    | a\_1 | 0.5000 |
    | b\|c | 0.2500 |
    <BLANKLINE>
    """
    texts = []
    for table in tables:
        columns = list(map(_markdown_column, table.columns))
        lines = [f"**{_markdown(table.caption)}**", ""]
        lines += [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
        lines += [line for note in table.notes for line in ("", f"Note: {_markdown(note)}")]
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)


def _markdown_column(column: TextColumn) -> list[str]:
    """Return a heading, its rule and the cells below it, padded to one width."""
    escaped = list(map(_markdown, (column.title, *column.cells)))
    width = max(3, *map(len, escaped))
    escaped.insert(1, ":".ljust(width, "-") if column.is_text else ":".rjust(width, "-"))
    return [cell.ljust(width) if column.is_text else cell.rjust(width) for cell in escaped]


def html_table(table: TextTable) -> str:
    """Return a table as HTML in the colors and fonts of the page around it.

    Examples
    --------
    >>> "&lt;img&gt;</td>" in html_table(text_table("One", ("run",), (("<img>",),)))
    True
    """
    return _rendered("table.html", table=table)


def html_page(title: str, tables: Sequence[TextTable], comments: Sequence[str] = ()) -> str:
    """Return tables as a self-contained HTML page, with comments as lines below them."""
    return _rendered("page.html", version=__version__, title=title, tables=tables, comments=comments) + "\n"


def _rendered(name: str, **values: Any) -> str:
    return str(templates("bayespool.tables").get_template(name).render(values))


@cache
def templates(package: str) -> Any:
    """Return the Jinja2 environment for a package's ``templates`` folder, with autoescaping."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined)
    for name, escape in (("text", _html), ("tex", _tex), ("tex_number", _tex_number), ("line", _line)):
        environment.filters[name] = lambda text, escape=escape: Markup(escape(text))  # nosec B704 # of functions that escape
    environment.filters["breakable"] = lambda text: Markup(  # nosec B704 # escaped before breaks are allowed
        re.sub(r"(?<=[_/])(?=\w)", "<wbr>", html.escape(text))
    )
    environment.filters["lines"] = lambda name: broken_heading(name).split("\n")
    return environment


def broken_heading(name: str) -> str:
    """Return a heading with its line breaks, turning a soft hyphen at a line end into a hyphen."""
    return name.replace("\xad\n", "-\n")


_MAX_LINE_CHARACTERS = 190
_MAX_ROWS, _MAX_COLUMNS = 10, 12


def one_line(kind: str, content: str) -> str:
    """Return a one-line representation of a result, shortened if long.

    Examples
    --------
    >>> one_line("Scores", "P@10 of 2 runs")
    '<Scores: P@10 of 2 runs>'
    """
    text = printable(f"{kind}: {content}", one_line=True)
    return f"<{text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + '…'}>"


class ReprHTMLMixin:
    """Mixin that shows a result in notebooks as one line and the first rows of its ``to_frame``."""

    def _repr_html_(self) -> str:
        to_frame = getattr(self, "to_frame", None)
        return html_repr(repr(self), () if to_frame is None else (first_rows(to_frame()),))


def html_repr(line: str, tables: tuple[TextTable, ...] = (), sentences: Sequence[str] = ()) -> str:
    """Return HTML for a line, tables and sentences, all text escaped, in the page's colors."""
    heading = f"<p><code>{html.escape(line)}</code></p>" if line else ""
    body = "\n".join([*map(html_table, tables), *(f"<p>{html.escape(text)}</p>" for text in sentences)])
    return f"<div>{heading}\n{body}</div>"


def first_rows(frame: pd.DataFrame) -> TextTable:
    """Return the first rows and columns of a data frame as a text table."""
    shown = frame.iloc[:_MAX_ROWS, :_MAX_COLUMNS]
    whole = shown.shape == frame.shape
    n, k = frame.shape
    caption = f"{n} rows" if whole else f"{len(shown)} of {n} rows, {shown.shape[1]} of {k} columns"
    n_names = next((i for i, kind in enumerate(shown.dtypes) if kind.kind in "iuf"), shown.shape[1])
    cells = [tuple(map(_cell, row)) for row in shown.itertuples(index=False, name=None)]
    return text_table(caption, tuple(map(str, shown.columns)), cells, n_names)


def _cell(value: Any) -> str:
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return "–" if value != value else f"{float(value):.4g}"
    return str(value)
