"""Composition of a run with pooled runs, which moves their documents toward its ranks.

Lipani et al. (2015).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IntArray, OrderArray
from bayespool.collection import Collection, rows
from bayespool.collection.copies import TOP_OF_OVERLAP, run_overlap
from bayespool.collection.rankings import blocks
from bayespool.compiled import compiled
from bayespool.errors import InputError
from bayespool.evidence.ideals import (
    MISSING,
    NONRELEVANT,
    RELEVANT,
    check_cutoffs,
    count_within,
    rank_tables,
    states,
)
from bayespool.validation import check_number


@dataclass(frozen=True, eq=False)
class CompositionEffects:
    """Changes in pooled runs' P@n and anti-precision after composition; their negative sum is that of k̄@n.

    Attributes
    ----------
    run_ids, pooled_run_ids : tuple of str
    cutoffs : tuple of int
    delta_precision, delta_antiprecision : ndarray of float, shape (run, topic, cutoff)
        ΔP and ΔP̄ on each topic: means over the pooled runs.
    single_precision, single_antiprecision : ndarray of float, shape (run, pooled run, cutoff)
        δP and δP̄ of each pooled run: means over topics; NaN of a run and itself.
    """

    run_ids: tuple[str, ...]
    pooled_run_ids: tuple[str, ...]
    cutoffs: tuple[int, ...]
    delta_precision: FloatArray
    delta_antiprecision: FloatArray
    single_precision: FloatArray
    single_antiprecision: FloatArray


def composition_effects(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    given: int = 0,
    alpha: float = 1.0,
) -> CompositionEffects:
    """Return changes in pooled runs' precision and anti-precision after composition with a run.

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

    Examples
    --------
    Composed with u (a, x, b) the pooled run p (a, b, x) is a, x, b, and q (b, c) is c, b: of p the unjudged x
    takes the place of b, which is not relevant, and of q the relevant c.

    >>> from bayespool import read_collection
    >>> runs = {"p": {"1": {"a": 3, "b": 2, "x": 1}}, "q": {"1": {"b": 2, "c": 1}}}
    >>> u, own = {"u": {"1": {"a": 3, "x": 2, "b": 1}}}, {"p": "north", "q": "south", "u": "west"}
    >>> qrels = {"1": {"a": 1, "b": 0, "c": 1}}
    >>> collection = read_collection(qrels, u, pool=runs, organizations=own, known_depth=2)
    >>> effects = composition_effects(collection, "u", cutoffs=[1, 2])
    >>> effects.single_precision[0].tolist(), effects.single_antiprecision[0].tolist()
    ([[0.0, 0.0], [1.0, 0.0]], [[0.0, -0.5], [-1.0, 0.0]])
    """
    check_number("alpha", alpha, least=0, most=1)
    cutoffs = check_cutoffs(cutoffs)
    index = collection.run_index(run_ids)
    table = np.append(states(collection.relevance, rel, given), np.int8(MISSING))
    pooled = np.flatnonzero(collection.pooled)
    original = collection.run_index(collection.originals(collection.run_ids[i] for i in index))
    parts = [  # all topics at once of a dense array
        (topics, rows(collection.document, pooled)[:, topics, :depth])
        for topics, depth in blocks(collection.document, np.union1d(pooled, index))
    ]
    uncomposed = [_split(table[document[:, :, : max(cutoffs)]], cutoffs) for _, document in parts]
    n_topics = len(collection.query_ids)
    mean = np.zeros((2, len(index), n_topics, len(cutoffs)))
    single = np.zeros((2, len(index), len(pooled), len(cutoffs)))
    for row, (_, rank_in_run) in enumerate(rank_tables(collection, index)):
        n_others = np.count_nonzero(pooled != original[row])
        if n_others == 0:
            continue
        for (topics, document), before_parts in zip(parts, uncomposed, strict=True):
            state = (
                _composed_at_whole_ranks(document, rank_in_run, table, max(cutoffs))
                if alpha == 1
                else table[_composed(document, rank_in_run, alpha, max(cutoffs))]
            )
            for kind, (after, before) in enumerate(zip(_split(state, cutoffs), before_parts, strict=True)):
                changed = after - before  # composed with itself a run does not change
                mean[kind, row, topics] = changed.sum(axis=0) / n_others
                single[kind, row] += changed.sum(axis=1)
    single[:, original[:, None] == pooled] = np.nan
    divisor = np.array(cutoffs)
    return CompositionEffects(
        tuple(collection.run_ids[i] for i in index),
        tuple(collection.run_ids[i] for i in pooled),
        cutoffs,
        *(mean / divisor),
        *(single / (n_topics * divisor)),
    )


def _split(state: npt.NDArray[np.int8], cutoffs: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Return numbers of relevant and nonrelevant documents per cutoff, each (run, topic, cutoff)."""
    return count_within(state == RELEVANT, cutoffs), count_within(state == NONRELEVANT, cutoffs)


