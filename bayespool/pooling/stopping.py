"""Rules that end the judging of a topic before the budget does, and the recall that is reached by then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IndexArray, LevelArray
from bayespool.errors import InputError, known_names
from bayespool.names import name_in, settings_in

WINDOW = 50
"""Documents judged last whose share of relevant ones stands for those still to come."""


class StoppingRule(ABC):
    """A rule that ends the judging of a topic; a frozen settings object."""

    name: ClassVar[str]

    @abstractmethod
    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Whether to stop after each judgment, shape (judged,).

        Takes the relevance of judged documents in the order of judging, and the number of documents that
        may be judged in all.
        """


@dataclass(frozen=True, kw_only=True)
class NonrelevantRun(StoppingRule):
    """Stop after n nonrelevant documents in a row."""

    n: int = 50

    name: ClassVar[str] = "nonrelevant"

    def __post_init__(self) -> None:
        _check_whole("n", self.n)

    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Whether the last n documents are nonrelevant."""
        return np.asarray(_of_last(relevant, self.n) == 0)


@dataclass(frozen=True, kw_only=True)
class LeastYield(StoppingRule):
    """Stop when less than a share of the documents judged last are relevant."""

    share: float = 0.05
    window: int = WINDOW

    name: ClassVar[str] = "yield"

    def __post_init__(self) -> None:
        _check_share("share", self.share)
        _check_whole("window", self.window)

    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Whether the share is less."""
        n = _of_last(relevant, self.window)
        return (n >= 0) & (n < self.share * self.window)


@dataclass(frozen=True, kw_only=True)
class TargetRecall(StoppingRule):
    """Stop when the estimated recall (`estimated_recall`) reaches a target."""

    target: float = 0.9
    window: int = WINDOW

    name: ClassVar[str] = "recall"

    def __post_init__(self) -> None:
        _check_share("target", self.target)
        _check_whole("window", self.window)

    def may_stop(self, relevant: BoolArray, n_documents: int) -> BoolArray:
        """Whether the estimate is as large."""
        return estimated_recall(relevant, n_documents, self.window) >= self.target


STOPPING_RULES: Mapping[str, type[StoppingRule]] = MappingProxyType(
    {rule.name: rule for rule in (NonrelevantRun, TargetRecall, LeastYield)}
)
"""Stopping rules by name."""


def estimated_recall(relevant: BoolArray, n_documents: int, window: int = WINDOW) -> FloatArray:
    """Estimated recall after each judgment, shape (judged,): found / (found + expected among the rest).

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
    n_last = _of_last(relevant, window)
    expected = np.where(n_last >= 0, n_last / window, np.nan) * (n_documents - judged)
    expected = np.where(judged == n_documents, 0, expected)
    with np.errstate(invalid="ignore"):
        recall = n_relevant / np.where(n_relevant > 0, n_relevant + expected, 1)
    return np.asarray(np.where(n_relevant > 0, recall, np.nan))


def stops_at(rule: StoppingRule, relevance: LevelArray, n_documents: int, rel: int = 1) -> int:
    """Number of documents of a topic to judge under a rule, from their relevance in the order of judging.

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
    """Make a stopping rule from a text such as ``nonrelevant(n=30)``.

    Examples
    --------
    >>> parse_stopping_rule("recall(target=0.8)")
    TargetRecall(target=0.8, window=50)
    """
    if isinstance(text, StoppingRule):
        return text
    if not isinstance(text, str) or name_in(text) not in STOPPING_RULES:
        raise InputError(f"no stopping rule {text!r}", hint=known_names(text, STOPPING_RULES))
    make = STOPPING_RULES[name_in(text)]
    return make(**settings_in(text, "stopping rule", make))


def stopping_text(rule: StoppingRule) -> str:
    """Text of a rule with its settings."""
    settings = ", ".join(f"{name}={value!r}" for name, value in vars(rule).items())
    return f"{rule.name}({settings})"


def _of_last(relevant: BoolArray, n: int) -> IndexArray:
    """Relevant documents among the last n judged, −1 before there are so many; shape (judged,)."""
    total = np.append(0, np.cumsum(relevant, dtype=np.int64))
    of_last = np.full(len(relevant), -1, dtype=np.int64)
    of_last[n - 1 :] = total[n:] - total[: len(total) - n] if len(relevant) >= n else -1
    return of_last


def _check_whole(name: str, n: int) -> None:
    if n < 1:
        raise InputError(f"{name} = {n}", hint="give 1 or more")


def _check_share(name: str, share: float) -> None:
    if not 0 < share <= 1:
        raise InputError(f"{name} = {share}", hint="give a share above 0, up to 1")
