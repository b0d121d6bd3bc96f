"""Outputs of a command line: none is one of its inputs or replaces what is no earlier output."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import click

from bayespool.cli.parameters import Option, stored_value
from bayespool.cli.results import is_standard_output
from bayespool.errors import InputError
from bayespool.names import PREPARED_SUFFIX


class Named(NamedTuple):
    """Path on the command line, with its option."""

    option: str
    path: Path

    def __str__(self) -> str:
        return f"{self.option} {self.path}".strip()


def check_paths(folders: Sequence[str]) -> None:
    """Raise `InputError` for an output that is also an input, and `OutputError` for one that would replace a
    file that is no earlier output.

    ``folders`` are parameters of which all files in a folder are read.
    """
    from bayespool.tables.replacing import check_replaceable

    context = click.get_current_context()
    outputs, inputs = list[tuple[Named, str]](), list[Named]()
    read_whole = list[Named]()
    for parameter in context.command.get_params(context):
        value, is_option = context.params.get(str(parameter.name)), isinstance(parameter, Option)
        option = max(parameter.opts, key=len) if is_option else ""
        if kind := getattr(parameter, "writes", ""):
            outputs += [(Named(option, path), kind) for path in _paths(value) if not is_standard_output(path)]
            continue
        named = [Named(option, path) for path in _paths(value)]
        if parameter.name == "collections":
            named += [Named(str(each.path), path) for each in named for path in _described(each.path)]
        inputs += named
        read_whole += named if parameter.name in folders else []
    if not outputs:
        return
    files = [each for named in inputs for each in _files(named)]
    for place, (output, kind) in enumerate(outputs):
        _refuse_input(output, kind, files, read_whole)
        for other, _ in outputs[:place]:
            if os.path.realpath(other.path) == os.path.realpath(output.path):
                raise InputError(f"{output} is {other}, too", hint="name another file")
        if kind == "file" and not stored_value("overwrite"):
            check_replaceable(output.path)


def _refuse_input(output: Named, kind: str, files: Sequence[Named], folders: Sequence[Named]) -> None:
    """Raise `InputError` if an output is an input, lies in a folder of inputs, or is the folder of one."""
    for given in files:
        if _are_one(output.path, given.path):
            raise InputError(
                f"{output} is an input, {given}; no output replaces an input",
                hint="name another file" if kind == "file" else "name another folder",
            )
        if kind == "folder" and _are_one(output.path, given.path.parent):
            raise InputError(f"{output} holds an input, {given}", hint="name a folder for the results alone")
    for folder in folders if kind == "folder" else ():
        if folder.path.is_dir() and Path(os.path.realpath(output.path)).is_relative_to(
            os.path.realpath(folder.path)
        ):
            raise InputError(f"{output} is within the inputs of {folder}", hint="name a folder elsewhere")
    for folder in folders if kind == "file" else ():
        pattern = folder.path.name if not folder.path.exists() else "*"
        within = folder.path if pattern == "*" else folder.path.parent
        is_read = not output.path.name.startswith(".") and fnmatch(output.path.name, pattern)
        if is_read and within.is_dir() and _are_one(output.path.parent, within):
            hint = "name a file elsewhere: it would be read with them the next time"
            raise InputError(f"{output} is among the inputs of {folder}", hint=hint)


def _are_one(one: Path, other: Path) -> bool:
    """Return whether two paths are of one file or folder, also through links."""
    with contextlib.suppress(OSError, ValueError):
        return os.path.samefile(one, other)
    return False


def _paths(value: Any) -> Iterator[Path]:
    """Yield the paths in a value of a parameter; of texts such as ``NAME=FILE`` those that are there."""
    for each in value if isinstance(value, list | tuple) else [value]:
        if isinstance(each, Path):
            yield Path(os.path.expanduser(str(each).replace("{collection}", "*")))
        elif isinstance(each, str):
            parts = (part.strip() for part in (each, *re.split("[=,]", each)))
            yield from (Path(os.path.expanduser(part)) for part in dict.fromkeys(parts) if _is_there(part))


def _is_there(text: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return bool(text) and os.path.exists(os.path.expanduser(text))
    return False


def _described(path: Path) -> Iterator[Path]:
    """Yield the paths in a TOML file that describes a collection."""
    from bayespool.pooling.loading import read_description

    if path.suffix == PREPARED_SUFFIX:
        return
    with contextlib.suppress(InputError):  # which reading it raises again
        for value in read_description(path).arguments.values():
            for each in value.values() if isinstance(value, dict) else [value]:
                texts = each if isinstance(each, list) else [each]
                yield from (Path(text) for text in texts if isinstance(text, str) and _is_there(text))


def _files(named: Named) -> Iterator[Named]:
    """Yield a path, and the files in it or that match it."""
    from bayespool.reading.files import find_files

    yield named
    if not named.path.is_file() and str(named.path) != "-":
        with contextlib.suppress(InputError):
            yield from (Named(named.option, path) for path in find_files(named.path))
