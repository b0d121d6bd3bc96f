"""Predictors from second judges: what they label a document. They belong to a collection, not to a registry."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, Judge
from bayespool.counts import GradeCounts, favoured_organizations, grade_counts
from bayespool.predictors.context import DocumentContext
from bayespool.predictors.predictor import Predictor

__all__ = ["label_predictors", "label_slopes", "usable_judges"]

FloatArray = npt.NDArray[np.float64]

_TRANSFER = 0.5  # standard deviation of what a grade is worth, among hidden documents and among judged ones
_WITHOUT = 0.5  # the same of a label that is not there, about 0
_MOST = 1.5
_FEWEST = 5  # relevant and nonrelevant documents, with labels, that a judge is to be known by


def label_predictors(collection: Collection) -> dict[str, Predictor]:
    """Predictors of the collection's judges by name: for each grade but the lowest whether the label reaches
    it, and whether there is none.

    A document without a label has NaN for the former, and counts as an average one. So has one of a run of an
    organization that the judge favors.
    """
    found = {}
    for judge in collection.judges:
        for place, threshold in enumerate(judge.thresholds):
            found[_name(judge, threshold)] = Predictor(
                name=_name(judge, threshold),
                description=f"whether judge {judge.name} labels it {threshold:g} or more",
                per="label",
                compute=partial(_reaches, judge=judge, place=place),
            )
        if judge.thresholds:
            found[_name(judge)] = Predictor(
                name=_name(judge),
                description=f"whether judge {judge.name} does not label it",
                per="label",
                compute=partial(_is_missing, judge=judge),
            )
    return found


def label_slopes(collection: Collection, *, rel: int = 1, given: int = 0) -> dict[str, tuple[float, float]]:
    r"""Expected slopes of `label_predictors`, mean and standard deviation.

    What a grade is worth are its log odds ratios among judged documents that are no evidence themselves:

    .. math::

        \log \frac{P(g \mid \text{relevant})}{P(g \mid \text{nonrelevant})}

    The slope of a threshold is the step from the grade below. What labels are worth among hidden documents
    differs from that by a standard deviation of .5, besides the standard error.
    """
    slopes: dict[str, tuple[float, float]] = {}
    for judge in usable_judges(collection, rel=rel, given=given):
        counted = grade_counts(collection, judge, rel=rel, given=given)
        relevant, nonrelevant = counted.n_relevant + 0.5, counted.n_nonrelevant + 0.5
        step = np.diff(np.log(relevant / relevant.sum()) - np.log(nonrelevant / nonrelevant.sum()))
        variance = 1 / relevant + 1 / nonrelevant
        std = np.sqrt(_TRANSFER**2 + variance[1:] + variance[:-1]).clip(max=_MOST)
        for threshold, mean, sd in zip(judge.thresholds, step.tolist(), std.tolist(), strict=True):
            slopes[_name(judge, threshold)] = (mean, sd)
        slopes[_name(judge)] = (0.0, _WITHOUT)
    return slopes


def usable_judges(collection: Collection, *, rel: int = 1, given: int = 0) -> tuple[Judge, ...]:
    """Judges that judged documents tell something of: five labelled ones at least are relevant, and five
    not.
    """
    return tuple(
        judge
        for judge in collection.judges
        if judge.thresholds and _is_known(grade_counts(collection, judge, rel=rel, given=given))
    )


def _is_known(counted: GradeCounts) -> bool:
    return min(counted.n_relevant.sum(), counted.n_nonrelevant.sum()) >= _FEWEST


def _name(judge: Judge, threshold: float | None = None) -> str:
    return f"{judge.name} without label" if threshold is None else f"{judge.name} ≥ {threshold:g}"


def _grade(documents: DocumentContext, judge: Judge) -> npt.NDArray[np.int8]:
    """Grades of the documents, −1 where they do not count."""
    collection = documents.collection
    favoured = favoured_organizations(collection, judge, rel=documents.rel, given=documents.given)
    is_favoured = np.isin(np.array(collection.organizations), list(favoured))
    return np.where(
        is_favoured[collection.organization[documents.run]], np.int8(-1), judge.grade[documents.pair]
    )


def _reaches(documents: DocumentContext, *, judge: Judge, place: int) -> FloatArray:
    grade = _grade(documents, judge)
    return np.where(grade < 0, np.nan, grade > place)


def _is_missing(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    missing: FloatArray = (_grade(documents, judge) < 0).astype(float)
    return missing
