"""Documents in ideal rankings: judged ones, and unjudged ones within reach of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np
import numpy.typing as npt

from bayespool.arrays import AnyArray, BoolArray, IndexArray, IntArray, LevelArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.rankings import Rankings, ranked
from bayespool.errors import InputError, known_names
from bayespool.measures import Measure, Normalized, Tally, Values
from bayespool.measures.base import MISSING_RANK, n_relevant
from bayespool.names import Estimand as Estimand

NONRELEVANT, RELEVANT, UNJUDGED_STATE, MISSING, BELOW = range(5)


def states(relevance: AnyArray, rel: int, given: int = 0) -> npt.NDArray[np.int8]:
    """Return each document's state: unjudged, relevant, nonrelevant, or judged below ``given``.

    Shape (pair,).
    """
    judged = np.where(relevance >= rel, RELEVANT, np.where(relevance >= given, NONRELEVANT, BELOW))
    return np.where(relevance < 0, UNJUDGED_STATE, judged).astype(np.int8)


def top_states(
    table: npt.NDArray[np.int8], document: IntArray | Rankings, index: OrderArray, cutoffs: tuple[int, ...]
) -> npt.NDArray[np.int8]:
    """Return the states of top-ranked documents, looked up in a table from `states`, (run, topic, rank)."""
    return np.append(table, np.int8(MISSING))[document[index, :, : max(cutoffs)]]


def count_within(mask: BoolArray, cutoffs: tuple[int, ...]) -> IntArray:
    """Return the number of True entries within each cutoff along the last axis, shape (…, cutoff)."""
    depth = mask.shape[-1]
    if depth == 0:
        return np.zeros((*mask.shape[:-1], len(cutoffs)), dtype=np.int32)
    counted = np.cumsum(mask, axis=-1, dtype=np.int32)
    return counted[..., [min(n, depth) - 1 for n in cutoffs]]


def check_cutoffs(cutoffs: int | Sequence[int]) -> tuple[int, ...]:
    """Return cutoffs as a tuple, or raise `InputError` if one is below 1."""
    values = tuple(int(n) for n in np.atleast_1d(np.asarray(cutoffs)))
    if not values or min(values) < 1:
        raise InputError(f"cutoffs {values}: give at least one, each 1 or more")
    return values


def check_estimand(collection: Collection, estimand: Estimand) -> None:
    """Raise `InputError` for an unknown estimand, or for ``"pooled"`` without a pool depth."""
    if estimand not in get_args(Estimand):
        raise InputError(f"no estimand {estimand!r}", hint=known_names(estimand, get_args(Estimand)))
    if estimand == "pooled" and collection.pool_depth < 1:  # all unjudged documents would be nonrelevant
        raise InputError(
            "the pooled estimand needs a pool depth and none is known",
            hint="give the pooled runs, or ask for the complete estimand",
        )


def open_ranks(collection: Collection, index: OrderArray, depth: int, estimand: Estimand) -> BoolArray:
    """Return whether the document at each rank is unjudged and may be relevant, (run, topic, rank)."""
    document = collection.document[index, :, :depth]
    reach = run_reach(collection, index, depth, estimand)
    opened = np.append(collection.may_be_relevant, False)[document]
    return np.asarray(opened & (np.arange(document.shape[2]) < reach[:, None, None]))


def run_reach(collection: Collection, index: OrderArray, cutoff: int, estimand: Estimand) -> IntArray:
    """Return each run's largest rank at which an unjudged document may be relevant, shape (run,)."""
    if estimand == "pooled":
        return np.asarray(np.minimum(collection.run_depths(index), cutoff), dtype=np.int32)
    return np.full(len(index), cutoff, dtype=np.int32)


MAX_IDEAL_DEPTH = 100
"""Maximum rank at which documents are completed for ideal rankings only.

Few documents ranked below it are relevant.
"""


def ideal_reach(collection: Collection, measure: Measure) -> int:
    """Return the largest rank at which documents are completed for ideal rankings.

    The pool depth, from the cutoff to 100.
    """
    if not isinstance(measure, Normalized) or measure.ideal == "judged":
        return measure.cutoff
    return max(measure.cutoff, min(collection.pool_depth, MAX_IDEAL_DEPTH))


def relevance_levels(collection: Collection, measure: Measure) -> tuple[int, ...]:
    """Return the judged relevance levels with 0 and at least one level relevant to the measure, ascending."""
    levels = collection.levels
    return (0, *levels) if levels and levels[-1] >= measure.rel else (0, *levels, measure.rel)


def judged_tally(
    collection: Collection, levels: Sequence[int], *, relevance: LevelArray | None = None
) -> Tally:
    """Return the number of judged documents per topic and level, without level 0, (topic, level).

    A document between two levels counts for the lower one.
    """
    relevance = collection.relevance if relevance is None else relevance
    return Tally(judged_at_levels(collection, levels, relevance)[:, 1:], tuple(levels[1:]))


def n_relevant_documents(collection: Collection, rel: int = 1) -> int:
    """Return the number of documents judged with relevance ``rel`` or more, over all topics."""
    return int(n_relevant(judged_tally(collection, (0, *collection.levels)), rel).sum())


