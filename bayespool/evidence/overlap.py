"""Overlap of runs: shares of common documents among their first ten."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection

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
