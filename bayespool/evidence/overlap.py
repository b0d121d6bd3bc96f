"""Overlap of runs, shares of common documents among their first ten, and clusters of runs that are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError

TOP_OF_OVERLAP = 10
"""Number of top ranks that are compared."""

_COMMON_MULTIPLE = 2520  # of the lengths 1 to 10, so that overlaps are exact


def run_overlap(collection: Collection, run_index: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Shares of common documents in the top ten of each pair of runs, shape (run, run).

    Means over topics, between 0 and 1, symmetric. On a topic the number of common documents over ten, or over
    the length of the longer ranking where both are shorter. A topic that one of the runs lacks counts 0;
    topics that both lack do not count. Two runs without documents have the overlap 1.

    Parameters
    ----------
    collection : Collection
    run_index : ndarray of int, shape (run,)
    """
    n_runs = len(run_index)
    shared, n_topics = np.zeros((2, n_runs, n_runs), dtype=np.int64)
    for t in range(len(collection.query_ids)):
        top = collection.document[run_index, t, :TOP_OF_OVERLAP]
        documents, column = np.unique(top, return_inverse=True)
        has = np.zeros((n_runs, len(documents)), dtype=np.float32)
        has[np.arange(n_runs)[:, None], column.reshape(top.shape)] = 1
        has = has[:, documents >= 0]
        length = has.sum(axis=1)
        longer = np.maximum(length[:, None], length).astype(np.int64)
        shared += (has @ has.T).astype(np.int64) * (_COMMON_MULTIPLE // np.maximum(longer, 1))
        n_topics += longer > 0
    share: npt.NDArray[np.float64] = shared / (_COMMON_MULTIPLE * np.maximum(n_topics, 1))
    return np.where(n_topics > 0, share, 1.0)


@dataclass(frozen=True, slots=True)
class RunCluster:
    """Pooled runs that retrieve alike.

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
    """Cluster the pooled runs by the documents they retrieve, the largest cluster first.

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
    Average linkage of 1 − `bayespool.evidence.run_overlap`. All joins up to a distance are made, and ties
    ordered by the retrieved documents, not by names of runs. A cluster can be left out if it has at least two
    and at most three quarters of the runs, and the others are of two organizations or more, which a posterior
    needs.
    An organization may have runs in several clusters.

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


def _cluster_numbers(distance: npt.NDArray[np.float64], n_clusters: int) -> npt.NDArray[np.intp]:
    """Number of the cluster of each run, shape (run,), by average linkage of distances of shape (run,
    run).
    """
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


def _reason_to_stay(collection: Collection, members: npt.NDArray[np.intp]) -> str:
    others = np.setdiff1d(np.flatnonzero(collection.pooled), members)
    if len(members) < 2:
        return "a single run"
    if len(members) > 3 * len(others):
        return "more than three quarters of the runs"
    if len(np.unique(collection.organization[others])) < 2:
        return "without it the pool would be of one organization"
    return ""
