"""Ranks of documents in runs, found once for each document and kept for the pooled runs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.rankings import entries
from bayespool.compiled import compiled


class PooledRanks:
    """Table with ranks of documents in the pooled runs of a collection, filled as documents are asked for.

    Parameters
    ----------
    collection : Collection

    Attributes
    ----------
    runs : ndarray of int, shape (run,)
        Positions of the pooled runs.
    """

    # It has no reference to its collection, which would never be freed.
    def __init__(self, collection: Collection) -> None:
        self.runs = np.flatnonzero(collection.pooled)
        self._row = np.full(len(collection.relevance) + 1, -1, dtype=np.int32)
        self._ranks = np.zeros((0, len(self.runs)), dtype=_rank_type(collection))
        self._n_rows = 0

    def of(self, collection: Collection, pair: npt.NDArray[np.integer]) -> IntArray:
        """Return ranks from 1 for documents, 0 if not retrieved, shape (document, run)."""
        asked = np.zeros(len(self._row), dtype=np.bool_)
        asked[pair] = True
        if not self._n_rows:  # judged ones are asked for several times, and each search goes through all runs
            asked[:-1] |= collection.judged
        new = np.flatnonzero(asked & (self._row < 0))
        if len(new):
            first, self._n_rows = self._n_rows, self._n_rows + len(new)
            if self._n_rows > len(self._ranks):
                larger = np.zeros((max(self._n_rows, 2 * first), len(self.runs)), dtype=self._ranks.dtype)
                larger[:first] = self._ranks[:first]
                self._ranks = larger
            self._ranks[first : self._n_rows] = find_ranks(collection, self.runs, new)
            self._row[new] = np.arange(first, self._n_rows, dtype=np.int32)
        return np.asarray(self._ranks[self._row[pair]])


def pooled_ranks(collection: Collection, pair: npt.NDArray[np.integer]) -> IntArray:
    """Return ranks from 1 for documents in the pooled runs, 0 if not retrieved, shape (document, run)."""
    return collection.memo.once("pooled ranks", lambda: PooledRanks(collection)).of(collection, pair)


def find_ranks(collection: Collection, runs: OrderArray, pair: npt.NDArray[np.integer]) -> IntArray:
    """Return ranks from 1 for documents in runs, 0 if not retrieved, shape (document, run)."""
    asked, place = np.unique(pair, return_inverse=True)
    row = np.full(len(collection.relevance) + 1, -1, dtype=np.int32)
    row[asked] = np.arange(len(asked), dtype=np.int32)
    ranks = np.zeros((len(asked), len(runs)), dtype=_rank_type(collection))
    values, start = entries(collection.document)
    _fill(values, start[runs], collection.length[runs].astype(np.int64), row, ranks)
    return np.asarray(ranks if len(asked) == len(pair) and (asked == pair).all() else ranks[place])


def _rank_type(collection: Collection) -> type[np.signedinteger]:
    return np.int16 if collection.document.shape[2] <= np.iinfo(np.int16).max else np.int32


def rank_gains(collection: Collection) -> FloatArray:
    """Return 1/log₂(1 + rank) by rank from 0, which stands for a document not retrieved and has 0."""
    return np.append(0.0, 1 / np.log2(np.arange(2, collection.document.shape[2] + 2)))


@compiled
def _fill(values: IntArray, start: IndexArray, n: IndexArray, row: IntArray, ranks: IntArray) -> None:
    """Fill in the ranks of documents that have a row, for each run, shape (document, run)."""
    for r in range(start.shape[0]):
        for t in range(start.shape[1]):
            for k in range(n[r, t]):
                there = row[values[start[r, t] + k]]
                if there >= 0:
                    ranks[there, r] = k + 1
