"""Counts of judged documents by the label of a second judge and by relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, Judge
from bayespool.collection.judges import MOST_GRADES
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.labels import TOP_OF_LABELS, GradeCounts, is_other

KindOfDocuments = Literal["hidden", "other"]
KINDS_OF_DOCUMENTS: tuple[KindOfDocuments, ...] = ("hidden", "other")


@dataclass(frozen=True, eq=False)
class LabelConfusion:
    """Numbers of judged documents by label and relevance.

    Attributes
    ----------
    judge : Judge
    levels : tuple of int
        Relevance at which each level but the lowest begins; the lowest begins at 0. Ascending.
    hidden : ndarray of int64, shape (grade + 1, level + 1)
        Documents that one organization alone contributed: the evidence of the models. The last row is of
        documents without a label.
    other : ndarray of int64, shape (grade + 1, level + 1)
        Other judged documents that some run ranks in its top 30: they inform the priors about a judge.
    """

    judge: Judge
    levels: tuple[int, ...]
    hidden: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        collection: Collection,
        judge: Judge,
        levels: Sequence[int] = (1,),
        *,
        cutoff: int = TOP_OF_LABELS,
    ) -> LabelConfusion:
        """Count judged documents by label and relevance.

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

        def count(pairs: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
            table = np.zeros((len(judge.thresholds) + 2, len(levels) + 1), dtype=np.int64)
            np.add.at(table, (judge.grade[pairs], level[pairs]), 1)  # −1, no label, is the last row
            return table

        return cls(
            judge, tuple(levels), count(pair.astype(np.intp)), count(np.flatnonzero(is_other(collection)))
        )

    def by_grade(self, documents: KindOfDocuments, rel: int) -> GradeCounts:
        """Labeled documents by grade; those of relevance ``rel`` or more, one of the levels, are relevant."""
        table: npt.NDArray[np.int64] = getattr(self, documents)[:-1]
        first = self.levels.index(rel) + 1
        return GradeCounts(self.judge, table[:, first:].sum(axis=1), table[:, :first].sum(axis=1))


def auc(counted: GradeCounts) -> float:
    """Chance that a relevant document has a higher grade than a nonrelevant one; ties count half.

    NaN without relevant or without nonrelevant documents.

    Examples
    --------
    >>> judge = Judge("a", np.array([0.0, 1.0, 2.0]))
    >>> auc(GradeCounts(judge, np.array([0, 1, 1]), np.array([2, 1, 1])))
    0.75
    """
    relevant, nonrelevant = counted.n_relevant, counted.n_nonrelevant
    n_pairs = int(relevant.sum() * nonrelevant.sum())
    if not n_pairs:
        return float("nan")
    below = np.cumsum(nonrelevant) - nonrelevant
    return float((relevant * (2 * below + nonrelevant)).sum() / (2 * n_pairs))


def kappas(counted: GradeCounts) -> npt.NDArray[np.float64]:
    """Cohen's κ of relevance and of a grade above each but the highest, shape (threshold,).

    NaN where all documents are on one side of both.

    Examples
    --------
    >>> judge = Judge("a", np.array([0.0, 1.0, 2.0]))
    >>> kappas(GradeCounts(judge, np.array([0, 1, 3]), np.array([4, 2, 0]))).round(3).tolist()
    [0.615, 0.783]
    """
    relevant, nonrelevant = counted.n_relevant, counted.n_nonrelevant
    n = int(relevant.sum() + nonrelevant.sum())
    labeled_relevant = relevant.sum() - np.cumsum(relevant)[:-1]  # relevant ones above the threshold
    labeled = n - np.cumsum(relevant + nonrelevant)[:-1]
    agree = n - labeled - relevant.sum() + 2 * labeled_relevant
    expected = labeled * relevant.sum() + (n - labeled) * nonrelevant.sum()
    with np.errstate(invalid="ignore"):
        kappa: npt.NDArray[np.float64] = (n * agree - expected) / (n * n - expected)
    return kappa


def grade_names(judge: Judge) -> tuple[str, ...]:
    """Names of the grades, lowest first: labels, or ranges of labels where there are too many.

    Examples
    --------
    >>> grade_names(Judge("a", np.array([0.0, 2.0, 0.5, np.nan])))
    ('0', '0.5', '2')
    >>> grade_names(Judge("a", np.linspace(0, 1, 101)))
    ('< 0.25', '≥ 0.25', '≥ 0.5', '≥ 0.75', '≥ 0.88', '≥ 0.95')
    """
    values = np.unique(judge.label[judge.is_labeled])
    if len(values) <= MOST_GRADES:
        return tuple(f"{value:g}" for value in values.tolist())
    return (f"< {judge.thresholds[0]:g}", *(f"≥ {threshold:g}" for threshold in judge.thresholds))
