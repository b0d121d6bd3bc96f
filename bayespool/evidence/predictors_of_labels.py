"""Predictors based on labels from LLM judges, made separately for each collection."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from bayespool.arrays import AnyArray, FloatArray, OrderArray
from bayespool.collection import Collection, Judge
from bayespool.evidence.ideals import NONRELEVANT, RELEVANT, UNJUDGED_STATE, states
from bayespool.evidence.labels import (
    GradeCounts,
    grade_counts,
    hidden_grades,
    label_lift,
    submitters,
    topic_grades,
)
from bayespool.evidence.predictors import DocumentContext, Per, Predictor, company_means
from bayespool.randomness import key_of, normals

_TRANSFER_SD = 0.5  # of a grade's log odds ratio between hidden and other judged documents
_MISSING_LABEL_SD = 0.5  # prior standard deviation of the slope of a missing label
_USUAL_STEP = 1.0  # prior mean of the slope of a grade where no judged document informs it
_MAX_SLOPE_SD = 1.5  # largest prior standard deviation of the slope of a grade
_RUN_SLOPE = (0.5, 0.5)  # prior mean and standard deviation of the slope of a run's labels
_COMPANY_SLOPE = (0.5, 0.7)  # prior mean and standard deviation of the slope of the company's labels
_TOPIC_SLOPE = (0.5, 0.5)  # prior mean and standard deviation of the slope of labels on a topic
_TOPIC_PRIOR_DOCUMENTS = 20.0  # weight of the grades of all topics in those of one topic
_RUN_PRIOR_DOCUMENTS = 5.0  # weight of the usual rate in that of a run
_MIN_GAMMA = 1e-9  # added to gamma draws, which may underflow to 0
_MIN_DOCUMENTS = 5  # labeled relevant, and nonrelevant, documents of a usable judge


def label_predictors(collection: Collection) -> dict[str, Predictor]:
    """Return predictors based on the judges' labels, keyed by name.

    Grades reached, no label, labels of the run and on the topic.
    """
    predictors: dict[str, Predictor] = {}  # NaN without a label, or where the judge favors the organization

    def add(name: str, description: str, per: Per, compute: Callable[[DocumentContext], FloatArray]) -> None:
        predictors[name] = Predictor(name=name, description=description, per=per, compute=compute)

    for judge in collection.judges:
        by = f"judge {judge.name}"
        for place, threshold in enumerate(judge.thresholds):
            text, reaches = f"whether {by} labels it {threshold:g} or more", partial(_reaches, place=place)
            add(_label_name(judge, threshold), text, "label", partial(reaches, judge=judge))
        if judge.thresholds:
            text = f"log odds of relevant documents among the unjudged ones of the run, by labels of {by}"
            add(_run_name(judge), text, "ranking", partial(_run_labels, judge=judge))
            text = (
                "mean over the pooled runs that rank the document in their top 10 to 30, with weights "
                rf"$1/\log_2(1 + \text{{rank}})$, of what the run's mean grade by {by} there is in standard "
                "deviations over runs; that of its own run where no pooled one does"
            )
            add(_company_name(judge), text, "document", partial(_company_labels, judge=judge))
            text = f"how much more a label by {by} is worth on the topic than on all"
            add(_topic_name(judge), text, "label", partial(_topic_ratio, judge=judge))
            add(
                _label_name(judge),
                f"whether {by} does not label it",
                "label",
                partial(_is_missing, judge=judge),
            )
    return predictors


def label_slopes(collection: Collection, *, rel: int = 1, given: int = 0) -> dict[str, tuple[float, float]]:
    """Return the prior mean and standard deviation for each slope in `label_predictors`."""
    # The slope of a threshold is the step from the grade below in the log odds ratio of grades, log P(g |
    # relevant) / P(g | nonrelevant), among judged documents that are not evidence.
    slopes: dict[str, tuple[float, float]] = {}
    for judge in usable_judges(collection, rel=rel, given=given):
        counted = grade_counts(collection, judge, rel=rel, given=given)
        relevant, nonrelevant = counted.shrunk
        ratio = np.log(relevant / relevant.sum()) - np.log(nonrelevant / nonrelevant.sum())
        step, variance = np.diff(ratio), 1 / relevant + 1 / nonrelevant
        if not counted.n.any():
            step = np.full(len(step), _USUAL_STEP)
        std = np.sqrt(_TRANSFER_SD**2 + variance[1:] + variance[:-1]).clip(max=_MAX_SLOPE_SD)
        for threshold, mean, sd in zip(judge.thresholds, step.tolist(), std.tolist(), strict=True):
            slopes[_label_name(judge, threshold)] = (mean, sd)
        slopes[_run_name(judge)] = _RUN_SLOPE
        slopes[_topic_name(judge)] = _TOPIC_SLOPE
        slopes[_label_name(judge)] = (_without_label(collection, counted, ratio), _MISSING_LABEL_SD)
    return slopes


def company_slopes(collection: Collection, *, rel: int = 1, given: int = 0) -> dict[str, tuple[float, float]]:
    """Return the prior mean and standard deviation for the slopes of labels of documents' companies."""
    judges = usable_judges(collection, rel=rel, given=given)
    (mean, sd), n = _COMPANY_SLOPE, len(judges)  # means of many labels are nearly the same by all judges
    return {_company_name(judge): (mean / n, sd / math.sqrt(n)) for judge in judges}


