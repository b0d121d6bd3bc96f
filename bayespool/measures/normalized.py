"""Base class for measures that are divided by the topic's ideal ranking."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.errors import InputError
from bayespool.measures.base import Measure, Tally
from bayespool.measures.values import Values
from bayespool.names import Ideal as Ideal

Extremes = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, order=True)
class Normalized(Measure):
    """Base class for measures divided by the score of the topic's ideal ranking.

    Parameters
    ----------
    ideal : {"own", "shared", "judged"}
        The documents of the ideal ranking. ``"own"``: the judged documents and, in each draw, the completed
        ones in reach of the run itself, so that other runs do not change its value. ``"shared"``: the
        completed ones in reach of any run scored together, one scale for their differences. ``"judged"``: the
        judged documents, as in trec_eval, so that a completed ranking may get more than 1. A topic whose
        ideal ranking gets nothing scores 0.
    """

    ideal: Ideal = "own"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ideal not in get_args(Ideal):
            raise InputError(
                f"{self.name}: no ideal {self.ideal!r}", hint=f"known: {', '.join(get_args(Ideal))}"
            )
        if self.ideal == "judged":
            object.__setattr__(self, "range", (self.range[0], float("inf")))

    @abstractmethod
    def best(self, tally: Tally) -> FloatArray:
        """Return the ideal ranking's unscaled score, (..., topic), from a tally of shape (..., topic, level).

        It never falls with more documents or higher levels.
        """

    def normalize(self, amounts: AnyArray, tally: Tally) -> FloatArray:
        """Return unscaled scores, (..., run, topic), over the ideal ranking's scores, 0 if those are 0.

        The tally has the shape (topic, level) where all runs share one ideal ranking, and else (..., run,
        topic, level).
        """
        return safe_ratio(amounts, self.best(tally))

    def values(self, levels: AnyArray, tally: Tally | None = None) -> Values:
        """Return scores for rankings with levels of shape (..., run, topic, rank), given a tally."""
        if tally is None:
            raise InputError(f"{self} is over an ideal ranking", hint="give a tally of the judged documents")
        return super().values(levels, tally)

    def sharp_extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes | None:
        """Return the lowest and highest score of all completions, two arrays (run, topic), or None.

        Levels are as in `extremes`; a completion can make a document relevant, and counts in the ideal.
        """
        return None

    def extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return lower and upper bounds over all completions, each of shape (run, topic).

        They hold for any family and are not always sharp: from the amounts, and those of the ideal
        ranking, with no unjudged document relevant and with all at the highest level; the ends of its
        ``range`` where amounts may fall. A family with `sharp_extremes` has those.
        """
        is_open = self.rises and self.ideal != "judged" and max(tally.levels, default=0) >= self.rel
        sharp = self.sharp_extremes(levels[..., : self.cutoff], tally, n_elsewhere) if is_open else None
        return self._wide_extremes(levels, tally, n_elsewhere) if sharp is None else sharp

    def _wide_extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return bounds on the scores of all completions from the extremes of amounts and ideals."""
        if not self.rises:
            low = self.normalize(self.amounts(np.maximum(levels, 0)), tally)
            is_open = (levels == -1).any(axis=-1) | (n_elsewhere > 0)
            return np.where(is_open, self.range[0], low), np.where(is_open, self.range[1], low)
        top = tally.levels[-1] if tally.levels else 0
        low = self.amounts(np.maximum(levels, 0)).astype(float)
        high = self.amounts(np.maximum(np.where(levels == -1, top, levels), 0)).astype(float)
        if self.ideal == "judged" or not tally.levels:
            return self.normalize(low, tally), self.normalize(high, tally)
        ranked = (levels == -1).sum(axis=-1)
        least, most = np.empty_like(low), np.empty_like(high)
        for run in range(len(levels)):
            more = tally.n.copy()
            more[:, -1] += ranked[run] + n_elsewhere[run]
            least[run] = self.normalize(low[run : run + 1], Tally(more, tally.levels))[0]
            most[run] = self.normalize(high[run : run + 1], tally)[0]
        nothing = self.best(tally) <= 0  # one relevant document may make the ideal
        most = np.where(nothing & (high > 0), self.range[1], np.minimum(most, self.range[1]))
        return least, most


def with_ideal(measures: Iterable[Measure], ideal: Ideal) -> tuple[Measure, ...]:
    """Return the measures with ``ideal`` as their ideal ranking wherever it is "own"."""
    if ideal not in get_args(Ideal):
        raise InputError(f"no ideal {ideal!r}", hint=f"known: {', '.join(get_args(Ideal))}")
    changed = (
        dataclasses.replace(measure, ideal=ideal)
        if isinstance(measure, Normalized) and measure.ideal == "own"
        else measure
        for measure in measures
    )
    return tuple(dict.fromkeys(changed))


def n_relevant(tally: Tally, rel: int) -> FloatArray:
    """Return the number of documents with relevance ``rel`` or more, shape (..., topic)."""
    relevant = [column for column, level in enumerate(tally.levels) if level >= rel]
    return np.asarray(tally.n[..., relevant].sum(axis=-1), dtype=np.float64)


def safe_ratio(amounts: AnyArray, best: AnyArray) -> FloatArray:
    """Return unscaled scores over the ideal ranking's scores, 0 if the latter are 0."""
    return np.where(best > 0, amounts / np.where(best > 0, best, 1), 0.0)


def insert_relevant(levels: AnyArray, tally: Tally) -> AnyArray:
    """Return levels with missing relevant documents inserted at the first unjudged ranks.

    The rule is that of Ravana & Moffat (2010, §3).
    """
    filled: AnyArray = np.maximum(levels, 0)
    opened = levels == -1
    place = np.cumsum(opened, axis=-1) - 1
    first = np.zeros(levels.shape[:2], dtype=np.int64)
    for column in reversed(range(len(tally.levels))):
        level = tally.levels[column]
        lacking = np.maximum(tally.n[:, column] - (levels == level).sum(axis=-1), 0)
        here = opened & (place >= first[..., None]) & (place < (first + lacking)[..., None])
        filled[here] = level
        first = first + lacking
    return filled
