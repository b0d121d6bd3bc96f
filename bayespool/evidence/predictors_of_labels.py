"""Predictors from labels of second judges. They belong to a collection, not to a registry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from bayespool.collection import Collection, Judge
from bayespool.evidence.context import DocumentContext
from bayespool.evidence.labels import (
    GradeCounts,
    favored_organizations,
    grade_counts,
    hidden_grades,
    submitters,
    topic_grades,
)
from bayespool.evidence.predictor import Predictor
from bayespool.evidence.states import UNJUDGED_STATE
from bayespool.randomness import key_of, normals

FloatArray = npt.NDArray[np.float64]

_TRANSFER = 0.5  # standard deviation of what a grade is worth, among hidden documents and among judged ones
_WITHOUT = 0.5  # the same of a label that is not there
_MOST = 1.5  # of these standard deviations
_OF_RUN = (0.5, 0.5)  # expected slope of the share relevant by labels, and its standard deviation
_ON_TOPIC = (0.5, 0.5)  # the same of what labels are worth on a topic
_OTHERS = 20.0  # documents of all topics that a topic's own are added to
_USUAL = 5.0  # documents as usual that a run's own are added to
_TINY = 1e-9
_FEWEST = 5  # relevant and nonrelevant documents, with labels, that a judge is to be known by


def label_predictors(collection: Collection) -> dict[str, Predictor]:
    """Predictors of the collection's judges by name: for each grade but the lowest whether the label reaches
    it, and whether there is none.

    A document without a label has NaN for the former, and counts as one at the mean of labels. So does one of
    a run of an organization that the judge favors. A run without a labeled unjudged document has NaN, too.
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
            found[_of_run(judge)] = Predictor(
                name=_of_run(judge),
                description=f"log odds of relevant documents among the unjudged ones of the run, by labels "
                f"of judge {judge.name}",
                per="ranking",
                compute=partial(_run_labels, judge=judge),
            )
            found[_on_topic(judge)] = Predictor(
                name=_on_topic(judge),
                description=f"how much more a label by judge {judge.name} is worth on the topic than on all",
                per="label",
                compute=partial(_topic_ratio, judge=judge),
            )
            found[_name(judge)] = Predictor(
                name=_name(judge),
                description=f"whether judge {judge.name} does not label it",
                per="label",
                compute=partial(_is_missing, judge=judge),
            )
    return found


def label_slopes(collection: Collection, *, rel: int = 1, given: int = 0) -> dict[str, tuple[float, float]]:
    r"""Expected slopes of `label_predictors`, mean and standard deviation.

    The worth of a grade is its log odds ratio among judged documents that are not evidence themselves:

    .. math::

        \log \frac{P(g \mid \text{relevant})}{P(g \mid \text{nonrelevant})}

    The slope of a threshold is the step from the grade below. The worth of labels among hidden documents
    differs from that by a standard deviation of .5, in addition to the standard error.
    """
    slopes: dict[str, tuple[float, float]] = {}
    for judge in usable_judges(collection, rel=rel, given=given):
        counted = grade_counts(collection, judge, rel=rel, given=given)
        ratio, variance = _log_ratios(counted)
        step = np.diff(ratio)
        std = np.sqrt(_TRANSFER**2 + variance[1:] + variance[:-1]).clip(max=_MOST)
        for threshold, mean, sd in zip(judge.thresholds, step.tolist(), std.tolist(), strict=True):
            slopes[_name(judge, threshold)] = (mean, sd)
        slopes[_of_run(judge)] = _OF_RUN
        slopes[_on_topic(judge)] = _ON_TOPIC
        slopes[_name(judge)] = (_without_label(collection, counted, ratio), _WITHOUT)
    return slopes


