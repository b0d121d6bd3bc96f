"""Output of a command: printed tables, files, a table on standard output or one JSON document."""

from __future__ import annotations

import contextvars
import functools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayespool import __version__
from bayespool.cli.messages import quietly
from bayespool.cli.parameters import Command, gathered, own_option
from bayespool.errors import InputError
from bayespool.names import split_list
from bayespool.tables.formatting import printable

if TYPE_CHECKING:
    from rich.console import Console

    from bayespool.report.result import FigureFormat, Result
    from bayespool.tables.markup import Arrangement

_STANDARD_OUTPUT = Path("-")

_QUIET = own_option(
    "--quiet", "-q", is_flag=True, help="Print results and errors alone: no progress, no warnings."
)
_JSON = own_option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,  # pool --list asks for it
    help="Print the result as one JSON document, and nothing else with it.",
)
_FORMAT = own_option(
    "--format",
    "table_format",
    help="Format of a table on standard output (-o -): csv, json, …; default: csv.",
)
_OUTPUT = own_option(
    "--output",
    "-o",
    type=Path,
    multiple=True,
    help="Also write the table to a .csv, .json or .parquet file, or as it is read to a .tex, .md or .html "
    "file; may be repeated.",
)
figure_files = own_option(
    "--figure",
    type=Path,
    multiple=True,
    help="Also draw the result into a .pdf, .png or .svg file; may be repeated.",
)
report_file = own_option(
    "--report", type=Path, help="Also write a report, an .html file with figures and sortable tables."
)
_FIGURES = own_option(
    "--figures", type=("png", "svg", "none"), default="png", help="Kind of figures in the output folder."
)


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where a command writes its result, and what of it."""

    output: tuple[Path, ...] | Path | None = ()
    folder: Path | None = None
    figure: tuple[Path, ...] = ()
    figures: FigureFormat = "png"
    report: Path | None = None
    table: str | None = None
    columns: str | None = None
    sort: str | None = None
    top: int | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of tables, ``-`` for standard output."""
        return (self.output,) if isinstance(self.output, Path) else self.output or ()

    @functools.cached_property
    def arrangement(self) -> Arrangement:
        """Arrangement of ``--columns``, ``--sort`` and ``--top``."""
        from bayespool.tables.markup import Arrangement

        return Arrangement(None if self.columns is None else split_list(self.columns), self.sort, self.top)

    def check(self, own_formats: Sequence[str] = ()) -> None:
        """Raise for outputs that cannot be written, and for wrong use of ``--format`` or standard output.

        A result may have formats of its own, besides those of every result.
        """
        from bayespool.report.page import check_report
        from bayespool.report.saving import (
            PAPER_FORMATS,
            TABLE_FORMATS,
            check_figures,
            check_folder,
            check_output,
        )

        check_figures(self.figure)
        for path in self.files:
            if path != _STANDARD_OUTPUT:
                check_output(path, (*TABLE_FORMATS, *PAPER_FORMATS, *own_formats))
        if self.folder is not None:
            check_folder(self.folder, _command())
        if self.report is not None:
            check_report(self.report)
        asked = _current()
        if self.files.count(_STANDARD_OUTPUT) + asked.as_json > 1:
            raise InputError("standard output is asked for twice", hint="give one of -o - and --json, once")
        if asked.format is None:
            return
        printed = (*TABLE_FORMATS, ".qrels") if ".qrels" in own_formats else TABLE_FORMATS
        known = [suffix.removeprefix(".") for suffix in printed]
        if asked.format not in known:
            raise InputError(f"--format {asked.format}: no such format", hint=f"known: {', '.join(known)}")
        if _STANDARD_OUTPUT not in self.files:
            hint = "add -o -, or name a file's ending"
            raise InputError("--format is of a table on standard output", hint=hint)

    def write(
        self,
        result: Result,
        *,
        draw: Callable[[], Any] | None = None,
        show: Callable[[Console], None] | None = None,
    ) -> None:
        """Write a result to its files or folder, figures and report; then print it, a table of it, or JSON.

        ``draw`` draws the figure of ``--figure``, by default the result's first. The result is printed even
        where a file fails: a full disk loses no result, a closed pipe no file.
        """
        from bayespool.report.saving import save, write_figures

        try:
            for path in (*self.files, *([] if self.folder is None else [self.folder])):
                if path != _STANDARD_OUTPUT:
                    save(result, path, table=self.table, figures=self.figures, arrangement=self.arrangement)
            if self.figure:
                first = result.figures()[0].draw if draw is None else draw
                write_figures(self.figure, first or (lambda: None))
            if self.report is not None:
                result.write_report(self.report)
        finally:
            self.print(result, show)

    def print(self, result: Result, show: Callable[[Console], None] | None = None) -> None:
        """Print a result, a table of it, or JSON; ``show`` prints, by default `print_result`."""
        from bayespool.report.saving import content
        from bayespool.report.terminal import print_result
        from bayespool.tables.files import records

        asked = _current()
        if asked.as_json:
            tables = result.tables()
            rows = {table.name: records(table.frame) for table in tables}
            columns = {table.name: table.described()["columns"] for table in tables}
            print_document(rows, result.metadata, result.notes(), result.summary(), columns)
        elif _STANDARD_OUTPUT in self.files:
            suffix = f".{asked.format or 'csv'}"
            text = content(result, suffix, table=self.table, arrangement=self.arrangement)
            _print_bytes(text.encode() if isinstance(text, str) else text)
        else:
            from rich.console import Console

            if show is None:
                print_result(result, Console(), arrangement=self.arrangement)
            else:
                show(Console())


