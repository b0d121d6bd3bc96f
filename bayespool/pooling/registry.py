"""Registry for pooling strategies, and stopping rules for judging a topic."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IndexArray, LevelArray
from bayespool.errors import InputError, known_names
from bayespool.names import description_of, leading_name, settings_in
from bayespool.pooling.strategy import Strategy
from bayespool.tables.citations import citation_names
from bayespool.validation import check_count, check_number

Class = TypeVar("Class", bound=type[Strategy])


@dataclass(frozen=True, kw_only=True)
class StrategyEntry:
    """Registered strategy with its class, one-line description, source and citations."""

    name: str
    make: type[Strategy]
    description: str
    source: str = ""
    citations: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """Default value for each setting, by name (`dataclasses.MISSING` if required)."""
        fields = dataclasses.fields(self.make)  # type: ignore[arg-type]
        return {field.name: field.default for field in fields if field.init}

    @property
    def needs(self) -> tuple[str, ...]:
        """Inputs required in addition to rankings: ``"judgments"``, ``"scores"``."""
        needs = ["judgments"] * self.make.is_adaptive
        if dataclasses.MISSING not in self.settings.values() and self.make().needs_scores:
            needs.append("scores")
        return tuple(needs)


STRATEGIES: dict[str, StrategyEntry] = {}
"""Registered strategies by name, complete once `bayespool.pooling` is imported."""

_RESERVED = ("all", "paper")  # each is several strategies


def register_strategy(
    name: str, *, description: str | None = None, source: str | None = None, citations: tuple[str, ...] = ()
) -> Callable[[Class], Class]:
    """Return a class decorator that registers a pooling strategy under a name.

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
    """Return the strategy described by a string such as ``rrf(k=60)`` or ``take``.

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
    name = leading_name(text).lower()
    if name not in STRATEGIES:
        raise InputError(f"no strategy {name!r}", hint=known_names(name, sorted(STRATEGIES)))
    make = STRATEGIES[name].make
    settings = settings_in(text, "strategy", make)
    try:
        return make(**settings)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"strategy {text!r}: {error}") from error


PAPER_STRATEGIES = (
    "take",
    "borda",
    "condorcet",
    "combmax",
    "combmin",
    "combmed",
    "combsum",
    "combanz",
    "combmnz",
)
"""Names of the strategies compared by Lipani et al. (2017)."""


def parse_strategies(strategies: str | Strategy | Iterable[str | Strategy]) -> tuple[Strategy, ...]:
    """Return strategies parsed from strings, without duplicates.

    ``paper`` means `PAPER_STRATEGIES`, ``all`` every registered strategy.
    """
    sets = {"paper": PAPER_STRATEGIES, "all": tuple(STRATEGIES)}
    texts: list[str | Strategy] = []
    for each in [strategies] if isinstance(strategies, str | Strategy) else strategies:
        texts += sets.get(each, (each,)) if isinstance(each, str) else (each,)
    if not texts:
        raise InputError("strategies cannot be empty", hint="leave it out, or name some")
    return tuple(dict.fromkeys(map(parse_strategy, texts)))


def strategy_text(strategy: Strategy) -> str:
    """Return a strategy's name and non-default settings as text."""
    fields = dataclasses.fields(strategy)  # type: ignore[arg-type]
    set_ = [
        f"{f.name}={getattr(strategy, f.name)!r}" for f in fields if getattr(strategy, f.name) != f.default
    ]
    return strategy.name + (f"({', '.join(set_)})" if set_ else "")


WINDOW = 50
"""Number of most recently judged documents used to estimate the relevant share among the rest."""


class StoppingRule(ABC):
    """Base class for rules that end the judging of a topic."""

    name: ClassVar[str]

    @abstractmethod
    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Return whether judging may stop after each judgment, shape (judged,).

        Takes the relevance of judged documents in the order of judging, and the number of documents that
        may be judged in all.
        """


@dataclass(frozen=True, kw_only=True)
class NonrelevantRun(StoppingRule):
    """Rule that stops judging after n consecutive nonrelevant documents."""

    n: int = 50

    name: ClassVar[str] = "nonrelevant"

    def __post_init__(self) -> None:
        check_count("n", self.n)

    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Return whether the last n documents are nonrelevant after each judgment, shape (judged,)."""
        return np.asarray(_count_among_last(relevant, self.n) == 0)


