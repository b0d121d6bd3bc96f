"""Docstrings of public names are valid numpydoc, by the checks that fit the rules of this project."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache

import pytest

import bayespool

pytest.importorskip("numpydoc")
from numpydoc.validate import ERROR_MSGS, validate

# Checks that are left out, with the reason; all others hold.
LEFT_OUT = {
    "EX01": "examples stand where they help",
    "ES01": "a summary may say it all",
    "GL01": "the summary stands on the line of the quotes",
    "GL02": "the quotes of a short docstring stand on its line",
    "GL08": "ruff asks for docstrings (D1)",
    "PR01": "a sentence may explain parameters; fields of a dataclass are attributes",
    "PR02": "settings of an estimator are fields, which are documented as parameters",
    "PR03": "what is given by keyword may stand in groups",
    "PR04": "several parameters may share a type",
    "PR07": "a name and a type may say it all",
    "RT01": "the summary of a short docstring says what comes back",
    "RT02": "values that come back may have names",
    "RT03": "as PR07",
    "RT04": "what comes back may be a formula",
    "SA01": "pages, not docstrings, say what to read next",
    "SS03": "a summary may be a question",
    "SS05": "a summary says what comes back; it does not begin with an order",
    "SS06": "a summary may need two lines",
    "YD01": "as RT01",
}


def public() -> dict[str, object]:
    """Public functions and classes of the rooms by their full names."""
    found = {}
    for room in pkgutil.iter_modules(bayespool.__path__, "bayespool."):
        if room.name in ("bayespool.__main__", "bayespool.cli"):  # click makes the help of commands
            continue
        module = importlib.import_module(room.name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return {name: thing for name, thing in found.items() if name.startswith("bayespool.")}


def test_checks_that_are_left_out_exist() -> None:
    assert set(LEFT_OUT) <= set(ERROR_MSGS)


def test_docstrings_of_public_names_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect, "getsourcelines", cache(inspect.getsourcelines))  # asked for twice
    names = public()
    assert len(names) > 200
    wrong = [
        f"{name}: {code} {message}"
        for name in sorted(names)
        for code, message in validate(name)["errors"]
        if code not in LEFT_OUT
    ]
    assert wrong == []
