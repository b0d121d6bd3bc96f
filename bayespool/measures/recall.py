"""Recall at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.measures.base import Additive, Tally, register_measure
from bayespool.measures.normalized import Extremes, Normalized, n_relevant, safe_ratio


@register_measure
@dataclass(frozen=True, order=True)
class Recall(Normalized, Additive):
    """Recall at a cutoff, R@n: the share of a topic's relevant documents that is in the top n.

    Amounts are numbers of relevant documents in the top n.

    Parameters
    ----------
    cutoff, rel : int
        As for `Measure`.
    ideal : {"own", "shared", "judged"}
        The relevant documents of the topic (`Normalized`).

    Notes
    -----
    A topic without relevant documents scores 0. Their number is not capped at n, so that a perfect ranking
    may score less than 1, as in trec_eval's ``recall_n``.

    Examples
    --------
    >>> str(Recall(100)), str(Recall(100, rel=2))
    ('R@100', 'R(rel=2)@100')
    >>> five_relevant = Tally(np.array([[5]]), (1,))
    >>> Recall(3).values(np.array([[[1, 0, 1, 1]]]), five_relevant).scores().tolist()
    [[0.4]]
    """

    name = "R"
    label = "share of the relevant documents that are in the top n"

    def weights(self) -> FloatArray:
        """Return a weight of 1 for each rank, shape (rank,)."""
        return np.ones(self.cutoff)

    def best(self, tally: Tally) -> FloatArray:
        """Return the number of relevant documents per topic, shape (..., topic)."""
        return n_relevant(tally, self.rel)

    def sharp_extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return sharp lower and upper bounds over all completions, two arrays of shape (run, topic).

        Notes
        -----
        With r of the R judged relevant documents in the top n, u unjudged ones there and o elsewhere, the
        least is r/(R + o) and the most (r + u)/(R + u).
        """
        total = n_relevant(tally, self.rel)
        n_retrieved, n_open = (levels >= self.rel).sum(axis=-1), (levels == -1).sum(axis=-1)
        return safe_ratio(n_retrieved, total + n_elsewhere), safe_ratio(n_retrieved + n_open, total + n_open)
