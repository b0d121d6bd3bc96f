"""Base class of results: what a result says of itself, and the outputs that follow from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack

from bayespool import plots
from bayespool.errors import InputError, known_names
from bayespool.names import leading_name
from bayespool.notes import Note
from bayespool.plots.style import finish
from bayespool.tables.citations import Citation, cite
from bayespool.tables.files import PathLike
from bayespool.tables.markup import (
    Arranged,
    Arrangement,
    TextTable,
    html_page,
    html_repr,
    latex_tables,
    markdown_tables,
)
from bayespool.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd

FigureFormat = Literal["png", "svg", "none"]


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
        from bayespool.report.terminal import terminal_text

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
        from bayespool.report.saving import PAPER_FORMATS

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
        from bayespool.report.saving import save

        save(self, path, table=table, figures=figures)

    def write_report(self, path: PathLike) -> None:
        """Write a report as one HTML file without external resources.

        Raises
        ------
        OutputError
            The file cannot be written; an earlier file stays.
        """
        from bayespool.report.page import write_report

        write_report(self, path)

    def files(self) -> Mapping[str, bytes | str]:
        """Return the contents of additional files, such as containers of draws, by file name."""
        return {}

    def to_format(self, suffix: str) -> bytes | str:
        """Return the file content for one of the endings in `formats`."""
        raise InputError(f"no format {suffix!r}", hint="formats names those of the result's own")


_QUOTED = {"bayespool": "bayespool", "collection": "fingerprint"}


def cited_by(metadata: Mapping[str, Any]) -> list[str]:
    """Return citation keys for bayespool, and for the estimators and engines named in metadata."""
    from bayespool.corrections import ESTIMATORS
    from bayespool.inference import ENGINES

    keys = ["bayespool"]
    models = [f"posterior-{model}" for model in metadata.get("models") or ()]
    for name in map(leading_name, (*estimator_names(metadata), *models)):
        keys += ESTIMATORS[name].citations if name in ESTIMATORS else ()
    for entry in (*estimator_entries(metadata), metadata):
        engine = ENGINES.get(str(entry.get("engine"))) if isinstance(entry, Mapping) else None
        keys += getattr(engine, "citations", ())
    return keys


def estimator_entries(metadata: Mapping[str, Any]) -> list[Any]:
    """Return the estimators in metadata or settings, each as a name or a mapping of settings."""
    settings = metadata.get("settings")
    entries = metadata.get("estimators") or (settings or {}).get("estimators") or ()
    all_entries = list(entries.values()) if isinstance(entries, Mapping) else list(entries)
    return [*all_entries, *([one] if (one := metadata.get("estimator")) else [])]


def estimator_names(metadata: Mapping[str, Any]) -> list[str]:
    """Return the distinct names of estimators in metadata or settings."""
    entries = estimator_entries(metadata)
    names = (str(e["name"]) if isinstance(e, Mapping) else leading_name(str(e)) for e in entries)
    return list(dict.fromkeys(names))
