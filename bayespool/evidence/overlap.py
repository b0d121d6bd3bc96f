"""How alike runs retrieve: shares of common documents among their first ten."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection

TOP_OF_OVERLAP = 10
"""How many ranks of each run are compared."""

_UNIT = 2520  # every length of a ranking up to ten divides it, so that overlaps are exact


def run_overlap(collection: Collection, run_index: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Shares of common documents in the top ten of each two runs, means over topics, shape (run, run).

    Parameters
    ----------
    collection : Collection
    run_index : ndarray of int, shape (run,)

    Returns
    -------
    ndarray of float
        Between 0 and 1, symmetric. On a topic the number of documents that both have among their first ten,
        over ten, or over the length of the longer ranking where both are shorter. A topic that one of them
        lacks counts 0. Topics that both lack do not count; two runs without any document are alike.
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
        shared += (has @ has.T).astype(np.int64) * (_UNIT // np.maximum(longer, 1))
        n_topics += longer > 0
    share: npt.NDArray[np.float64] = shared / (_UNIT * np.maximum(n_topics, 1))
    return np.where(n_topics > 0, share, 1.0)
