"""Addresses of names of other packages, for links from docstrings: a build fetches nothing.

The names are those that docstrings use. ``conf.py`` writes an inventory of each project, as that project
would publish it, into ``_generated``. A test asks the packages whether they still have the names.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import zlib
from pathlib import Path

import bayespool

# Project → where its pages are, and for each name its role and its page; "$" stands for the name.
PROJECTS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "python": (
        "https://docs.python.org/3/",
        {
            **dict.fromkeys(("bool", "float", "int", "slice"), ("py:class", "library/functions.html#$")),
            **dict.fromkeys(
                ("bytes", "dict", "list", "str", "tuple"), ("py:class", "library/stdtypes.html#$")
            ),
            **dict.fromkeys(("False", "None", "True"), ("py:data", "library/constants.html#$")),
            **dict.fromkeys(
                [f"collections.abc.{name}" for name in ("Callable", "Iterable", "Mapping", "Sequence")],
                ("py:class", "library/collections.abc.html#$"),
            ),
            "pathlib.Path": ("py:class", "library/pathlib.html#$"),
        },
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        {
            "numpy.ndarray": ("py:class", "reference/generated/$.html#$"),
            "numpy.random.Generator": ("py:class", "reference/random/generator.html#$"),
            "array_like": ("std:term", "glossary.html#term-$"),
        },
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        dict.fromkeys(("pandas.DataFrame", "pandas.Series"), ("py:class", "reference/api/$.html#$")),
    ),
    "xarray": (
        "https://docs.xarray.dev/en/stable/",
        dict.fromkeys(
            ("xarray.DataArray", "xarray.DataTree", "xarray.Dataset"), ("py:class", "generated/$.html#$")
        ),
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        dict.fromkeys(
            ("matplotlib.axes.Axes", "matplotlib.figure.Figure"), ("py:class", "api/_as_gen/$.html#$")
        ),
    ),
    "pymc": ("https://www.pymc.io/projects/docs/en/stable/", {"pymc.Model": ("py:class", "api/model.html")}),
    "rich": (
        "https://rich.readthedocs.io/en/stable/",
        {"rich.console.Console": ("py:class", "reference/console.html#$")},
    ),
}

# What docstrings write in the place of a type → the name that is linked.
SHORT = {
    **{
        name: name
        for name in ("False", "None", "True", "bool", "bytes", "dict", "float", "int", "list", "slice")
    },
    **{name: name for name in ("str", "tuple")},
    "boolean": "bool",
    "callable": "collections.abc.Callable",
    "iterable": "collections.abc.Iterable",
    "mapping": "collections.abc.Mapping",
    "sequence": "collections.abc.Sequence",
    "Path": "pathlib.Path",
    "string": "str",
    "ndarray": "numpy.ndarray",
    "array_like": ":term:`array_like <numpy:array_like>`",
}


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write the inventory of each project; what ``intersphinx_mapping`` takes."""
    folder.mkdir(exist_ok=True)
    for project, (_, names) in PROJECTS.items():
        lines = [f"{name} {role} 1 {page.replace('$', name)} -\n" for name, (role, page) in names.items()]
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n# Compressed using zlib.\n"
        file = folder / f"{project}.inv"
        made = head.encode() + zlib.compress("".join(lines).encode())
        if not file.is_file() or file.read_bytes() != made:
            file.write_bytes(made)
    return {project: (address, f"{folder.name}/{project}.inv") for project, (address, _) in PROJECTS.items()}


def type_names() -> dict[str, str]:
    """Names of types in docstrings → what they link to, in other packages and in bayespool."""
    found = {
        name: name
        for _, names in PROJECTS.values()
        for name, (role, _) in names.items()
        if role != "std:term"
    }
    return _classes() | found | SHORT


def _classes() -> dict[str, str]:
    """Public classes of the rooms by their short and full names, where a short name means one class only."""
    homes: dict[str, set[str]] = {}
    for room in pkgutil.iter_modules(bayespool.__path__, "bayespool."):
        if room.name.endswith("__main__"):
            continue
        module = importlib.import_module(room.name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) and f"{thing.__module__}.".startswith(f"{room.name}."):
                homes.setdefault(name, set()).add(f"{room.name}.{name}")
    return {name: next(iter(places)) for name, places in homes.items() if len(places) == 1}
