"""What labels of a second judge say of relevance, counted on judged documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray, Judge, sole_contributor
from bayespool.counts.states import NONRELEVANT, RELEVANT, states

__all__ = [
    "TOP_OF_LABELS",
    "GradeCounts",
    "PromisedRelevance",
    "favoured_organizations",
    "grade_counts",
    "in_top",
    "promised_relevance",
]

TOP_OF_LABELS = 30
"""Labels are counted on documents that some run ranks as high: a nonrelevant document far down is an easier
one than those that are to be completed."""

_TOP = 10  # of runs, where a judge is asked whether it favors them
_FAVOR = 0.1  # less relevant than labels of others make them, at the least
_UNLIKELY = 3.0  # standard errors, and deviations among organizations
_USUAL = 0.05  # standard deviation among organizations, counted as two more of them


@dataclass(frozen=True, eq=False)
class GradeCounts:
    """Judged documents by grade of a judge.

    Attributes
    ----------
    judge : Judge
    relevant, nonrelevant : ndarray of int64, shape (topic, grade)
        The lowest grade first.
    """

    judge: Judge
    relevant: npt.NDArray[np.int64]
    nonrelevant: npt.NDArray[np.int64]

    @property
    def n_relevant(self) -> npt.NDArray[np.int64]:
        """Relevant ones of all topics, shape (grade,)."""
        return np.asarray(self.relevant.sum(axis=0))

    @property
    def n_nonrelevant(self) -> npt.NDArray[np.int64]:
        """Nonrelevant ones of all topics, shape (grade,)."""
        return np.asarray(self.nonrelevant.sum(axis=0))

    @property
    def base(self) -> float:
        """Share relevant of all."""
        n_relevant, n_nonrelevant = int(self.n_relevant.sum()), int(self.n_nonrelevant.sum())
        return (n_relevant + 0.5) / (n_relevant + n_nonrelevant + 1)

    @property
    def rate(self) -> npt.NDArray[np.float64]:
        """Share relevant by grade, drawn a little to that of all, shape (grade,)."""
        n = self.n_relevant + self.n_nonrelevant
        rate: npt.NDArray[np.float64] = (self.n_relevant + self.base) / (n + 1)
        return rate


def grade_counts(collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0) -> GradeCounts:
    """How many documents of each grade are relevant, among judged ones that some run ranks in its top 30.

    Documents that one organization alone contributed do not count: they are the models' evidence.

    Parameters
    ----------
    collection : Collection
    judge : Judge
    rel : int, default 1
    given : int, default 0
        Documents of less relevance do not count at all.

    Returns
    -------
    GradeCounts
    """
    state = states(collection.relevance, rel, given)
    counted = in_top(collection, TOP_OF_LABELS) & (judge.grade >= 0)
    counted &= sole_contributor(collection) < 0
    shape = len(collection.query_ids), len(judge.thresholds) + 1
    relevant, nonrelevant = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for table, what in ((relevant, RELEVANT), (nonrelevant, NONRELEVANT)):
        pair = np.flatnonzero(counted & (state == what))
        np.add.at(table, (collection.pair_topic[pair], judge.grade[pair]), 1)
    return GradeCounts(judge, relevant, nonrelevant)


def favoured_organizations(
    collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0
) -> dict[str, float]:
    """Organizations whose documents a judge labels higher than relevance is, unlike those of others.

    A judge that also reranked for an organization agrees with its runs, not with assessors. For judged
    documents in the top 10 of an organization's runs the share of relevant ones is held against what
    documents of others with their grades have. An organization is favored where it is lower by .1 or more, by
    three standard errors (topics are the units), and by three standard deviations among organizations.

    Parameters
    ----------
    collection : Collection
    judge : Judge
    rel, given : int
        As of `grade_counts`.

    Returns
    -------
    dict of str to float
        By how much the labels of favored organizations promise more relevant documents than there are, as a
        share of documents.
    """
    found = promised_relevance(collection, judge, rel=rel, given=given)
    return {collection.organizations[o]: float(found.excess[o]) for o in np.flatnonzero(found.is_favoured)}


@dataclass(frozen=True, eq=False)
class PromisedRelevance:
    """How many more documents of organizations are relevant by a judge's labels than are in truth.

    Attributes
    ----------
    n : ndarray of int64, shape (organization,)
        Judged and labelled documents in the top 10 of its runs.
    excess : ndarray of float, shape (organization,)
        What labels promise less what is relevant, as a share of these documents; NaN where there are none.
    error : ndarray of float, shape (organization,)
        Its standard error, with topics as units.
    is_favoured : ndarray of bool, shape (organization,)
        See `favoured_organizations`.
    """

    n: npt.NDArray[np.int64]
    excess: npt.NDArray[np.float64]
    error: npt.NDArray[np.float64]
    is_favoured: npt.NDArray[np.bool_]


def promised_relevance(
    collection: Collection, judge: Judge, *, rel: int = 1, given: int = 0
) -> PromisedRelevance:
    """The figures behind `favoured_organizations`, which has the same parameters."""
    state = states(collection.relevance, rel, given)
    known = ((state == RELEVANT) | (state == NONRELEVANT)) & (judge.grade >= 0)
    n_organizations = len(collection.organizations)
    off, error = np.full(n_organizations, np.nan), np.full(n_organizations, np.nan)
    nobody = np.zeros(n_organizations, dtype=bool)
    n_grades = len(judge.thresholds) + 1
    tops = [
        np.flatnonzero(known & in_top(collection, _TOP, np.flatnonzero(collection.organization == o)))
        for o in range(n_organizations)
    ]
    n_documents = np.array([len(pair) for pair in tops], dtype=np.int64)
    anyone = known & in_top(collection, _TOP)
    for o, pair in enumerate(tops):
        others = anyone.copy()
        others[pair] = False
        if not len(pair) or not others.any():
            continue
        of_others = judge.grade[others]
        n = np.bincount(of_others, minlength=n_grades)
        n_relevant = np.bincount(of_others, state[others] == RELEVANT, n_grades)
        rate = (n_relevant + n_relevant.sum() / n.sum()) / (n + 1)
        residual = (state[pair] == RELEVANT) - rate[judge.grade[pair]]
        of_topic = np.bincount(collection.pair_topic[pair], residual)
        off[o] = residual.mean()
        error[o] = np.sqrt((of_topic**2).sum()) / len(pair)
    there = np.isfinite(off)
    if there.sum() < 3:
        return PromisedRelevance(n_documents, -off, error, nobody)
    center = np.median(off[there])
    spread = 1.48 * np.median(np.abs(off[there] - center))
    spread = np.sqrt((there.sum() * spread**2 + 2 * _USUAL**2) / (there.sum() + 2))
    low = there & (off < -_FAVOR) & (off < -_UNLIKELY * error) & (off - center < -_UNLIKELY * spread)
    return PromisedRelevance(n_documents, -off, error, low)


def in_top(
    collection: Collection, depth: int, runs: npt.NDArray[np.intp] | None = None
) -> npt.NDArray[np.bool_]:
    """Which documents some run ranks down to a depth, shape (pair,)."""
    inside = np.zeros(len(collection.relevance) + 1, dtype=bool)
    index = slice(None) if runs is None else runs
    document: IntArray = collection.document[index, :, :depth]
    inside[document] = True
    return inside[:-1]
