"""Pooling strategies by name: each registers itself in its own file, with a line on what it does."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bayespool.errors import InputError, known_names
from bayespool.options import name_in, settings_in
from bayespool.pooling.strategy import Strategy

Class = TypeVar("Class", bound=type[Strategy])


@dataclass(frozen=True, kw_only=True)
class StrategyEntry:
    """A registered name of a strategy.

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

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings by name, with their defaults (`dataclasses.MISSING` if you have to give it)."""
        fields = dataclasses.fields(self.make)  # type: ignore[arg-type]
        return {field.name: field.default for field in fields if field.init}

    @property
    def needs(self) -> tuple[str, ...]:
        """What it reads beside rankings: ``"judgments"``, ``"scores"``."""
        told = ["judgments"] * self.make.is_adaptive
        if dataclasses.MISSING not in self.settings.values() and self.make().needs_scores:
            told.append("scores")
        return tuple(told)


STRATEGIES: dict[str, StrategyEntry] = {}
"""Every registered strategy by name; `bayespool.pooling` has them all."""

_SEVERAL = ("all", "paper")  # stand for many of them


def register_strategy(name: str, *, description: str, source: str) -> Callable[[Class], Class]:
    """Class decorator that makes a strategy known by its name; the name becomes the class's.

    It stands above ``@dataclass(frozen=True, kw_only=True)``. A class below `FixedOrder` has a method
    ``value``, one below `Strategy` or `Adaptive` has ``order``, and a sample, below `Sampling`, has ``order``
    and ``inclusion``.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and hyphens.
    description, source : str
        See `StrategyEntry`.

    Raises
    ------
    InputError
        A name that cannot be one, or that another class has; a class that is not a frozen dataclass.

    Examples
    --------
    Documents that most runs retrieve come first, of equals that of the best rank:

    >>> from dataclasses import dataclass
    >>> from bayespool import load_example
    >>> from bayespool.pooling import FixedOrder, choose, register_strategy
    >>> @register_strategy("votes", description="the documents of most runs", source="of my own")
    ... @dataclass(frozen=True, kw_only=True)
    ... class Votes(FixedOrder):
    ...     depth: int = 10
    ...
    ...     def value(self, topic):
    ...         return ((topic.rank > 0) & (topic.rank <= self.depth)).sum(axis=0).astype(float)
    >>> len(choose(load_example(), "votes(depth=5)", 300))
    300
    >>> del STRATEGIES["votes"]
    """

    def register(cls: Class) -> Class:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or name in _SEVERAL:
            raise InputError(
                f"no strategy can be called {name!r}",
                hint=f"lower-case letters, digits and hyphens between them; not {' or '.join(_SEVERAL)}",
            )
        there = STRATEGIES.get(name)
        if there is not None and there.make.__qualname__ != cls.__qualname__:
            raise InputError(f"there is a strategy {name!r} already", hint="give it another name")
        parameters = getattr(cls, "__dataclass_params__", None)
        if parameters is None or not parameters.frozen:
            raise InputError(
                f"strategy {name!r}: {cls.__name__} is not a frozen dataclass",
                hint="write @dataclass(frozen=True, kw_only=True) above the class, below @register_strategy",
            )
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
        Unknown name or setting, a setting of another kind; a strategy that nobody registered.

    Examples
    --------
    >>> parse_strategy("take")
    Take()
    """
    if isinstance(text, Strategy):
        if not hasattr(text, "name"):
            raise InputError(
                f"{type(text).__name__} is not registered", hint="write @register_strategy above the class"
            )
        return text
    if not isinstance(text, str):
        raise InputError(f"{text!r} is neither the name of a strategy nor one")
    name = name_in(text).lower()
    if name not in STRATEGIES:
        raise InputError(f"no strategy {name!r}", hint=known_names(name, sorted(STRATEGIES)))
    make = STRATEGIES[name].make
    given = settings_in(text, "strategy", make)
    try:
        return make(**given)
    except (ValueError, TypeError) as error:
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
