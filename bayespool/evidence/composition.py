"""Composition of a run with the pooled runs, whose documents move to its ranks (Lipani et al. 2015)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import IntArray
from bayespool.collection import Collection, rows
from bayespool.collection.rankings import blocks, ranked
from bayespool.compiled import compiled
from bayespool.errors import InputError
from bayespool.evidence.states import MISSING, NONRELEVANT, RELEVANT, check_cutoffs, count_within, states


@dataclass(frozen=True, eq=False)
class CompositionEffects:
    """Mean δP@n and δP̄@n of the pooled runs composed with a run, shape (run, topic, cutoff)."""

    run_ids: tuple[str, ...]
    cutoffs: tuple[int, ...]
    delta_precision: npt.NDArray[np.float64]
    delta_antiprecision: npt.NDArray[np.float64]  # the negative sum of both is δk̄@n


def composition_effects(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    given: int = 0,
    alpha: float = 1.0,
) -> CompositionEffects:
    """Change of the pooled runs' precision and anti-precision when composed with a run.

    A pooled run r composed with the run u keeps its own documents; one that u retrieves at rank i and r at
    rank j moves to ``alpha·i + (1 − alpha)·j`` (Lipani et al. 2015, equation 2). On equal positions a
    document that only r has goes first, then r's own order decides. Effects are zeros where there is no
    pooled run, or on topics that the run misses.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        The runs u. A run is not composed with itself.
    cutoffs : int or sequence of int
    rel : int, default 1
    given : int, default 0
        Smallest relevance of documents that count among judged ones.
    alpha : float in [0, 1], default 1
        0 leaves every pooled run unchanged.
    """
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha {alpha} is not between 0 and 1")
    cutoffs = check_cutoffs(cutoffs)
    index = collection.run_index(run_ids)
    table = np.append(states(collection.relevance, rel, given), np.int8(MISSING))
    pooled = np.flatnonzero(collection.pooled)
    parts = [  # all topics at once of a dense array
        (topics, rows(collection.document, pooled)[:, topics, :depth])
        for topics, depth in blocks(collection.document, np.union1d(pooled, index))
    ]
    uncomposed = [_split(table[document[:, :, : max(cutoffs)]], cutoffs) for _, document in parts]
    shape = (len(index), len(collection.query_ids), len(cutoffs))
    delta_precision, delta_antiprecision = np.zeros(shape), np.zeros(shape)
    rank_in_run = np.zeros(len(collection.relevance) + 1, dtype=np.int32)
    for row, u in enumerate(index):
        n_others = np.count_nonzero(pooled != u)
        if n_others == 0:
            continue
        own, rank = ranked(collection.document, u)
        rank_in_run[own] = rank + 1
        rank_in_run[-1] = 0
        for (topics, document), before_parts in zip(parts, uncomposed, strict=True):
            state = (
                _composed_at_whole_ranks(document, rank_in_run, table, max(cutoffs))
                if alpha == 1
                else table[_composed(document, rank_in_run, alpha, max(cutoffs))]
            )
            for delta, after, before in zip(
                (delta_precision, delta_antiprecision), _split(state, cutoffs), before_parts, strict=True
            ):
                changed = (after - before).sum(axis=0)  # composed with itself a run does not change
                delta[row, topics] = changed / n_others
        rank_in_run[own] = 0
    divisor = np.array(cutoffs)
    return CompositionEffects(
        tuple(collection.run_ids[i] for i in index),
        cutoffs,
        delta_precision / divisor,
        delta_antiprecision / divisor,
    )


def _split(state: npt.NDArray[np.int8], cutoffs: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Relevant and nonrelevant documents within each cutoff, each of shape (run, topic, cutoff)."""
    return count_within(state == RELEVANT, cutoffs), count_within(state == NONRELEVANT, cutoffs)


def _composed_at_whole_ranks(
    document: IntArray, rank_in_run: IntArray, table: npt.NDArray[np.int8], depth: int
) -> npt.NDArray[np.int8]:
    """States of the first ``depth`` documents of runs composed with α = 1, shape (run, topic, rank)."""
    composed = np.full((*document.shape[:2], depth), MISSING, dtype=np.int8)
    _fill_at_whole_ranks(document, rank_in_run, table, composed)
    return composed


@compiled
def _fill_at_whole_ranks(
    document: IntArray, rank_in_run: IntArray, table: npt.NDArray[np.int8], composed: npt.NDArray[np.int8]
) -> None:
    """Fill ``composed`` without sorting: at each whole rank at most one document stays and one arrives."""
    n_runs, n_topics, n_ranks = document.shape
    depth = composed.shape[2]
    arriving = np.empty(n_ranks, dtype=np.int32)
    stays = np.empty(n_ranks, dtype=np.bool_)
    for t in range(n_topics):  # outside: the ranks of one topic's documents stay in the processor's cache
        for r in range(n_runs):
            arriving[:] = -1
            for j in range(n_ranks):
                pair = document[r, t, j]
                rank = 0 if pair < 0 else rank_in_run[pair]
                stays[j] = pair >= 0 and rank == 0
                if rank > 0:
                    arriving[rank - 1] = pair
            filled = 0
            for j in range(n_ranks):
                if stays[j]:
                    composed[r, t, filled] = table[document[r, t, j]]
                    filled += 1
                if arriving[j] >= 0 and filled < depth:
                    composed[r, t, filled] = table[arriving[j]]
                    filled += 1
                if filled >= depth:
                    break


def _composed(document: IntArray, rank_in_run: IntArray, alpha: float, depth: int) -> IntArray:
    """First ``depth`` documents of composed runs, shape (run, topic, rank)."""
    # position (in 2⁻²⁰ ranks), shared or not, and own rank in one integer that sorts by equation 2
    own = np.arange(document.shape[2], dtype=np.int64)
    depth = min(depth, document.shape[2])
    composed = np.empty((*document.shape[:2], depth), dtype=np.int32)
    for r, ranking in enumerate(document):  # one at a time: bounds the memory
        rank = rank_in_run[ranking]
        position = np.where(
            rank > 0, np.rint((alpha * rank + (1 - alpha) * (own + 1)) * 2**20), (own + 1) * 2**20
        )
        packed = (position.astype(np.int64) << 22) | ((rank > 0).astype(np.int64) << 21) | own
        packed[ranking < 0] = np.iinfo(np.int64).max
        packed = np.sort(np.partition(packed, depth - 1, axis=1)[:, :depth], axis=1)
        place = np.minimum(packed & (2**21 - 1), document.shape[2] - 1)
        composed[r] = np.take_along_axis(ranking, place, axis=1)
        composed[r][packed == np.iinfo(np.int64).max] = -1
    return composed
