"""Tables of results for papers, pages and READMEs, written as .tex, .md and .html."""

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
"""Endings of files with tables for readers."""

_MAX_NOTEBOOK_ROWS = 10


@dataclass(frozen=True)
class Paper:
    """Tables of a result, with comments that quote its version and collection."""

    title: str
    tables: tuple[TextTable, ...]
    comments: tuple[str, ...] = ()

    def text(self, suffix: str) -> str:
        """Text of the tables for a file that ends in .tex, .md or .html; others raise `InputError`."""
        if suffix == ".tex":
            return latex_tables(self.tables, self.comments)
        if suffix == ".md":
            return markdown_tables(self.tables)
        if suffix == ".html":
            return html_page(self.title, self.tables, self.comments)
        raise InputError(f"no tables in the format {suffix!r}", hint=f"use {', '.join(PAPER_FORMATS)}")


class WithPaper(Shown, ABC):
    """Base of results that have tables for a paper and show them in a notebook."""

    @abstractmethod
    def paper(self, arrangement: Arrangement | None = None) -> Paper:
        """Make the tables of `to_latex`, `to_markdown` and `to_html`.

        Parameters
        ----------
        arrangement : Arrangement, optional
        """

    def to_latex(
        self, *, columns: Sequence[str] | None = None, sort: str | None = None, top: int | None = None
    ) -> str:
        r"""Tables for ``\input`` in a LaTeX document, with booktabs rules, a caption and a label.

        Parameters
        ----------
        columns : sequence of str, optional
            Names of columns, as in ``--columns``.
        sort : str, optional
            Column to sort rows by, as in ``--sort``.
        top : int, optional
            Number of rows to show.

        Raises
        ------
        InputError
            There is no such column, or rows cannot be sorted by it.
        """
        return self.paper(Arrangement(columns, sort, top)).text(".tex")

    def to_markdown(
        self, *, columns: Sequence[str] | None = None, sort: str | None = None, top: int | None = None
    ) -> str:
        """Tables of `to_latex` in Markdown."""
        return self.paper(Arrangement(columns, sort, top)).text(".md")

    def to_html(
        self, *, columns: Sequence[str] | None = None, sort: str | None = None, top: int | None = None
    ) -> str:
        """Tables of `to_latex` as a self-contained page."""
        return self.paper(Arrangement(columns, sort, top)).text(".html")

    def _repr_html_(self) -> str:
        return html_repr(repr(self), tuple(map(_first_rows, self.paper().tables)))


def _first_rows(table: TextTable) -> TextTable:
    """First rows of a table, without its notes."""
    left = len(table.rows) - _MAX_NOTEBOOK_ROWS
    more = f" The first {_MAX_NOTEBOOK_ROWS} of {len(table.rows)} rows." if left > 0 else ""
    return dataclasses.replace(
        table, rows=table.rows[:_MAX_NOTEBOOK_ROWS], caption=table.caption + more, notes=()
    )
