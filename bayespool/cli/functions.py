"""Signatures and docstrings of functions, read from their source: help imports nothing heavy."""

from __future__ import annotations

import ast
import functools
import pkgutil
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from bayespool import names


@dataclass(frozen=True)
class Parameter:
    """Parameter of a function: its annotation as text, its default, and what its docstring says of it."""

    name: str
    annotation: str
    default: Any
    documented_type: str
    description: str

    @property
    def type(self) -> Any:
        """Type of one value: int, float, bool, Path, str, or a tuple of choices."""
        one = re.sub(r"^(?:Sequence|Iterable|tuple)\[(.*?)(?:, \.\.\.)?\]$", r"\1", self._plain)
        if one.startswith("Literal["):
            return tuple(ast.literal_eval(f"[{one[len('Literal[') : -1]}]"))
        simple = {"int": int, "float": float, "bool": bool, "PathLike": Path, "Judgments": Path}
        return simple.get(one) or get_args(getattr(names, one, None)) or str

    @property
    def is_listed(self) -> bool:
        """Whether several values may be given, as one text with commas between."""
        return self._plain.startswith(("Sequence[", "Iterable[", "tuple["))

    @property
    def _plain(self) -> str:
        """Annotation without None, and without one value where several may be given."""
        parts = re.sub(r"\[[^]]*\]", lambda m: m[0].replace("|", "\0"), self.annotation).split(" | ")
        several = [part for part in parts if part.startswith(("Sequence[", "Iterable["))]
        return next((part.replace("\0", "|") for part in (*several, *parts) if part != "None"), "str")


_ASKED = "scoring/asked.py:Asked"
"""Place of the class whose fields are keywords of each function with ``**asked``."""


@functools.cache
def parameters_of(path: str) -> dict[str, Parameter]:
    """Return the parameters of a function, or the fields of a class, by name.

    ``scoring/scoring.py:score`` is the function's place in the package.
    """
    node = _definition(path)
    described = numpydoc_parameters(ast.get_docstring(node) or "")
    shared: dict[str, Parameter] = {}
    if isinstance(node, ast.ClassDef):
        fields = [f for f in node.body if isinstance(f, ast.AnnAssign) and ast.unparse(f.target) != "_"]
        declared: list[tuple[str, ast.expr | None, ast.expr | None]] = [
            (ast.unparse(f.target), f.annotation, f.value) for f in fields
        ]
    else:
        a = node.args
        defaults = [None] * (len(a.args) - len(a.defaults)) + list(a.defaults) + list(a.kw_defaults)
        pairs = zip([*a.args, *a.kwonlyargs], defaults, strict=True)
        declared = [(arg.arg, arg.annotation, default) for arg, default in pairs]
        if a.kwarg is not None:
            fields_of_all = parameters_of(_ASKED)
            shared = {name: fields_of_all[name] for name in parameters_of(f"{_ASKED}Keywords")}
    return shared | {
        name: Parameter(
            name,
            "" if annotation is None else ast.unparse(annotation),
            None if default is None else _value(default),
            *described.get(name, ("", "")),
        )
        for name, annotation, default in declared
    }


def parameter_instead(path: str, name: str) -> Parameter:
    """Return the parameter that asks for a function in place of a command's, described by what that does."""
    asking, summary = parameters_of(path)[name], ast.get_docstring(_definition(path)) or ""
    texts = summary.partition("\n\n")[0].rstrip("."), asking.description
    does, wanted = (f"{text[:1].lower()}{text[1:]}" for text in texts)
    return replace(asking, default=None, description=f"In place of all this, {does}: {wanted}")


def _definition(path: str) -> ast.FunctionDef | ast.ClassDef:
    file, _, name = path.partition(":")
    for node in ast.parse(pkgutil.get_data("bayespool", file) or b"").body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
    raise LookupError(path)


@functools.cache
def measure_examples() -> tuple[str, ...]:
    """Return texts of measures that the shell offers, from the classes of the package."""
    lists = _written_in("measures", r"^    examples = (\(.*?\))$")
    return tuple(text for texts in lists for text in ast.literal_eval(texts))


@functools.cache
def described_corrections() -> dict[str, str]:
    """Return descriptions by name of corrections whose registration, not `bayespool.names`, has them."""
    described = r'^@register_estimator\(\s*"([\w-]+)",[^@]*?description="([^"]+)"'
    return dict(_written_in("corrections", described))


def _written_in(room: str, pattern: str) -> list[Any]:
    """Return what a pattern matches in the modules of a room."""
    files = sorted(path.name for path in (Path(__file__).parents[1] / room).glob("*.py"))
    texts = ((pkgutil.get_data("bayespool", f"{room}/{file}") or b"").decode() for file in files)
    return [match for text in texts for match in re.findall(pattern, text, re.DOTALL | re.MULTILINE)]


def _value(default: ast.expr) -> Any:
    """Value of a default; None for one that is not literal."""
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None


def numpydoc_parameters(docstring: str) -> dict[str, tuple[str, str]]:
    """Return types and descriptions of parameters in a numpydoc docstring by name, without markup."""
    described: dict[str, tuple[str, str]] = {}
    section = docstring.partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n[A-Z][\w ]+\n-+\n", section, maxsplit=1)[0]
    for entry in re.split(r"\n(?=\S)", section):
        heading, _, text = entry.partition("\n")
        plain = re.sub(r"`+([^`]*)`+", r"\1", " ".join(text.split()))
        names, _, documented_type = heading.partition(" : ")
        described |= dict.fromkeys(names.split(", "), (documented_type, plain))
    return described
