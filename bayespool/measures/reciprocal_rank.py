"""Reciprocal rank of the first relevant document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.measures.base import Measure, register_measure


@register_measure
@dataclass(frozen=True, order=True)
class ReciprocalRank(Measure):
    """Reciprocal rank at a cutoff, RR@n: one over the rank of the first relevant document in the top n, or 0.

    Parameters
    ----------
    cutoff, rel : int
        As for `Measure`.

    Notes
    -----
    trec_eval's ``recip_rank`` is RR@1000 of runs of 1,000 documents. MRR is a mean of reciprocal ranks.

    Examples
    --------
    >>> str(ReciprocalRank(10)), str(ReciprocalRank(10, rel=2))
    ('RR@10', 'RR(rel=2)@10')
    >>> ReciprocalRank(3).evaluate(np.array([[0, 1, 1, 0], [0, 0, 0, 1]])).tolist()
    [0.5, 0.0]
    """

    name = "RR"
    label = "one over the rank of the first relevant document"

    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Reciprocals of ranks, float, shape (...)."""
        top = levels[..., : self.cutoff]
        reciprocal = 1 / np.arange(1, top.shape[-1] + 1)
        return np.asarray(np.where(top >= self.rel, reciprocal, 0.0).max(axis=-1, initial=0.0))
