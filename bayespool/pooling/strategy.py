"""Base classes for pooling strategies, and the rankings they read for each topic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection.contents import Contents
from bayespool.collection.rankings import longest
from bayespool.errors import InputError
from bayespool.randomness import document_keys


@dataclass(frozen=True, eq=False)
class TopicRankings:
    """Rankings from all contributing runs for one topic, with documents numbered from 0 in order of id.

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
        Random number in [0, 1), a hash of seed, topic and document id, which breaks ties.
    """

    query_id: str
    pair: IntArray
    document: IntArray
    score: npt.NDArray[np.float32] | None
    lot: FloatArray

    def __post_init__(self) -> None:
        """Raise `InputError` if a ranking has a gap, since strategies read a run to its first −1."""
        if ((self.document[:, 1:] >= 0) & (self.document[:, :-1] < 0)).any():
            raise InputError(f"topic {self.query_id}: a ranking goes on after it has ended")

    def __len__(self) -> int:
        return len(self.pair)

    @cached_property
    def rank(self) -> IntArray:
        """Rank of each document in each run from 1, 0 if not retrieved, shape (run, document)."""
        rank = np.zeros((len(self.document), len(self) + 1), dtype=np.int32)
        ranks = np.arange(1, self.document.shape[1] + 1, dtype=np.int32)
        np.put_along_axis(rank, self.document, np.where(self.document >= 0, ranks, 0), axis=1)
        return rank[:, :-1]

    @cached_property
    def best_rank(self) -> IntArray:
        """Best (smallest) rank of each document in any run, shape (document,)."""
        best = np.empty(len(self) + 1, dtype=np.int32)
        n_runs, deepest = self.document.shape  # the last rank written stays, the smallest
        best[self.document.T[::-1].ravel()] = np.repeat(np.arange(deepest, 0, -1, dtype=np.int32), n_runs)
        return best[:-1]

    @cached_property
    def by_best_rank(self) -> IntArray:
        """Document numbers sorted by best rank, with ties broken by random lot, shape (document,)."""
        return np.lexsort((self.lot, self.best_rank)).astype(np.int32)

    @cached_property
    def length(self) -> IntArray:
        """Number of documents retrieved by each run, shape (run,)."""
        return np.asarray((self.document >= 0).sum(axis=1, dtype=np.int32))

    def scores(self) -> npt.NDArray[np.float32]:
        """Return the run scores, shape (run, rank), or raise `InputError` if scores were not read."""
        if self.score is None:
            raise InputError(
                "this pooling strategy needs the scores of the runs",
                hint="read the collection with scores=True",
            )
        return self.score

    def total(self, weight: FloatArray) -> FloatArray:
        """Return the sum of rank weights over runs for each document, shape (document,).

        Weights, shape (rank,), are added from the first rank down, so that documents of the same ranks have
        exactly the same total, whichever runs they are from.
        """
        is_ranked = self.document.T >= 0
        weights = np.broadcast_to(weight[:, None], is_ranked.shape)[is_ranked]
        total = np.bincount(self.document.T[is_ranked], weights=weights, minlength=len(self))
        return np.asarray(total, dtype=np.float64)

    @cached_property
    def postings(self) -> tuple[IndexArray, IntArray, IntArray]:
        """Inverted index with the runs and ranks for each document: ``start``, ``run`` and ``rank``.

        ``start`` has the shape (document + 1,). Document d has the entries ``start[d]`` to ``start[d + 1]``,
        runs ascending, ranks from 1.
        """
        run, place = np.nonzero(self.document >= 0)
        document = self.document[run, place]
        by_document = np.argsort(document, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(document, minlength=len(self)))).astype(np.int64)
        return start, run[by_document].astype(np.int32), (place[by_document] + 1).astype(np.int32)


def retrieved_by(
    collection: Contents, run_index: OrderArray, *, depth: int | None = None, random_seed: int = 1
) -> Iterator[TopicRankings]:
    """Yield the rankings from the given runs, down to ``depth``, for each topic in the collection."""
    last = longest(collection.document, run_index)
    for t, query_id in enumerate(collection.query_ids):
        top = slice(last[t] if depth is None else min(depth, last[t]))
        topic_documents = collection.document[run_index, t, top]
        pair = np.unique(topic_documents[topic_documents >= 0])
        ids = collection.doc_ids.take(pair).to_pylist()
        keys = document_keys(random_seed, query_id, ids)
        yield TopicRankings(
            query_id=query_id,
            pair=pair,
            document=np.where(topic_documents >= 0, np.searchsorted(pair, topic_documents), -1).astype(
                np.int32
            ),
            score=None if collection.score is None else collection.score[run_index, t, top],
            lot=(keys >> np.uint64(11)).astype(np.float64) * 2.0**-53,
        )


class Strategy(ABC):
    """Base class for pooling strategies, which choose documents to judge.

    The choice for a budget of n documents is the first n of those for a larger one.

    Attributes
    ----------
    name : str
        The registered name.
    is_adaptive : bool
        Whether earlier judgments affect the order.
    """

    name: ClassVar[str]
    is_adaptive: ClassVar[bool] = False

    @property
    def needs_scores(self) -> bool:
        """Whether the strategy reads run scores."""
        return False

    @property
    def needs_budget(self) -> bool:
        """Whether the strategy needs a budget because it has no `size` of its own."""
        return type(self).size is Strategy.size

    def size(self, topic: TopicRankings) -> int | None:
        """Return the number of documents to judge for a topic if no budget is given.

        None if the strategy needs a budget.
        """
        return None

    @abstractmethod
    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` documents in judging order.

        Parameters
        ----------
        topic : TopicRankings
        relevant : ndarray of bool, shape (document,)
            The assessor's answer for each document, to be read only for judged ones; False without a
            judgment.
        n : int
            From 0 up to the number of documents.
        rng : numpy.random.Generator
            Of the topic, with the same seed in each call.

        Returns
        -------
        ndarray of int32, shape (n,)
            Distinct numbers of documents.
        """


class FixedOrder(Strategy):
    """Base class for strategies that sort documents by a value computed before any judging.

    Of equal values the smaller best rank goes first, then the smaller lot.

    Attributes
    ----------
    topics_compare : bool
        Whether values compare across topics, so that a budget can go to the largest of all.
    """

    topics_compare: ClassVar[bool] = False

    @abstractmethod
    def value(self, topic: TopicRankings) -> FloatArray:
        """Return a value for each document, largest to be judged first, shape (document,)."""

    def values_in_order(self, topic: TopicRankings) -> tuple[FloatArray, IntArray]:
        """Return values in descending order and their document numbers, shape (document,) each."""
        value = self.value(topic)
        order = topic.by_best_rank
        order = order[np.argsort(-value[order], kind="stable")]
        return value[order], order

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the ``n`` documents with the largest values."""
        return self.values_in_order(topic)[1][:n]


class Adaptive(Strategy):
    """Base class for strategies that use each judgment to choose the next document."""

    is_adaptive = True
