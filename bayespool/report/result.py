"""Base class of results: what a result says of itself, and the files and pages that follow from it."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack

import pandas as pd

from bayespool import __version__, plots
from bayespool.defaults import rc_context
from bayespool.errors import InputError, known_names
from bayespool.notes import Note
from bayespool.plots.style import finish
from bayespool.report.page import check_report, page_html
from bayespool.report.provenance import cited_by, with_provenance
from bayespool.report.saving import FORMATS, PAPER_FORMATS, check_folder, check_output, replace_files
from bayespool.report.terminal import print_parts, terminal_text
from bayespool.tables import csv_text, json_text
from bayespool.tables.citations import Citation, cite
from bayespool.tables.files import PathLike, as_bytes, atomic_write, json_value, locked, parquet_bytes
from bayespool.tables.markup import (
    Arranged,
    Arrangement,
    TextTable,
    html_page,
    html_repr,
    latex_tables,
    markdown_tables,
)
from bayespool.tables.replacing import check_replaceable
from bayespool.tables.table import Table

if TYPE_CHECKING:
    from rich.console import Console

FigureFormat = Literal["png", "svg", "none"]
_PAGE_WIDTH = 6.0  # inches, which are the width of the text


@dataclass(frozen=True)
class Figure:
    """Figure that belongs to a result.

    Attributes
    ----------
    name : str
        Name of its file, without an ending.
    caption : str
        What it shows, in a sentence.
    draw : callable, optional
        Draws it: a `matplotlib.figure.Figure`. A figure of a folder is an image instead.
    alternative : str
        What a reader who does not see it should know; default: the caption.
    image : bytes
        Content of an SVG or PNG file, where there is nothing to draw.
    """

    name: str
    caption: str
    draw: Callable[[], Any] | None = None
    alternative: str = ""
    image: bytes = field(default=b"", repr=False)

    def render(self, file_format: Literal["pdf", "png", "svg"] = "svg") -> bytes:
        """Return the content of an image file in the given format; a stored image keeps its own format."""
        return self.image if self.draw is None else plots.render(self.draw(), file_format)

    def address(self) -> str:
        """Return the figure as a ``data:`` address of an image, for a page."""
        with rc_context({"figure_width": _PAGE_WIDTH}):
            content = self.render("svg")
        kind = "png" if content.startswith(b"\x89PNG") else "svg+xml"  # as a folder has it
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


@dataclass(frozen=True, repr=False)
class Summary:
    """Summary of a result: ``print`` shows its first table, its notes and its sentences.

    Attributes
    ----------
    tables : tuple of TextTable
        The first as people read it, or none.
    notes : tuple of Note
    sentences : tuple of str
    begins_with_sentences : bool
    """

    tables: tuple[TextTable, ...]
    notes: tuple[Note, ...]
    sentences: tuple[str, ...]
    begins_with_sentences: bool = False

    @property
    def table(self) -> str:
        """The table as a terminal shows it."""
        return str(Summary(self.tables, (), ()))

    def __str__(self) -> str:
        return terminal_text(self.tables, self.notes, self.sentences, self.begins_with_sentences)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return HTML for notebooks."""
        return html_repr("", self.tables, (*(f"note: {note}" for note in self.notes), *self.sentences))