def output_files(
    *before: Callable[[Command], Command],
    output: Callable[[Command], Command] = _OUTPUT,
    after: Sequence[Callable[[Command], Command]] = (),
) -> Callable[[Command], Command]:
    """Decorator that gives a command files of tables, with further options before and after them."""
    return gathered(Outputs, "outputs", *before, output, *after)


def output_folder(
    help: str, *, after: Sequence[Callable[[Command], Command]] = (_FIGURES,)
) -> Callable[[Command], Command]:
    """Decorator that gives a command a folder for its result, with further options after it."""
    folder = own_option("--output", "-o", "folder", type=Path, help=help)
    return gathered(Outputs, "outputs", folder, *after)


@dataclass
class _Invocation:
    """Command with its settings and output options, and the warnings so far."""

    command: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    as_json: bool = False
    format: str | None = None
    warnings: list[str] = field(default_factory=list)


_invocation = contextvars.ContextVar[_Invocation]("answer")


def with_output_options(command: click.Command, *, tables: bool) -> click.Command:
    """Add the options ``--json`` and ``--quiet`` to a command, and ``--format`` where it writes tables."""
    work, own = command.callback, list(command.params)
    assert work is not None

    @functools.wraps(work)
    def answering(as_json: bool, quiet: bool, table_format: str | None = None, **values: Any) -> None:
        settings = {_flag(p): _given(values[str(p.name)]) for p in own if p.expose_value}
        token = _invocation.set(_Invocation(_command(), settings, as_json, table_format))
        try:
            with quietly(quiet):
                work(**values)
        finally:
            _invocation.reset(token)

    command.callback = answering
    for add in (*([_FORMAT] if tables else []), _JSON, _QUIET):
        add(command)
    return command


def _command() -> str:
    """Name of the current command, such as ``check engines``."""
    return click.get_current_context().command_path.partition(" ")[2]


def _given(value: Any) -> Any:
    """The value of an option; None where a repeated one is not given."""
    return (list(value) or None) if isinstance(value, tuple) else value


def _flag(parameter: click.Parameter) -> str:
    """Name of an option on the command line, with underscores: ``seed`` for ``random_seed``."""
    first = next((name for name in parameter.opts if name.startswith("--")), str(parameter.name))
    return first.removeprefix("--").replace("-", "_")


def is_as_json() -> bool:
    """Whether standard output is one JSON document."""
    return _current().as_json


def collect_warning(text: str) -> None:
    """Keep a warning for the notes of the document."""
    _current().warnings.append(text)


def print_document(
    tables: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    summary: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    *,
    listed_by: str = "",
) -> None:
    """Print the JSON document: command, version, settings, metadata, tables, columns, notes and summary.

    ``listed_by`` is a command that prints a list in place of its result.
    """
    from bayespool.report.saving import json_value

    invocation = _Invocation(listed_by, {"list": True}) if listed_by else _current()
    metadata = dict(metadata or {})
    noted = metadata.pop("notes", [])
    document = {
        "command": invocation.command,
        "version": __version__,
        "settings": json_value(invocation.settings),
        "metadata": json_value(metadata),
        "tables": json_value(tables),
        "columns": json_value(columns or {}),
        "notes": [*(f"warning: {text}" for text in invocation.warnings), *noted, *notes],
        "summary": list(summary),
    }
    _print_bytes((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def _current() -> _Invocation:
    """The current invocation; an empty one outside of commands."""
    return _invocation.get(None) or _Invocation()


def _print_bytes(content: bytes) -> None:
    """Write bytes to standard output after earlier text; control characters are escaped on a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():  # files and programs get names unchanged
        content = printable(content.decode("utf-8", "replace")).encode("utf-8")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