@compiled
def _composed_at_whole_ranks(
    document: IntArray, rank_in_run: IntArray, table: npt.NDArray[np.int8], depth: int
) -> npt.NDArray[np.int8]:
    """Return states of the top ``depth`` documents after composition of runs with α = 1.

    Shape (run, topic, rank).
    """
    # without sorting: at each whole rank at most one document stays and one arrives
    n_runs, n_topics, n_ranks = document.shape
    depth = min(depth, n_ranks)
    composed = np.full((n_runs, n_topics, depth), MISSING, dtype=np.int8)
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
    return composed


def _composed(document: IntArray, rank_in_run: IntArray, alpha: float, depth: int) -> IntArray:
    """Return the top ``depth`` documents after composition of runs, shape (run, topic, rank)."""
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


@dataclass(frozen=True, slots=True)
class RunCluster:
    """Cluster of pooled runs that retrieve similar documents.

    Attributes
    ----------
    name : str
        ``cluster 1`` is the largest.
    run_ids : tuple of str
        In the order of the collection.
    organizations : tuple of str
        Of each of the runs.
    stays : str
        Why it cannot be left out of the pool; empty if it can.
    """

    name: str
    run_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    stays: str = ""


def cluster_runs(collection: Collection, n_clusters: int = 5) -> tuple[RunCluster, ...]:
    """Cluster pooled runs by the documents that they retrieve, largest cluster first.

    Parameters
    ----------
    collection : Collection
        Its pooled runs are clustered; judgments do not matter.
    n_clusters : int, default 5
        How many, or fewer where joins are tied.

    Returns
    -------
    tuple of RunCluster

    Raises
    ------
    InputError
        No pooled run, or ``n_clusters`` below 2.

    Notes
    -----
    Average linkage of 1 − `bayespool.collection.copies.run_overlap`. All joins up to a distance are made, and
    ties ordered by the retrieved documents, not by names of runs. A cluster can be left out if it has at
    least two and at most three quarters of the runs, and the others are of two organizations or more, which a
    posterior needs. An organization may have runs in several clusters.

    Examples
    --------
    >>> from bayespool import load_example
    >>> for cluster in cluster_runs(load_example(), 3):
    ...     print(cluster.name, len(cluster.run_ids), sorted(set(cluster.organizations)))
    cluster 1 15 ['coast', 'delta', 'north', 'ridge', 'south', 'west']
    cluster 2 4 ['lake']
    cluster 3 2 ['east']
    """
    if n_clusters < 2:
        raise InputError(f"{n_clusters} clusters leave no run in the pool", hint="2 or more")
    index = np.flatnonzero(collection.pooled)
    if not len(index):
        raise InputError("no pooled run to make clusters of", hint="give the campaign's runs as the pool")
    top = collection.document[index, :, :TOP_OF_OVERLAP].reshape(len(index), -1)
    order = np.lexsort(top.T[::-1])  # equal runs tie, and may come in either order
    label = np.empty(len(index), dtype=np.intp)
    label[order] = _cluster_numbers(1 - run_overlap(collection, index[order]), n_clusters)
    first = {int(c): int(np.flatnonzero(label[order] == c)[0]) for c in np.unique(label)}
    largest_first = sorted(first, key=lambda c: (-int((label == c).sum()), first[c]))
    clusters = []
    for number, c in enumerate(largest_first, 1):
        members = index[label == c]
        clusters.append(
            RunCluster(
                f"cluster {number}",
                tuple(collection.run_ids[i] for i in members),
                tuple(collection.organizations[o] for o in collection.organization[members]),
                _reason_to_stay(collection, members),
            )
        )
    return tuple(clusters)


def _cluster_numbers(distance: FloatArray, n_clusters: int) -> OrderArray:
    """Return each run's cluster number from average-linkage clustering, shape (run,)."""
    if len(distance) < 2:
        return np.zeros(len(distance), dtype=np.intp)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    np.fill_diagonal(distance, 0)
    joins = linkage(squareform(distance), method="average")
    joins[:, 2] = np.round(joins[:, 2], 12)  # restore ties that rounding broke
    n_needed = len(distance) - n_clusters
    furthest = joins[n_needed - 1, 2] if n_needed > 0 else 0.0
    return np.asarray(fcluster(joins, furthest, criterion="distance"), dtype=np.intp)


def _reason_to_stay(collection: Collection, members: OrderArray) -> str:
    others = np.setdiff1d(np.flatnonzero(collection.pooled), members)
    if len(members) < 2:
        return "a single run"
    if len(members) > 3 * len(others):
        return "more than three quarters of the runs"
    if len(np.unique(collection.organization[others])) < 2:
        return "without it the pool would be of one organization"
    return ""
