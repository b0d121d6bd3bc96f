"""Precision at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.measures.base import Additive, register_measure


class ShareOfTop(Additive):
    """Share of a kind of documents in the top n; amounts are numbers of documents."""

    @property
    def unit(self) -> int:
        """The cutoff."""
        return self.cutoff

    @property
    def is_exact(self) -> bool:
        """True, since amounts are numbers of documents."""
        return True

    def weights(self) -> npt.NDArray[np.int32]:
        """1 for each rank, shape (rank,)."""
        return np.ones(self.cutoff, dtype=np.int32)


@register_measure
@dataclass(frozen=True, order=True)
class Precision(ShareOfTop):
    """Precision at a cutoff, P@n: the share of relevant documents in the top n.

    Amounts are numbers of relevant documents, the unit is n.

    Parameters
    ----------
    cutoff : int
        The n of P@n, at least 1; always the denominator, however short the run.
    rel : int, default 1
        As for `Measure`.

    Examples
    --------
    >>> str(Precision(10)), str(Precision(10, rel=2))
    ('P@10', 'P(rel=2)@10')
    >>> Precision(5).values(np.array([[[1, 0, 2]]])).means().tolist()
    [0.4]
    """

    name = "P"
    label = "share of relevant documents in the top n"

    def gains(self, levels: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """1 for a relevant document, else 0, of the shape of ``levels``."""
        return (levels >= self.rel).astype(np.int32)

    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers of relevant documents, int32, shape (...)."""
        return np.asarray((levels[..., : self.cutoff] >= self.rel).sum(axis=-1, dtype=np.int32))