class Result(ABC):
    """Base class for results: tables, notes, sentences, figures, citations and metadata.

    A subclass has the attribute or property `metadata` and the method `tables`; the others have nothing to
    say by default.

    Attributes
    ----------
    command : str
        Command that makes such a result; the name of the experiment in a folder.
    title : str
        Title of its report.
    metadata : mapping of str to object
        Version, fingerprint, pool and settings, in the types of JSON, to quote with the result.
    formats : tuple of str
        Endings of files in formats of its own, besides those of every result.
    begins_with_sentences : bool
        Whether people read the sentences before the tables.
    """

    begins_with_sentences: ClassVar[bool] = False
    command: ClassVar[str] = ""
    title: str = "Result"
    formats: ClassVar[tuple[str, ...]] = ()
    metadata: Mapping[str, Any]

    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """Return tables in long form, main table first."""

    def notes(self) -> tuple[Note, ...]:
        """Return caveats to read before quoting the result: text, with ``kind`` and ``severity``."""
        return ()

    def sentences(self) -> tuple[str, ...]:
        """Return sentences that summarize the result."""
        return ()

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures, which are drawn on demand."""
        return ()

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the methods used and bayespool itself, sorted by author."""
        return cite(cited_by(self.metadata))

    # --- common to all ---

    def summary(self) -> Summary:
        """Return the first table, the notes and the sentences, for ``print`` and notebooks."""
        tables = self._shown("terminal")[:1]
        return Summary(tables, self.notes(), self.sentences(), self.begins_with_sentences)

    def plot(self, name: str | None = None) -> Any:
        """Draw one of the figures (default: the first), and return the `matplotlib.figure.Figure`.

        Raises
        ------
        InputError
            There is no such figure, or only its image, as of a result read from a folder.
        """
        figures = {figure.name: figure for figure in self.figures()}
        if not figures or (name is not None and name not in figures):
            hint = known_names(name, figures, before="there are ") if figures else None
            raise InputError("no figure" if name is None else f"no figure {name!r}", hint=hint)
        figure = figures[name or next(iter(figures))]
        if figure.draw is None:
            raise InputError(f"of the figure {figure.name!r} only an image is stored", hint="see figures()")
        return finish(figure.draw())

    def table(self, name: str | None = None) -> Table:
        """Return one of the tables (default: the first), or raise `InputError` for an unknown name."""
        tables = {table.name: table for table in self.tables()}
        if name is not None and name not in tables:
            raise InputError(f"no table {name!r}", hint=known_names(name, tables, before="there are "))
        return next(iter(tables.values())) if name is None else tables[name]

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """Return one of the tables (default: the first) as a data frame.

        Raises
        ------
        InputError
            There is no such table.
        """
        return self.table(table).frame

    def marked(self, text: TextTable) -> TextTable:
        """Return a formatted table with marks after names that have a note."""
        return text

    def read(self, arrangement: Arrangement | None = None) -> tuple[TextTable, ...]:
        """Return formatted tables for the terminal, papers and web pages."""
        return tuple(self.marked(text) for table in self.tables() for text in table.read(arrangement))

    def to_latex(self, **arranged: Unpack[Arranged]) -> str:
        r"""Return LaTeX tables for ``\input``, with booktabs rules, captions and labels.

        Parameters
        ----------
        **arranged
            ``columns``, a sequence of names as in ``--columns``; ``sort``, a column to sort rows by, as in
            ``--sort``; ``top``, a number of rows to show; ``width``, "page", or "column" for one column of a
            two-column paper: fewer columns, three decimals, small type.

        Raises
        ------
        InputError
            There is no such column, or rows cannot be sorted by it.
        """
        return self.text(".tex", Arrangement(**arranged))

    def to_markdown(self, **arranged: Unpack[Arranged]) -> str:
        """Return the tables of `to_latex` in Markdown."""
        return self.text(".md", Arrangement(**arranged))

    def to_html(self, **arranged: Unpack[Arranged]) -> str:
        """Return the tables of `to_latex` as a self-contained HTML page."""
        return self.text(".html", Arrangement(**arranged))

    def text(self, suffix: str, arrangement: Arrangement | None = None) -> str:
        """Return the tables as text for a .tex, .md or .html file, with notes below the last table.

        Raises
        ------
        InputError
            Another ending, or an arrangement that the tables do not have.
        """
        if suffix not in PAPER_FORMATS:
            raise InputError(f"no text of tables for {suffix!r}", hint=f"use {', '.join(PAPER_FORMATS)}")
        tables, notes = self._shown("paper", arrangement), sorted(self.notes(), key=lambda n: n.severity)
        quoted = [f"{name} {self.metadata[key]}" for name, key in _QUOTED.items() if self.metadata.get(key)]
        comments = [", ".join(quoted)] if quoted else []
        if suffix == ".tex":
            return latex_tables(tables, comments, notes if tables else ())
        if tables:
            tables = (*tables[:-1], replace(tables[-1], notes=(*tables[-1].notes, *notes)))
        return markdown_tables(tables) if suffix == ".md" else html_page(self.title, tables, comments)

    def _shown(self, medium: str, arrangement: Arrangement | None = None) -> tuple[TextTable, ...]:
        """Return formatted tables for a medium, or the first table truncated where none has a view."""
        tables = tuple(text for text in self.read(arrangement) if text.medium in ("", medium))
        if not tables and arrangement in (None, Arrangement()):
            tables = tuple(table.truncated() for table in self.tables()[:1])
        return tables

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: one line on the result and the first rows of its tables."""
        return html_repr(repr(self), tuple(text.first_rows() for text in self._shown("paper")))

    def save(self, path: PathLike, *, table: str | None = None, figures: FigureFormat = "png") -> None:
        """Write the result to a file or folder atomically.

        Parameters
        ----------
        path : path
            ``.json`` has all tables and the metadata, ``.parquet`` one table and the metadata, ``.csv`` one
            table; ``.tex``, ``.md`` and ``.html`` have the tables that people read; the endings in `formats`
            are of this result alone. Another path without ending is a folder of all tables as CSV and
            Parquet, ``settings.json`` and the figures.
        table : str, optional
            Table of a CSV or Parquet file; default: the first.
        figures : {"png", "svg", "none"}
            Figures of a folder.

        Raises
        ------
        InputError
            There is no such table.
        OutputError
            The file cannot be written; an earlier file stays.
        """
        place, formats = Path(path), (*FORMATS, *self.formats)
        is_ending = any(map(str.isalpha, place.suffix)) and not place.is_dir()  # runs-v1.2 has none
        if not (is_ending or {"", place.suffix} & {*formats}):
            save_folder(self, place, figures=figures)
            return
        check_output(place, formats)
        write_file(self, place, table=table)

    def write_report(self, path: PathLike) -> None:
        """Write a report as one HTML file without external resources.

        Raises
        ------
        OutputError
            The file cannot be written; an earlier file stays.
        InputError
            The result was read from a file that is not as it was written.
        """
        check_report(path)
        atomic_write(path, self.page())

    def page(self) -> str:
        """Return the report as an HTML page, with escaped text and a policy for its own script and styles."""
        return page_html(
            self.metadata,
            self._page_tables(),
            self.notes(),
            title=self.title,
            sentences=self.sentences(),
            figures=self.figures(),
            citations=self.citations(),
        )

    def _page_tables(self) -> list[TextTable]:
        """Return formatted tables for the report, those that people read first."""
        in_order = sorted(self.tables(), key=lambda table: not table.views)
        filled = (table for table in in_order if len(table.frame))
        texts = (text for table in filled for text in table.read() or (table.truncated(),))
        return [self.marked(text) for text in texts if text.medium not in ("terminal", "named")]

    def files(self) -> Mapping[str, bytes | str]:
        """Return the contents of additional files, such as containers of draws, by file name."""
        return {}

    def to_format(self, suffix: str) -> bytes | str:
        """Return the file content for one of the endings in `formats`."""
        raise InputError(f"no format {suffix!r}", hint="formats names those of the result's own")


_QUOTED = {"bayespool": "bayespool", "collection": "fingerprint"}


def print_result(
    result: Result, console: Console, *, arrangement: Arrangement | None = None, table: str | None = None
) -> None:
    """Print a result's formatted tables, or the one that is named, with its notes and sentences.

    A terminal that is too narrow for a table gets it without some columns, or in parts. A pipe gets all
    columns unless the variable COLUMNS says how many characters fit.
    """
    if table is not None:
        of_table = result.table(table).read() or (result.table(table).truncated(),)
        named = [result.marked(text) for text in of_table if text.medium not in ("terminal", "paper")]
        print_parts(console, named, result.notes(), ())
        return
    tables = [text for text in result.read(arrangement) if text.medium in ("", "terminal")]
    print_parts(console, tables, result.notes(), result.sentences(), result.begins_with_sentences)


def file_metadata(result: Result) -> dict[str, Any]:
    """Return a result's metadata for files, with command, notes, summary, citations and columns."""
    made = with_provenance({"bayespool": __version__, "experiment": result.command, **result.metadata})
    notes = result.notes()
    made |= {"title": result.title, "notes": list(notes), "note_kinds": [note.kind for note in notes]}
    made["summary"] = list(result.sentences())
    made["citations"] = [citation.key for citation in result.citations()]
    made["tables"] = {table.name: table.description() for table in result.tables()}
    return json_value(made)  # type: ignore[no-any-return]


