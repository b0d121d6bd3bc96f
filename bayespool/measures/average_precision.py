"""Average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.compiled import compiled
from bayespool.measures.base import DrawnRankings, Tally, register_measure
from bayespool.measures.extremes import average_precision_extremes
from bayespool.measures.normalised import FloatArray, Normalised, n_relevant

__all__ = ["AveragePrecision"]


@register_measure
@dataclass(frozen=True, order=True)
class AveragePrecision(Normalised):
    """Average precision at a cutoff, AP@n: the mean over all relevant documents of a topic of the precision
    at the rank of each, which is 0 for those that are not in the top n.

    Amounts are sums of precisions.

    Parameters
    ----------
    cutoff : int
        The n of AP@n, at least 1.
    rel : int, default 1
        The smallest relevance that counts as relevant, at least 1.
    ideal : {"completed", "judged"}
        Which relevant documents the mean is over (`Normalised`).

    Notes
    -----
    AP@n = (1/R) Σ P@i over the ranks i ≤ n of relevant documents, where R is the number of relevant documents
    of the topic, not capped at n: trec_eval's ``map_cut_n``. Its ``map`` looks at the whole ranking; it is
    AP@1000 of runs of 1,000 documents. A topic without relevant documents scores 0.

    Examples
    --------
    The ranking of Ravana & Moffat (2010, §3) with 5 relevant documents, of which it has 3:

    >>> levels = np.array([[[1, 0, -1, 0, 1, 1, 0, -1, 0, 0]]])
    >>> five_relevant = Tally(np.array([[5]]), (1,))
    >>> AveragePrecision(10).values(np.maximum(levels, 0), five_relevant).means().round(2).tolist()
    [0.38]
    """

    name = "AP"
    label = "mean precision at the ranks of the relevant documents"

    def evaluate(self, levels: npt.NDArray[Any]) -> FloatArray:
        """Sums over the ranks of relevant documents of the precision there."""
        relevant = levels[..., : self.cutoff] >= self.rel
        precision = relevant.cumsum(axis=-1) / np.arange(1, relevant.shape[-1] + 1)
        return np.asarray(np.where(relevant, precision, 0.0).sum(axis=-1))

    def of_draws(self, drawn: DrawnRankings) -> FloatArray:
        """Sums of precisions: only ranks with a document that is relevant or may be are looked at."""
        run, rank = np.nonzero(drawn.ranked[:, : self.cutoff] >= self.rel)
        all_runs, all_ranks = np.append(run, drawn.run), np.append(rank, drawn.rank)
        order = np.lexsort((all_ranks, all_runs))
        start = np.searchsorted(all_runs[order], np.arange(len(drawn.ranked) + 1))
        unknown = np.append(np.full(len(run), -1), drawn.unknown)[order]
        least = int(np.searchsorted(drawn.levels, self.rel))
        sums = np.zeros((len(drawn.block), len(drawn.ranked)))
        _add_precisions(drawn.block, start, 1.0 / (all_ranks[order].astype(float) + 1), unknown, least, sums)
        return sums

    def best(self, tally: Tally) -> FloatArray:
        """Relevant documents."""
        return n_relevant(tally, self.rel)

    def extremes(
        self, levels: npt.NDArray[Any], tally: Tally, n_elsewhere: npt.NDArray[Any]
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds that some completion reaches.

        Notes
        -----
        If m of the unjudged documents of the ranking turn out relevant, the sum of precisions is greatest
        where they are the first m and least where they are the last m. Relevant documents elsewhere lower
        the value. The bounds are the greatest over m of sum(first m)/(R + m) and the least of
        sum(last m)/(R + m + o), where o is the number of unjudged documents elsewhere.
        """
        if self.ideal == "judged" or not self.can_be_relevant(tally):
            return super().extremes(levels, tally, n_elsewhere)
        top = levels[..., : self.cutoff]
        return average_precision_extremes(top >= self.rel, top == -1, self.best(tally), n_elsewhere)


@compiled
def _add_precisions(
    block: npt.NDArray[np.uint8],
    start: npt.NDArray[np.intp],
    weight: FloatArray,
    unknown: npt.NDArray[np.int64],
    least: int,
    sums: FloatArray,
) -> None:
    """Sums of precisions by draw and run; ``unknown`` is −1 for a document that is relevant for certain."""
    for i in range(block.shape[0]):
        for r in range(len(start) - 1):
            n_relevant = 0.0
            total = 0.0
            for place in range(start[r], start[r + 1]):
                document = unknown[place]
                if document < 0 or block[i, document] >= least:
                    n_relevant += 1.0
                    total += n_relevant * weight[place]
            sums[i, r] = total
