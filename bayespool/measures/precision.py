"""Precision at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import AnyArray, FloatArray, IntArray
from bayespool.measures.base import MISSING_RANK, Additive, Measure, register_measure
from bayespool.measures.normalized import safe_ratio


class ShareOfTop(Additive):
    """Base class for shares of the top n: `evaluate` returns numbers of documents."""

    @property
    def unit(self) -> int:
        """Divisor from numbers of documents to scores: the cutoff."""
        return self.cutoff

    @property
    def is_exact(self) -> bool:
        """Whether the output of `evaluate` is whole numbers: always."""
        return True

    def weights(self) -> IntArray:
        """Return a weight of 1 for each rank, shape (rank,)."""
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

    def gains(self, levels: AnyArray) -> IntArray:
        """Return 1 for each relevant document, else 0, in the shape of ``levels``."""
        return (levels >= self.rel).astype(np.int32)

    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return the number of relevant documents in the top n, int32, shape (...)."""
        return np.asarray((levels[..., : self.cutoff] >= self.rel).sum(axis=-1, dtype=np.int32))


@register_measure
@dataclass(frozen=True, order=True)
class Judged(Measure):
    """Share of judged documents in the top n, Judged@n, which no completion changes.

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
    describes_judgments = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rel", 1)

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Return an empty mapping, because no parameters are allowed in parentheses."""
        return {}

    def evaluate(self, levels: AnyArray) -> FloatArray:
        """Return the share of judged documents in the top n, shape (...)."""
        top = levels[..., : self.cutoff]
        return safe_ratio((top >= 0).sum(axis=-1), (top != MISSING_RANK).sum(axis=-1))


@register_measure
@dataclass(frozen=True, order=True)
class NonrelevantShare(ShareOfTop):
    """Anti-precision at a cutoff, AntiP@n: the share of the top n that is judged nonrelevant.

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

    def gains(self, levels: AnyArray) -> IntArray:
        """Return 1 for nonrelevant documents and missing ranks, else 0, in the shape of ``levels``."""
        known = (levels >= 0) | (levels == MISSING_RANK)
        return np.asarray(known & (levels < self.rel), dtype=np.int32)

    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return the number of judged nonrelevant documents and missing ranks, int32, shape (...)."""
        top = levels[..., : self.cutoff]
        n_missing = self.cutoff - top.shape[-1]
        return np.asarray(self.gains(top).sum(axis=-1, dtype=np.int32) + np.int32(n_missing))


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

    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return 1.0 if a document in the top n is relevant, else 0.0, shape (...)."""
        return np.asarray((levels[..., : self.cutoff] >= self.rel).any(axis=-1).astype(float))
