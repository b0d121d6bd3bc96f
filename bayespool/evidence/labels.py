"""Numbers of judged documents for each label from an LLM judge, in total and per relevance level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, TypeVar

import numpy as np

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection, Judge
from bayespool.collection.contents import MOST_GRADES
from bayespool.collection.pools import sole_contributor
from bayespool.collection.rankings import within
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.ideals import NONRELEVANT, RELEVANT, states

_T = TypeVar("_T")
_P = ParamSpec("_P")
_Count = Callable[Concatenate[Collection, Judge, _P], _T]


TOP_OF_LABELS = 30
"""Largest rank of documents whose labels are counted.

Nonrelevant documents further down are easier to tell.
"""

_LIFT_DEPTH = 10  # ranks of each run
_MIN_LIFT = 0.1  # of a favored organization
_MIN_DEVIATIONS = 3.0  # in standard errors, and in standard deviations among organizations
_PRIOR_LIFT_SD = 0.05  # standard deviation among organizations, with the weight of two of them


def _cached(function: _Count[_P, _T]) -> _Count[_P, _T]:
    """Cache a function by collection, judge and other arguments (decorator)."""

    @wraps(function)
    def once(collection: Collection, judge: Judge, /, *args: _P.args, **options: _P.kwargs) -> _T:
        def count() -> _T:
            return function(collection, judge, *args, **options)

        key = judge.fingerprint, args, tuple(options.items())
        return collection.memo.once(function.__qualname__, count, key)

    return once


@dataclass(frozen=True, eq=False)
class GradeCounts:
    """Number of judged documents by an LLM judge's grade.

    Attributes
    ----------
    judge : Judge
    n_relevant, n_nonrelevant : ndarray of int64, shape (grade,)
        The lowest grade first.
    """

    judge: Judge
    n_relevant: IndexArray
    n_nonrelevant: IndexArray

    @property
    def n(self) -> IndexArray:
        """Number of documents with each grade, shape (grade,)."""
        return self.n_relevant + self.n_nonrelevant

    @property
    def base(self) -> float:
        """Share of relevant documents over all grades."""
        return float((self.n_relevant.sum() + 0.5) / (self.n.sum() + 1))

    @property
    def rate(self) -> FloatArray:
        """Share of relevant documents by grade, shrunk slightly toward the overall share, shape (grade,)."""
        return (self.n_relevant + self.base) / (self.n + 1)

    @property
    def shrunk(self) -> tuple[FloatArray, FloatArray]:
        """Numbers of relevant and nonrelevant documents, shrunk to equal shares, each (grade,)."""
        # as many documents more as there are grades, spread over the grades like all documents
        n_grades = len(self.n)
        more = (self.n + 0.5) / (self.n.sum() + 0.5 * n_grades) * n_grades
        return self.n_relevant + more, self.n_nonrelevant + more


def grade_counts(collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0) -> GradeCounts:
    """Count relevant and nonrelevant documents by grade, among judged ones ranked in a run's top 30.

    Documents that one organization alone contributed, the models' evidence, do not count.

    Parameters
    ----------
    collection : Collection
    judge : Judge
    rel, given : int
        Smallest relevance that counts as relevant (default 1), and of documents that count (default 0).
    """
    relevant, nonrelevant = topic_grades(collection, judge, rel=rel, given=given)
    return GradeCounts(judge, relevant.sum(axis=0), nonrelevant.sum(axis=0))


def hidden_grades(collection: Collection, judge: Judge) -> IndexArray:
    """Return the number of hidden documents in a run's top 30 for each grade.

    Shape (grade,).
    """
    hidden = collection.judged & in_top(collection, TOP_OF_LABELS) & (sole_contributor(collection) >= 0)
    grade = judge.grade[hidden & (judge.grade >= 0)]
    return np.bincount(grade, minlength=len(judge.thresholds) + 1).astype(np.int64)


@_cached
def topic_grades(
    collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0
) -> tuple[IndexArray, IndexArray]:
    """Return the numbers of relevant and nonrelevant documents from `grade_counts` per topic.

    Two arrays of shape (topic, grade).
    """
    state = states(collection.relevance, rel, given)
    counted = is_other(collection) & (judge.grade >= 0)
    shape = len(collection.query_ids), len(judge.thresholds) + 1
    relevant, nonrelevant = (
        _cross_table(collection.pair_topic[pair], judge.grade[pair], shape)
        for pair in (np.flatnonzero(counted & (state == kind)) for kind in (RELEVANT, NONRELEVANT))
    )
    relevant.flags.writeable = nonrelevant.flags.writeable = False
    return relevant, nonrelevant


def _cross_table(row: AnyArray, column: AnyArray, shape: tuple[int, int]) -> IndexArray:
    """Return the number of documents per (row, column) combination, an array of the given shape."""
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (row, column), 1)
    return table


def is_other(collection: Collection) -> BoolArray:
    """Return whether a document is judged, in a run's top 30, and not hidden evidence.

    Shape (pair,).
    """
    judged = collection.judged & in_top(collection, TOP_OF_LABELS)
    return np.asarray(judged & (sole_contributor(collection) < 0))


def favored_organizations(
    collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0
) -> dict[str, float]:
    """Return the label lift for each organization whose documents a judge labels too high.

    An organization is favored where its lift (`label_lift`), over equally relevant documents of others, is
    over .1, over three standard errors, and over the median of all organizations by more than three standard
    deviations among them. A judge that also reranked for an organization agrees with its runs, not with
    assessors.

    Parameters
    ----------
    collection, judge, rel, given
        As for `grade_counts`.
    """
    lifts = label_lift(collection, judge, rel=rel, given=given)
    return {collection.organizations[o]: float(lifts.lift[o]) for o in np.flatnonzero(lifts.is_favored)}


@dataclass(frozen=True, eq=False)
class LabelLift:
    """Excess labels on each organization's documents, compared with equally relevant other documents.

    Attributes
    ----------
    n : ndarray of int64, shape (organization,)
        Judged and labeled documents in the top 10 of its runs.
    lift : ndarray of float, shape (organization,)
        Share of pairs of such a document and one of others, both relevant or both not, in which it has the
        higher label, equal labels counting half, less a half: from −.5 to .5; NaN where there are none.
    error : ndarray of float, shape (organization,)
        Standard error of the lift, with topics as units.
    usual : float
        Median of the lifts; NaN of fewer than three organizations.
    limit : ndarray of float, shape (organization,)
        Lift over which the organization is favored (`favored_organizations`); NaN as the median.
    """

    n: IndexArray
    lift: FloatArray
    error: FloatArray
    usual: float
    limit: FloatArray

    @property
    def is_favored(self) -> BoolArray:
        """Whether the judge favors each organization, shape (organization,)."""
        return np.asarray(self.lift > self.limit)


@_cached
def label_lift(collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0) -> LabelLift:
    """Return each organization's label lift among documents of equal relevance.

    Parameters are as in `grade_counts`.
    """
    state = states(collection.relevance, rel, given)
    known = ((state == RELEVANT) | (state == NONRELEVANT)) & (judge.grade >= 0)
    is_relevant, grade = state == RELEVANT, judge.grade
    shape = 2, len(judge.thresholds) + 1

    def counted(pair: OrderArray) -> IndexArray:
        """Return numbers of documents by relevance and grade, shape (2, grade)."""
        return _cross_table(is_relevant[pair].astype(np.intp), grade[pair], shape)

    documents = top_documents(collection, judge)
    everyone = counted(documents[known[documents]])
    n_organizations = len(collection.organizations)
    n = np.zeros(n_organizations, dtype=np.int64)
    lift, error = np.full(n_organizations, np.nan), np.full(n_organizations, np.nan)
    for o in range(n_organizations):
        documents = top_documents(collection, judge, o)
        own = documents[known[documents]]
        n[o] = len(own)
        others = everyone - counted(own)
        n_others = others.sum(axis=1, keepdims=True)
        below = (np.cumsum(others, axis=1) - others / 2) / np.maximum(n_others, 1)
        there = own[n_others[is_relevant[own].astype(np.intp), 0] > 0]
        if len(there):
            above = below[is_relevant[there].astype(np.intp), grade[there]] - 0.5
            lift[o] = above.mean()
            topic_sums = np.bincount(collection.pair_topic[there], above)
            error[o] = np.sqrt((topic_sums**2).sum()) / len(there)
    is_known = np.isfinite(lift)
    if is_known.sum() < 3:
        return LabelLift(n, lift, error, np.nan, np.full(n_organizations, np.nan))
    center = float(np.median(lift[is_known]))
    spread = 1.48 * np.median(np.abs(lift[is_known] - center))
    spread = np.sqrt((is_known.sum() * spread**2 + 2 * _PRIOR_LIFT_SD**2) / (is_known.sum() + 2))
    limit = np.maximum(_MIN_DEVIATIONS * error, max(_MIN_LIFT, center + _MIN_DEVIATIONS * spread))
    return LabelLift(n, lift, error, center, limit)


def submitters(collection: Collection, judge: Judge) -> IntArray:
    """Return the organization of each run that a judge may favor, as an index, shape (run,)."""
    return collection.organization if judge.organization is None else judge.organization


def top_documents(collection: Collection, judge: Judge, organization: int | None = None) -> OrderArray:
    """Return the documents in the top 10 of all runs, or of an organization's, by index, (document,)."""
    runs = slice(None) if organization is None else submitters(collection, judge) == organization
    pair = np.unique(collection.document[runs, :, :_LIFT_DEPTH])
    return np.asarray(pair[pair >= 0])


