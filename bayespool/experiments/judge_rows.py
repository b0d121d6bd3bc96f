"""Rows of the tables on second judges: labels against judgments, coverage, favored organizations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from bayespool.collection import Collection, Judge
from bayespool.evidence import GradeCounts, LabelConfusion, auc, kappas, label_lift
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.labels import KINDS_OF_DOCUMENTS, grade_names
from bayespool.measures import Measure
from bayespool.names import Estimand
from bayespool.posterior.preparation import DEPTHS
from bayespool.posterior.thresholds import find_thresholds

Row = dict[str, Any]
Confusions = Mapping[tuple[Measure, str], LabelConfusion]
"""Numbers of judged documents by label and relevance, for each measure and judge."""


def find_confusions(collection: Collection, measures: Sequence[Measure]) -> Confusions:
    """Count judged documents by label and relevance for each measure and judge.

    Measures with the same levels and depth share one object.
    """

    @cache
    def confusion(judge: Judge, levels: tuple[int, ...], depth: int) -> LabelConfusion:
        return LabelConfusion.of(collection, judge, levels, cutoff=depth)

    levels = {m: tuple(threshold.rel for threshold in find_thresholds(collection, m)) for m in measures}
    return {
        (measure, judge.name): confusion(judge, levels[measure], max(measure.cutoff, DEPTHS["documents"]))
        for measure, judge in product(measures, collection.judges)
    }


def relevant_from(measure: Measure, confusion: LabelConfusion) -> tuple[int, ...]:
    """Return the relevance thresholds used by a measure: its own, or every level if it is graded."""
    return confusion.levels if measure.is_graded else confusion.levels[-1:]


def confusion_rows(confusions: Confusions) -> Iterator[Row]:
    """Yield rows of the table ``confusion`` in `bayespool.JudgeCheck`."""
    for (measure, judge), confusion in confusions.items():
        names, levels = (*grade_names(confusion.judge), "none"), (0, *confusion.levels)
        for documents in KINDS_OF_DOCUMENTS:
            yield {
                "measure": str(measure),
                "judge": judge,
                "documents": documents,
                "label": np.repeat(names, len(levels)),
                "relevance_from": list(levels * len(names)),
                "n": getattr(confusion, documents).ravel(),
            }


def calibration_rows(confusions: Confusions, ci_prob: float) -> Iterator[Row]:
    """Yield rows of the table ``calibration``, with Wilson intervals."""
    from statsmodels.stats.proportion import proportion_confint

    for first, *both in _counted(confusions):
        for documents, counted in zip(KINDS_OF_DOCUMENTS, both, strict=True):
            n, n_relevant = counted.n.astype(int), counted.n_relevant.astype(int)
            with np.errstate(invalid="ignore", divide="ignore"):  # NaN without documents
                share = n_relevant / n
                lower, upper = proportion_confint(n_relevant, n, alpha=1 - ci_prob, method="wilson")
            columns = {"label": list(grade_names(counted.judge)), "n": n, "n_relevant": n_relevant}
            columns |= {"share": share, "lower": lower, "upper": upper, "ci_prob": ci_prob}
            yield first | {"documents": documents} | columns


def agreement_rows(confusions: Confusions) -> Iterator[Row]:
    """Yield rows of the table ``agreement``."""
    for first, hidden, other in _counted(confusions):
        reference = hidden if np.isnan(auc(other)) else other
        has_cut = not np.isnan(auc(reference)) and len(kappas(reference)) > 0
        cut = int(kappas(reference).argmax()) if has_cut else 0
        for documents, counted in zip(KINDS_OF_DOCUMENTS, (hidden, other), strict=True):
            yield first | {
                "documents": documents,
                "n": int(counted.n.sum()),
                "n_relevant": int(counted.n_relevant.sum()),
                "promised": float((counted.n * other.rate).sum()) if other.n.any() else np.nan,
                "auc": auc(counted),
                "kappa": float(kappas(counted)[cut]) if has_cut else np.nan,
                "label_from": counted.judge.thresholds[cut] if has_cut else np.nan,
            }


def coverage_rows(
    collection: Collection, run_ids: Sequence[str], confusions: Confusions, estimand: Estimand
) -> Iterator[Row]:
    """Yield rows of the table ``coverage``."""
    for (measure, judge), confusion in confusions.items():
        unjudged = np.zeros(0, dtype=np.int32)
        if run_ids:
            *_, pairs = unjudged_documents(collection, run_ids, cutoff=measure.cutoff, estimand=estimand)
            unjudged = np.unique(pairs)
        is_labeled, judged = confusion.judge.is_labeled, collection.judged
        n = np.array([judged.sum(), confusion.hidden.sum(), len(unjudged)], dtype=int)
        n_labeled = [is_labeled[judged].sum(), confusion.hidden[:-1].sum(), is_labeled[unjudged].sum()]
        with np.errstate(invalid="ignore"):  # NaN without documents
            share = np.array(n_labeled, dtype=int) / n
        first = {"measure": str(measure), "judge": judge, "documents": ["judged", "hidden", "unjudged"]}
        yield first | {"n": n, "n_labeled": list(map(int, n_labeled)), "share": share}


def organization_rows(collection: Collection, measures: Sequence[Measure]) -> Iterator[Row]:
    """Yield rows of the table ``organizations``."""
    for measure, judge in product(measures, collection.judges):
        for threshold in find_thresholds(collection, measure):
            lifts = label_lift(collection, judge, rel=threshold.rel, given=threshold.given)
            o = np.flatnonzero(lifts.n)
            yield {
                "measure": str(measure),
                "judge": judge.name,
                "relevant_from": threshold.rel,
                "given": threshold.given,
                "organization": [collection.organizations[i] for i in o],
                "n": lifts.n[o].astype(int),
                "lift": lifts.lift[o],
                "se": lifts.error[o],
                "favored": lifts.is_favored[o],
            }


def _counted(confusions: Confusions) -> Iterator[tuple[Row, GradeCounts, GradeCounts]]:
    """Yield the first cells of a row, with hidden and other documents counted by grade."""
    for (measure, judge), confusion in confusions.items():
        for rel in relevant_from(measure, confusion):
            hidden, other = (confusion.by_grade(documents, rel) for documents in KINDS_OF_DOCUMENTS)
            yield {"measure": str(measure), "judge": judge, "relevant_from": rel}, hidden, other
