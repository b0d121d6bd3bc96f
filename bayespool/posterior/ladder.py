"""Ladder of relevance: each rung is a model of the documents that reached the rung below."""

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
    """

    given: int
    rel: int


def rungs_of(collection: Collection, measure: Measure) -> tuple[Rung, ...]:
    """Rungs that a measure needs: those of the judgments' levels up to its ``rel``, or all if it is graded.

    Every relevance from 1 to the lowest level of the judgments is the same first rung.

    Examples
    --------
    >>> from bayespool import load_example, parse_measure
    >>> rungs_of(load_example(), parse_measure("P@10"))
    (Rung(given=0, rel=1),)
    """
    levels = collection.levels
    bounds = [1, *levels[1:]] if levels else [measure.rel]
    beyond = levels and measure.rel > levels[-1]
    if not measure.is_graded and levels:
        bounds = [
            b for b, level in zip(bounds, levels, strict=True) if b == 1 or _needed(level, levels, measure)
        ]
    if beyond:
        bounds.append(measure.rel)
    if len(bounds) > MAX_RUNGS:
        raise InputError(
            f"{measure} tells {len(bounds)} levels of relevance apart, and judgments are completed for "
            f"{MAX_RUNGS} at most",
            hint="bring the levels of the qrels together first",
        )
    return tuple(Rung(given, rel) for given, rel in zip([0, *bounds[:-1]], bounds, strict=True))


def _needed(level: int, levels: tuple[int, ...], measure: Measure) -> bool:
    """Whether a binary measure needs the rung of a level: the level is at most the lowest relevant one."""
    relevant = [other for other in levels if other >= measure.rel]
    return level <= (relevant[0] if relevant else levels[-1])


def ladder_of(collection: Collection, measures: Iterable[Measure]) -> tuple[Rung, ...]:
    """The longest ladder of some measures; the others are its beginnings."""
    return max((rungs_of(collection, measure) for measure in measures), key=len)


def levels_of(collection: Collection, rungs: tuple[Rung, ...]) -> tuple[int, ...]:
    """Relevance of a document that reached no rung, the first, the second, …: levels of the judgments."""
    levels = [0]
    for rung in rungs:
        there = [level for level in collection.levels if level >= rung.rel]
        levels.append(there[0] if there else rung.rel)
    return tuple(levels)