def content(
    result: Result, suffix: str, *, table: str | None = None, arrangement: Arrangement | None = None
) -> bytes | str:
    """Return the content of a result's file for an ending in `FORMATS` or one of the result's own."""
    if suffix in result.formats:
        return result.to_format(suffix)
    if suffix in PAPER_FORMATS:
        mark = f"<!-- bayespool {__version__} -->\n\n" if suffix == ".md" else ""  # others have their own
        return mark + result.text(suffix, arrangement)
    if suffix == ".json":
        return json_text({each.name: each.frame for each in result.tables()}, file_metadata(result))
    frame = result.table(table).frame
    return csv_text(frame) if suffix == ".csv" else parquet_bytes(frame, file_metadata(result))


def write_file(
    result: Result,
    path: Path,
    *,
    table: str | None = None,
    arrangement: Arrangement | None = None,
    overwrite: bool = True,
) -> None:
    """Write a result to a file; not over one that is no earlier output of its kind, unless ``overwrite``."""
    text = as_bytes(content(result, path.suffix, table=table, arrangement=arrangement))
    if not overwrite:
        check_replaceable(path, text)
    atomic_write(path, text)


def save_folder(result: Result, folder: Path, *, figures: FigureFormat = "png") -> None:
    """Write a result's tables, files and settings to a folder atomically, then its figures. Files of an
    earlier result are removed.
    """
    check_folder(folder, result.command)
    files: dict[str, bytes | str] = {}
    for table in result.tables():
        files[f"{table.name}.csv"] = csv_text(table.frame)
        mark = {"bayespool": __version__, "experiment": result.command, "table": table.name}
        files[f"{table.name}.parquet"] = parquet_bytes(table.frame, mark)
    files |= result.files()
    settings = file_metadata(result)
    folder.mkdir(exist_ok=True)
    with locked(folder):
        replace_files(folder, settings, files)  # first, so that a failing figure takes no table away
        if figures != "none" and (drawn := result.figures()):
            captions = {f"{figure.name}.{figures}": figure.caption for figure in drawn}
            images = {f"{figure.name}.{figures}": figure.render(figures) for figure in drawn}
            replace_files(folder, settings | {"figures": captions}, {**files, **images})


def write_report(result: Result, path: PathLike) -> None:
    """Write a result's report as one HTML file without external resources.

    It has a summary, notes, figures, sortable tables, methods with citations, settings, versions, seed and
    fingerprints. It adapts to phones, dark mode, print and the keyboard.

    Parameters
    ----------
    result : Result
        Made by a function of bayespool, or read back (`bayespool.read_result`).
    path : path
        Ending in .html.

    Raises
    ------
    InputError
        There is no report of such an object, or a result that was read is not as it was written.
    OutputError
        The file cannot be written; an earlier file stays.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import load_example, score, write_report
    >>> scores = score(load_example(), "new-a", "P@10", estimators="background")
    >>> with TemporaryDirectory() as folder:
    ...     write_report(scores, f"{folder}/report.html")
    """
    if not isinstance(result, Result):
        raise InputError(
            f"no report can be made of a {type(result).__name__}",
            hint="results of score, compare, reversals, leave_out, budgets and the like have one",
        )
    result.write_report(path)
