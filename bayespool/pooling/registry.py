"""Registry of pooling strategies by name."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bayespool.errors import InputError, known_names
from bayespool.names import description_of, name_in, settings_in
from bayespool.pooling.strategy import Strategy
from bayespool.tables.citations import citation_names

Class = TypeVar("Class", bound=type[Strategy])


@dataclass(frozen=True, kw_only=True)
class StrategyEntry:
    """A registered strategy: its class, a line on what it does, author and year of its source, citations."""

    name: str
    make: type[Strategy]
    description: str
    source: str = ""
    citations: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """Settings by name, with their defaults (`dataclasses.MISSING` if required)."""
        fields = dataclasses.fields(self.make)  # type: ignore[arg-type]
        return {field.name: field.default for field in fields if field.init}

    @property
    def needs(self) -> tuple[str, ...]:
        """Inputs besides rankings: ``"judgments"``, ``"scores"``."""
        needs = ["judgments"] * self.make.is_adaptive
        if dataclasses.MISSING not in self.settings.values() and self.make().needs_scores:
            needs.append("scores")
        return tuple(needs)


STRATEGIES: dict[str, StrategyEntry] = {}
"""Registered strategies by name, all of them once `bayespool.pooling` is imported."""

_RESERVED = ("all", "paper")  # each is several strategies


def register_strategy(
    name: str, *, description: str | None = None, source: str | None = None, citations: tuple[str, ...] = ()
) -> Callable[[Class], Class]:
    """Class decorator that registers a strategy under a name, which becomes the class's ``name``.

    Place it above ``@dataclass(frozen=True, kw_only=True)``. A subclass of `FixedOrder` defines ``value``,
    one of `Strategy` or `Adaptive` ``order``, and one of `Sampling` ``order`` and ``inclusion``.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and hyphens.
    description, source, citations
        See `StrategyEntry`. The default source is the short names of citations. The package's own strategies
        have their descriptions in `bayespool.names`.

    Raises
    ------
    InputError
        An unknown citation; an invalid or taken name; a class that is not a frozen dataclass.

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
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or name in _RESERVED:
            raise InputError(
                f"no strategy can be called {name!r}",
                hint=f"lower-case letters, digits and hyphens between them; not {' or '.join(_RESERVED)}",
            )
        registered = STRATEGIES.get(name)
        if registered is not None and registered.make.__qualname__ != cls.__qualname__:
            raise InputError(f"there is a strategy {name!r} already", hint="give it another name")
        parameters = getattr(cls, "__dataclass_params__", None)
        if parameters is None or not parameters.frozen:
            raise InputError(
                f"strategy {name!r}: {cls.__name__} is not a frozen dataclass",
                hint="write @dataclass(frozen=True, kw_only=True) above the class, below @register_strategy",
            )
        names = citation_names(citations)
        cls.name = name
        STRATEGIES[name] = StrategyEntry(
            name=name,
            make=cls,
            description=description_of(name, description),
            source=names if source is None else source,
            citations=tuple(citations),
        )
        return cls

    return register


def parse_strategy(text: str | Strategy) -> Strategy:
    """Make a strategy from a string such as ``rrf(k=60)`` or ``take``.

    Parameters
    ----------
    text : str or Strategy
        A name in `STRATEGIES`, with optional settings in parentheses.

    Raises
    ------
    InputError
        Unknown name or setting, a setting of the wrong type; a strategy that is not registered.

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
    settings = settings_in(text, "strategy", make)
    try:
        return make(**settings)
    except (ValueError, TypeError) as error:
        raise InputError(f"strategy {text!r}: {error}") from error


def strategy_text(strategy: Strategy) -> str:
    """Text of a strategy, with the settings that differ from their defaults."""
    fields = dataclasses.fields(strategy)  # type: ignore[arg-type]
    set_ = [
        f"{f.name}={getattr(strategy, f.name)!r}" for f in fields if getattr(strategy, f.name) != f.default
    ]
    return strategy.name + (f"({', '.join(set_)})" if set_ else "")
