"""Thresholds of relevance that a measure needs, each answered by a continuation-ratio model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypedDict

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.measures import Measure

MAX_THRESHOLDS = 10
"""Largest number of levels that a measure may distinguish, since each has its own models."""


class RelevanceLevels(TypedDict):
    """Keyword arguments ``rel`` and ``given`` for functions that count documents at a threshold."""

    rel: int
    given: int


class Threshold(NamedTuple):
    """Relevance threshold that splits documents of relevance ``given`` or more at relevance ``rel``.

    The models of a threshold give the probability of that; the product over thresholds is the probability of
    a level (a continuation-ratio model).

    Attributes
    ----------
    given : int
        Smallest relevance of the documents; 0 for all.
    rel : int
        Smallest relevance of those that reach the threshold.
    floor : int
        Relevance that counts as 0, where no judged document has less.
    """

    given: int
    rel: int
    floor: int = 0

    @property
    def levels(self) -> RelevanceLevels:
        """``rel`` and ``given``, as functions of documents at a threshold take them."""
        return {"rel": self.rel, "given": self.given}

    @property
    def above_floor(self) -> int:
        """Relevance ``rel`` minus the lowest relevance (floor), used as key for random numbers."""
        return self.rel - self.floor

    @property
    def label(self) -> str:
        """End of the name of a model's fit at this threshold, empty at the first."""
        return f", {self.rel} of {self.given}" if self.given else ""

    @property
    def stream(self) -> tuple[int, ...]:
        """Key part for random numbers, empty at the first threshold."""
        return (self.above_floor,) if self.given else ()


def find_thresholds(
    collection: Collection, measure: Measure, *, least_rel: int | None = None
) -> tuple[Threshold, ...]:
    """Return the relevance thresholds that a measure needs.

    They are the judged levels up to its ``rel``, or all levels if it is graded.

    Where no document is judged below the lowest level, that level is the floor of all that ask for more:
    measures from ``least_rel`` on, by default the measure's own. More than `MAX_THRESHOLDS` are an
    `InputError`.
    """
    thresholds = _all_thresholds(collection, measure, least_rel)
    if problem := describe_excess_levels(collection, measure, least_rel):
        raise InputError(problem, hint="bring the levels of the qrels together first")
    return thresholds


def describe_excess_levels(collection: Collection, measure: Measure, least_rel: int | None = None) -> str:
    """Return a description of the problem if a measure distinguishes too many levels, else ""."""
    n = len(_all_thresholds(collection, measure, least_rel))
    most = f"judgments are completed for {MAX_THRESHOLDS} at most"
    return f"{measure} tells {n} levels of relevance apart, and {most}" if n > MAX_THRESHOLDS else ""


def _all_thresholds(
    collection: Collection, measure: Measure, least_rel: int | None = None
) -> tuple[Threshold, ...]:
    """Return the relevance thresholds that a measure needs, without limiting their number."""
    levels, first, floor = collection.levels, 1, 0  # relevance from 1 to the lowest level is one threshold
    if len(levels) > 1 and levels[0] < (least_rel or measure.rel) and not collection.has_nonrelevant:
        floor, first, *_ = levels
        levels = levels[1:]
    if (highest := getattr(measure, "max_rel", None)) is not None:  # levels above it are one
        levels = levels[: 1 + sum(level < max(highest, measure.rel) for level in levels)]
    rels = [first, *levels[1:]] if levels else [measure.rel]
    beyond = levels and measure.rel > levels[-1]
    if not measure.is_graded and levels:  # a binary measure needs levels up to the lowest relevant one
        top = next((level for level in levels if level >= measure.rel), levels[-1])
        rels = [rel for rel, level in zip(rels, levels, strict=True) if rel == first or level <= top]
    if beyond:
        rels.append(measure.rel)
    return tuple(Threshold(given, rel, floor) for given, rel in zip([0, *rels[:-1]], rels, strict=True))


def find_joint_thresholds(collection: Collection, measures: Iterable[Measure]) -> tuple[Threshold, ...]:
    """Return the relevance thresholds that several measures need together.

    Each measure needs the first of them.
    """
    every = tuple(measures)
    least_rel = min(measure.rel for measure in every)
    return max((find_thresholds(collection, measure, least_rel=least_rel) for measure in every), key=len)


def threshold_levels(collection: Collection, thresholds: tuple[Threshold, ...]) -> tuple[int, ...]:
    """Return the judged level for documents reaching no threshold, the first, the second, and so on."""
    reached = ([level for level in collection.levels if level >= t.rel] for t in thresholds)
    return (0, *(levels[0] if levels else t.rel for levels, t in zip(reached, thresholds, strict=True)))
