"""Counts of relevance by label of a second judge, and tests for judges that favor an organization."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray, Judge
from bayespool.collection.contributors import sole_contributor
from bayespool.collection.rankings import within
from bayespool.evidence.states import NONRELEVANT, RELEVANT, states

_T = TypeVar("_T", covariant=True)


class _Count(Protocol[_T]):
    """A function that counts documents by a judge's labels."""

    def __call__(self, collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0) -> _T: ...


TOP_OF_LABELS = 30
"""Deepest rank of documents whose labels are counted: nonrelevant documents further down are easier to tell
than those to complete.
"""

_LIFT_DEPTH = 10  # ranks of each run
_MIN_LIFT = 0.1  # of a favored organization
_MIN_DEVIATIONS = 3.0  # in standard errors, and in standard deviations among organizations
_PRIOR_LIFT_SD = 0.05  # standard deviation among organizations, with the weight of two of them


def _once(function: _Count[_T]) -> _Count[_T]:
    """Cache the function by collection, judge, ``rel`` and ``given``: every predictor calls it."""
    kept: WeakKeyDictionary[Collection, dict[tuple[str, int, int], _T]] = WeakKeyDictionary()

    @wraps(function)
    def once(collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0) -> _T:
        counts, key = kept.setdefault(collection, {}), (judge.fingerprint, rel, given)
        if key not in counts:
            counts[key] = function(collection, judge, rel=rel, given=given)
        return counts[key]

    return once


