"""Strategies based on rank-biased precision: methods A, B and C of Moffat et al. (2007)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IntArray, OrderArray
from bayespool.compiled import compiled
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import Adaptive, FixedOrder, Strategy, TopicRankings
from bayespool.validation import check_share

_CITATIONS = ("moffat-webber-zobel-2007",)


@dataclass(frozen=True, kw_only=True)
class _RankBiased(Strategy):
    """Base class of the methods, with the persistence of their weights."""

    p: float = 0.8

    topics_compare = True

    def __post_init__(self) -> None:
        check_share("p", self.p)

    def weight(self, topic: TopicRankings) -> FloatArray:
        """Return the weight (1 − p) p^(rank − 1) of each rank, shape (rank,)."""
        return np.asarray((1 - self.p) * self.p ** np.arange(topic.document.shape[1]), dtype=np.float64)


@register_strategy("rbp-a", citations=_CITATIONS)
@dataclass(frozen=True, kw_only=True)
class RBPA(_RankBiased, FixedOrder):
    """Strategy that sorts documents by Σ w over runs, with RBP weight w = (1 − p) p^(rank − 1).

    Parameters
    ----------
    p : float, default 0.8
        Probability of going on to the next rank, between 0 and 1. The default is the paper's.
    """

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the sum of rank-biased precision weights for each document, shape (document,)."""
        return topic.total(self.weight(topic))


@register_strategy("rbp-b", citations=_CITATIONS)
@dataclass(frozen=True, kw_only=True)
class RBPB(_RankBiased, FixedOrder):
    """Strategy that sorts documents by Σ w R over runs, with RBP weight w and unjudged run weight R.

    Each chosen document takes its weight from R of the runs that retrieve it, whatever its relevance.

    Parameters
    ----------
    p : float, default 0.8
        As for `RBPA`.
    """

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the weighted sum for each document at the time it is chosen, shape (document,).

        Sums only fall, so that they give the order.
        """
        nothing = np.zeros(len(topic), dtype=bool)
        order, value_when_chosen = _one_by_one(self, topic, nothing, len(topic), False)
        value = np.empty(len(topic))
        value[order] = value_when_chosen
        return value

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return the first ``n`` documents in judging order, without computing all values."""
        return _one_by_one(self, topic, relevant, n, False)[0]


@register_strategy("rbp-c", citations=_CITATIONS)
@dataclass(frozen=True, kw_only=True)
class RBPC(_RankBiased, Adaptive):
    """Adaptive strategy that favors documents from effective, little-judged runs by rank-biased precision.

    Documents go by the sum over runs of w × R × (B + R / 2)³, where w is the weight of `RBPA`, R the unjudged
    weight of a run, and B the weight of its documents judged relevant. B + R / 2 is the middle of the range
    of its rank-biased precision, so that runs that seem good are judged deeper.

    Parameters
    ----------
    p : float, default 0.8
        As for `RBPA`.
    """

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """Return ``n`` documents, each with the largest weighted sum given all earlier judgments."""
        return _one_by_one(self, topic, relevant, n, True)[0]


def _one_by_one(
    strategy: _RankBiased, topic: TopicRankings, relevant: BoolArray, n: int, by_effectiveness: bool
) -> tuple[IntArray, FloatArray]:
    """Return the first n documents by method B or C and their sums when chosen, shape (n,) each."""
    by_best_rank = topic.by_best_rank
    place = np.full(len(topic) + 1, -1, dtype=np.int32)  # the last is that of no document
    place[by_best_rank] = np.arange(len(topic), dtype=np.int32)
    document = place[topic.document]
    rank, run = np.nonzero(document.T >= 0)
    by_document = np.argsort(document[run, rank], kind="stable")
    order, gain = np.empty(n, dtype=np.int32), np.empty(n)
    _fill_one_by_one(
        document,
        strategy.weight(topic),
        strategy.p ** topic.length.astype(float),
        np.searchsorted(document[run, rank][by_document], np.arange(len(topic) + 1)),
        run[by_document],
        rank[by_document],
        relevant[by_best_rank],
        by_effectiveness,
        order,
        gain,
    )
    return by_best_rank[order], gain


