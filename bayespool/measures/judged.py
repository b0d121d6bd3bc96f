"""The share of judged documents, which describes judgments and not rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.measures.base import MISSING_RANK, Measure, register_measure
from bayespool.measures.normalized import over


@register_measure
@dataclass(frozen=True, order=True)
class Judged(Measure):
    """Share of judged documents among those in the top n, Judged@n, which no completion changes.

    Parameters
    ----------
    cutoff : int
        The n of Judged@n, at least 1. A shorter run counts with the documents it has.
    rel : int, default 1
        Unused, and always 1.

    Notes
    -----
    Missing ranks do not count, as in ir_measures; a topic without documents scores 0.

    Examples
    --------
    >>> str(Judged(10))
    'Judged@10'
    >>> import numpy as np
    >>> Judged(4).evaluate(np.array([[1, -1, 0, MISSING_RANK, MISSING_RANK]])).round(2).tolist()
    [0.67]
    """

    name = "Judged"
    label = "share of judged documents in the top n"
    reads_unjudged = True
    of_judgments = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rel", 1)

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Parameters allowed in parentheses: none."""
        return {}

    def evaluate(self, levels: npt.NDArray[Any]) -> FloatArray:
        """Judged documents over documents, shape (...)."""
        top = levels[..., : self.cutoff]
        return over((top >= 0).sum(axis=-1), (top != MISSING_RANK).sum(axis=-1))
