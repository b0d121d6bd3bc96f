"""Text tables as LaTeX, Markdown and HTML, with the rows and columns that a reader selects."""

from __future__ import annotations

import html
import numbers
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

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


@dataclass(frozen=True)
class TextTable:
    """Table whose cells are text.

    Parameters
    ----------
    caption : str
        Caption of the table.
    header : tuple of str
        Name of each column; a line end in it marks where it may be broken.
    rows : tuple of tuples of str
        One cell per column.
    n_names : int, default 1
        Number of first columns that hold names, aligned left; the others hold numbers, aligned right, with
        equal decimals within a column, but for `texts`.
    texts : tuple of int
        Places of columns of text after the names, aligned left and sorted as text.
    groups : tuple of (str, int)
        Headings over the columns after the names: text and number of columns, covering all or none.
    label : str
        Label of the LaTeX table, after ``tab:``.
    notes : tuple of str
        Notes, in sentences.
    values : tuple of tuples of (float or None)
        Number to sort each cell by; None for text.
    spare : tuple of int
        Places of columns that a narrow terminal does without, the first ones first.
    medium : {"", "terminal", "paper"}
        Where it is read: everywhere, or in the terminal or in papers and notebooks alone.
    is_compact : bool
        Whether it fits in a column of a paper: LaTeX sets it small.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1
    texts: tuple[int, ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    label: str = ""
    notes: tuple[str, ...] = ()
    values: tuple[tuple[float | None, ...], ...] = ()
    spare: tuple[int, ...] = ()
    medium: str = ""
    is_compact: bool = False

    def is_text(self, place: int) -> bool:
        """Return whether a column is left-aligned and sorted as text, not as numbers."""
        return place < self.n_names or place in self.texts

    def group_names(self) -> list[str]:
        """Return the group heading above each column, empty for name columns and without groups."""
        over = [name for name, width in self.groups for _ in range(width)]
        return [*([""] * (len(self.header) - len(over))), *over]

    def headings(self) -> list[str]:
        """Return each column's heading on one line, preceded by its group heading."""
        both = zip(self.group_names(), self.header, strict=True)
        return [_joined(f"{above} {name}".strip()) for above, name in both]

    def without(self, places: Sequence[int]) -> TextTable:
        """Return the table without the columns at the given indices."""
        kept_places = [i for i in range(len(self.header)) if i not in places]
        names = self.group_names()
        return replace(
            self,
            header=tuple(self.header[i] for i in kept_places),
            rows=tuple(tuple(row[i] for i in kept_places) for row in self.rows),
            texts=tuple(place for place, i in enumerate(kept_places) if i in self.texts),
            groups=heading_groups([names[i] for i in kept_places if i >= self.n_names])
            if self.groups
            else (),
        )

    def marked(self, names: Collection[str], mark: str, note: str) -> TextTable:
        """Return the table with a mark after some row names, and a note that explains the mark."""

        def mark_row(row: tuple[str, ...]) -> tuple[str, ...]:
            first = (f"{name}\xa0{mark}" if name in names else name for name in row[: self.n_names])
            return (*first, *row[self.n_names :])

        rows = tuple(map(mark_row, self.rows))
        return self if rows == self.rows else replace(self, rows=rows, notes=(*self.notes, note))

    def first_rows(self, n: int = 10) -> TextTable:
        """Return the table's first rows, without notes."""
        n_more = len(self.rows) - n
        more = f" The first {n} of {len(self.rows)} rows." if n_more > 0 else ""
        return replace(self, rows=self.rows[:n], caption=self.caption + more, notes=())


