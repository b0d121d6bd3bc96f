"""Anti-precision, the share of nonrelevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.measures.base import MISSING_RANK, register_measure
from bayespool.measures.precision import ShareOfTop


@register_measure
@dataclass(frozen=True, order=True)
class NonrelevantShare(ShareOfTop):
    """Anti-precision at a cutoff, AntiP@n: the share of documents in the top n known to be nonrelevant.

    Amounts are numbers of judged nonrelevant documents and missing ranks, the unit is n.

    Parameters
    ----------
    cutoff : int
        The n of AntiP@n, at least 1; always the denominator, however short the run.
    rel : int, default 1
        As for `Measure`.

    Notes
    -----
    P@n + AntiP@n + the share of unjudged documents = 1 (Lipani, Lupu & Hanbury 2015, §3). A missing rank
    counts as judged and nonrelevant, as in the correction `bayespool.corrections.AntiPrecision`. A completion
    never lowers it. ir_measures has no such measure.

    Examples
    --------
    >>> str(NonrelevantShare(10)), str(NonrelevantShare(10, rel=2))
    ('AntiP@10', 'AntiP(rel=2)@10')
    >>> NonrelevantShare(5).evaluate(np.array([[1, 0, -1, MISSING_RANK, MISSING_RANK]])).tolist()
    [3]
    """

    name = "AntiP"
    label = "share of documents in the top n that are known not to be relevant"
    citations = ("lipani-lupu-hanbury-2015",)
    reads_unjudged = True
    rises, falls = False, True

    def gains(self, levels: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """1 for a nonrelevant document and a missing rank, else 0, of the shape of ``levels``."""
        known = (levels >= 0) | (levels == MISSING_RANK)
        return np.asarray(known & (levels < self.rel), dtype=np.int32)

    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers of judged nonrelevant documents and missing ranks, int32, shape (...)."""
        top = levels[..., : self.cutoff]
        n_missing = self.cutoff - top.shape[-1]
        return np.asarray(self.gains(top).sum(axis=-1, dtype=np.int32) + np.int32(n_missing))