@dataclass(frozen=True, kw_only=True)
class LeastYield(StoppingRule):
    """Rule that stops judging when the relevant share among recently judged documents is below ``share``."""

    share: float = 0.05
    window: int = WINDOW

    name: ClassVar[str] = "yield"

    def __post_init__(self) -> None:
        check_number("share", self.share, above=0, most=1)
        check_count("window", self.window)

    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Return whether the relevant share is below ``share`` after each judgment, shape (judged,)."""
        n = _count_among_last(relevant, self.window)
        return (n >= 0) & (n < self.share * self.window)


@dataclass(frozen=True, kw_only=True)
class TargetRecall(StoppingRule):
    """Rule that stops judging when estimated recall (`estimated_recall`) reaches a target."""

    target: float = 0.9
    window: int = WINDOW

    name: ClassVar[str] = "recall"

    def __post_init__(self) -> None:
        check_number("target", self.target, above=0, most=1)
        check_count("window", self.window)

    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Return whether estimated recall reaches the target after each judgment, shape (judged,)."""
        return estimated_recall(relevant, n_documents, self.window) >= self.target


STOPPING_RULES: Mapping[str, type[StoppingRule]] = MappingProxyType(
    {rule.name: rule for rule in (NonrelevantRun, TargetRecall, LeastYield)}
)
"""Stopping rule classes by name."""


def estimated_recall(relevant: BoolArray, n_documents: int, window: int = WINDOW) -> FloatArray:
    """Return the recall estimated after each judgment, shape (judged,).

    It is found / (found + expected among the rest).

    The rest is expected to hold as large a share of relevant documents as those judged last. As the yield of
    a good strategy falls, this is mostly less than the recall; it is 1 once the last ones hold none. NaN
    before ``window`` judgments and where nothing relevant was found; 1 where nothing is left.

    Examples
    --------
    Of 10 documents 4 are judged, and 1 of the last 2 is relevant, so 3 of the other 6 are expected to be:

    >>> estimated_recall(np.array([True, True, False, True]), 10, window=2).round(2).tolist()
    [nan, 0.2, 0.36, 0.5]
    """
    n_relevant, judged = np.cumsum(relevant), np.arange(1, len(relevant) + 1)
    n_last = _count_among_last(relevant, window)
    expected = np.where(n_last >= 0, n_last / window, np.nan) * (n_documents - judged)
    expected = np.where(judged == n_documents, 0, expected)
    with np.errstate(invalid="ignore"):
        recall = n_relevant / np.where(n_relevant > 0, n_relevant + expected, 1)
    return np.asarray(np.where(n_relevant > 0, recall, np.nan))


def stops_at(rule: StoppingRule, relevance: LevelArray, n_documents: int, rel: int = 1) -> int:
    """Return the number of documents to judge for a topic before a stopping rule applies.

    A document without a judgment (negative relevance) ends what the rule knows: judging goes on to the last.

    Examples
    --------
    >>> relevance = np.array([1, 0, 0, 1, 0], dtype=np.int16)
    >>> stops_at(NonrelevantRun(n=2), relevance, 5), stops_at(NonrelevantRun(n=3), relevance, 5)
    (3, 5)
    """
    unknown = np.flatnonzero(relevance < 0)
    known = relevance[: unknown[0]] if len(unknown) else relevance
    stops = np.flatnonzero(rule.may_stop(known >= rel, n_documents))
    return int(stops[0]) + 1 if len(stops) else len(relevance)


def parse_stopping_rule(text: object) -> StoppingRule:
    """Return the stopping rule described by a string such as ``nonrelevant(n=30)``.

    Examples
    --------
    >>> parse_stopping_rule("recall(target=0.8)")
    TargetRecall(target=0.8, window=50)
    """
    if isinstance(text, StoppingRule):
        return text
    if not isinstance(text, str) or leading_name(text) not in STOPPING_RULES:
        raise InputError(f"no stopping rule {text!r}", hint=known_names(text, STOPPING_RULES))
    make = STOPPING_RULES[leading_name(text)]
    return make(**settings_in(text, "stopping rule", make))


def stopping_text(rule: StoppingRule) -> str:
    """Return a stopping rule's name and settings as text."""
    settings = ", ".join(f"{name}={value!r}" for name, value in vars(rule).items())
    return f"{rule.name}({settings})"


def _count_among_last(relevant: BoolArray, n: int) -> IndexArray:
    """Return the number of relevant documents among the last n judged, shape (judged,); −1 before n."""
    total = np.append(0, np.cumsum(relevant, dtype=np.int64))
    n_last = np.full(len(relevant), -1, dtype=np.int64)
    n_last[n - 1 :] = total[n:] - total[: len(total) - n] if len(relevant) >= n else -1
    return n_last