def judged_at_levels(collection: Collection, levels: Sequence[int], relevance: LevelArray) -> IndexArray:
    """Return the number of judged documents per topic and level, including level 0, (topic, level)."""
    judged = np.flatnonzero(relevance >= 0)
    at = level_index(relevance[judged], levels)
    n = np.zeros((len(collection.query_ids), len(levels)), dtype=np.int64)
    np.add.at(n, (collection.pair_topic[judged], at), 1)
    return n


def level_index(relevance: LevelArray, levels: Sequence[int]) -> OrderArray:
    """Return the index of the highest level that each relevance reaches, −1 if unjudged.

    Shape (pair,).
    """
    return np.searchsorted(levels, relevance, side="right") - 1


def n_in_reach(
    collection: Collection, index: OrderArray, measure: Normalized, estimand: Estimand
) -> IndexArray:
    """Return the number of unjudged documents that may be part of each run's ideal ranking.

    Shape (run, topic).
    """
    n_topics = len(collection.query_ids)
    n = np.zeros((len(index), n_topics), dtype=np.int64)
    for rows, pairs in _pairs_of_ideals(collection, index, measure, estimand):
        unjudged = pairs[collection.may_be_relevant[pairs]]
        n[rows] = np.bincount(collection.pair_topic[unjudged], minlength=n_topics)
    return n


def have_same_ideal(
    collection: Collection,
    index: OrderArray,
    measure: Normalized,
    estimand: Estimand,
    pairs: tuple[OrderArray, OrderArray],
) -> BoolArray:
    """Return whether two runs' ideals have the same unjudged documents, shape (pair of runs, topic)."""
    n_topics = len(collection.query_ids)
    mark = np.random.default_rng(0).random(len(collection.relevance)) * collection.may_be_relevant
    summed = np.zeros((len(index), n_topics))  # of marks in order of documents: equal sums, equal documents
    for rows, documents in _pairs_of_ideals(collection, index, measure, estimand):
        documents = np.sort(documents)
        summed[rows] = np.bincount(collection.pair_topic[documents], mark[documents], minlength=n_topics)
    return np.asarray(summed[pairs[0]] == summed[pairs[1]])


def tally_within_reach(
    collection: Collection,
    fuller: Collection,
    run_ids: Sequence[str],
    measure: Measure,
    estimand: Estimand = "complete",
) -> Tally | None:
    """Return the tally for ideal rankings, with documents within reach judged as in ``fuller``.

    Shape (run, topic, level).
    """
    # judged documents of the collection, and of those that ``fuller`` judges the run's own, those of any of
    # the runs, or none, by the measure's ``ideal``
    if not isinstance(measure, Normalized):
        return None
    index, levels = collection.run_index(tuple(run_ids)), relevance_levels(fuller, measure)
    n_topics, n_levels = len(collection.query_ids), len(levels)
    judged = judged_tally(collection, levels)
    n = np.repeat(judged.n[None], len(index), axis=0)
    for rows, pairs in _pairs_of_ideals(collection, index, measure, estimand):
        new = pairs[(collection.relevance[pairs] < 0) & (fuller.relevance[pairs] >= 0)]
        place = level_index(fuller.relevance[new], levels)
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
    """Return scores on fuller judgments, using ideal rankings from `tally_within_reach`, (run, topic)."""
    ranked = ranked_levels(fuller, fuller.run_index(tuple(run_ids)), measure.cutoff)
    tally = tally_within_reach(collection, fuller, run_ids, measure, estimand)
    return measure.values(measure.read(ranked), tally)


def _pairs_of_ideals(
    collection: Collection, index: OrderArray, measure: Normalized, estimand: Estimand
) -> Iterator[tuple[slice, IntArray]]:
    """Yield slices of runs that share an ideal ranking, and the pair codes of its documents."""
    if measure.ideal == "judged":
        return
    reach = run_reach(collection, index, ideal_reach(collection, measure), estimand)
    document = collection.document[index, :, : int(reach.max(initial=0))]
    within = (document >= 0) & (np.arange(document.shape[2]) < reach[:, None, None])
    if measure.ideal == "shared":
        yield slice(None), np.unique(document[within])
        return
    for row in range(len(index)):
        yield slice(row, row + 1), document[row][within[row]]


def ranked_levels(collection: Collection, index: OrderArray, depth: int) -> LevelArray:
    """Return the relevance level at each rank of the runs, shape (run, topic, rank).

    −1 if unjudged, `MISSING_RANK` after the last.
    """
    return relevance_table(collection)[collection.document[index, :, :depth]]


def rank_tables(collection: Collection, runs: OrderArray) -> Iterator[tuple[int, IntArray]]:
    """Yield each run with its rank for every document, from 1, and 0 for documents not retrieved.

    One array, of shape (pair + 1,), serves all runs.
    """
    rank_of = np.zeros(len(collection.relevance) + 1, dtype=np.int32)
    for run in runs.tolist():
        document, ranks = ranked(collection.document, run)
        rank_of[document] = ranks + 1
        rank_of[-1] = 0
        yield run, rank_of
        rank_of[document] = 0


def relevance_table(collection: Collection) -> LevelArray:
    """Return each pair's relevance, −1 if unjudged, and last the missing-rank code, shape (pair + 1,)."""
    return np.append(np.maximum(collection.relevance, np.int16(-1)), np.int16(MISSING_RANK))