@dataclass(frozen=True, eq=False)
class LabelRatios:
    """By how much labels of a judge raise the log odds of documents: Bayes' rule with what judged documents
    say of labels, for models that learn nothing of labels themselves.

    Attributes
    ----------
    judge : str
    relevant, nonrelevant : ndarray of float, shape (grade,)
        Parameters of the Dirichlet distributions of grades among relevant and among nonrelevant documents.
    grade : ndarray of int8, shape (document,)
        −1 where there is no label that counts.
    """

    judge: str
    relevant: FloatArray
    nonrelevant: FloatArray
    grade: npt.NDArray[np.int8]

    def of_draws(self, draws: npt.NDArray[np.intp], documents: slice) -> FloatArray:
        """What is added in some draws to the log odds of some documents, shape (draw, document)."""
        n = int(draws.max(initial=-1)) + 1
        relevant, nonrelevant = (
            self._shares(n, of, name) for of, name in ((self.relevant, "relevant"), (self.nonrelevant, "not"))
        )
        ratio = np.column_stack([np.log(relevant / nonrelevant), np.zeros(n)])  # the last is of no label, −1
        found: FloatArray = ratio[draws][:, self.grade[documents]]
        return found

    def _shares(self, n: int, of: FloatArray, name: str) -> FloatArray:
        """Draws of the shares of grades, shape (draw, grade): of judged documents, and how they differ among
        others.
        """
        rng = np.random.default_rng(key_of("labels", self.judge, name))
        share = rng.standard_gamma(of, size=(n, len(of))) + _TINY
        off = normals(n * len(of), "transfer", self.judge, name).reshape(n, len(of))
        share *= np.exp(_TRANSFER / 2 * off)
        share /= share.sum(axis=1, keepdims=True)
        return share


def label_ratios(
    collection: Collection,
    run: npt.NDArray[np.intp],
    pair: npt.NDArray[np.intp],
    *,
    rel: int = 1,
    given: int = 0,
) -> tuple[LabelRatios, ...]:
    """What labels say of documents of runs, a part for each judge that is known. Their log odds ratios add
    up, as if judges erred independently.

    Parameters
    ----------
    collection : Collection
    run, pair : ndarray of int, shape (document,)
    rel, given : int
    """
    return tuple(
        LabelRatios(
            judge.name,
            *grade_counts(collection, judge, rel=rel, given=given).shrunk,
            _grades(collection, judge, run, pair, rel, given),
        )
        for judge in usable_judges(collection, rel=rel, given=given)
    )


def label_columns(judge: Judge) -> tuple[tuple[str, ...], str, str]:
    """Names of the predictors that a document without a label lacks, of the one that says so, and of the
    run's.
    """
    reached = tuple(_name(judge, threshold) for threshold in judge.thresholds)
    return (*reached, _on_topic(judge)), _name(judge), _of_run(judge)


def usable_judges(collection: Collection, *, rel: int = 1, given: int = 0) -> tuple[Judge, ...]:
    """Judges with enough judged documents to know them by: at least five labeled ones are relevant, and five
    not.
    """
    return tuple(
        judge
        for judge in collection.judges
        if judge.thresholds and _is_known(grade_counts(collection, judge, rel=rel, given=given))
    )


def _is_known(counted: GradeCounts) -> bool:
    return bool(min(counted.n_relevant.sum(), counted.n_nonrelevant.sum()) >= _FEWEST)


def _name(judge: Judge, threshold: float | None = None) -> str:
    return f"{judge.name} without label" if threshold is None else f"{judge.name} ≥ {threshold:g}"


def _of_run(judge: Judge) -> str:
    return f"{judge.name} of the run"


def _log_ratios(counted: GradeCounts) -> tuple[FloatArray, FloatArray]:
    """Log odds ratios of grades, and their sampling variances, shape (grade,)."""
    relevant, nonrelevant = counted.shrunk
    ratio = np.log(relevant / relevant.sum()) - np.log(nonrelevant / nonrelevant.sum())
    return ratio, 1 / relevant + 1 / nonrelevant


def _on_topic(judge: Judge) -> str:
    return f"{judge.name} on the topic"


