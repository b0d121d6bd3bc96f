"""Average precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import AnyArray, FloatArray, IndexArray, IntArray, Levels, OrderArray
from bayespool.compiled import compiled
from bayespool.measures.base import (
    DrawnRankings,
    Extremes,
    Measure,
    Normalized,
    Tally,
    n_relevant,
    register_measure,
    safe_ratio,
)
from bayespool.measures.extremes import average_precision_extremes


@register_measure
@dataclass(frozen=True, order=True)
class AveragePrecision(Normalized):
    """Average precision at a cutoff, AP@n: precision at relevant ranks, averaged over relevant documents.

    Relevant documents outside the top n count 0.

    Relevant documents outside the top n add 0 to the sum.

    Amounts are sums of precisions.

    Parameters
    ----------
    cutoff, rel : int
        As for `Measure`.
    ideal : {"own", "shared", "judged"}
        The relevant documents of the mean (`Normalized`).

    Notes
    -----
    AP@n = (1/R) Σ P@i over the ranks i ≤ n of relevant documents, where R is the number of relevant documents
    of the topic, not capped at n: trec_eval's ``map_cut_n``. Its ``map`` is AP@1000 of runs of 1,000
    documents. A topic without relevant documents scores 0.

    Examples
    --------
    The ranking of Ravana & Moffat (2010, §3) with 5 relevant documents, of which it has 3:

    >>> levels = np.array([[[1, 0, -1, 0, 1, 1, 0, -1, 0, 0]]])
    >>> five_relevant = Tally(np.array([[5]]), (1,))
    >>> AveragePrecision(10).values(np.maximum(levels, 0), five_relevant).means().round(2).tolist()
    [0.38]
    """

    name = "AP"
    examples = ("AP@100", "AP@1000")
    label = "mean precision at the ranks of the relevant documents"
    has_gains = True

    def evaluate(self, levels: AnyArray) -> FloatArray:
        """Return the sum of precision over the ranks with relevant documents, shape (...)."""
        relevant = levels[..., : self.cutoff] >= self.rel
        precision = relevant.cumsum(axis=-1) / np.arange(1, relevant.shape[-1] + 1)
        return np.asarray(np.where(relevant, precision, 0.0).sum(axis=-1))

    def expected_amounts(self, gains: FloatArray) -> FloatArray:
        """Return Σ q_i/i (1 + Σ_{j<i} q_j) of probabilities q to be relevant, shape (...)."""
        rank = np.arange(1, gains.shape[-1] + 1)
        return np.asarray((gains / rank * (1 + gains.cumsum(axis=-1) - gains)).sum(axis=-1))

    def draw_evaluator(self, rankings: DrawnRankings) -> Callable[[Levels], FloatArray]:
        """Return a fast function that sums precision over relevant ranks in each draw."""
        ranked = rankings.ranked[:, : self.cutoff]
        n_runs, n_ranks = ranked.shape
        certain_run, at = np.nonzero(ranked >= self.rel)
        certain = np.zeros((n_runs, n_ranks // 64 + 1), dtype=np.uint64)
        np.bitwise_or.at(certain, (certain_run, at // 64), np.uint64(1) << (at % 64).astype(np.uint64))
        order = np.argsort(rankings.unknown, kind="stable")
        document, run, rank = (x[order] for x in (rankings.unknown, rankings.run, rankings.rank))
        lowest_level = int(np.searchsorted(rankings.levels, self.rel))

        def evaluate_block(block: Levels) -> FloatArray:
            start = np.searchsorted(document, np.arange(block.shape[1] + 1))
            sums = np.zeros((len(block), n_runs))
            _add_precisions(block, lowest_level, start, run, rank, certain, _PLACES, sums)
            return sums

        return evaluate_block

    def best(self, tally: Tally) -> FloatArray:
        """Return the number of relevant documents per topic, shape (..., topic)."""
        return n_relevant(tally, self.rel)

    def sharp_extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return sharp lower and upper bounds over all completions, two arrays of shape (run, topic).

        Notes
        -----
        If m of the unjudged documents of the ranking are relevant, the sum of precisions is greatest where
        they are the first m and least where they are the last m. Relevant documents elsewhere lower the
        value. The bounds are the greatest over m of sum(first m)/(R + m) and the least of sum(last m)/(R + m
        + o), where o is the number of unjudged documents elsewhere.
        """
        return average_precision_extremes(levels >= self.rel, levels == -1, self.best(tally), n_elsewhere)