@compiled
def _fill_one_by_one(
    document: IntArray,
    weight: FloatArray,
    beyond: FloatArray,
    start: OrderArray,
    run_of: OrderArray,
    rank_of: OrderArray,
    relevant: BoolArray,
    by_effectiveness: bool,
    order: IntArray,
    gain: FloatArray,
) -> None:
    """Fill ``order`` with documents chosen one by one and ``gain`` with their weighted sums, in place."""
    # A chosen document changes the factors of its runs, and so the sums of their documents. Most sums fall,
    # so that old sums are bounds, and only the largest is updated. Bounds are leaves of a tree, in which a
    # node has the larger of its children's, the left of equals; that of a chosen document is −1. R and B are
    # summed from the last rank to the first without subtraction, so that R stays above 0.
    n_runs, n_ranks = document.shape
    n_documents = len(relevant)
    n_leaves = 1
    while n_leaves < n_documents:
        n_leaves *= 2
    bound = np.full(2 * n_leaves, -1.0)
    left, base = np.zeros((n_runs, n_ranks + 1)), np.zeros((n_runs, n_ranks + 1))
    factor = np.empty(n_runs)
    for r in range(n_runs):
        left[r, n_ranks] = beyond[r]
        for j in range(n_ranks - 1, -1, -1):
            left[r, j] = left[r, j + 1] + (weight[j] if document[r, j] >= 0 else 0.0)
        factor[r] = left[r, 0] * (left[r, 0] / 2) ** 3 if by_effectiveness else left[r, 0]
    for x in range(n_documents):
        bound[n_leaves + x] = 0.0
        for e in range(start[x + 1] - 1, start[x] - 1, -1):
            bound[n_leaves + x] += weight[rank_of[e]] * factor[run_of[e]]
    for node in range(n_leaves - 1, 0, -1):
        bound[node] = max(bound[2 * node], bound[2 * node + 1])
    for step in range(len(order)):
        while True:
            node = 1
            while node < n_leaves:
                node = 2 * node if bound[2 * node] >= bound[2 * node + 1] else 2 * node + 1
            x = node - n_leaves
            total = 0.0
            for e in range(start[x + 1] - 1, start[x] - 1, -1):
                total += weight[rank_of[e]] * factor[run_of[e]]
            is_largest = total == bound[node]
            bound[node] = -1.0 if is_largest else total
            while node > 1:
                node //= 2
                bound[node] = max(bound[2 * node], bound[2 * node + 1])
            if is_largest:
                break
        order[step], gain[step] = x, total
        some_are_larger = False
        for e in range(start[x], start[x + 1]):
            r = run_of[e]
            for j in range(rank_of[e], -1, -1):
                y = document[r, j]
                is_left = bound[n_leaves + y] >= 0
                left[r, j] = left[r, j + 1] + (weight[j] if is_left else 0.0)
                base[r, j] = base[r, j + 1] + (weight[j] if not is_left and relevant[y] else 0.0)
            before = factor[r]
            factor[r] = left[r, 0] * (base[r, 0] + left[r, 0] / 2) ** 3 if by_effectiveness else left[r, 0]
            if factor[r] > before:
                some_are_larger = True
                for j in range(n_ranks):
                    y = document[r, j]
                    if y < 0:
                        break
                    if bound[n_leaves + y] >= 0:  # a little more than needed: a bound must not be too small
                        more = weight[j] * (factor[r] - before)
                        bound[n_leaves + y] = (bound[n_leaves + y] + more) * (1 + 1e-12)
        if some_are_larger:
            for node in range(n_leaves - 1, 0, -1):
                bound[node] = max(bound[2 * node], bound[2 * node + 1])
