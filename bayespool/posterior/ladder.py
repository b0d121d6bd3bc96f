"""The ladder of relevance: which questions a document is asked, one after the other.

A document of relevance 2 is one that is relevant at all and, among those, highly relevant. Each rung is a
model of its own for the documents that reached the rung below, so that a binary measure needs the first rung
alone, and the levels of a draw never contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.measures import Measure

MOST_RUNGS = 10
"""Levels that a measure may tell apart: each is a model of its own."""


class Rung(NamedTuple):
    """One step of the ladder: of documents of some relevance or more, which have more?

    Attributes
    ----------
    given : int
        Only documents of this relevance or more are asked about; 0 for all.
    rel : int
        The smallest relevance that answers yes.
    """

    given: int
    rel: int


def rungs_of(collection: Collection, measure: Measure) -> tuple[Rung, ...]:
    """What a measure has to know of a document: the rungs up to its ``rel``, or all if it is graded.

    Rungs are the levels that the judgments have. Every relevance from 1 to the lowest of them asks the same
    first question, whatever the measure calls it.

    Raises
    ------
    InputError
        There are more levels than a ladder has rungs.

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
    if len(bounds) > MOST_RUNGS:
        raise InputError(
            f"{measure} tells {len(bounds)} levels of relevance apart, and judgments are completed for "
            f"{MOST_RUNGS} at most",
            hint="bring the levels of the qrels together first",
        )
    return tuple(Rung(given, rel) for given, rel in zip([0, *bounds[:-1]], bounds, strict=True))


def _needed(level: int, levels: tuple[int, ...], measure: Measure) -> bool:
    """Whether a binary measure asks for this level or one above it: it is no higher than the lowest that is
    relevant.
    """
    relevant = [one for one in levels if one >= measure.rel]
    return level <= (relevant[0] if relevant else levels[-1])


def ladder_of(collection: Collection, measures: Iterable[Measure]) -> tuple[Rung, ...]:
    """The longest ladder of some measures, of which the others are the beginning."""
    return max((rungs_of(collection, measure) for measure in measures), key=len)


def levels_of(collection: Collection, rungs: tuple[Rung, ...]) -> tuple[int, ...]:
    """Relevance of a document that reached no rung, the first, the second, …: the level that the judgments
    have there.
    """
    levels = [0]
    for rung in rungs:
        there = [level for level in collection.levels if level >= rung.rel]
        levels.append(there[0] if there else rung.rel)
    return tuple(levels)
