"""Move-to-front pooling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, IntArray
from bayespool.compiled import compiled
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import Adaptive, TopicRankings


@register_strategy(
    "move-to-front",
    citations=("cormack-palmer-clarke-1998",),
)
@dataclass(frozen=True, kw_only=True)
class MoveToFront(Adaptive):
    """Documents from the top of one run after the other.

    A run is read from its first rank down until it yields a document that is not relevant. The next run is
    the one of which the fewest documents read were not relevant. Ties are broken at random.

    Notes
    -----
    A document that another run has brought is read, but not judged again. Without a judgment it counts as not
    relevant; in the published tool it counts as neither.

    References
    ----------
    Cormack, Palmer & Clarke: Efficient construction of large test collections. SIGIR 1998.
    """

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """The first ``n`` documents in the order in which runs yield them."""
        return _read_runs(topic.document, relevant, n, rng)


@compiled
def _read_runs(document: IntArray, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
    """Documents by move-to-front, shape (n,)."""
    n_runs, depth = document.shape
    order = np.empty(n, dtype=np.int32)
    judged = np.zeros(len(relevant), dtype=np.bool_)
    place: npt.NDArray[np.int64] = np.zeros(n_runs, dtype=np.int64)
    misses: npt.NDArray[np.int64] = np.zeros(n_runs, dtype=np.int64)
    n_judged, current, stay = 0, -1, False
    while n_judged < n:
        if not stay or place[current] == depth or document[current, place[current]] < 0:
            current, n_equal = -1, 0
            for run in range(n_runs):
                if place[run] == depth or document[run, place[run]] < 0:
                    continue
                if current < 0 or misses[run] < misses[current]:
                    current, n_equal = run, 1
                elif misses[run] == misses[current]:
                    n_equal += 1
                    if rng.random() * n_equal < 1.0:
                        current = run
        read = document[current, place[current]]
        place[current] += 1
        stay = relevant[read]
        if not stay:
            misses[current] += 1
        if not judged[read]:
            judged[read] = True
            order[n_judged] = read
            n_judged += 1
    return order
