"""The contract of a pooling strategy, and what the contributing runs retrieved on a topic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.rankings import longest
from bayespool.errors import InputError
from bayespool.randomness import document_keys


@dataclass(frozen=True, eq=False)
class TopicRankings:
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
        """Rank of each document in each run, 1-based, or 0 if not retrieved; shape (run, document)."""
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
        return np.asarray((self.document >= 0).sum(axis=1, dtype=np.int32))

    def scores(self) -> npt.NDArray[np.float32]:
        """Return scores of the runs, shape (run, rank); an `InputError` where the collection has none."""
        if self.score is None:
            raise InputError(
                "this pooling strategy needs the scores of the runs",
                hint="read the collection with scores=True",
            )
        return self.score

    def total(self, weight: FloatArray) -> FloatArray:
        """Return the sum over the runs that retrieve a document of the weight of its rank, shape (document,).

        Weights, shape (rank,), are added from the first rank down, so that documents of the same ranks have
        exactly the same total, whichever runs they are from.
        """
        is_ranked = self.document.T >= 0
        weights = np.broadcast_to(weight[:, None], is_ranked.shape)[is_ranked]
        total = np.bincount(self.document.T[is_ranked], weights=weights, minlength=len(self))
        return np.asarray(total, dtype=np.float64)

    @cached_property
    def postings(self) -> tuple[IndexArray, IntArray, IntArray]:
        """Runs and ranks by document: ``start``, shape (document + 1,), ``run`` and ``rank``.

        Document d has the entries ``start[d]`` to ``start[d + 1]``, runs ascending, ranks from 1.
        """
        run, place = np.nonzero(self.document >= 0)
        document = self.document[run, place]
        by_document = np.argsort(document, kind="stable")
        start = np.append(0, np.cumsum(np.bincount(document, minlength=len(self)))).astype(np.int64)
        return start, run[by_document].astype(np.int32), (place[by_document] + 1).astype(np.int32)


def retrieved_by(
    collection: Collection, run_index: OrderArray, *, depth: int | None = None, random_seed: int = 1
) -> Iterator[TopicRankings]:
    """Yield what runs retrieved on each topic of the collection, which may be nothing, down to a depth."""
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
    """A rule for choosing documents to judge; a frozen settings object, one for each registered name.

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
        """Return whether it reads the scores of the runs."""
        return False

    @property
    def needs_budget(self) -> bool:
        """Return whether it needs a budget, having no `size` of its own."""
        return type(self).size is Strategy.size

    def size(self, topic: TopicRankings) -> int | None:
        """Return the number of documents of a topic to judge without a budget.

        None if the strategy needs one.
        """
        return None

    @abstractmethod
    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` documents in the order of judging.

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
    """A strategy that orders documents by a value of each, before anything is judged.

    Of equal values the smaller best rank goes first, then the smaller lot.

    Attributes
    ----------
    topics_compare : bool
        Whether values compare across topics, so that a budget can go to the largest of all.
    """

    topics_compare: ClassVar[bool] = False

    @abstractmethod
    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the value of each document, the largest judged first, shape (document,)."""

    def values_in_order(self, topic: TopicRankings) -> tuple[FloatArray, IntArray]:
        """Return values, the largest first, and their documents, two arrays of shape (document,)."""
        value = self.value(topic)
        order = topic.by_best_rank
        order = order[np.argsort(-value[order], kind="stable")]
        return value[order], order

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the ``n`` documents of the largest values."""
        return self.values_in_order(topic)[1][:n]


class Adaptive(Strategy):
    """A strategy that learns from each judgment."""

    is_adaptive = True
