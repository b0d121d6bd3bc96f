"""What ideal rankings are made of: judged documents, and those in reach of the runs that are scored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.counts.states import Estimand, reach_of
from bayespool.measures import Measure, Normalized, Tally
from bayespool.measures.normalized import n_relevant

__all__ = [
    "DEEPEST_FOR_IDEAL",
    "judged_at_levels",
    "n_in_reach",
    "n_relevant_documents",
    "place_of_level",
    "reach_of_ideal",
    "relevance_levels",
    "tally_of",
    "tally_within_reach",
]

DEEPEST_FOR_IDEAL = 100
"""Rank beyond which no document is completed for the sake of an ideal ranking alone."""


def reach_of_ideal(collection: Collection, measure: Measure) -> int:
    """Down to which rank of the runs that are scored completed documents are part of ideal rankings.

    Had the runs been pooled, their documents down to the pool depth would have been judged. Beyond rank 100
    few of them are relevant, and judgments are not completed for their sake alone.
    """
    if not isinstance(measure, Normalized) or measure.ideal == "judged":
        return measure.cutoff
    return max(measure.cutoff, min(collection.pool_depth, DEEPEST_FOR_IDEAL))


def relevance_levels(collection: Collection, measure: Measure) -> tuple[int, ...]:
    """Relevance levels of the judgments, ascending from 0, with one that the measure takes for relevant."""
    levels = collection.levels
    return (0, *levels) if levels and levels[-1] >= measure.rel else (0, *levels, measure.rel)


def tally_of(
    collection: Collection, levels: Sequence[int], *, relevance: npt.NDArray[np.int16] | None = None
) -> Tally:
    """How many judged documents of each topic are at each of some levels.

    Parameters
    ----------
    collection : Collection
    levels : sequence of int
        Ascending from 0. A document of a relevance between two of them counts at the lower one.
    relevance : ndarray of int16, shape (pair,), optional
        Other judgments than the collection's.

    Returns
    -------
    Tally
        Of shape (topic, level), without level 0.
    """
    relevance = collection.relevance if relevance is None else relevance
    return Tally(judged_at_levels(collection, levels, relevance)[:, 1:], tuple(levels[1:]))


def n_relevant_documents(collection: Collection, rel: int = 1) -> int:
    """Documents judged to be of some relevance or more, over all topics.

    Examples
    --------
    >>> from bayespool import load_example
    >>> n_relevant_documents(load_example())
    283
    """
    return int(n_relevant(tally_of(collection, (0, *collection.levels)), rel).sum())


def judged_at_levels(
    collection: Collection, levels: Sequence[int], relevance: npt.NDArray[np.int16]
) -> npt.NDArray[np.int64]:
    """Judged documents of each topic at each of some levels, the nonrelevant among them, as in `tally_of`;
    shape (topic, level).

    Examples
    --------
    >>> from bayespool import load_example
    >>> example = load_example()
    >>> judged_at_levels(example, (0, 1), example.relevance)[:2].tolist()
    [[32, 18], [64, 5]]
    """
    judged = np.flatnonzero(relevance >= 0)
    at = place_of_level(relevance[judged], levels)
    n = np.zeros((len(collection.query_ids), len(levels)), dtype=np.int64)
    np.add.at(n, (collection.pair_topic[judged], at), 1)
    return n


def place_of_level(relevance: npt.NDArray[np.int16], levels: Sequence[int]) -> npt.NDArray[np.intp]:
    """Place of the highest level that each relevance reaches; −1 without a judgment."""
    return np.searchsorted(levels, relevance, side="right") - 1


def n_in_reach(
    collection: Collection, index: npt.NDArray[np.intp], depth: int, estimand: Estimand
) -> npt.NDArray[np.int64]:
    """Unjudged documents of each topic that any of the runs has within reach, shape (topic,)."""
    pairs = _pairs_in_reach(collection, index, depth, estimand)
    unjudged = pairs[collection.relevance[pairs] < 0]
    return np.bincount(collection.pair_topic[unjudged], minlength=len(collection.query_ids))


def tally_within_reach(
    collection: Collection,
    fuller: Collection,
    run_ids: Sequence[str],
    measure: Measure,
    estimand: Estimand = "complete",
) -> Tally | None:
    """What ideal rankings are made of once documents within reach of some runs are judged.

    Parameters
    ----------
    collection : Collection
        Whose runs are scored on the judgments that it has.
    fuller : Collection
        The same rankings with more judgments.
    run_ids : sequence of str
    measure : Measure
    estimand : {"complete", "pooled"}

    Returns
    -------
    Tally or None
        Of the collection's judgments, and of the fuller ones on documents that a run has within reach: what a
        completion estimates. With the ideal of the present judgments, of the collection's alone. None for a
        measure that has no ideal ranking.
    """
    if not isinstance(measure, Normalized):
        return None
    relevance = collection.relevance.copy()
    if measure.ideal == "completed":
        index = collection.run_index(tuple(run_ids))
        pairs = _pairs_in_reach(collection, index, reach_of_ideal(collection, measure), estimand)
        relevance[pairs] = fuller.relevance[pairs]
    return tally_of(collection, relevance_levels(fuller, measure), relevance=relevance)


def _pairs_in_reach(
    collection: Collection, index: npt.NDArray[np.intp], depth: int, estimand: Estimand
) -> IntArray:
    reach = reach_of(collection, index, depth, estimand)
    document = collection.document[index, :, : int(reach.max(initial=0))]
    within = np.arange(document.shape[2]) < reach[:, None, None]
    return np.unique(document[(document >= 0) & within])
