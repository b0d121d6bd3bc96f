"""Messages to whoever typed a command, on streams of any encoding, full ones too."""

from __future__ import annotations

import codecs
import contextlib
import contextvars
import errno
import io
import sys
from collections.abc import Iterator

import typer

from bayespool.tables.printable import printable

_PLAINER = {"–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "’": "'"}
_quiet = contextvars.ContextVar("quiet", default=False)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def tell(text: str, *, err: bool = True, always: bool = False) -> None:
    """Print a message, without anything that a terminal would obey.

    Parameters
    ----------
    text : str
    err : bool
        Whether it is said beside the results, on standard error: with ``--quiet`` it is not said.
    always : bool
        Whether it is said all the same, as what ends a command is.
    """
    if always or not (err and is_quiet()):
        typer.echo(printable(text), err=err)


def is_quiet() -> bool:
    """Whether only results and errors are printed."""
    return _quiet.get()


@contextlib.contextmanager
def quietly(quiet: bool = True) -> Iterator[None]:
    """Have `tell` print results and errors alone."""
    before = _quiet.set(quiet or is_quiet())
    try:
        yield
    finally:
        _quiet.reset(before)


def prepare_streams() -> None:
    """Have standard output and error write what their encoding lacks in other characters, not fail."""
    codecs.register_error("bayespool", _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="bayespool")


def is_of_output(error: OSError) -> bool:
    """Whether an error is of standard output or error that cannot be written: those of files have a name."""
    return error.filename is None and error.errno in _FULL


def leave_streams() -> None:
    """Keep what could not be written from being tried again when the process ends."""
    sys.stdout = sys.stderr = io.StringIO()


def _plainer(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)  # streams are written to, never read
    given = error.object[error.start : error.end]
    shown = (_PLAINER.get(c) or c.encode("ascii", "backslashreplace").decode() for c in given)
    return "".join(shown), error.end