def in_top(collection: Collection, depth: int) -> BoolArray:
    """Return whether a run ranks the document in its top ``depth``, shape (pair,)."""
    inside = np.zeros(len(collection.relevance) + 1, dtype=bool)  # the last is that of −1, no document
    inside[within(collection.document, collection.run_index(), depth)] = True
    return inside[:-1]


KindOfDocuments = Literal["hidden", "other"]
KINDS_OF_DOCUMENTS: tuple[KindOfDocuments, ...] = ("hidden", "other")


@dataclass(frozen=True, eq=False)
class LabelConfusion:
    """Number of judged documents by label and relevance level.

    Attributes
    ----------
    judge : Judge
    levels : tuple of int
        Relevance at which each level but the lowest begins; the lowest begins at 0. Ascending.
    topic_hidden, topic_other : ndarray of int64, shape (topic, grade + 1, level + 1)
        Documents that one organization alone contributed, the evidence of the models; and others that some
        run ranks in its top 30, which inform priors about a judge. The last grade has documents without a
        label.
    """

    judge: Judge
    levels: tuple[int, ...]
    topic_hidden: IndexArray
    topic_other: IndexArray

    @property
    def hidden(self) -> IndexArray:
        """Hidden documents on all topics, shape (grade + 1, level + 1)."""
        return np.asarray(self.topic_hidden.sum(axis=0))

    @property
    def other(self) -> IndexArray:
        """Other documents on all topics, shape (grade + 1, level + 1)."""
        return np.asarray(self.topic_other.sum(axis=0))

    @classmethod
    def of(
        cls,
        collection: Collection,
        judge: Judge,
        levels: Sequence[int] = (1,),
        *,
        cutoff: int = TOP_OF_LABELS,
    ) -> LabelConfusion:
        """Return the number of judged documents by label and relevance level.

        Parameters
        ----------
        collection : Collection
        judge : Judge
            One of its judges.
        levels : sequence of int
            Where levels of relevance begin, each 1 or more, ascending.
        cutoff : int, default 30
            Deepest rank of hidden documents: the depth of the evidence.

        Examples
        --------
        >>> from bayespool import load_example
        >>> example = load_example()
        >>> judge = Judge("relevance", example.relevance.clip(0, 1).astype(float))
        >>> LabelConfusion.of(example, judge).hidden.tolist()
        [[551, 0], [0, 63], [0, 0]]
        """
        pair = held_out_documents(collection, cutoff=cutoff)[3]
        level = np.searchsorted(np.array(levels), collection.relevance, side="right")

        shape = len(collection.query_ids), len(judge.thresholds) + 2, len(levels) + 1
        hidden, other = (np.zeros(shape, dtype=np.int64) for _ in KINDS_OF_DOCUMENTS)
        for table, pairs in ((hidden, pair), (other, np.flatnonzero(is_other(collection)))):
            # −1, no label, is the last grade
            np.add.at(table, (collection.pair_topic[pairs], judge.grade[pairs], level[pairs]), 1)
        return cls(judge, tuple(levels), hidden, other)

    def by_grade(self, documents: KindOfDocuments, rel: int, times: IndexArray | None = None) -> GradeCounts:
        """Return numbers of relevant and nonrelevant labeled documents by grade.

        Documents of relevance ``rel`` or more, one of the levels, are relevant. ``times``, of shape
        (sample, topic), is how often each topic counts; the numbers then have the shape (sample, grade).
        """
        table: IndexArray = getattr(self, f"topic_{documents}")[:, :-1]
        first = self.levels.index(rel) + 1
        numbers = (table[..., first:].sum(axis=2), table[..., :first].sum(axis=2))
        return GradeCounts(self.judge, *(n.sum(axis=0) if times is None else times @ n for n in numbers))


