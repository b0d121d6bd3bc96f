"""What a run does to the pooled runs when its ranks are imposed on them (Lipani et al. 2015)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.counts.states import (
    MISSING,
    NONRELEVANT,
    RELEVANT,
    check_cutoffs,
    count_within,
    states,
)
from bayespool.errors import InputError

__all__ = ["CompositionEffects", "composition_effects"]


@dataclass(frozen=True, eq=False)
class CompositionEffects:
    """What composing a run with the pooled runs does to them (Lipani et al. 2015, §3.2), averaged over the
    pooled runs.

    Attributes
    ----------
    delta_precision, delta_antiprecision : ndarray of float, shape (run, topic, cutoff)
        δP@n and δP̄@n of the composed pooled runs; their negative sum is δk̄@n.
    """

    run_ids: tuple[str, ...]
    cutoffs: tuple[int, ...]
    delta_precision: npt.NDArray[np.float64]
    delta_antiprecision: npt.NDArray[np.float64]


def composition_effects(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    alpha: float = 1.0,
) -> CompositionEffects:
    """Change of the pooled runs' precision and anti-precision when their documents move to the ranks that a
    run gives them.

    A pooled run r composed with the run u keeps its own documents; one that u retrieves at rank i and r at
    rank j moves to ``alpha·i + (1 − alpha)·j`` (Lipani et al. 2015, equation 2). On equal positions a
    document that only r has goes first, then r's own order decides.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        The runs u. A run is not composed with itself.
    cutoffs : int or sequence of int
    rel : int, default 1
    alpha : float in [0, 1], default 1
        0 leaves every pooled run as it is.

    Returns
    -------
    CompositionEffects
        Zeros where there is no pooled run, or on topics that the run misses.
    """
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha {alpha} is not between 0 and 1")
    cutoffs = check_cutoffs(cutoffs)
    index = collection.run_index(run_ids)
    table = np.append(states(collection.relevance, rel), np.int8(MISSING))
    shape = (len(index), len(collection.query_ids), len(cutoffs))
    delta_precision, delta_antiprecision = np.zeros(shape), np.zeros(shape)
    rank = np.arange(1, collection.document.shape[2] + 1, dtype=np.int32)
    rank_in_run = np.zeros(len(collection.relevance) + 1, dtype=np.int32)
    as_it_is = {
        r: _split(table[collection.document[r, :, : max(cutoffs)]], cutoffs)
        for r in np.flatnonzero(collection.pooled)
    }
    for row, u in enumerate(index):
        rank_in_run[:] = 0
        rank_in_run[collection.document[u]] = rank
        rank_in_run[-1] = 0
        pooled = [r for r in as_it_is if r != u]
        for r in pooled:
            document = collection.document[r]
            composed = _composed(document, rank_in_run[document], alpha, max(cutoffs))
            relevant, nonrelevant = _split(table[composed], cutoffs)
            delta_precision[row] += (relevant - as_it_is[r][0]) / len(pooled)
            delta_antiprecision[row] += (nonrelevant - as_it_is[r][1]) / len(pooled)
    divisor = np.array(cutoffs)
    return CompositionEffects(
        tuple(collection.run_ids[i] for i in index),
        cutoffs,
        delta_precision / divisor,
        delta_antiprecision / divisor,
    )


def _split(state: npt.NDArray[np.int8], cutoffs: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    return count_within(state == RELEVANT, cutoffs), count_within(state == NONRELEVANT, cutoffs)


def _composed(document: IntArray, rank_in_run: IntArray, alpha: float, depth: int) -> IntArray:
    """The first ``depth`` documents of a composed run, shape (topic, rank).

    Position (in 2⁻²⁰ ranks), shared or not, and own rank are packed into one integer, whose order is the
    order asked for.
    """
    own = np.arange(document.shape[1], dtype=np.int64)
    shared = rank_in_run > 0
    position = np.where(
        shared, np.rint((alpha * rank_in_run + (1 - alpha) * (own + 1)) * 2**20), (own + 1) * 2**20
    )
    packed = (position.astype(np.int64) << 22) | (shared.astype(np.int64) << 21) | own
    packed[document < 0] = np.iinfo(np.int64).max
    depth = min(depth, document.shape[1])
    if depth < document.shape[1]:
        packed.partition(depth - 1, axis=1)
    first = np.sort(packed[:, :depth], axis=1)
    composed = np.take_along_axis(document, np.minimum(first & (2**21 - 1), document.shape[1] - 1), axis=1)
    composed[first == np.iinfo(np.int64).max] = -1
    return composed
