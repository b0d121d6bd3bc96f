"""Output of a command: printed tables, files, a table on standard output or one JSON document."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayespool import __version__
from bayespool.cli.messages import quietly
from bayespool.cli.parameters import Option, own_option, store_in_context, stored_value
from bayespool.defaults import rc_context, rcParams
from bayespool.errors import InputError
from bayespool.names import split_list
from bayespool.notes import noted
from bayespool.scoring.columns import SCORE_COLUMNS
from bayespool.tables.formatting import printable

if TYPE_CHECKING:
    from bayespool.report.result import Result
    from bayespool.tables.markup import Arrangement

JSON = own_option(
    "--json",
    "as_json",
    type=bool,
    is_eager=True,  # pool --list asks for it
    expose_value=False,
    callback=store_in_context,
    help="Print the result as one JSON document, and nothing else with it.",
)
QUIET = own_option(
    "--quiet",
    "-q",
    type=bool,
    expose_value=False,
    callback=lambda context, _, quiet: context.with_resource(quietly(quiet)),
    help="Print only results and errors: no progress, no warnings.",
)


def _set_figure_width(context: click.Context, _: click.Parameter, width: str | None) -> None:
    """Make figures of this command so wide."""
    if width is not None:
        is_number = width.replace(".", "", 1).isdecimal()
        context.with_resource(rc_context({"figure_width": float(width) if is_number else width}))


FIGURE_WIDTH = own_option(
    "--figure-width",
    metavar="<column|page|inches>",
    expose_value=False,
    callback=_set_figure_width,
    help="Width of figures: column (3.3 inches), page (6.9), or inches; all type has 8 points then.",
)
OVERWRITE = own_option(
    "--overwrite",
    type=bool,
    expose_value=False,
    callback=store_in_context,
    help="Replace files that are no earlier outputs of this command, and lists with judgments in them. "
    "Inputs are never replaced.",
)
_output = functools.partial(own_option, "--output", "-o", type=Path, writes="file")
OUTPUT_OPTIONS: Mapping[str, Callable[..., Option]] = {
    "output": _output(
        multiple=True,
        help="Also write the table to a .csv, .json or .parquet file, or as it is read to .tex, .md or "
        ".html; - or -.md prints it. May be repeated.",
    ),
    "folder": _output(
        "folder",
        writes="folder",
        help="Folder for tables, settings and figures. Finished work is kept there: a command that was "
        "interrupted goes on where it stopped.",
    ),
    "figure": own_option(
        "--figure",
        type=Path,
        multiple=True,
        writes="file",
        help="Also draw the result into a .pdf, .png or .svg file. May be repeated: one that is called like "
        "a further figure of the report, such as ranks.pdf, has that one.",
    ),
    "report": own_option(
        "--report",
        type=Path,
        writes="file",
        help="Also write a report, an .html file with figures and sortable tables.",
    ),
    "columns": own_option(
        "--columns",
        help="Comma-separated columns of tables that are read (terminal, .tex, .md, .html): all, "
        f"{', '.join(SCORE_COLUMNS)}, or estimators.",
    ),
    "sort": own_option("--sort", help="Sort their rows by run, or by a column, the largest first."),
}
"""Options of results, by field of `Outputs`: those that a command names."""


def options_of_all(named: Sequence[click.Parameter]) -> list[Option]:
    """Return the options of output that a command has by itself, beside those it names."""
    names, writes = ({getattr(option, of, "") for option in named} for of in ("name", "writes"))
    has_folder = any(option.name == "folder" and not option.required for option in named)
    of_figures = [FIGURE_WIDTH()] if has_folder or "figure" in names else []
    of_files = [OVERWRITE()] if "file" in writes else []
    return [*of_figures, *of_files, JSON(), QUIET()]


def is_standard_output(path: Path) -> bool:
    """Return whether a name is ``-``, or ``-`` with the ending of a format, such as ``-.md``."""
    return str(path) == "-" or str(path).startswith("-.")


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Files and tables that a command writes of its result."""

    output: tuple[Path, ...] = ()
    folder: Path | None = None
    figure: tuple[Path, ...] = ()
    report: Path | None = None
    table: str | None = None
    columns: str | None = None
    sort: str | None = None

    @functools.cached_property
    def arrangement(self) -> Arrangement:
        """Arrangement of ``--columns`` and ``--sort``."""
        from bayespool.tables.markup import Arrangement

        return Arrangement(None if self.columns is None else split_list(self.columns), self.sort)

    def check(self, own_formats: Sequence[str] = ()) -> None:
        """Raise for outputs that cannot be written, and for two uses of standard output.

        A result may have formats of its own, besides those of every result.
        """
        from bayespool.report.page import check_report
        from bayespool.report.saving import FORMATS, check_figures, check_folder, check_output

        check_figures(self.figure)
        if rcParams["figure_width"] and not self.figure and self.folder is None:
            raise InputError("--figure-width without a figure", hint="give --figure, or a folder")
        for path in self.output:
            check_output(
                Path(f"stdout{path.name[1:] or '.csv'}") if is_standard_output(path) else path,
                (*FORMATS, *own_formats),
            )
        if self.folder is not None:
            check_folder(self.folder, _command())
        if self.report is not None:
            check_report(self.report)
        if sum(map(is_standard_output, self.output)) + is_as_json() > 1:
            raise InputError("standard output is asked for twice", hint="give one of -o - and --json, once")

    def write(
        self,
        result: Result,
        *,
        draw: Callable[[], Any] | None = None,
        n_printed: int | None = None,
        last_line: str = "",
    ) -> None:
        """Write a result to its files or folder, figures and report; then print it, a table of it, or JSON.

        ``draw`` draws the figures of ``--figure``, by default the one that has the file's name, else the
        result's first. The result is printed even where a file fails: a full disk loses no result, a closed
        pipe no file.
        """
        from bayespool.report.result import save_folder, write_file
        from bayespool.report.saving import write_figures

        _load_matplotlib()
        try:
            if self.folder is not None:
                save_folder(result, self.folder)
            for path in self.output:
                if not is_standard_output(path):
                    write_file(
                        result,
                        path,
                        table=self.table,
                        arrangement=self.arrangement,
                        overwrite=bool(stored_value("overwrite")),
                    )
            if self.figure:
                drawn = {} if draw else {each.name: each.draw for each in result.figures()}
                first = draw or next(iter(drawn.values()), None)
                if first is None:
                    raise InputError("this result has no figure", hint="leave out --figure")
                for path in self.figure:
                    write_figures([path], drawn.get(path.stem) or first)
            if self.report is not None:
                result.write_report(self.report)
        finally:
            self.print(result, n_printed=n_printed, last_line=last_line)

    def print(self, result: Result, *, n_printed: int | None = None, last_line: str = "") -> None:
        """Print a result with its first rows and a line after it, a table of it, or JSON."""
        from rich.console import Console

        from bayespool.report.result import content, print_result
        from bayespool.report.terminal import print_words
        from bayespool.tables.files import as_bytes, records

        if is_as_json():
            tables = result.tables()
            rows = {table.name: records(table.frame) for table in tables}
            columns = {table.name: table.description()["columns"] for table in tables}
            print_document(rows, result.metadata, result.notes(), result.sentences(), columns)
        elif printed := [path for path in self.output if is_standard_output(path)]:
            suffix = printed[0].name[1:] or ".csv"
            text = content(result, suffix, table=self.table, arrangement=self.arrangement)
            _print_bytes(as_bytes(text))
        else:
            console, arrangement = Console(), self.arrangement
            if n_printed is not None:
                arrangement = replace(arrangement, top=n_printed)
            print_result(result, console, arrangement=arrangement, table=self.table)
            if last_line:
                print_words(console, last_line, wrap=False)


