"""Provenance of a result: the command that was typed, versions of packages, and what its estimators cite."""

from __future__ import annotations

import contextlib
import contextvars
import platform
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bayespool import __version__
from bayespool.names import leading_name

MADE_BY = "made_by"
"""Metadata key for the provenance."""

_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "numba", "pymc", "nutpie")
_FOLDERS = re.compile(r"(?<![^=,])(?!irds:)\s*[^=,]*/(?=[^/=,])")
_command: contextvars.ContextVar[str | None] = contextvars.ContextVar("command", default=None)


@contextlib.contextmanager
def command_line(arguments: Sequence[str]) -> Iterator[None]:
    """Record the command in the metadata of results written inside this context.

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


@contextlib.contextmanager
def without_folders() -> Iterator[None]:
    """Leave folders out of the command in this context: files for others have no paths of one's disk.

    Examples
    --------
    >>> with command_line(["score", "/home/me/my.run", "--reading", "order=rank, exclude=../seen.txt"]):
    ...     with without_folders():
    ...         made_by()["command"]
    "bayespool score my.run --reading 'order=rank, exclude=seen.txt'"
    """
    command = _command.get() or ""
    with command_line([_FOLDERS.sub("", word) for word in shlex.split(command)[1:]]):
        if not command:
            _command.set(None)
        yield


def made_by() -> dict[str, Any]:
    """Return the current command (if there is one) and the package versions."""
    command = _command.get()
    return ({} if command is None else {"command": command}) | {"versions": versions()}


def with_provenance(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata with provenance added, or unchanged outside a command. Files written by scripts thus do
    not depend on the machine.

    Examples
    --------
    >>> with_provenance({"fingerprint": "ab"})
    {'fingerprint': 'ab'}
    """
    return dict(metadata) if _command.get() is None else {**metadata, MADE_BY: made_by()}


def versions() -> dict[str, str]:
    """Return the versions of bayespool, Python and the numerical packages."""
    installed = {"bayespool": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


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