@register_measure
@dataclass(frozen=True, order=True)
class ContextPrecision(Measure):
    """Context precision at a cutoff: precision at relevant ranks, averaged over the relevant documents there.

    Parameters
    ----------
    cutoff, rel : int
        As for `Measure`.

    Notes
    -----
    (1/r) Σ P@i over the ranks i ≤ n of relevant documents, of which there are r; 0 without one. AP@n divides
    by all relevant documents of the topic instead. ragas calls it context precision. A relevant document may
    lower it: the second one of [1, 0, 1] makes 1 into 5/6. Its bounds are those of AP@n (`AveragePrecision`)
    of a topic whose relevant documents are those of the ranking.

    Examples
    --------
    >>> levels = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    >>> ContextPrecision(4).evaluate(levels).round(4).tolist()
    [0.8333, 0.5, 0.0]
    """

    name = "ContextPrecision"
    examples = ("ContextPrecision@10",)
    label = "mean precision at the ranks of the relevant documents retrieved"
    rises = False

    def evaluate(self, levels: AnyArray) -> FloatArray:
        """Return the mean precision over the ranks with relevant documents, shape (...)."""
        total = AveragePrecision(self.cutoff, self.rel).evaluate(levels)
        return safe_ratio(total, (levels[..., : self.cutoff] >= self.rel).sum(axis=-1))

    def extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return sharp lower and upper bounds over all completions, two arrays of shape (run, topic)."""
        levels = levels[..., : self.cutoff]
        relevant = levels >= self.rel
        opened = (levels == -1) & (max(tally.levels, default=0) >= self.rel)
        none = np.zeros((1, levels.shape[1]))
        of_runs = [
            average_precision_extremes(hit[None], maybe[None], hit.sum(axis=-1), none)
            for hit, maybe in zip(relevant, opened, strict=True)
        ]
        least, most = (np.concatenate(ends) for ends in zip(*of_runs, strict=True))
        return least, most


_DE_BRUIJN = 0x03F79D71B4CB0A89
_PLACES = np.zeros(64, dtype=np.int64)
_PLACES[[(_DE_BRUIJN << i & 2**64 - 1) >> 58 for i in range(64)]] = np.arange(64)


@compiled
def _add_precisions(
    block: Levels,
    least: int,
    start: OrderArray,
    run: IntArray,
    rank: IntArray,
    certain: npt.NDArray[np.uint64],
    places: IndexArray,
    sums: FloatArray,
) -> None:
    """Add up precision at relevant ranks per draw and run, in an array of shape (draw, run)."""
    # ranks of relevant documents are bits of 64-bit words, ``certain`` those of judged ones; ``places`` has
    # the bit of a power of two, and document d the places ``start[d]`` to ``start[d + 1]``
    n_runs, n_words = certain.shape
    bits = np.empty_like(certain)
    for i in range(block.shape[0]):
        bits[:] = certain
        for d in range(block.shape[1]):
            if block[i, d] >= least:
                for place in range(start[d], start[d + 1]):
                    bits[run[place], rank[place] >> 6] |= np.uint64(1) << np.uint64(rank[place] & 63)
        for r in range(n_runs):
            n_relevant, total = 0.0, 0.0
            for w in range(n_words):
                word = bits[r, w]
                while word != 0:
                    lowest = word & (~word + np.uint64(1))
                    word ^= lowest
                    n_relevant += 1.0
                    where = places[(lowest * np.uint64(0x03F79D71B4CB0A89)) >> np.uint64(58)]
                    total += n_relevant / (64 * w + where + 1)
            sums[i, r] = total