@dataclass(frozen=True, eq=False)
class LabelRatios:
    """Log odds ratios for a judge's labels, for use in models without label predictors."""

    judge: str
    relevant: FloatArray  # Dirichlet parameters, shape (grade,)
    nonrelevant: FloatArray
    grade: npt.NDArray[np.int8]  # −1 where no label counts, shape (document,)

    def draw_ratios(self, draws: OrderArray, documents: slice) -> FloatArray:
        """Return draws of documents' log odds ratios, shape (draw, document)."""
        n = int(draws.max(initial=-1)) + 1
        relevant, nonrelevant = (
            self._shares(n, of, name) for of, name in ((self.relevant, "relevant"), (self.nonrelevant, "not"))
        )
        ratio = np.column_stack([np.log(relevant / nonrelevant), np.zeros(n)])  # the last is of no label, −1
        return ratio[draws][:, self.grade[documents]]

    def _shares(self, n: int, of: FloatArray, name: str) -> FloatArray:
        """Return draws of the shares of documents by grade, with extra variance for transfer.

        Shape (draw, grade).
        """
        rng = np.random.default_rng(key_of("labels", self.judge, name))
        share = rng.standard_gamma(of, size=(n, len(of))) + _MIN_GAMMA
        off = normals(n * len(of), "transfer", self.judge, name).reshape(n, len(of))
        share *= np.exp(_TRANSFER_SD / 2 * off)
        share /= share.sum(axis=1, keepdims=True)
        return share


