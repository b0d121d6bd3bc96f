"""Thresholds of relevance that a measure needs, each answered by a continuation-ratio model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.measures import Measure

MAX_RUNGS = 10
"""Largest number of levels that a measure may tell apart: each is a model of its own."""


class Rung(NamedTuple):
    """One step of the ladder: of the documents of relevance ``given`` or more, which have ``rel`` or more?

    Attributes
    ----------
    given : int
        Smallest relevance of the documents; 0 for all.
    rel : int
        Smallest relevance of those that go on.
    floor : int
        Relevance that counts as 0, where no judged document has less.
    """

    given: int
    rel: int
    floor: int = 0

    @property
    def above_floor(self) -> int:
        """``rel`` if the lowest relevance were 0: names random numbers, which do not depend on the scale."""
        return self.rel - self.floor


def rungs_of(collection: Collection, measure: Measure, *, least_rel: int | None = None) -> tuple[Rung, ...]:
    """Rungs that a measure needs: of the judgments' levels up to its ``rel``, or all if it is graded.

    Where no document is judged below the lowest level, that level is the floor of all that ask for more:
    measures from ``least_rel`` on, by default the measure's own. More than `MAX_RUNGS` are an `InputError`.
    """
    rungs = _every_rung(collection, measure, least_rel)
    if problem := _too_many(measure, len(rungs)):
        raise InputError(problem, hint="bring the levels of the qrels together first")
    return rungs


def too_many_levels(collection: Collection, measure: Measure) -> str:
    """Say that a measure tells more levels apart than judgments are completed for; empty if it does not."""
    return _too_many(measure, len(_every_rung(collection, measure)))


def _too_many(measure: Measure, n: int) -> str:
    if n <= MAX_RUNGS:
        return ""
    return (
        f"{measure} tells {n} levels of relevance apart, and judgments are completed for {MAX_RUNGS} at most"
    )


def _every_rung(collection: Collection, measure: Measure, least_rel: int | None = None) -> tuple[Rung, ...]:
    """Rungs of a measure, however many (`rungs_of`)."""
    levels, first, floor = collection.levels, 1, 0  # every relevance from 1 to the lowest is one first rung
    if len(levels) > 1 and levels[0] < (least_rel or measure.rel) and not collection.has_nonrelevant:
        floor, first, *_ = levels
        levels = levels[1:]
    if (highest := getattr(measure, "max_rel", None)) is not None:  # levels above it are one
        levels = levels[: 1 + sum(level < max(highest, measure.rel) for level in levels)]
    bounds = [first, *levels[1:]] if levels else [measure.rel]
    beyond = levels and measure.rel > levels[-1]
    if not measure.is_graded and levels:
        bounds = [
            b
            for b, level in zip(bounds, levels, strict=True)
            if b == first or _needed(level, levels, measure)
        ]
    if beyond:
        bounds.append(measure.rel)
    return tuple(Rung(given, rel, floor) for given, rel in zip([0, *bounds[:-1]], bounds, strict=True))


def _needed(level: int, levels: tuple[int, ...], measure: Measure) -> bool:
    """Whether a binary measure needs the rung of a level: the level is at most the lowest relevant one."""
    relevant = [other for other in levels if other >= measure.rel]
    return level <= (relevant[0] if relevant else levels[-1])


def ladder_of(collection: Collection, measures: Iterable[Measure]) -> tuple[Rung, ...]:
    """Rungs of the measure that needs most; any other measure needs the first of these."""
    every = tuple(measures)
    least_rel = min(measure.rel for measure in every)
    return max((rungs_of(collection, measure, least_rel=least_rel) for measure in every), key=len)


def levels_of(collection: Collection, rungs: tuple[Rung, ...]) -> tuple[int, ...]:
    """Relevance of a document that reached no rung, the first, the second, …: levels of the judgments."""
    levels = [0]
    for rung in rungs:
        there = [level for level in collection.levels if level >= rung.rel]
        levels.append(there[0] if there else rung.rel)
    return tuple(levels)
