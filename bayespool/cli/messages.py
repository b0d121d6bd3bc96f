"""Messages to the user, on streams of any encoding and on full disks."""

from __future__ import annotations

import codecs
import contextlib
import contextvars
import errno
import io
import sys
from collections.abc import Iterator

import click

from bayespool.tables.formatting import printable

_REPLACEMENTS = {"–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "’": "'"}
_quiet = contextvars.ContextVar("quiet", default=False)
_OUTPUT_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def echo(text: str, *, err: bool = True, always: bool = False) -> None:
    """Print a message without control characters; ``--quiet`` drops it from standard error unless always."""
    if always or not (err and is_quiet()):
        click.echo(printable(text), err=err)


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return _quiet.get()


@contextlib.contextmanager
def quietly(quiet: bool = True) -> Iterator[None]:
    """Print only results and errors inside this context."""
    before = _quiet.set(quiet or is_quiet())
    try:
        yield
    finally:
        _quiet.reset(before)


def prepare_streams() -> None:
    """Replace characters that the encoding of standard output and error lacks."""
    codecs.register_error("bayespool", _replace_unencodable)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="bayespool")


def is_output_error(error: OSError) -> bool:
    """Return whether standard output or error cannot be written; errors of files have a name."""
    return error.filename is None and error.errno in _OUTPUT_ERRNOS


def discard_streams() -> None:
    """Discard standard output and error, so that unwritten text is not tried again at exit."""
    sys.stdout = sys.stderr = io.StringIO()


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)  # streams are written to, never read
    text = error.object[error.start : error.end]
    characters = (_REPLACEMENTS.get(c) or c.encode("ascii", "backslashreplace").decode() for c in text)
    return "".join(characters), error.end
