"""Precision, recall, success and reciprocal ranks at a cutoff."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import AnyArray, FloatArray, IntArray
from bayespool.errors import InputError
from bayespool.measures.base import (
    MAX_RELEVANCE,
    MISSING_RANK,
    Additive,
    Extremes,
    Measure,
    Normalized,
    Tally,
    n_relevant,
    register_measure,
    safe_ratio,
    whole_number,
)


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
    examples = ("P@5", "P@10", "P@20", "P(rel=2)@10")
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
    examples = ("Judged@10",)
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
    examples = ("AntiP@10",)
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
    examples = ("Success@10",)
    label = "whether anything in the top n is relevant"
    has_gains = True

    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return 1.0 if a document in the top n is relevant, else 0.0, shape (...)."""
        return np.asarray((levels[..., : self.cutoff] >= self.rel).any(axis=-1).astype(float))

    def expected_amounts(self, gains: FloatArray) -> FloatArray:
        """Return 1 − Π (1 − q_i) of probabilities q to be relevant, shape (...)."""
        return np.asarray(1 - np.prod(1 - gains, axis=-1))


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
    examples = ("R@100", "R@1000")
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
    examples = ("RR@10",)
    label = "one over the rank of the first relevant document"
    has_gains = True

    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return the reciprocal rank of the first relevant document, float, shape (...)."""
        top = levels[..., : self.cutoff]
        reciprocal = 1 / np.arange(1, top.shape[-1] + 1)
        return np.asarray(np.where(top >= self.rel, reciprocal, 0.0).max(axis=-1, initial=0.0))

    def expected_amounts(self, gains: FloatArray) -> FloatArray:
        """Return Σ q_i/i Π_{j<i} (1 − q_j) of probabilities q to be relevant, shape (...)."""
        return reciprocal_of_stop(gains)


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
    examples = ("ERR@20",)
    label = "expected reciprocal of the rank at which a reader stops"
    has_gains = True
    citations = ("chapelle-etal-2009",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "max_rel", whole_number(f"{self.name}: max_rel", self.max_rel))
        if not 1 <= self.max_rel <= MAX_RELEVANCE:
            raise InputError(f"{self.name}: max_rel is {self.max_rel}", hint=f"from 1 to {MAX_RELEVANCE}")
        object.__setattr__(self, "is_graded", self.max_rel > self.rel)

    def evaluate(self, levels: AnyArray) -> FloatArray:
        """Return the expected reciprocal of the rank at which a reader stops, shape (...)."""
        return reciprocal_of_stop(self.document_gains(levels[..., : self.cutoff]))

    def document_gains(self, levels: AnyArray) -> FloatArray:
        """Return the probability that a reader stops at a document."""
        level = np.clip(levels, 0, self.max_rel).astype(np.float64)
        return np.where(level >= self.rel, np.exp2(level - self.max_rel) - 2.0**-self.max_rel, 0.0)

    def expected_amounts(self, gains: FloatArray) -> FloatArray:
        """Return Σ q_i/i Π_{j<i} (1 − q_j) of probabilities q to stop, shape (...)."""
        return reciprocal_of_stop(gains)


def reciprocal_of_stop(chances: FloatArray) -> FloatArray:
    """Return the expected reciprocal of the first rank of a success, of independent probabilities (...,
    rank).
    """
    first = chances.copy()
    first[..., 1:] *= np.cumprod(1 - chances, axis=-1)[..., :-1]
    return np.asarray((first / np.arange(1, chances.shape[-1] + 1)).sum(axis=-1))
