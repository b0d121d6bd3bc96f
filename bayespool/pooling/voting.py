"""Strategies with runs as voters: Borda and Condorcet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IntArray
from bayespool.compiled import compiled
from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import FixedOrder, TopicRankings

_ABSENT = np.iinfo(np.int32).max  # rank in a run that lacks a document


@register_strategy("borda", citations=("aslam-montague-2001",))
@dataclass(frozen=True, kw_only=True)
class Borda(FixedOrder):
    """Documents by the sum of their ranks over all runs, the smallest first.

    Parameters
    ----------
    missing : {"mean", "next", "nothing"}
        Rank in a run that lacks the document. ``"mean"``, Borda's rule in fusion and that of the published
        tool: the mean of the places that the run leaves free, (N + length + 1) / 2. ``"next"``: the place
        after its last document. ``"nothing"``: no rank, so that a document of one run goes before one of two
        (the sum over the systems that retrieve it, to the letter of Lipani et al. 2017).
    n_candidates : int, default 0
        N, the number of documents that a run could have retrieved, at least those that the runs retrieve on
        the topic, and by default (0) as many. The published tool takes the sum of their lengths.
    """

    missing: Literal["mean", "next", "nothing"] = "mean"
    n_candidates: int = 0

    def __post_init__(self) -> None:
        if self.n_candidates < 0:
            raise InputError(f"{self.n_candidates} candidates", hint="give 0 for as many as are retrieved")

    def value(self, topic: TopicRankings) -> FloatArray:
        """Negative sums of ranks, shape (document,)."""
        length = topic.length.astype(float)
        n = max(self.n_candidates, len(topic))
        absent = {"mean": (n + length + 1) / 2, "next": length + 1, "nothing": 0 * length}[self.missing]
        is_ranked = topic.document >= 0
        lower = np.broadcast_to(np.arange(1, is_ranked.shape[1] + 1) - absent[:, None], is_ranked.shape)[
            is_ranked
        ]
        # ranks and halves of them: the sums are exact in any order
        total = np.bincount(topic.document[is_ranked], weights=lower, minlength=len(topic))
        return np.asarray(-absent.sum() - total, dtype=np.float64)


@register_strategy("condorcet", citations=("montague-aslam-2002",))
@dataclass(frozen=True, kw_only=True)
class Condorcet(FixedOrder):
    """Documents sorted by majorities: x goes before y when more runs rank x above y than y above x.

    Majorities may be cyclic (x before y before z before x). As in the paper, documents are then still sorted
    with about n log n comparisons: no document is directly below one that loses to it, so a document that
    beats all others is first, and a group whose every member beats every other document precedes those.
    Within a cycle the result depends on the sort, a stable merge sort from a first order, so that it is the
    same at each call.

    Parameters
    ----------
    missing : {"loses", "nothing"}
        The vote of a run that has one document of two. ``"loses"``, as in Montague & Aslam and the published
        tool: for the one that it has. ``"nothing"``: no vote, a reading of Lipani et al. 2017 ("if the two
        are not in the top k of the run, it neither adds nor subtracts"), which leaves most pairs without a
        vote. A run that has neither document never votes.
    ties : {"best rank", "lot"}
        The first order: by best rank, then lot, or by lot alone.
    """

    missing: Literal["loses", "nothing"] = "loses"
    ties: Literal["best rank", "lot"] = "best rank"

    def value(self, topic: TopicRankings) -> FloatArray:
        """Negative positions in the sorted order, shape (document,)."""
        rank = np.ascontiguousarray(np.where(topic.rank > 0, topic.rank, _ABSENT).T)
        by_lot = np.argsort(topic.lot, kind="stable").astype(np.int32)
        first = topic.by_best_rank if self.ties == "best rank" else by_lot
        value = np.empty(len(topic))
        value[_by_majority(rank, first, self.missing == "loses")] = -np.arange(len(topic))
        return value


@compiled
def _by_majority(rank: IntArray, order: IntArray, missing_loses: bool) -> npt.NDArray[np.int32]:
    """Documents merge-sorted by majorities of ``rank`` (document, run) from a first order, stable."""
    n, n_runs = rank.shape
    now, then = order.copy(), np.empty_like(order)
    width = 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            left, right = first, middle
            for place in range(first, last):
                takes_right = left == middle
                if left < middle and right < last:
                    x, y = now[left], now[right]
                    votes = 0
                    for r in range(n_runs):
                        if missing_loses or max(rank[x, r], rank[y, r]) < _ABSENT:
                            votes += int(rank[y, r] < rank[x, r]) - int(rank[x, r] < rank[y, r])
                    takes_right = votes > 0
                if takes_right:
                    then[place] = now[right]
                    right += 1
                else:
                    then[place] = now[left]
                    left += 1
        now, then = then, now
        width *= 2
    return now
