"""What the judgments leave open of a measure: its values if none or all of the unjudged are relevant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.counts.states import Estimand, check_estimand, reach_of
from bayespool.measures import Measure
from bayespool.values import Values

__all__ = ["Bounds", "bounds", "condensed_levels", "ranked_levels"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of some runs under one measure, and how the ranks that it looks at split up.

    Attributes
    ----------
    measure : Measure
    run_ids, query_ids : tuple of str
    low, high : Values, shape (run, topic)
        B, as trec_eval gives it: unjudged documents are not relevant; and T: they all are.
    n_judged, n_unjudged, n_missing : ndarray of int32, shape (run, topic)
        Documents down to the cutoff that are judged (or never will be, under the estimand ``"pooled"``);
        unjudged ones; and ranks that the run did not fill. They sum to the cutoff.
    """

    measure: Measure
    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    low: Values
    high: Values
    n_judged: IntArray
    n_unjudged: IntArray
    n_missing: IntArray

    @property
    def lower(self) -> FloatArray:
        """B on each topic, shape (run, topic)."""
        return self.low.scores()

    @property
    def upper(self) -> FloatArray:
        """T on each topic, shape (run, topic)."""
        return self.high.scores()

    @property
    def width(self) -> Values:
        """T − B."""
        return Values(self.high.amount - self.low.amount, self.low.unit)

    @property
    def residual(self) -> FloatArray:
        """Δ = T − B on each topic, shape (run, topic)."""
        return self.width.scores()

    @property
    def unjudged_share(self) -> FloatArray:
        """Unjudged documents among the ranks that the measure looks at, over all topics, shape (run,)."""
        n_ranks = (self.n_judged + self.n_unjudged + self.n_missing).sum(axis=1)
        return np.asarray(self.n_unjudged.sum(axis=1) / n_ranks)

    @property
    def has_unjudged(self) -> npt.NDArray[np.bool_]:
        """Runs of which anything is unjudged, shape (run,)."""
        return np.asarray(self.n_unjudged.any(axis=1))


def bounds(
    collection: Collection,
    run_ids: str | Iterable[str] | None,
    measure: Measure,
    *,
    estimand: Estimand = "complete",
) -> Bounds:
    """Bounds of runs under a measure.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, or None
        None for all runs.
    measure : Measure
    estimand : {"complete", "pooled"}
        Whether an unjudged document below the depth to which the run was, or would have been, pooled may be
        relevant.

    Returns
    -------
    Bounds

    Raises
    ------
    InputError
        Unknown run or estimand; ``"pooled"`` where no pool depth is known.

    Examples
    --------
    >>> from bayespool import load_example, parse_measure
    >>> found = bounds(load_example(), "new-a", parse_measure("P@10"))
    >>> round(float(found.low.means()[0]), 3), round(float(found.high.means()[0]), 3)
    (0.595, 0.685)
    """
    check_estimand(collection, estimand)
    index = collection.run_index(run_ids)
    level = ranked_levels(collection, index, measure.cutoff)
    there = collection.document[index, :, : measure.cutoff] >= 0
    unjudged = there & (level < 0)
    reach = reach_of(collection, index, measure.cutoff, estimand)
    unjudged &= np.arange(level.shape[2]) < reach[:, None, None]
    lowest = np.maximum(level, 0)
    highest = np.where(unjudged, max(int(collection.relevance.max()), measure.rel), lowest)
    n_there, n_unjudged = (mask.sum(axis=2, dtype=np.int32) for mask in (there, unjudged))
    return Bounds(
        measure=measure,
        run_ids=tuple(collection.run_ids[i] for i in index),
        query_ids=collection.query_ids,
        low=measure.values(lowest),
        high=measure.values(highest),
        n_judged=n_there - n_unjudged,
        n_unjudged=n_unjudged,
        n_missing=np.int32(measure.cutoff) - n_there,
    )


def ranked_levels(collection: Collection, index: npt.NDArray[np.intp], depth: int) -> npt.NDArray[np.int16]:
    """Relevance of the first documents of runs, shape (run, topic, rank): negative for an unjudged one, 0
    where there is none.
    """
    level: npt.NDArray[np.int16] = np.append(collection.relevance, np.int16(0))[
        collection.document[index, :, :depth]
    ]
    return level


def condensed_levels(
    collection: Collection, run_ids: str | Iterable[str] | None, depth: int
) -> npt.NDArray[np.int16]:
    """Relevance of the first ``depth`` judged documents of the whole ranking, 0 where there are fewer; shape
    (run, topic, rank).
    """
    index = collection.run_index(run_ids)
    condensed = np.zeros((len(index), len(collection.query_ids), depth), dtype=np.int16)
    for row, run in enumerate(index):
        level = ranked_levels(collection, np.array([run]), collection.document.shape[2])[0]
        judged = (level >= 0) & (collection.document[run] >= 0)
        place = np.cumsum(judged, axis=1) - 1
        topic, rank = np.nonzero(judged & (place < depth))
        condensed[row, topic, place[topic, rank]] = level[topic, rank]
    return condensed