def _without_label(collection: Collection, counted: GradeCounts, ratio: FloatArray) -> float:
    """By how much the log odds of a document without a label are above those at the mean of all labels: its
    chance of relevance is the mean of all chances, and log odds bend.
    """
    from scipy.optimize import brentq

    share, rate = _hidden_share(collection, counted), _hidden_rate(collection, counted)

    def off(level: float) -> float:
        return float(share @ expit(level + ratio) - rate)

    level = float(brentq(off, -30 - ratio.max(), 30 - ratio.min()))
    return float(logit(rate) - level - share @ ratio)


def _hidden_share(collection: Collection, counted: GradeCounts) -> FloatArray:
    """Shares of grades among hidden documents, among others where none is hidden, shape (grade,)."""
    n = hidden_grades(collection, counted.judge)
    n = n if n.any() else counted.n
    share: FloatArray = n / n.sum()
    return share


def _hidden_rate(collection: Collection, counted: GradeCounts) -> float:
    """Share relevant of hidden documents, as far as labels tell."""
    return float(_hidden_share(collection, counted) @ counted.rate)


def _grade(documents: DocumentContext, judge: Judge) -> npt.NDArray[np.int8]:
    return _grades(documents.collection, judge, documents.run, documents.pair, documents.rel, documents.given)


def _grades(
    collection: Collection, judge: Judge, run: npt.NDArray[Any], pair: npt.NDArray[Any], rel: int, given: int
) -> npt.NDArray[np.int8]:
    """Grades of documents, −1 where they do not count."""
    favored = favored_organizations(collection, judge, rel=rel, given=given)
    return np.where(_is_of(collection, judge, run, favored), np.int8(-1), judge.grade[pair])


def _is_of(
    collection: Collection, judge: Judge, run: npt.NDArray[Any], organizations: Iterable[str]
) -> npt.NDArray[np.bool_]:
    """Which runs are of some organizations."""
    named = np.isin(np.array(collection.organizations), list(organizations))
    of_them: npt.NDArray[np.bool_] = named[submitters(collection, judge)[run]]
    return of_them


def _reaches(documents: DocumentContext, *, judge: Judge, place: int) -> FloatArray:
    grade = _grade(documents, judge)
    return np.where(grade < 0, np.nan, grade > place)


def _is_missing(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    missing: FloatArray = (_grade(documents, judge) < 0).astype(float)
    return missing


def _run_labels(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    collection, top = documents.collection, documents.top
    counted = grade_counts(collection, judge, rel=documents.rel, given=documents.given)
    rate, usual = counted.rate, _hidden_rate(collection, counted)
    document = collection.document[documents.runs, :, :top]
    unjudged = documents.state[:, :, : document.shape[2]] == UNJUDGED_STATE
    grade = np.where(unjudged, np.append(judge.grade, np.int8(-1))[document], np.int8(-1))
    favored = favored_organizations(collection, judge, rel=documents.rel, given=documents.given)
    grade[_is_of(collection, judge, documents.runs, favored)] = -1
    expected = np.where(grade < 0, 0.0, rate[grade]).sum(axis=(1, 2))
    n = (grade >= 0).sum(axis=(1, 2))
    log_odds = np.log((expected + _USUAL * usual) / (n - expected + _USUAL * (1 - usual)))
    of_runs: FloatArray = np.where(n == 0, np.nan, log_odds)
    return of_runs[documents.row]


def _topic_ratio(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    """Log odds ratio of the document's grade on its topic less that on all."""
    tables = topic_grades(documents.collection, judge, rel=documents.rel, given=documents.given)
    off = np.zeros(tables[0].shape)
    for sign, table in zip((1, -1), tables, strict=True):
        share = (table.sum(axis=0) + 0.5) / (table.sum() + 0.5 * table.shape[1])
        of_topic = (table + _OTHERS * share) / (table.sum(axis=1, keepdims=True) + _OTHERS)
        off += sign * (np.log(of_topic) - np.log(share))
    grade = _grade(documents, judge)
    return np.where(grade < 0, np.nan, off[documents.topic, grade])
