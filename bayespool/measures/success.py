"""Success at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.measures.base import Measure, register_measure


@register_measure
@dataclass(frozen=True, order=True)
class Success(Measure):
    """Success at a cutoff, Success@n: 1 if any document in the top n is relevant, 0 if none is.

    Parameters
    ----------
    cutoff, rel : int
        As for `Measure`.

    Examples
    --------
    >>> str(Success(5)), str(Success(5, rel=2))
    ('Success@5', 'Success(rel=2)@5')
    >>> Success(2).evaluate(np.array([[0, 1, 0], [0, 0, 1]])).tolist()
    [1.0, 0.0]
    """

    name = "Success"
    label = "whether anything in the top n is relevant"

    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """1.0 or 0.0, shape (...)."""
        return np.asarray((levels[..., : self.cutoff] >= self.rel).any(axis=-1).astype(float))
