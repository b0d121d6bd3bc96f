"""How a result came about: the command that was typed, and the versions of what computed it."""

from __future__ import annotations

import contextlib
import contextvars
import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bayespool import __version__

MADE_BY = "made_by"
"""Key of the metadata of results that a command wrote."""

_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "numba", "pymc", "nutpie")
_command: contextvars.ContextVar[str | None] = contextvars.ContextVar("command", default=None)


@contextlib.contextmanager
def command_line(arguments: Sequence[str]) -> Iterator[None]:
    """Have results say which command wrote them, word by word as it was typed.

    Parameters
    ----------
    arguments : sequence of str
        Of the command ``bayespool``. Paths stay as they are; nothing is made absolute.

    Examples
    --------
    >>> with command_line(["score", "my run.txt", "-m", "P@10"]):
    ...     made_by()["command"]
    "bayespool score 'my run.txt' -m P@10"
    """
    before = _command.set(shlex.join(["bayespool", *arguments]))
    try:
        yield
    finally:
        _command.reset(before)


def made_by() -> dict[str, Any]:
    """The command at hand, if there is one, and the versions at hand."""
    command = _command.get()
    return ({} if command is None else {"command": command}) | {"versions": versions()}


def with_provenance(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of a result with what made it; as they are where no command is at hand.

    A result that a script writes is the same file whichever machine writes it.

    Examples
    --------
    >>> with_provenance({"fingerprint": "ab"})
    {'fingerprint': 'ab'}
    """
    return dict(metadata) if _command.get() is None else {**metadata, MADE_BY: made_by()}


def versions() -> dict[str, str]:
    """Versions of bayespool, of Python and of the packages that compute."""
    found = {"bayespool": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