def heading_groups(names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return consecutive equal names with the length of each run.

    Examples
    --------
    >>> heading_groups(["P@10", "P@10", "AP"])
    (('P@10', 2), ('AP', 1))
    """
    return tuple((name, len(list(same))) for name, same in groupby(names))


SUPERSCRIPTS = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
"""Unicode superscripts for lower-case letters (all but q)."""
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
    "ρ": r"$\rho$",
    "Φ": r"$\Phi$",
    "²": r"\textsuperscript{2}",
    "→": r"$\to$",
    "†": r"$\dagger$",
    **{raised: rf"\textsuperscript{{{letter}}}" for letter, raised in SUPERSCRIPTS.items()},
    "\xa0": "~",
}
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~!$])")


def _tex(text: str) -> str:
    escaped = "".join(
        _TEX.get(char, char) for char in _line(text).replace("--", "-\0-").replace("--", "-\0-")
    )
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
    r"""Return tables as LaTeX ``table`` environments with booktabs rules, for ``\input``.

    Parameters
    ----------
    tables : sequence of TextTable
        Their notes are part of the captions.
    comments, notes : sequence of str
        Lines of comment above the first table and below the last one.

    Examples
    --------
    >>> table = TextTable("Two runs", ("run", "P@10"), (("a_1", "0.5000"), ("b", "0.2500")), label="two")
    >>> print(latex_tables([table]))
    % needs \usepackage{booktabs}
    \begin{table}
      \centering
      \caption{Two runs}
      \label{tab:two}
      \begin{tabular}{@{}lr@{}}
        \toprule
        run & P@10 \\
        \midrule
        a\_1 & 0.5000 \\
        b & 0.2500 \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    lines = [r"% needs \usepackage{booktabs}", *(f"% {_line(comment)}" for comment in comments)]
    labels: list[str] = []
    for table in tables:
        n = table.n_names
        caption = f"{table.caption}. {' '.join(table.notes)}" if table.notes else table.caption
        lines += [r"\begin{table}", r"  \centering", rf"  \caption{{{_tex(caption)}}}"]
        if table.label:
            labels.append(_label(table.label))
            times = labels.count(labels[-1])
            lines.append(rf"  \label{{tab:{labels[-1]}{f'-{times}' if times > 1 else ''}}}")
        if table.is_compact:
            lines += [r"  \footnotesize", r"  \setlength{\tabcolsep}{2.5pt}"]
        sides = ["l" if table.is_text(i) else "r" for i in range(len(table.header))]
        columns = "".join(sides)
        lines += [rf"  \begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"    \toprule"]
        if table.groups:
            place, cells, rules = n + 1, [" & " * (n - 1)], []
            for name, width in table.groups:
                cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(name)}}}")
                rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
                place += width
            lines += [f"    {' & '.join(cells).strip()} \\\\", f"    {' '.join(rules)}"]
        header = [_tex_heading(name, side) for name, side in zip(table.header, sides, strict=True)]
        lines += [f"    {' & '.join(header)} \\\\", r"    \midrule"]
        for row in table.rows:
            cells = [(_tex if table.is_text(i) else _tex_number)(cell) for i, cell in enumerate(row)]
            lines.append(f"    {' & '.join(cells)} \\\\")
        lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
    return "\n".join([*lines, *(f"% note: {_line(note)}" for note in notes)]) + "\n"


def _tex_heading(name: str, side: str) -> str:
    if "\n" not in name:
        return _tex(name)
    broken = r"\\".join(_tex(part) for part in broken_heading(name).split("\n"))
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{broken}\end{{tabular}}"


def _label(text: str) -> str:
    """Return a label that every LaTeX package accepts."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def markdown_tables(tables: Sequence[TextTable]) -> str:
    r"""Return tables as Markdown (GitHub, Pandoc), with a bold caption above and notes below.

    Examples
    --------
    >>> table = TextTable("Two runs", ("run", "P@10"), (("a_1", "0.5000"), ("b|c", "0.2500")))
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
        by_column = enumerate(zip(table.headings(), *table.rows, strict=True))
        columns = [_markdown_column(cells, is_text=table.is_text(i)) for i, cells in by_column]
        lines = [f"**{_markdown(table.caption)}**", ""]
        lines += [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
        lines += [line for note in table.notes for line in ("", f"Note: {_markdown(note)}")]
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)


def _markdown_column(cells: Sequence[str], *, is_text: bool) -> list[str]:
    """Return a heading, its rule and the cells below it, padded to one width."""
    escaped = list(map(_markdown, cells))
    width = max(3, *map(len, escaped))
    escaped.insert(1, ":".ljust(width, "-") if is_text else ":".rjust(width, "-"))
    return [cell.ljust(width) if is_text else cell.rjust(width) for cell in escaped]


def html_table(table: TextTable) -> str:
    """Return a table as HTML in the colors and fonts of the page around it.

    Examples
    --------
    >>> "&lt;img&gt;</td>" in html_table(TextTable("One", ("run",), (("<img>",),)))
    True
    """
    return _rendered("table.html", table=table)


def html_page(title: str, tables: Sequence[TextTable], comments: Sequence[str] = ()) -> str:
    """Return tables as a self-contained HTML page, with comments as lines below them."""
    return _rendered("page.html", title=title, tables=tables, comments=comments) + "\n"


def _rendered(name: str, **values: Any) -> str:
    return str(templates("bayespool.tables").get_template(name).render(values))


@cache
def templates(package: str) -> Any:
    """Return the Jinja2 environment for a package's ``templates`` folder, with autoescaping."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined)
    environment.filters["text"] = lambda text: Markup(_html(text))  # nosec B704 # of `_html`, which escapes
    environment.filters["breakable"] = lambda text: Markup(  # nosec B704 # escaped before breaks are allowed
        re.sub(r"(?<=[_/])(?=\w)", "<wbr>", html.escape(text))
    )
    environment.filters["lines"] = lambda name: broken_heading(name).split("\n")
    return environment


def broken_heading(name: str) -> str:
    """Return a heading with its line breaks, turning a soft hyphen at a line end into a hyphen."""
    return name.replace("\xad\n", "-\n")


def _joined(name: str) -> str:
    """Return a heading on one line, with hyphenated words joined."""
    return name.replace("\xad\n", "").replace("-\n", "-").replace("\n", " ")


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