@dataclass(frozen=True, eq=False)
class GradeCounts:
    """Judged documents by grade of a judge.

    Attributes
    ----------
    judge : Judge
    n_relevant, n_nonrelevant : ndarray of int64, shape (grade,)
        The lowest grade first.
    """

    judge: Judge
    n_relevant: npt.NDArray[np.int64]
    n_nonrelevant: npt.NDArray[np.int64]

    @property
    def n(self) -> npt.NDArray[np.int64]:
        """Documents of each grade, shape (grade,)."""
        return self.n_relevant + self.n_nonrelevant

    @property
    def base(self) -> float:
        """Share of relevant documents over all grades."""
        return float((self.n_relevant.sum() + 0.5) / (self.n.sum() + 1))

    @property
    def rate(self) -> npt.NDArray[np.float64]:
        """Share of relevant documents by grade, shrunk slightly toward that of all, shape (grade,)."""
        rate: npt.NDArray[np.float64] = (self.n_relevant + self.base) / (self.n + 1)
        return rate

    @property
    def shrunk(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Relevant and nonrelevant documents by grade, shrunk to equal shares; two arrays of shape (grade,).

        Each has as many documents more as there are grades, spread over the grades like all documents.
        """
        n_grades = len(self.n)
        more = (self.n + 0.5) / (self.n.sum() + 0.5 * n_grades) * n_grades
        return self.n_relevant + more, self.n_nonrelevant + more


def grade_counts(collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0) -> GradeCounts:
    """Count relevant documents of each grade, among judged ones that some run ranks in its top 30.

    Documents that one organization alone contributed, the models' evidence, do not count.

    Parameters
    ----------
    collection : Collection
    judge : Judge
    rel : int, default 1
    given : int, default 0
        Documents of less relevance do not count.

    Returns
    -------
    GradeCounts
    """
    relevant, nonrelevant = topic_grades(collection, judge, rel=rel, given=given)
    return GradeCounts(judge, relevant.sum(axis=0), nonrelevant.sum(axis=0))


def hidden_grades(collection: Collection, judge: Judge) -> npt.NDArray[np.int64]:
    """Hidden documents of each grade that some run ranks in its top 30, relevant or not, shape (grade,)."""
    hidden = collection.judged & in_top(collection, TOP_OF_LABELS) & (sole_contributor(collection) >= 0)
    grade = judge.grade[hidden & (judge.grade >= 0)]
    return np.bincount(grade, minlength=len(judge.thresholds) + 1).astype(np.int64)


@_once
def topic_grades(
    collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Relevant and nonrelevant documents of `grade_counts` by topic, two arrays of shape (topic, grade)."""
    state = states(collection.relevance, rel, given)
    counted = is_other(collection) & (judge.grade >= 0)
    shape = len(collection.query_ids), len(judge.thresholds) + 1
    relevant, nonrelevant = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for table, kind in ((relevant, RELEVANT), (nonrelevant, NONRELEVANT)):
        pair = np.flatnonzero(counted & (state == kind))
        np.add.at(table, (collection.pair_topic[pair], judge.grade[pair]), 1)
        table.flags.writeable = False
    return relevant, nonrelevant


def is_other(collection: Collection) -> npt.NDArray[np.bool_]:
    """Whether a document is judged, in the top 30 of some run, and not hidden evidence, shape (pair,)."""
    judged = collection.judged & in_top(collection, TOP_OF_LABELS)
    return np.asarray(judged & (sole_contributor(collection) < 0))


def favored_organizations(
    collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0
) -> dict[str, float]:
    """Organizations whose documents a judge labels higher than equally relevant ones of others.

    An organization is favored where its lift (`label_lift`) is over .1, over three standard errors, and over
    the median of all organizations by more than three standard deviations among them. A judge that also
    reranked for an organization agrees with its runs, not with assessors.

    Parameters
    ----------
    collection : Collection
    judge : Judge
    rel, given : int
        As of `grade_counts`.

    Returns
    -------
    dict of str to float
        Lifts of favored organizations.
    """
    lifts = label_lift(collection, judge, rel=rel, given=given)
    return {collection.organizations[o]: float(lifts.lift[o]) for o in np.flatnonzero(lifts.is_favored)}


@dataclass(frozen=True, eq=False)
class LabelLift:
    """Excess of a judge's labels on documents of each organization over equally relevant ones of others.

    Attributes
    ----------
    n : ndarray of int64, shape (organization,)
        Judged and labeled documents in the top 10 of its runs.
    lift : ndarray of float, shape (organization,)
        Share of pairs of such a document and one of others, both relevant or both not, in which it has the
        higher label, equal labels counting half, less a half: from −.5 to .5; NaN where there are none.
    error : ndarray of float, shape (organization,)
        Standard error of the lift, with topics as units.
    is_favored : ndarray of bool, shape (organization,)
        See `favored_organizations`.
    """

    n: npt.NDArray[np.int64]
    lift: npt.NDArray[np.float64]
    error: npt.NDArray[np.float64]
    is_favored: npt.NDArray[np.bool_]


@_once
def label_lift(collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0) -> LabelLift:
    """Lift of each organization, with the parameters of `favored_organizations`.

    Labels are compared among documents of one relevance, so that the quality of an organization's runs does
    not matter.
    """
    state = states(collection.relevance, rel, given)
    known = np.append(((state == RELEVANT) | (state == NONRELEVANT)) & (judge.grade >= 0), False)
    is_relevant, grade = np.append(state == RELEVANT, False), np.append(judge.grade, np.int8(-1))
    top = collection.document[:, :, :_LIFT_DEPTH]
    shape = 2, len(judge.thresholds) + 1

    def counted(pair: IntArray) -> npt.NDArray[np.int64]:
        """Documents by relevance and grade, shape (2, grade)."""
        table = np.zeros(shape, dtype=np.int64)
        np.add.at(table, (is_relevant[pair].astype(np.intp), grade[pair]), 1)
        return table

    everyone = counted(_known_of(top, known))
    n_organizations = len(collection.organizations)
    n = np.zeros(n_organizations, dtype=np.int64)
    lift, error = np.full(n_organizations, np.nan), np.full(n_organizations, np.nan)
    for o in range(n_organizations):
        own = _known_of(top[submitters(collection, judge) == o], known)
        n[o] = len(own)
        others = everyone - counted(own)
        n_others = others.sum(axis=1, keepdims=True)
        below = (np.cumsum(others, axis=1) - others / 2) / np.maximum(n_others, 1)
        there = own[n_others[is_relevant[own].astype(np.intp), 0] > 0]
        if len(there):
            above = below[is_relevant[there].astype(np.intp), grade[there]] - 0.5
            lift[o] = above.mean()
            of_topic = np.bincount(collection.pair_topic[there], above)
            error[o] = np.sqrt((of_topic**2).sum()) / len(there)
    is_known = np.isfinite(lift)
    if is_known.sum() < 3:
        return LabelLift(n, lift, error, np.zeros(n_organizations, dtype=bool))
    center = np.median(lift[is_known])
    spread = 1.48 * np.median(np.abs(lift[is_known] - center))
    spread = np.sqrt((is_known.sum() * spread**2 + 2 * _PRIOR_LIFT_SD**2) / (is_known.sum() + 2))
    is_high = (
        (lift > _MIN_LIFT) & (lift > _MIN_DEVIATIONS * error) & (lift - center > _MIN_DEVIATIONS * spread)
    )
    return LabelLift(n, lift, error, is_known & is_high)


def submitters(collection: Collection, judge: Judge) -> IntArray:
    """Organization of each run, as an index, that the judge may favor, shape (run,)."""
    return collection.organization if judge.organization is None else judge.organization


def _known_of(document: IntArray, known: npt.NDArray[np.bool_]) -> IntArray:
    """Distinct documents of rankings that are known, shape (document,)."""
    pair = np.unique(document)
    known_pairs: IntArray = pair[known[pair]]
    return known_pairs


def in_top(collection: Collection, depth: int) -> npt.NDArray[np.bool_]:
    """Whether some run ranks a document down to ``depth``, shape (pair,)."""
    inside = np.zeros(len(collection.relevance) + 1, dtype=bool)
    inside[within(collection.document, collection.run_index(), depth)] = (
        True  # −1, no document, is the last entry
    )
    return inside[:-1]
