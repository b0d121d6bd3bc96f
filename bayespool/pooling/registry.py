"""Pooling strategies by name: each registers itself in its own file, with a line on what it does."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, get_type_hints

from bayespool.errors import InputError
from bayespool.options import check_types
from bayespool.pooling.strategy import Strategy

__all__ = ["STRATEGIES", "StrategyEntry", "parse_strategy", "register_strategy", "strategy_text"]

Class = TypeVar("Class", bound=type[Strategy])


@dataclass(frozen=True, kw_only=True)
class StrategyEntry:
    """A name that a strategy can be asked for by.

    Attributes
    ----------
    name : str
    make : type
        Class of the strategy.
    description : str
        One line on what it does.
    source : str
        Author and year.
    """

    name: str
    make: type[Strategy]
    description: str
    source: str


STRATEGIES: dict[str, StrategyEntry] = {}
"""Every registered strategy by name; `bayespool.pooling` has them all."""


def register_strategy(name: str, *, description: str, source: str) -> Callable[[Class], Class]:
    """Class decorator that makes a strategy known by its name; the name becomes the class's.

    Raises
    ------
    InputError
        Another class has the name.
    """

    def register(cls: Class) -> Class:
        there = STRATEGIES.get(name)
        if there is not None and there.make.__qualname__ != cls.__qualname__:
            raise InputError(f"there is a strategy {name!r} already", hint="give it another name")
        cls.name = name
        STRATEGIES[name] = StrategyEntry(name=name, make=cls, description=description, source=source)
        return cls

    return register


def parse_strategy(text: str | Strategy) -> Strategy:
    """The strategy that a text such as ``rrf(k=60)`` or ``take`` stands for.

    Parameters
    ----------
    text : str or Strategy
        A name out of `STRATEGIES`, with settings in parentheses if need be.

    Raises
    ------
    InputError
        Unknown name or setting, a setting of another kind.

    Examples
    --------
    >>> parse_strategy("take")
    Take()
    """
    if isinstance(text, Strategy):
        return text
    if not isinstance(text, str):
        raise InputError(f"{text!r} is neither the name of a strategy nor one")
    name, opened, rest = text.strip().partition("(")
    name = name.strip().lower()
    if name not in STRATEGIES:
        raise InputError(f"no strategy {name!r}", hint=f"known: {', '.join(sorted(STRATEGIES))}")
    make = STRATEGIES[name].make
    try:
        call = ast.parse(f"f({rest}" if opened else "f()", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("write settings as name=value")
        given = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        check_types(given, get_type_hints(make))
        return make(**given)
    except (SyntaxError, ValueError, TypeError) as error:
        raise InputError(f"strategy {text!r}: {error}") from error


def strategy_text(strategy: Strategy) -> str:
    """The text that stands for a strategy, with the settings that are not as by default.

    Examples
    --------
    >>> strategy_text(parse_strategy("take()"))
    'take'
    """
    fields = dataclasses.fields(strategy)  # type: ignore[arg-type]
    set_ = [
        f"{f.name}={getattr(strategy, f.name)!r}" for f in fields if getattr(strategy, f.name) != f.default
    ]
    return strategy.name + (f"({', '.join(set_)})" if set_ else "")
