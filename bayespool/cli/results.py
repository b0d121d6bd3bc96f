"""Output of a command: printed tables, files, a table on standard output or one JSON document."""

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
from bayespool.cli.options import show_after_writing
from bayespool.errors import InputError, OutputError
from bayespool.tables.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

_STANDARD_OUTPUT = Path("-")
_FILE_STEM = "result"  # of temporary files

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
class _Invocation:
    """Command with its settings and output options, and the warnings so far."""

    command: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    as_json: bool = False
    format: str | None = None
    warnings: list[str] = field(default_factory=list)


_invocation = contextvars.ContextVar[_Invocation]("answer")


def with_answers(command: Callable[..., None], *, tables: bool) -> Callable[..., None]:
    """Add the options ``--json`` and ``--quiet`` to a command, and ``--format`` where it writes tables."""
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

    def answering(**values: Any) -> None:
        output_options = {name: values.pop(name) for name in more}
        name = command.__name__.replace("_", "-")
        settings = {flags[option]: value for option, value in values.items()}
        invocation = _Invocation(name, settings, output_options["json_"], output_options.get("format_"))
        token = _invocation.set(invocation)
        try:
            with quietly(output_options["quiet"]):
                command(**values)
        finally:
            _invocation.reset(token)

    answering.__name__, answering.__doc__, answering.__module__ = command.__name__, command.__doc__, __name__
    answering.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    answering.__annotations__ = {p.name: p.annotation for p in [*own, *added]}
    return answering


def _flag(parameter: inspect.Parameter) -> str:
    """Name of an option on the command line, with underscores: ``seed`` for ``random_seed``."""
    for info in getattr(parameter.annotation, "__metadata__", ()):
        first = getattr(info, "default", None)  # typer keeps the first name of an annotation as its default
        for name in (first, *(getattr(info, "param_decls", None) or ())):
            if isinstance(name, str) and name.startswith("--"):
                return name.removeprefix("--").partition("/")[0].replace("-", "_")
    return parameter.name


def is_as_json() -> bool:
    """Whether standard output is one JSON document."""
    return _current().as_json


def collect_warning(text: str) -> None:
    """Keep a warning for the notes of the document."""
    _current().warnings.append(text)


def check_outputs(
    output: Sequence[Path] | None,
    check: Callable[[Path], None],
    *,
    others: Sequence[str] = (),
    figure: Sequence[Path] | None = None,
) -> None:
    """Raise for outputs that cannot be written, and for wrong use of ``--format`` or standard output."""
    from bayespool.report.figures import check_figures
    from bayespool.report.files import TABLE_FORMATS

    invocation, files = _current(), list(output or [])
    check_figures(figure)
    for path in files:
        if path != _STANDARD_OUTPUT:
            check(path)
    n_times = files.count(_STANDARD_OUTPUT) + invocation.as_json
    if n_times > 1:
        raise InputError("standard output is asked for twice", hint="give one of -o - and --json, once")
    if invocation.format is None:
        return
    known = [*(suffix.removeprefix(".") for suffix in TABLE_FORMATS), *others]
    if invocation.format not in known:
        raise InputError(f"--format {invocation.format}: no such format", hint=f"known: {', '.join(known)}")
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
    """Write a result to its files and figures, then print it and the lines ``more``, or a table or JSON."""
    invocation, files = _current(), list(output or [])

    def answer() -> None:
        if invocation.as_json:
            with _temporary("json") as place:
                write(place)
                document = json.loads(_content(place))
            metadata = document.pop("metadata", {})
            print_document(document, metadata, more)
        elif _STANDARD_OUTPUT in files:
            with _temporary(invocation.format or "csv") as place:
                write(place)
                _print_bytes(_content(place))
        else:
            _show(show, more)

    with show_after_writing(answer):
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
    """Write a result to its folder and figures, then print it, with ``--json`` its tables and settings."""

    def answer() -> None:
        if not _current().as_json:
            _show(show)
            return
        with tempfile.TemporaryDirectory(prefix="bayespool-") as parent:
            place = Path(parent) / _FILE_STEM
            write(place, "none")
            tables, metadata = _read_folder(place)
        print_document(tables, metadata)

    with show_after_writing(answer):
        if folder is not None:
            write(folder, figures)
        _draw(figure, draw)


def _draw(figure: Sequence[Path] | None, draw: Callable[[], Any] | None) -> None:
    from bayespool.report.figures import write_figures

    if figure and draw is not None:
        write_figures(figure, draw)


def deliver_files(show: Callable[[Console], None], folder: Path) -> None:
    """Print a summary of files that are written; with ``--json`` a table of their paths."""
    if not _current().as_json:
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
    """Print the JSON document: command, version, settings, metadata, tables and notes."""
    invocation, metadata = _current(), dict(metadata or {})
    noted = metadata.pop("notes", [])
    document = {
        "command": invocation.command,
        "version": __version__,
        "settings": _json_value(invocation.settings),
        "metadata": _json_value(metadata),
        "tables": _json_value(tables),
        "notes": [*(f"warning: {text}" for text in invocation.warnings), *noted, *notes],
    }
    _print_bytes((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def print_listed(command: str, tables: Mapping[str, Any]) -> None:
    """Print the JSON document of a list that a command prints in place of its result."""
    token = _invocation.set(_Invocation(command, {"list": True}, as_json=True))
    try:
        print_document(tables)
    finally:
        _invocation.reset(token)


def _current() -> _Invocation:
    """The current invocation; an empty one outside of commands."""
    return _invocation.get(None) or _Invocation()


def _show(show: Callable[[Console], None], more: Sequence[str] = ()) -> None:
    from rich.console import Console

    show(Console())
    for line in more:
        tell(line, err=False)


@contextlib.contextmanager
def _temporary(format_: str) -> Iterator[Path]:
    """Path of a temporary file with the ending of the format."""
    with tempfile.TemporaryDirectory(prefix="bayespool-") as parent:
        yield Path(parent) / f"{_FILE_STEM}.{format_}"


def _content(path: Path) -> bytes:
    from bayespool.tables.files import read_bytes_back

    content = read_bytes_back(path)
    if content is None:
        raise OutputError(f"{path}: was written and cannot be read back")
    return content


def _read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows by table, and settings, in the folder of an experiment."""
    from bayespool.tables.files import read_rows

    metadata = json.loads(_content(folder / "settings.json"))
    names = metadata.pop("files", [])
    metadata.pop("digests", None)
    tables = {Path(name).stem: read_rows(folder / name) for name in names if name.endswith(".parquet")}
    return tables, metadata


def _json_value(value: Any) -> Any:
    """The value in JSON; NaN and infinite numbers are null."""
    if isinstance(value, Mapping):
        return {str(name): _json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _print_bytes(content: bytes) -> None:
    """Write bytes to standard output after earlier text; control characters are escaped on a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():  # files and programs get names unchanged
        content = printable(content.decode("utf-8", "replace")).encode("utf-8")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