def auc(counted: GradeCounts) -> FloatArray:
    """Return the probability that a relevant document has a higher grade than a nonrelevant one (AUC).

    NaN without relevant or without nonrelevant documents. Shape (...,), of counts (..., grade).

    Examples
    --------
    >>> judge = Judge("a", np.array([0.0, 1.0, 2.0]))
    >>> float(auc(GradeCounts(judge, np.array([0, 1, 1]), np.array([2, 1, 1]))))
    0.75
    """
    relevant, nonrelevant = counted.n_relevant, counted.n_nonrelevant
    n_pairs = relevant.sum(axis=-1) * nonrelevant.sum(axis=-1)
    below = np.cumsum(nonrelevant, axis=-1) - nonrelevant
    with np.errstate(invalid="ignore"):
        return np.asarray((relevant * (2 * below + nonrelevant)).sum(axis=-1) / (2 * n_pairs))


def kappas(counted: GradeCounts) -> FloatArray:
    """Return Cohen's κ between relevance and exceeding each grade but the highest, shape (..., threshold).

    NaN where all documents are on one side of both.

    Examples
    --------
    >>> judge = Judge("a", np.array([0.0, 1.0, 2.0]))
    >>> kappas(GradeCounts(judge, np.array([0, 1, 3]), np.array([4, 2, 0]))).round(3).tolist()
    [0.615, 0.783]
    """
    relevant, nonrelevant = counted.n_relevant, counted.n_nonrelevant
    n_relevant, n_nonrelevant = (n.sum(axis=-1, keepdims=True) for n in (relevant, nonrelevant))
    n = n_relevant + n_nonrelevant
    # relevant documents above the threshold
    labeled_relevant = n_relevant - np.cumsum(relevant, axis=-1)[..., :-1]
    labeled = n - np.cumsum(relevant + nonrelevant, axis=-1)[..., :-1]
    agree = n - labeled - n_relevant + 2 * labeled_relevant
    expected = labeled * n_relevant + (n - labeled) * n_nonrelevant
    with np.errstate(invalid="ignore"):
        kappa: FloatArray = (n * agree - expected) / (n * n - expected)
    return kappa


def grade_names(judge: Judge) -> tuple[str, ...]:
    """Return grade names, lowest first: labels, or label ranges if there are too many."""
    values = np.unique(judge.label[judge.is_labeled])
    if len(values) <= MOST_GRADES:
        return tuple(f"{value:g}" for value in values.tolist())
    return (f"< {judge.thresholds[0]:g}", *(f"≥ {threshold:g}" for threshold in judge.thresholds))
