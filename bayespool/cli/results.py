"""How a command answers: a table for people, files, a table on standard output (``-o -``), or one JSON
document there (``--json``); and the options for it, which every command has.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from bayespool import __version__
from bayespool.cli.messages import quietly, tell
from bayespool.cli.options import shown_at_last
from bayespool.errors import InputError, OutputError
from bayespool.tables.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

_STANDARD_OUTPUT = Path("-")
_QUALIFIED = "result"  # name of a file whose ending says the format

Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print results and errors alone: no progress, no warnings.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON document, and nothing else with it.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="Format of a table on standard output (-o -): csv, json, …; default: csv."),
]


@dataclass
class _Answer:
    """What a command is asked, and what it has said."""

    command: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    as_json: bool = False
    format: str | None = None
    warnings: list[str] = field(default_factory=list)


_answer = contextvars.ContextVar[_Answer]("answer")


def with_answers(command: Callable[..., None], *, tables: bool) -> Callable[..., None]:
    """The command with the options ``--json`` and ``--quiet``, and with ``--format`` where it writes tables
    to files that are named.
    """
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    own = [
        p.replace(annotation=hints.get(p.name, p.annotation), kind=p.KEYWORD_ONLY)
        for p in inspect.signature(command).parameters.values()
    ]
    more: dict[str, tuple[Any, Any]] = {"format_": (Format, None)} if tables else {}
    more |= {"json_": (AsJson, False), "quiet": (Quiet, False)}
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in more.items()
    ]

    flags = {p.name: _flag(p) for p in own}

    def answering(**given: Any) -> None:
        how = {name: given.pop(name) for name in more}
        name = command.__name__.replace("_", "-")
        settings = {flags[option]: value for option, value in given.items()}
        answer = _Answer(name, settings, how["json_"], how.get("format_"))
        asked = _answer.set(answer)
        try:
            with quietly(how["quiet"]):
                command(**given)
        finally:
            _answer.reset(asked)

    answering.__name__, answering.__doc__, answering.__module__ = command.__name__, command.__doc__, __name__
    answering.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    answering.__annotations__ = {p.name: p.annotation for p in [*own, *added]}
    return answering


def _flag(parameter: inspect.Parameter) -> str:
    """What an option is called where it is typed, with underscores: ``seed`` for ``random_seed``."""
    for info in getattr(parameter.annotation, "__metadata__", ()):
        first = getattr(info, "default", None)  # in an annotation typer takes the first name for a default
        for name in (first, *(getattr(info, "param_decls", None) or ())):
            if isinstance(name, str) and name.startswith("--"):
                return name.removeprefix("--").partition("/")[0].replace("-", "_")
    return parameter.name


def is_as_json() -> bool:
    """Whether standard output is to have one JSON document and nothing else."""
    return _here().as_json


def collect_warning(text: str) -> None:
    """Keep a warning for the notes of the document."""
    _here().warnings.append(text)


def check_outputs(
    output: Sequence[Path] | None,
    check: Callable[[Path], None],
    *,
    others: Sequence[str] = (),
    figure: Sequence[Path] | None = None,
) -> None:
    """Raise before any work is done for an output that could not be written after it.

    Parameters
    ----------
    output : sequence of Path, optional
        Files; ``-`` is standard output.
    check : callable
        Raises for a file that cannot be written.
    others : sequence of str
        Formats besides those of tables that ``--format`` may name.
    figure : sequence of Path, optional
        Files of figures.

    Raises
    ------
    InputError
        ``--format`` without ``-o -`` or of an unknown format; standard output asked for twice.
    """
    from bayespool.report.figures import check_figures
    from bayespool.report.files import TABLE_FORMATS

    here, files = _here(), list(output or [])
    check_figures(figure)
    for path in files:
        if path != _STANDARD_OUTPUT:
            check(path)
    n_times = files.count(_STANDARD_OUTPUT) + here.as_json
    if n_times > 1:
        raise InputError("standard output is asked for twice", hint="give one of -o - and --json, once")
    if here.format is None:
        return
    known = [*(suffix.removeprefix(".") for suffix in TABLE_FORMATS), *others]
    if here.format not in known:
        raise InputError(f"--format {here.format}: no such format", hint=f"known: {', '.join(known)}")
    if _STANDARD_OUTPUT not in files:
        raise InputError(
            "--format is of a table on standard output", hint="add -o -, or name a file's ending"
        )


def deliver(
    show: Callable[[Console], None],
    output: Sequence[Path] | None,
    write: Callable[[Path], None],
    *,
    more: Sequence[str] = (),
    figure: Sequence[Path] | None = None,
    draw: Callable[[], Any] | None = None,
    then: Callable[[], None] | None = None,
) -> None:
    """Write a result to the files that are asked for, and print it in the way that is asked for.

    Parameters
    ----------
    show : callable
        Prints the result for people.
    output : sequence of Path, optional
    write : callable
        Writes it to a file, in the format of its ending.
    more : sequence of str
        Lines below it, which are notes of the document.
    figure : sequence of Path, optional
        Files that it is drawn into, after the tables.
    draw : callable, optional
        Makes the figure, of matplotlib.
    then : callable, optional
        Writes what else is asked for, after all of these.
    """
    here, files = _here(), list(output or [])

    def answer() -> None:
        if here.as_json:
            with _temporary("json") as place:
                write(place)
                found = json.loads(_content(place))
            metadata = found.pop("metadata", {})
            print_document(found, metadata, more)
        elif _STANDARD_OUTPUT in files:
            with _temporary(here.format or "csv") as place:
                write(place)
                _print_bytes(_content(place))
        else:
            _show(show, more)

    with shown_at_last(answer):
        for path in files:
            if path != _STANDARD_OUTPUT:
                write(path)
        _draw(figure, draw)
        if then is not None:
            then()


def deliver_folder(
    show: Callable[[Console], None],
    folder: Path | None,
    write: Callable[[Path, Any], None],
    figures: Any = "none",
    *,
    figure: Sequence[Path] | None = None,
    draw: Callable[[], Any] | None = None,
) -> None:
    """The same for a result that is written into a folder: with ``--json`` its tables and its settings,
    without the figures.

    Parameters
    ----------
    show : callable
    folder : Path, optional
    write : callable
        Writes the result into a folder, with figures of a kind.
    figures : {"png", "svg", "none"}
    figure, draw
        As of `deliver`.
    """

    def answer() -> None:
        if not _here().as_json:
            _show(show)
            return
        with tempfile.TemporaryDirectory(prefix="bayespool-") as parent:
            place = Path(parent) / _QUALIFIED
            write(place, "none")
            tables, metadata = _of_folder(place)
        print_document(tables, metadata)

    with shown_at_last(answer):
        if folder is not None:
            write(folder, figures)
        _draw(figure, draw)


def _draw(figure: Sequence[Path] | None, draw: Callable[[], Any] | None) -> None:
    from bayespool.report.figures import write_figures

    if figure and draw is not None:
        write_figures(figure, draw)


def deliver_files(show: Callable[[Console], None], folder: Path) -> None:
    """Print what is said of files that are written already; with ``--json`` a table of their paths."""
    if not _here().as_json:
        _show(show)
        return
    from bayespool.tables.files import read_back

    metadata = json.loads(read_back(folder / "settings.json") or "{}")
    metadata.pop("digests", None)
    rows = [{"file": str(folder / name)} for name in metadata.pop("files", [])]
    print_document({"files": rows}, metadata)


def print_document(
    tables: Mapping[str, Any], metadata: Mapping[str, Any] | None = None, notes: Sequence[str] = ()
) -> None:
    """Print the JSON document of a result: ``command``, ``version``, ``settings``, ``metadata``, ``tables``
    and ``notes``.

    Parameters
    ----------
    tables : mapping of str to list of dict
        Rows by table.
    metadata : mapping, optional
        What a result must be quoted with; its notes become those of the document.
    notes : sequence of str
        Lines below them. Warnings come before them.
    """
    here, metadata = _here(), dict(metadata or {})
    noted = metadata.pop("notes", [])
    document = {
        "command": here.command,
        "version": __version__,
        "settings": _plain(here.settings),
        "metadata": _plain(metadata),
        "tables": _plain(tables),
        "notes": [*(f"warning: {text}" for text in here.warnings), *noted, *notes],
    }
    _print_bytes((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def print_listed(command: str, tables: Mapping[str, Any]) -> None:
    """Print the JSON document of what a command lists in place of its result."""
    asked = _answer.set(_Answer(command, {"list": True}, as_json=True))
    try:
        print_document(tables)
    finally:
        _answer.reset(asked)


def _here() -> _Answer:
    """What is asked; outside of a command nothing."""
    return _answer.get(None) or _Answer()


def _show(show: Callable[[Console], None], more: Sequence[str] = ()) -> None:
    from rich.console import Console

    show(Console())
    for line in more:
        tell(line, err=False)


@contextlib.contextmanager
def _temporary(format_: str) -> Iterator[Path]:
    """A file that is gone afterwards, whose ending says the format."""
    with tempfile.TemporaryDirectory(prefix="bayespool-") as parent:
        yield Path(parent) / f"{_QUALIFIED}.{format_}"


def _content(path: Path) -> bytes:
    from bayespool.tables.files import read_bytes_back

    content = read_bytes_back(path)
    if content is None:
        raise OutputError(f"{path}: was written and cannot be read back")
    return content


def _of_folder(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows by table and settings of the files that an experiment writes."""
    from bayespool.tables.files import read_rows

    metadata = json.loads(_content(folder / "settings.json"))
    names = metadata.pop("files", [])
    metadata.pop("digests", None)
    tables = {Path(name).stem: read_rows(folder / name) for name in names if name.endswith(".parquet")}
    return tables, metadata


def _plain(value: Any) -> Any:
    """The value as JSON has it: what is no number, or infinite, is null."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _print_bytes(content: bytes) -> None:
    """Put bytes on standard output after what was printed before: as they are, but for a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():  # a file or another program gets names as they are
        content = printable(content.decode("utf-8", "replace")).encode("utf-8")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