def _load_matplotlib() -> None:
    """Make figures independent of MPLBACKEND and of a ``matplotlibrc`` in the working folder."""
    os.environ["MPLBACKEND"] = "agg"
    if os.path.lexists("matplotlibrc"):
        with contextlib.chdir(Path(__file__).parent):
            importlib.import_module("matplotlib")


def _command() -> str:
    """Name of the current command, such as ``check predictions``."""
    return click.get_current_context().command_path.partition(" ")[2]


def _flag(parameter: click.Parameter) -> str:
    """Name of an option on the command line, with underscores: ``seed`` for ``random_seed``."""
    first = next((name for name in parameter.opts if name.startswith("--")), str(parameter.name))
    return first.removeprefix("--").replace("-", "_")


def is_as_json() -> bool:
    """Return whether standard output is one JSON document."""
    return bool(stored_value("as_json"))


def collect_warning(text: str) -> None:
    """Keep a warning for the notes of the document."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta.setdefault("warnings", []).append(f"warning: {text}")


def _settings() -> dict[str, Any]:
    """Options of the current command, with the defaults of its function; None for what is not given."""
    context, settings = click.get_current_context(), {}
    for parameter in context.command.get_params(context):
        if parameter.expose_value:
            value = context.params.get(str(parameter.name))
            default = getattr(parameter, "shown_default", None)
            settings[_flag(parameter)] = default if value in (None, ()) else value
    return settings


def print_document(
    tables: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    summary: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Print the JSON document: command, version, settings (default: those of the command), metadata, …."""
    from bayespool.tables.files import json_value

    all_notes = noted((*(stored_value("warnings") or ()), *notes), "warning")
    document = {
        "command": _command(),
        "version": __version__,
        "settings": json_value(_settings() if settings is None else settings),
        "metadata": json_value(metadata or {}),
        "tables": json_value(tables),
        "columns": json_value(columns or {}),
        "notes": list(all_notes),
        "note_kinds": [note.kind for note in all_notes],
        "summary": list(summary),
    }
    _print_bytes((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def _print_bytes(content: bytes) -> None:
    """Write bytes to standard output after earlier text; control characters are escaped on a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():  # files and programs get names unchanged
        content = printable(content.decode("utf-8", "replace")).encode("utf-8")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
