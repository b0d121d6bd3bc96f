"""Labels of a second judge in place of missing judgments."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import LevelArray
from bayespool.collection import Collection, Judge
from bayespool.corrections.base import Corrected, joined
from bayespool.corrections.labels import LabelCorrection
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import tally_within_reach
from bayespool.evidence.labels import TOP_OF_LABELS, in_top


@register_estimator(
    "judge-filled",
    label="judge\nfilled",
    citations=("upadhyay-kamalloo-lin-2024", "abbasiantaeb-etal-2024"),
    needs_judge=True,
)
@dataclass(frozen=True, kw_only=True)
class JudgeFilled(LabelCorrection):
    """The measure with labels of a second judge as judgments of the unjudged documents.

    Ideal rankings of completed judgments have the labeled documents in reach of the runs, too. An unjudged
    document without a label counts as nonrelevant; a note has their number.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.

    Notes
    -----
    Relevance of a label (`relevance_of_labels`):

    - labels that are whole numbers from 0 to 2 or more, and do not exceed judgments: themselves;
    - of two labels the lower one: 0; the higher one: the median relevance of the judged documents that have
      it and that the measure counts as relevant, the least such relevance where there is none;
    - all others: the median relevance of the judged documents of their grade (`bayespool.collection.Judge`),
      and 0 where there is none.

    These are judged documents that some run ranks in its top 30, and of two medians the lower one. Labels of
    another scale than that of the judgments do not name levels; the median makes the least error on judged
    documents, which favors the method. A note gives the relevance of labels.
    """

    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Values of the rankings with labels as levels."""
        measure = bounds.measure
        relevance_of_label = relevance_of_labels(collection, judge, measure.rel)
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        level = np.where(opened, np.append(relevance_of_label, np.int16(-1))[document], level)
        relevance = np.where(
            collection.may_be_relevant & (relevance_of_label >= 0), relevance_of_label, collection.relevance
        )
        fuller = dataclasses.replace(collection, relevance=relevance)
        tally = tally_within_reach(collection, fuller, bounds.run_ids, measure, self.estimand)
        scale = ""
        if judge.is_labeled.any() and not is_on_scale(collection, judge):
            scale = _scale_note(judge, relevance_of_grades(collection, judge, measure.rel))
        n_left = (opened & (level < 0)).sum(axis=(1, 2))
        is_open = np.asarray(opened.any(axis=(1, 2)))
        notes = tuple(
            joined(
                n and f"unjudged documents without a label count as nonrelevant: {n}", has_unjudged and scale
            )
            for n, has_unjudged in zip(n_left.tolist(), is_open.tolist(), strict=True)
        )
        return Corrected(measure.values(measure.read(level), tally).scores(), notes=notes)


def is_on_scale(collection: Collection, judge: Judge) -> bool:
    """Whether labels are levels of relevance: whole numbers that reach 2 and do not exceed judgments."""
    label = judge.label[judge.is_labeled]
    top = collection.levels[-1] if collection.levels else 0
    is_whole = len(label) > 0 and bool((label == np.floor(label)).all())
    return is_whole and bool(label.min() >= 0 and 2 <= label.max() <= top)


def relevance_of_labels(collection: Collection, judge: Judge, rel: int = 1) -> LevelArray:
    """Relevance of labels for a measure that counts ``rel`` or more, −1 without a label, shape (pair,)."""
    if is_on_scale(collection, judge):
        return np.where(judge.is_labeled, judge.label, -1).astype(np.int16)
    of_grade = relevance_of_grades(collection, judge, rel)
    return np.append(of_grade, np.int16(-1))[judge.grade]


def relevance_of_grades(collection: Collection, judge: Judge, rel: int = 1) -> LevelArray:
    """Relevance of the labels of each grade, the lowest first, where they are not levels; shape (grade,)."""
    binary = len(judge.thresholds) == 1
    counted = collection.judged & in_top(collection, TOP_OF_LABELS)
    by_grade = np.zeros(len(judge.thresholds) + 1, dtype=np.int16)
    for grade in range(int(binary), len(by_grade)):
        levels = np.sort(collection.relevance[counted & (judge.grade == grade)])
        if binary:
            levels = levels[levels >= rel]
            by_grade[grade] = min((level for level in collection.levels if level >= rel), default=rel)
        if len(levels):
            by_grade[grade] = levels[(len(levels) - 1) // 2]
    return by_grade


def _scale_note(judge: Judge, of_grade: LevelArray) -> str:
    """Note on the relevance of labels of another scale."""
    starts = [np.nanmin(judge.label), *judge.thresholds]
    pairs = [f"from {start:g} for {level}" for start, level in zip(starts, of_grade.tolist(), strict=True)]
    return f"labels stand for relevance: {', '.join(pairs)}"
