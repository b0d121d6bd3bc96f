"""Rankings of the contributing runs on one topic, the input of a strategy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.collection.rankings import longest
from bayespool.errors import InputError
from bayespool.randomness import document_keys

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Retrieved:
    """Rankings of one topic, its documents numbered from 0 in the order of their ids.

    Attributes
    ----------
    query_id : str
    pair : ndarray of int32, shape (document,)
        Pair code of each document in the collection.
    document : ndarray of int32, shape (run, rank)
        Numbers of documents from the first rank down, −1 where a run has ended.
    score : ndarray of float32, shape (run, rank), or None
        Scores of the runs, NaN where a run has ended; None where the collection has none.
    lot : ndarray of float, shape (document,)
        A number in [0, 1) that breaks ties. It depends only on seed, topic and document id.
    """

    query_id: str
    pair: IntArray
    document: IntArray
    score: npt.NDArray[np.float32] | None
    lot: FloatArray

    def __post_init__(self) -> None:
        """Refuse a gap in a ranking, since strategies read a run to its first −1."""
        if ((self.document[:, 1:] >= 0) & (self.document[:, :-1] < 0)).any():
            raise InputError(f"topic {self.query_id}: a ranking goes on after it has ended")

    def __len__(self) -> int:
        return len(self.pair)

    @cached_property
    def rank(self) -> IntArray:
        """Rank of each document in each run from 1, 0 if not retrieved; shape (run, document)."""
        rank = np.zeros((len(self.document), len(self) + 1), dtype=np.int32)
        ranks = np.arange(1, self.document.shape[1] + 1, dtype=np.int32)
        np.put_along_axis(rank, self.document, np.where(self.document >= 0, ranks, 0), axis=1)
        return rank[:, :-1]

    @cached_property
    def best_rank(self) -> IntArray:
        """Smallest rank of each document, shape (document,)."""
        best = np.empty(len(self) + 1, dtype=np.int32)
        n_runs, deepest = self.document.shape  # the last rank written stays, the smallest
        best[self.document.T[::-1].ravel()] = np.repeat(np.arange(deepest, 0, -1, dtype=np.int32), n_runs)
        return best[:-1]

    @cached_property
    def by_best_rank(self) -> IntArray:
        """Documents by best rank, of equals the smaller lot first, shape (document,)."""
        return np.lexsort((self.lot, self.best_rank)).astype(np.int32)

    @cached_property
    def length(self) -> IntArray:
        """Number of documents that each run retrieves, shape (run,)."""
        length: IntArray = (self.document >= 0).sum(axis=1, dtype=np.int32)
        return length

    def scores(self) -> npt.NDArray[np.float32]:
        """Scores of the runs, shape (run, rank).

        Raises
        ------
        InputError
            The collection has none.
        """
        if self.score is None:
            raise InputError(
                "this pooling strategy needs the scores of the runs",
                hint="read the collection with scores=True",
            )
        return self.score

    def total(self, weight: FloatArray) -> FloatArray:
        """Sum over the runs that retrieve a document of the weight of its rank in each.

        Weights are added from the first rank down, so that documents of the same ranks have exactly the same
        total, whichever runs they are from.

        Parameters
        ----------
        weight : ndarray of float, shape (rank,)
            From rank 1.

        Returns
        -------
        ndarray of float, shape (document,)
        """
        is_ranked = self.document.T >= 0
        weights = np.broadcast_to(weight[:, None], is_ranked.shape)[is_ranked]
        total = np.bincount(self.document.T[is_ranked], weights=weights, minlength=len(self))
        return np.asarray(total, dtype=np.float64)

    @cached_property
    def postings(self) -> tuple[npt.NDArray[np.int64], IntArray, IntArray]:
        """Runs and ranks by document: document d's are ``start[d]`` to ``start[d + 1]``.

        Returns
        -------
        start : ndarray of int, shape (document + 1,)
        run, rank : ndarray of int32
            Numbers of runs, ascending, and their ranks of the document from 1.
        """
        run, place = np.nonzero(self.document >= 0)
        document = self.document[run, place]
        by_document = np.argsort(document, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(document, minlength=len(self)))).astype(np.int64)
        return start, run[by_document].astype(np.int32), (place[by_document] + 1).astype(np.int32)


def retrieved_by(
    collection: Collection,
    run_index: npt.NDArray[np.intp],
    *,
    depth: int | None = None,
    random_seed: int = 1,
) -> Iterator[Retrieved]:
    """Yield what runs retrieved on each topic of the collection, down to a depth; empty where nothing is
    retrieved.

    Examples
    --------
    >>> import numpy as np
    >>> from bayespool import load_example
    >>> example = load_example()
    >>> first = next(retrieved_by(example, np.flatnonzero(example.pooled), depth=10))
    >>> first.document.shape, len(first)
    ((21, 10), 50)
    """
    last = longest(collection.document, run_index)
    for t, query_id in enumerate(collection.query_ids):
        top = slice(last[t] if depth is None else min(depth, last[t]))
        of_topic = collection.document[run_index, t, top]
        pair = np.unique(of_topic[of_topic >= 0])
        ids = collection.doc_ids.take(pair).to_pylist()
        keys = document_keys(random_seed, query_id, ids)
        yield Retrieved(
            query_id=query_id,
            pair=pair,
            document=np.where(of_topic >= 0, np.searchsorted(pair, of_topic), -1).astype(np.int32),
            score=None if collection.score is None else collection.score[run_index, t, top],
            lot=(keys >> np.uint64(11)).astype(np.float64) * 2.0**-53,
        )
