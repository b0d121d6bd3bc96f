"""The documents of ideal rankings: judged ones, and those in reach of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.evidence.states import Estimand, reach_of
from bayespool.measures import Measure, Normalized, Tally, Values
from bayespool.measures.base import MISSING_RANK
from bayespool.measures.normalized import n_relevant

DEEPEST_FOR_IDEAL = 100
"""Rank beyond which no document is completed for the sake of an ideal ranking alone."""


def reach_of_ideal(collection: Collection, measure: Measure) -> int:
    """Down to which rank of a run completed documents are part of ideal rankings.

    Had the run been pooled, its documents down to the pool depth would have been judged. Beyond rank 100
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
    collection: Collection, index: npt.NDArray[np.intp], measure: Normalized, estimand: Estimand
) -> npt.NDArray[np.int64]:
    """Unjudged documents in reach that may be part of each run's ideal ranking, shape (run, topic)."""
    n_topics = len(collection.query_ids)
    n = np.zeros((len(index), n_topics), dtype=np.int64)
    for rows, pairs in _pairs_of_ideals(collection, index, measure, estimand):
        unjudged = pairs[collection.relevance[pairs] < 0]
        n[rows] = np.bincount(collection.pair_topic[unjudged], minlength=n_topics)
    return n


def tally_within_reach(
    collection: Collection,
    fuller: Collection,
    run_ids: Sequence[str],
    measure: Measure,
    estimand: Estimand = "complete",
) -> Tally | None:
    """The documents of ideal rankings once documents within reach of runs are judged.

    Parameters
    ----------
    collection : Collection
        With the judgments that an estimate is made from.
    fuller : Collection
        The same rankings with more judgments.
    run_ids : sequence of str
    measure : Measure
    estimand : {"complete", "pooled"}

    Returns
    -------
    Tally of shape (run, topic, level), or None
        Those that an estimate's ideal rankings have: judged in the collection, and of those in reach that the
        fuller judgments add the run's own, those of any of the runs, or none, as the measure's ``ideal``
        says. None for a measure without an ideal ranking.
    """
    if not isinstance(measure, Normalized):
        return None
    index, levels = collection.run_index(tuple(run_ids)), relevance_levels(fuller, measure)
    n_topics, n_levels = len(collection.query_ids), len(levels)
    judged = tally_of(collection, levels)
    n = np.repeat(judged.n[None], len(index), axis=0)
    for rows, pairs in _pairs_of_ideals(collection, index, measure, estimand):
        new = pairs[(collection.relevance[pairs] < 0) & (fuller.relevance[pairs] >= 0)]
        place = place_of_level(fuller.relevance[new], levels)
        counted = np.bincount(collection.pair_topic[new] * n_levels + place, minlength=n_topics * n_levels)
        n[rows] += counted.reshape(n_topics, n_levels)[:, 1:]
    return Tally(n, judged.levels)


def values_on_fuller(
    collection: Collection,
    fuller: Collection,
    run_ids: Sequence[str],
    measure: Measure,
    estimand: Estimand = "complete",
) -> Values:
    """Values of runs on fuller judgments, shape (run, topic): the truth of what is estimated from fewer.

    Parameters are those of `tally_within_reach`, which says what ideal rankings are.
    """
    ranked = ranked_levels(fuller, fuller.run_index(tuple(run_ids)), measure.cutoff)
    tally = tally_within_reach(collection, fuller, run_ids, measure, estimand)
    return measure.values(measure.read(ranked), tally)


def _pairs_of_ideals(
    collection: Collection, index: npt.NDArray[np.intp], measure: Normalized, estimand: Estimand
) -> Iterator[tuple[slice, IntArray]]:
    """Documents in reach that are part of ideal rankings: rows of runs that share them, with the pairs."""
    if measure.ideal == "judged":
        return
    reach = reach_of(collection, index, reach_of_ideal(collection, measure), estimand)
    document = collection.document[index, :, : int(reach.max(initial=0))]
    within = (document >= 0) & (np.arange(document.shape[2]) < reach[:, None, None])
    if measure.ideal == "shared":
        yield slice(None), np.unique(document[within])
        return
    for row in range(len(index)):
        yield slice(row, row + 1), document[row][within[row]]


def ranked_levels(collection: Collection, index: npt.NDArray[np.intp], depth: int) -> npt.NDArray[np.int16]:
    """Relevance of the first documents of runs, shape (run, topic, rank): −1 for an unjudged one,
    `bayespool.measures.base.MISSING_RANK` where there is none.
    """
    level: npt.NDArray[np.int16] = relevance_table(collection)[collection.document[index, :, :depth]]
    return level


def relevance_table(collection: Collection) -> npt.NDArray[np.int16]:
    """Relevance of each pair, −1 where it is unjudged; the last entry answers for −1, no document."""
    return np.append(np.maximum(collection.relevance, np.int16(-1)), np.int16(MISSING_RANK))
