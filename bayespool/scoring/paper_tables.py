"""Tables for a paper, a page or a README: what results write as .tex, .md and .html."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from bayespool.errors import InputError
from bayespool.tables import TextTable, html_repr, latex_tables, markdown_tables
from bayespool.tables.arrangement import Arrangement
from bayespool.tables.markup import html_page
from bayespool.tables.reprs import Shown

PAPER_FORMATS = (".tex", ".md", ".html")
"""Endings of files with tables to be read; nothing reads them back."""

_ROWS = 10  # of a table in a notebook


@dataclass(frozen=True)
class Paper:
    """Tables of a result, and what they must be quoted with.

    Attributes
    ----------
    title : str
    tables : tuple of TextTable
    comments : tuple of str
        Comments in LaTeX, the foot of a page in HTML.
    """

    title: str
    tables: tuple[TextTable, ...]
    comments: tuple[str, ...] = ()

    def text(self, suffix: str) -> str:
        """The tables in the format of a file that ends in .tex, .md or .html.

        Raises
        ------
        InputError
            There is no such format.
        """
        if suffix == ".tex":
            return latex_tables(self.tables, self.comments)
        if suffix == ".md":
            return markdown_tables(self.tables)
        if suffix == ".html":
            return html_page(self.title, self.tables, self.comments)
        raise InputError(f"no tables in the format {suffix!r}", hint=f"use {', '.join(PAPER_FORMATS)}")


class WithPaper(Shown, ABC):
    """A result with tables for a paper, which a notebook shows, too."""

    @abstractmethod
    def paper(self, arrangement: Arrangement | None = None) -> Paper:
        """The tables that `to_latex`, `to_markdown` and `to_html` are of.

        Parameters
        ----------
        arrangement : Arrangement, optional
        """

    def to_latex(
        self, *, columns: Sequence[str] | None = None, sort: str | None = None, top: int | None = None
    ) -> str:
        r"""Tables for ``\input`` in a LaTeX document, with the rules of booktabs, a caption and a label.

        Parameters
        ----------
        columns : sequence of str, optional
            Names as ``--columns`` has them.
        sort : str, optional
            What rows are sorted by, as ``--sort`` has it.
        top : int, optional
            Rows that are shown.

        Raises
        ------
        InputError
            There is no such column, or rows cannot be sorted by it.
        """
        return self.paper(Arrangement(columns, sort, top)).text(".tex")

    def to_markdown(
        self, *, columns: Sequence[str] | None = None, sort: str | None = None, top: int | None = None
    ) -> str:
        """The tables of `to_latex` in Markdown."""
        return self.paper(Arrangement(columns, sort, top)).text(".md")

    def to_html(
        self, *, columns: Sequence[str] | None = None, sort: str | None = None, top: int | None = None
    ) -> str:
        """The tables of `to_latex` as a page, which asks for nothing from elsewhere."""
        return self.paper(Arrangement(columns, sort, top)).text(".html")

    def _repr_html_(self) -> str:
        return html_repr(repr(self), tuple(map(_beginning, self.paper().tables)))


def _beginning(table: TextTable) -> TextTable:
    """The first rows of a table; notes stay in ``notes``."""
    left = len(table.rows) - _ROWS
    more = f" The first {_ROWS} of {len(table.rows)} rows." if left > 0 else ""
    return dataclasses.replace(table, rows=table.rows[:_ROWS], caption=table.caption + more, notes=())
