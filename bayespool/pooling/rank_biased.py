"""Strategies by what judgments tell about rank-biased precision: methods A, B and C of Moffat et al. 2007."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import IntArray
from bayespool.compiled import compiled
from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.retrieved import Retrieved
from bayespool.pooling.strategy import Adaptive, BoolArray, FixedOrder, FloatArray

__all__ = ["RBPA", "RBPB", "RBPC"]

SOURCE = "Moffat, Webber & Zobel 2007"


@register_strategy("rbp-a", description="by the sum over runs of the weight of RBP", source=SOURCE)
@dataclass(frozen=True, kw_only=True)
class RBPA(FixedOrder):
    """Documents by the sum over runs of w = (1 − p) p^(rank − 1), their weight in rank-biased precision.

    Parameters
    ----------
    p : float, default 0.8
        Probability of going on to the next rank, between 0 and 1. The default is the paper's.
    """

    p: float = 0.8

    topics_compare = True

    def __post_init__(self) -> None:
        _check(self.p)

    def value(self, topic: Retrieved) -> FloatArray:
        """The sum of the weights."""
        return topic.total(_weight(topic, self.p))


@register_strategy(
    "rbp-b", description="by the weight of RBP in runs of which little is judged", source=SOURCE
)
@dataclass(frozen=True, kw_only=True)
class RBPB(FixedOrder):
    """Documents by the sum over runs of w × R, where R is the weight that a run has left to judge.

    One document after the other: each that is chosen takes its weight from R of the runs that retrieve it.
    Nothing needs to be judged on the way.

    Parameters
    ----------
    p : float, default 0.8
        As for `RBPA`.
    """

    p: float = 0.8

    topics_compare = True

    def __post_init__(self) -> None:
        _check(self.p)

    def value(self, topic: Retrieved) -> FloatArray:
        """The sum when the document is chosen. Sums only become smaller, so that the order is by them."""
        order, gain = _one_by_one(topic, self.p, np.zeros(len(topic), dtype=bool), len(topic), False)
        value = np.empty(len(topic))
        value[order] = gain
        return value

    def order(self, topic: Retrieved, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """The documents of the largest values, without the values of the others."""
        return _one_by_one(topic, self.p, relevant, n, False)[0]


@register_strategy(
    "rbp-c", description="by the weight of RBP in runs that may turn out to be the best", source=SOURCE
)
@dataclass(frozen=True, kw_only=True)
class RBPC(Adaptive):
    """Documents by the sum over runs of w × R × (B + R / 2)³.

    R is the weight that a run has left to judge, B that of its documents judged relevant, so that B + R / 2
    is the middle of what its rank-biased precision may be: runs that seem to be good are judged deeper.

    Parameters
    ----------
    p : float, default 0.8
        As for `RBPA`.
    """

    p: float = 0.8

    def __post_init__(self) -> None:
        _check(self.p)

    def order(self, topic: Retrieved, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """One document after the other, each that of the largest sum."""
        return _one_by_one(topic, self.p, relevant, n, True)[0]


def _check(p: float) -> None:
    if not 0 < p < 1:
        raise InputError(f"rank-biased precision with p = {p}", hint="give a number between 0 and 1")


def _weight(topic: Retrieved, p: float) -> FloatArray:
    return np.asarray((1 - p) * p ** np.arange(topic.document.shape[1]), dtype=np.float64)


def _one_by_one(
    topic: Retrieved, p: float, relevant: BoolArray, n: int, by_effectiveness: bool
) -> tuple[IntArray, FloatArray]:
    """The first n documents of method B, or C, and the sum of each when it was chosen."""
    rank, run = np.nonzero(topic.document.T >= 0)
    document = topic.document[run, rank]
    by_document = np.argsort(document, kind="stable")
    order, gain = np.empty(n, dtype=np.int32), np.empty(n)
    _fill_one_by_one(
        np.ascontiguousarray(topic.document),
        _weight(topic, p),
        p ** topic.length.astype(float),
        np.searchsorted(document[by_document], np.arange(len(topic) + 1)),
        run[by_document],
        rank[by_document],
        topic.by_best_rank,
        relevant,
        by_effectiveness,
        order,
        gain,
    )
    return order, gain


@compiled
def _fill_one_by_one(
    document: IntArray,
    weight: FloatArray,
    beyond: FloatArray,
    start: npt.NDArray[np.intp],
    run_of: npt.NDArray[np.intp],
    rank_of: npt.NDArray[np.intp],
    by_best_rank: IntArray,
    relevant: BoolArray,
    by_effectiveness: bool,
    order: IntArray,
    gain_of: FloatArray,
) -> None:
    """A chosen document changes R and B of the runs that retrieve it, and these the sums of their documents.

    All are added up anew, from small to large numbers where they differ by magnitudes: nothing is subtracted,
    so that R stays above 0, and the result depends on what was chosen and not on when.
    """
    n_runs, n_ranks = document.shape
    n_documents = len(by_best_rank)
    factor = np.empty(n_runs)
    gain = np.zeros(n_documents)
    chosen = np.zeros(n_documents, dtype=np.bool_)
    done_at = np.full(n_documents, -1)
    runs = np.arange(n_runs)
    for step in range(len(order)):
        for r in runs:
            left, base = beyond[r], 0.0
            for j in range(n_ranks - 1, -1, -1):
                x = document[r, j]
                if x < 0:
                    continue
                if not chosen[x]:
                    left += weight[j]
                elif relevant[x]:
                    base += weight[j]
            factor[r] = left * (base + left / 2) ** 3 if by_effectiveness else left
        for r in runs:
            for j in range(n_ranks):
                x = document[r, j]
                if x < 0:
                    break
                if chosen[x] or done_at[x] == step:
                    continue
                done_at[x] = step
                gain[x] = 0.0
                for e in range(start[x + 1] - 1, start[x] - 1, -1):
                    gain[x] += weight[rank_of[e]] * factor[run_of[e]]
        last = -1
        for x in by_best_rank:
            if not chosen[x] and (last < 0 or gain[x] > gain[last]):
                last = x
        chosen[last] = True
        order[step], gain_of[step] = last, gain[last]
        runs = run_of[start[last] : start[last + 1]]
