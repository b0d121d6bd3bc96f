"""Texts such as ``rrf(k=60)``: the name of something that is registered, and settings of it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection
from typing import Any, get_type_hints

from bayespool.errors import InputError
from bayespool.options import check_types
from bayespool.suggestions import known_names

__all__ = ["name_in", "settings_in"]


def name_in(text: str) -> str:
    """The name that a text begins with.

    Examples
    --------
    >>> name_in(" rrf(k=60)")
    'rrf'
    """
    return text.partition("(")[0].strip()


def settings_in(
    text: str, what: str, make: type[Any], *, fixed: Collection[str] = frozenset()
) -> dict[str, Any]:
    """The settings that a text gives.

    Parameters
    ----------
    text : str
        ``name``, or ``name(setting=value, …)`` with numbers, quoted texts, tuples, True or False as values.
    what : str
        What the name is of, in messages: ``"strategy"``.
    make : type
        Its class, whose arguments the settings are.
    fixed : collection of str
        Arguments that the text may not give.

    Raises
    ------
    InputError
        A text of another form, a setting that there is not, a value that is none or of another kind.

    Examples
    --------
    >>> from bayespool.pooling import RRF
    >>> settings_in("rrf(k=60)", "strategy", RRF)
    {'k': 60}
    >>> settings_in("rrf(q=60)", "strategy", RRF)
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: strategy 'rrf(q=60)': there is no setting 'q'; rrf has k
    """
    name, (_, opened, rest) = name_in(text), text.strip().partition("(")
    if not opened:
        return {}
    said, known = f"{what} {text!r}", _arguments(make)
    form = f"write {name}({_example(make, fixed)})"
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
    except SyntaxError:
        problem = "cannot be read" if rest.endswith(")") else "the parenthesis is not closed"
        raise InputError(f"{said}: {problem}", hint=form) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise InputError(f"{said}: write settings as name=value", hint=form)
    given = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise InputError(f"{said}: write settings as name=value", hint=form)
        if keyword.arg in fixed or (known is not None and keyword.arg not in known):
            has = [one for one in known or () if one not in fixed] or ["none"]
            raise InputError(
                f"{said}: there is no setting {keyword.arg!r}",
                hint=known_names(keyword.arg, has, before=f"{name} has "),
            )
        try:
            given[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            raise InputError(
                f"{said}: {keyword.arg} cannot be {ast.unparse(keyword.value)}",
                hint="write a number, a text in quotes, True or False",
            ) from None
    try:
        check_types(given, _hints(make))
    except ValueError as error:
        raise InputError(f"{said}: {error}") from None
    return given


def _arguments(make: type[Any]) -> tuple[str, ...] | None:
    """Names of the arguments of a class; None where it takes any."""
    parameters = inspect.signature(make).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return tuple(one.name for one in parameters)


def _example(make: type[Any], fixed: Collection[str]) -> str:
    """A setting of a class as a text gives it, with its default."""
    for one in inspect.signature(make).parameters.values():
        if one.name not in fixed and isinstance(one.default, int | float | str | tuple):
            return f"{one.name}={one.default!r}"
    return "setting=value"


def _hints(make: type[Any]) -> dict[str, Any]:
    try:
        return get_type_hints(make)
    except NameError:  # one of the user's own whose annotations are for the reader only
        return {}
