"""Collections that TOML files describe: judgments, runs, organizations, and how they are read."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from bayespool.collection import Collection
from bayespool.collection.files import find_files, read_toml
from bayespool.collection.sources import irds_name
from bayespool.errors import InputError, known_names, warn_caller
from bayespool.options import Option, ReadingSettings, options_of
from bayespool.pooling.loading import read_collection
from bayespool.tables.files import PathLike

_NEEDED = {"qrels": 'qrels = "qrels.txt"', "pool": 'pool = "runs"'}
_OPTIONS: Mapping[str, Option] = {
    "name": Option(help="", type=str),
    "qrels": Option(help="", type=Path, multiple="repeated"),
    "pool": Option(help="", type=Path, multiple="repeated"),
    **{name: spec for name, (spec, _) in options_of(ReadingSettings).items()},
}
_PATHS = ("qrels", "pool", "organizations", "judges", "exclude", "topics")
_WORDS = {"exclude": ("query",), "topics": ("qrels", "run")}  # that are no paths
_NAME = re.compile(r"\w[\w ()+-]*")
_WANTED = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


def read_collections(
    paths: PathLike | Iterable[PathLike],
    *,
    settings: ReadingSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Collection]:
    """Read the collections that TOML files describe, one in each.

    Parameters
    ----------
    paths : path or sequence of path
        The keys of a file are arguments of `bayespool.read_collection`: ``qrels`` and ``pool``, and where
        needed ``organizations``, ``judges``, ``order``, ``strict``, ``known_depth`` and so on. Its paths are
        relative to it. ``name`` is by default the name of the file without its ending.
    settings : ReadingSettings, optional
        How all collections are read, where a file has no other value.
    progress : callable, optional
        Called with the number of run files of a collection that are read, and their total.

    Returns
    -------
    dict of str to Collection
        By name, in the order of the files.

    Raises
    ------
    InputError
        A TOML file is missing, broken, has an unknown key or an unusable value, or names files that are not
        there; two collections have one name; or a collection cannot be read. All TOML files are checked
        before the first collection is read.

    See Also
    --------
    bayespool.experiments.leave_out_several : An experiment on several collections.

    Examples
    --------
    >>> import tempfile
    >>> from bayespool.experiments import simulate_example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simulate_example().write(folder)
    ...     file = Path(folder, "example.toml")
    ...     with open(file, "w") as toml:
    ...         print('qrels = "qrels.txt"', file=toml)
    ...         print('pool = "pool"', file=toml)
    ...         print('organizations = "organizations.csv"', file=toml)
    ...     collections = read_collections(file)
    >>> {name: len(collection.pooled_run_ids) for name, collection in collections.items()}
    {'example': 21}
    """
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    described = [_described(Path(path)) for path in files]
    check_collection_names(name for name, _ in described)
    shared, collections = (settings or ReadingSettings()).keywords(), {}
    for path, (name, arguments) in zip(files, described, strict=True):
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                collections[name] = read_collection(progress=progress, **(shared | arguments))
        except InputError as error:
            error.add_note(f"in the collection that {path} describes")
            raise
        for warning in caught:
            warn_caller(f"{name}: {warning.message}", warning.category)
    return collections


def check_collection_names(names: Iterable[str]) -> None:
    """Raise `InputError` for names of collections that no folders can have, or of which two are alike."""
    known: set[str] = set()
    for name in names:
        if not _NAME.fullmatch(name):
            hint = "take letters, digits, hyphens and spaces: a folder has this name"
            raise InputError(f"a collection cannot be called {name!r}", hint=hint)
        if name.casefold() in known:
            raise InputError(
                f"two collections are called {name!r}",
                hint='give one another name, as name = "…" in its file',
            )
        known.add(name.casefold())


def _described(path: Path) -> tuple[str, dict[str, Any]]:
    """Name and arguments in a file."""
    given, line_of = read_toml(path)
    for key, example in _NEEDED.items():
        if key not in given:
            raise InputError(f"{key} is missing", path=path, hint=f"add a line {example}")
    arguments = {}
    for key, value in given.items():
        try:
            arguments[key] = _argument(key, value, path.parent)
        except InputError as error:
            raise InputError(error.reason, path=path, line=line_of(key), hint=error.hint) from None
    return arguments.pop("name", path.stem), arguments


def _argument(key: str, value: Any, folder: Path) -> Any:
    """Argument of `read_collection` of a key's value."""
    if key not in _OPTIONS:
        raise InputError(f"unknown key {key!r}", hint=known_names(key, _OPTIONS))
    option = _OPTIONS[key]
    items = [value]
    if option.multiple and isinstance(value, list):
        items = value
    elif key == "judges" and isinstance(value, dict):
        items = list(value.values())
    wanted = option.type if option.type in (int, bool, float) else str
    for item in items:
        is_number = wanted is float and type(item) is int
        if type(item) is not wanted and not is_number:  # true is an int, too
            raise InputError(f"{key} cannot be {item!r}", hint=_WANTED[wanted])
    if key in _PATHS:
        if isinstance(value, dict):
            return {name: _path(key, item, folder) for name, item in value.items()}
        return [_path(key, item, folder) for item in items] if option.multiple else _path(key, value, folder)
    if key == "name":
        check_collection_names([value])
    else:
        ReadingSettings.of(**{key: value})
    return value


def _path(key: str, value: str, folder: Path) -> str:
    """Path of a file, folder or pattern, relative to a folder; the name of a data set as it is."""
    if irds_name(value) or value in _WORDS.get(key, ()):
        return value
    path = str(folder / Path(value).expanduser())
    try:
        find_files(path)
    except InputError as error:
        raise InputError(
            f"{key} cannot be {value!r}: {error.path}: {error.reason}",
            hint=f"paths are relative to the folder of this file, {folder}",
        ) from None
    return path
