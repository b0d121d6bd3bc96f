"""Hedge: documents by weighted gains of runs that were right so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IntArray
from bayespool.compiled import compiled
from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import Adaptive, TopicRankings


@register_strategy(
    "hedge",
    citations=("aslam-pavlu-savell-2003",),
)
@dataclass(frozen=True, kw_only=True)
class Hedge(Adaptive):
    """The document of the largest gain, each run's weighted by its loss so far.

    Parameters
    ----------
    beta : float
        Factor of a weight for a loss of 1, above 0 and below 1.

    Notes
    -----
    Where N is the number of the topic's documents, a run's gain from a document at rank i is ln N − ln i.
    From a document that it does not retrieve it is the mean of that over the ranks that its list leaves, from
    its length + 1 to N (the published tool takes the ranks from its length to N − 1). A relevant document
    lowers the loss of each run by half its gain, another raises it as much. Weights are proportional to
    beta^loss. Of equal values the smaller best rank goes first, then the smaller lot.

    References
    ----------
    Aslam, Pavlu & Savell: A unified model for metasearch, pooling, and system evaluation. CIKM 2003.
    """

    beta: float = 0.1

    def __post_init__(self) -> None:
        """Refuse a beta outside (0, 1)."""
        if not 0 < self.beta < 1:
            raise InputError(f"hedge: beta is {self.beta}", hint="give a number above 0 and below 1")

    def order(self, topic: TopicRankings, relevant: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
        """The first ``n`` documents by gain, each given the judgments before."""
        start, run, rank = topic.postings
        missing = _gain_of_missing((topic.document >= 0).sum(axis=1), len(topic))
        extra = np.log(max(len(topic), 1)) - np.log(rank) - missing[run]
        first = np.lexsort((topic.lot, topic.best_rank))  # the order of equal values
        size = np.diff(start)
        at = np.repeat(start[first] - np.cumsum(size[first]) + size[first], size[first]) + np.arange(len(run))
        ends = np.append(0, np.cumsum(size[first]))
        positions = _follow(ends, run[at], extra[at], missing, relevant[first], n, float(np.log(self.beta)))
        return first[positions].astype(np.int32)


def _gain_of_missing(length: npt.NDArray[np.integer], n_documents: int) -> FloatArray:
    """Each run's gain from a document that it does not retrieve, 0 where it retrieves all; shape (run,)."""
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, n_documents + 1))))
    n_left = n_documents - length
    mean = (logs[-1] - logs[length]) / np.maximum(n_left, 1)
    return np.where(n_left > 0, np.log(max(n_documents, 1)) - mean, 0.0)


@compiled
def _follow(
    start: npt.NDArray[np.int64],
    run_of: IntArray,
    more: FloatArray,
    missing: FloatArray,
    relevant: BoolArray,
    n: int,
    log_beta: float,
) -> IntArray:
    """Documents by hedge, shape (n,), the first of equal values."""
    # ``more`` is the gain above ``missing``, which adds the same to all documents, so that a value sums only
    # over the runs that retrieve the document
    order = np.empty(n, dtype=np.int32)
    judged = np.zeros(len(relevant), dtype=np.bool_)
    loss = np.zeros(len(missing))
    for step in range(n):
        weight = np.exp(log_beta * (loss - loss.min()))
        best, most = -1, 0.0
        for document in range(len(relevant)):
            if judged[document]:
                continue
            value = 0.0
            for p in range(start[document], start[document + 1]):
                value += weight[run_of[p]] * more[p]
            if best < 0 or value > most * (1.0 + 1e-12):  # a sum in another order is no difference
                best, most = document, value
        judged[best] = True
        order[step] = best
        half = -0.5 if relevant[best] else 0.5
        loss += half * missing
        for p in range(start[best], start[best + 1]):
            loss[run_of[p]] += half * more[p]
    return order
