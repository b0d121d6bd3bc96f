"""Reciprocal rank of the first relevant document, and its expectation where readers stop by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.errors import InputError
from bayespool.measures.base import MAX_RELEVANCE, Measure, register_measure, whole_number


@register_measure
@dataclass(frozen=True, order=True)
class ReciprocalRank(Measure):
    """Reciprocal rank at a cutoff, RR@n: 1 / rank for the first relevant document in the top n, else 0.

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

    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return the reciprocal rank of the first relevant document, float, shape (...)."""
        top = levels[..., : self.cutoff]
        reciprocal = 1 / np.arange(1, top.shape[-1] + 1)
        return np.asarray(np.where(top >= self.rel, reciprocal, 0.0).max(axis=-1, initial=0.0))


@register_measure
@dataclass(frozen=True, order=True)
class ERR(Measure):
    """Expected reciprocal rank at a cutoff, ERR@n: the mean of 1 / rank for the rank at which a reader stops.

    Readers are more likely to stop at more relevant documents.

    Parameters
    ----------
    cutoff : int
        As for `Measure`.
    rel : int, default 1
        The smallest relevance at which a reader may stop, at least 1.
    max_rel : int, default 4
        The highest relevance, at least 1; documents above it count as it.

    Notes
    -----
    A reader at a document of relevance g stops there with probability (2^g − 1)/2^max_rel (Chapelle et al.
    2009). ERR@n = Σ 1/i · P(stop at i) over the ranks i ≤ n. The default is that of gdeval and ir_measures.

    Examples
    --------
    >>> str(ERR(20)), str(ERR(20, max_rel=3))
    ('ERR@20', 'ERR(max_rel=3)@20')
    >>> ERR(2, max_rel=1).evaluate(np.array([[1, 1]])).tolist()
    [0.625]
    """

    max_rel: int = 4

    name = "ERR"
    label = "expected reciprocal of the rank at which a reader stops"
    citations = ("chapelle-etal-2009",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "max_rel", whole_number(f"{self.name}: max_rel", self.max_rel))
        if not 1 <= self.max_rel <= MAX_RELEVANCE:
            raise InputError(f"{self.name}: max_rel is {self.max_rel}", hint=f"from 1 to {MAX_RELEVANCE}")
        object.__setattr__(self, "is_graded", self.max_rel > self.rel)

    def evaluate(self, levels: AnyArray) -> FloatArray:
        """Return the expected reciprocal of the rank at which a reader stops, shape (...)."""
        top = np.clip(levels[..., : self.cutoff], 0, self.max_rel).astype(np.float64)
        stops = np.where(top >= self.rel, np.exp2(top - self.max_rel) - 2.0**-self.max_rel, 0.0)
        arrives = np.ones_like(stops)
        arrives[..., 1:] = np.cumprod(1 - stops, axis=-1)[..., :-1]
        return np.asarray((arrives * stops / np.arange(1, top.shape[-1] + 1)).sum(axis=-1))