def label_ratios(
    collection: Collection, run: OrderArray, pair: OrderArray, *, rel: int = 1, given: int = 0
) -> tuple[LabelRatios, ...]:
    """Return log odds ratios for the labels from each usable judge.

    They add up, as if judges erred independently.
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
    """Return the names of a judge's predictors in three parts.

    First those that a document without a label lacks, then that for having no label, then that for the run.
    """
    reached = tuple(_label_name(judge, threshold) for threshold in judge.thresholds)
    return (*reached, _topic_name(judge)), _label_name(judge), _run_name(judge)


def usable_judges(collection: Collection, *, rel: int = 1, given: int = 0) -> tuple[Judge, ...]:
    """Return judges with labels on at least five relevant and five nonrelevant documents."""
    attributed, state = collection.attributed_run >= 0, states(collection.relevance, rel, given)

    def is_known(judge: Judge) -> bool:
        # those attributed to runs, such as a sample's, are evidence: they inform slopes, not their priors
        counted, labeled = grade_counts(collection, judge, rel=rel, given=given), judge.grade >= 0
        n_evidence = [(attributed & labeled & (state == kind)).sum() for kind in (RELEVANT, NONRELEVANT)]
        n = counted.n_relevant.sum() + n_evidence[0], counted.n_nonrelevant.sum() + n_evidence[1]
        return bool(min(n) >= _MIN_DOCUMENTS)

    return tuple(judge for judge in collection.judges if judge.thresholds and is_known(judge))


def _label_name(judge: Judge, threshold: float | None = None) -> str:
    return f"{judge.name} without label" if threshold is None else f"{judge.name} ≥ {threshold:g}"


def _run_name(judge: Judge) -> str:
    return f"{judge.name} of the run"


def _company_name(judge: Judge) -> str:
    return f"{judge.name} of the company"


def _topic_name(judge: Judge) -> str:
    return f"{judge.name} on the topic"


def _without_label(collection: Collection, counted: GradeCounts, ratio: FloatArray) -> float:
    """Return the log odds at the mean probability of relevance minus the log odds at the mean label."""
    from scipy.optimize import brentq

    share = _hidden_share(collection, counted)
    rate = float(share @ counted.rate)

    def off(level: float) -> float:
        return float(share @ expit(level + ratio) - rate)

    level = float(brentq(off, -30 - ratio.max(), 30 - ratio.min()))
    return float(logit(rate) - level - share @ ratio)


def _hidden_share(collection: Collection, counted: GradeCounts) -> FloatArray:
    """Return the share of hidden documents with each grade, or of other documents if none is hidden.

    Shape (grade,).
    """
    n = hidden_grades(collection, counted.judge)
    n = n if n.any() else counted.n
    return np.asarray(n / n.sum())


def _grade(documents: DocumentContext, judge: Judge) -> npt.NDArray[np.int8]:
    return _grades(documents.collection, judge, documents.run, documents.pair, documents.rel, documents.given)


def _grades(
    collection: Collection, judge: Judge, run: AnyArray, pair: AnyArray, rel: int, given: int
) -> npt.NDArray[np.int8]:
    """Return each document's grade, −1 without a usable label, shape (document,)."""
    lifts = label_lift(collection, judge, rel=rel, given=given)
    grade = np.append(judge.grade, np.int8(-1))[pair]
    return np.where(lifts.is_favored[submitters(collection, judge)[run]], np.int8(-1), grade)


def _reaches(documents: DocumentContext, *, judge: Judge, place: int) -> FloatArray:
    grade = _grade(documents, judge)
    return np.where(grade < 0, np.nan, grade > place)


def _is_missing(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    return (_grade(documents, judge) < 0).astype(float)


def _run_labels(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    collection, top = documents.collection, documents.top
    counted = grade_counts(collection, judge, rel=documents.rel, given=documents.given)
    rate, usual = counted.rate, float(_hidden_share(collection, counted) @ counted.rate)
    document = collection.document[documents.runs, :, :top]
    unjudged = documents.state[:, :, : document.shape[2]] == UNJUDGED_STATE
    run = np.broadcast_to(documents.runs[:, None, None], document.shape)
    grade = np.where(unjudged, _grades(collection, judge, run, document, documents.rel, documents.given), -1)
    expected = np.where(grade < 0, 0.0, rate[grade]).sum(axis=(1, 2))
    n = (grade >= 0).sum(axis=(1, 2))
    log_odds = np.log(
        (expected + _RUN_PRIOR_DOCUMENTS * usual) / (n - expected + _RUN_PRIOR_DOCUMENTS * (1 - usual))
    )
    run_log_odds: FloatArray = np.where(n == 0, np.nan, log_odds)
    return run_log_odds[documents.row]


def _company_labels(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    document = documents.collection.document[:, :, : documents.top]
    run = np.broadcast_to(np.arange(len(document))[:, None, None], document.shape)
    grade = _grades(documents.collection, judge, run, document, documents.rel, documents.given)
    return company_means(documents, np.where((document >= 0) & (grade >= 0), grade, np.nan))


def _topic_ratio(documents: DocumentContext, *, judge: Judge) -> FloatArray:
    """Return the log odds ratio for a document's grade on its topic minus the ratio on all topics.

    Shape (document,).
    """
    tables = topic_grades(documents.collection, judge, rel=documents.rel, given=documents.given)
    off = np.zeros(tables[0].shape)
    for sign, table in zip((1, -1), tables, strict=True):
        share = (table.sum(axis=0) + 0.5) / (table.sum() + 0.5 * table.shape[1])
        topic_shares = (table + _TOPIC_PRIOR_DOCUMENTS * share) / (
            table.sum(axis=1, keepdims=True) + _TOPIC_PRIOR_DOCUMENTS
        )
        off += sign * (np.log(topic_shares) - np.log(share))
    grade = _grade(documents, judge)
    return np.where(grade < 0, np.nan, off[documents.topic, grade])
