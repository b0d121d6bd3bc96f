"""Base class of corrections by labels of a second judge, and rates of relevance by grade."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IntArray, LevelArray, OrderArray
from bayespool.collection import Collection, Judge
from bayespool.corrections.base import Corrected, PointCorrection, joined, not_defined
from bayespool.corrections.expected import amounts_with_expected, gains_of_levels, values_of_expected
from bayespool.corrections.registry import register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.held_out import held_out_documents, held_out_levels
from bayespool.evidence.ideals import place_of_level, relevance_levels, tally_of, tally_within_reach
from bayespool.evidence.labels import TOP_OF_LABELS, in_top, is_other
from bayespool.measures import Additive, Normalized
from bayespool.measures.normalized import safe_ratio

NO_JUDGE = "needs labels of a judge (--judge)"
"""Note of a correction by labels without a value."""
NOT_A_SUM = "defined for sums of gains"
"""Note under a measure that is no sum of gains."""


@dataclass(frozen=True, kw_only=True)
class LabelCorrection(PointCorrection):
    """A correction by the labels of one second judge of the collection.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    """

    judge: str | None = None

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """`by_labels`, or `not_defined` if the collection has no second judge.

        Raises
        ------
        InputError
            No judge has the name, or there are several and none is named.
        """
        judge = judge_of(collection, self.judge, self.name)
        if judge is None:
            return not_defined(bounds, NO_JUDGE)
        return self.by_labels(collection, bounds, judge)

    @abstractmethod
    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Corrected per-topic values from bounds and the labels of a judge."""


def judge_of(collection: Collection, name: str | None, method: str) -> Judge | None:
    """The judge of a name, or the only one; None without any, `InputError` if it is unknown or unclear."""
    judges = {judge.name: judge for judge in collection.judges}
    known = ", ".join(judges)
    if name is not None:
        if name not in judges:
            raise InputError(
                f"{method}: no judge {name!r}", hint=f"known: {known}" if known else "give labels: --judge"
            )
        return judges[name]
    if len(judges) > 1:
        raise InputError(
            f"{method}: there are {len(judges)} judges, name one",
            hint=f"{method}(judge={next(iter(judges))!r}); known: {known}",
        )
    return next(iter(judges.values()), None)


def hidden_documents(collection: Collection, depth: int) -> OrderArray:
    """Judged documents of one organization alone, ranked down to 30 or ``depth``, shape (document,)."""
    _, _, _, pair, _ = held_out_documents(collection, cutoff=max(depth, TOP_OF_LABELS))
    return np.asarray(pair, dtype=np.intp)


class KnownRanks(NamedTuple):
    """Ranks whose relevance is known, each array of shape (run, topic, rank).

    ``weight``: what a gain of 1 adds to the value, 0 where a rank does not count. ``gain``: by the judgment.
    ``document``: pair code.
    """

    weight: FloatArray
    gain: FloatArray
    document: IntArray

    def amounts(self) -> FloatArray:
        """What the ranks add to the value, shape (run, topic)."""
        return np.asarray((self.weight * self.gain).sum(axis=2))


def hidden_ranks(collection: Collection, measure: Additive, of_ranks: FloatArray) -> KnownRanks:
    """Ranks of pooled runs whose documents their organizations alone contributed, by `rank_weights`."""
    level, is_hidden = held_out_levels(collection, of_ranks.shape[1])
    document = collection.document[np.flatnonzero(collection.pooled), :, : of_ranks.shape[1]]
    gain = np.asarray(measure.gains(np.maximum(level, 0)), dtype=np.float64)
    return KnownRanks(np.where(is_hidden, of_ranks, 0.0), gain, document)


def rates_of_others(collection: Collection, judge: Judge, levels: Sequence[int]) -> FloatArray:
    """`level_rates` of judged documents that are not hidden; equal shares if there are none."""
    pair = np.flatnonzero(is_other(collection))
    if not len(pair):
        return np.full((len(judge.thresholds) + 2, len(levels)), 1 / len(levels))
    return level_rates(collection, judge, pair, levels)


def rank_weights(collection: Collection, measure: Additive, levels: Sequence[int], depth: int) -> FloatArray:
    """What a gain of 1 adds to the value at each rank, shape (topic, rank); over the judged ideal if any."""
    weights = np.asarray(measure.weights()[:depth] / measure.unit, dtype=np.float64)
    of_topic = np.tile(weights, (len(collection.query_ids), 1))
    if isinstance(measure, Normalized):
        return safe_ratio(of_topic, measure.best(tally_of(collection, levels))[:, None])
    return of_topic


def level_rates(
    collection: Collection, judge: Judge, pair: npt.NDArray[np.integer], levels: Sequence[int]
) -> FloatArray:
    """Share of each level, ascending from 0, among judged documents by grade, shape (grade + 1, level).

    The last row is that of all documents, also used for empty grades; the grade −1 of no label selects it.
    """
    n_grades = len(judge.thresholds) + 1
    counts = np.zeros((n_grades + 1, len(levels)))
    at = place_of_level(collection.relevance[pair], levels)
    grade = judge.grade[pair]
    np.add.at(counts, (grade[grade >= 0], at[grade >= 0]), 1.0)
    counts[-1] = np.bincount(at, minlength=len(levels))
    counts[counts.sum(axis=1) == 0] = counts[-1]
    rates: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return rates


_NOTHING_HIDDEN = "needs documents that one organization alone contributed"


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


@register_estimator("judge-rates", label="judge\nrates", needs_judge=True)
@dataclass(frozen=True, kw_only=True)
class JudgeRates(LabelCorrection):
    """Give unjudged documents the chances of relevance of hidden documents with their labels.

    Hidden documents are the judged ones that one organization alone contributed: without it they would be as
    unjudged as those of a new run. The chance of each level of relevance is its share among the hidden
    documents of the label's grade, all topics and organizations together; among all hidden documents where
    none is of the grade, or a document has no label.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.

    Notes
    -----
    The method is the posterior with labels, but without organizations, topics and all other predictors. It
    counts hidden documents down to rank 30, or to the cutoff if that is deeper. Sums of gains, average
    precision, (expected) reciprocal rank and success are expectations with independent chances
    (`bayespool.corrections.labels.expected_amounts`); other measures have no value. Under a measure over an
    ideal ranking the amount is divided by the ideal of the judged documents, and kept within the bounds over
    completed judgments; with the expected ideal of completed judgments, errors of nDCG@10 were larger on DL
    2021.

    Edges: without unjudged documents the value is B; without a hidden document it is NaN.
    """

    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Expected values."""
        measure, levels = bounds.measure, relevance_levels(collection, bounds.measure)
        gains = gains_of_levels(measure, np.array(levels))
        if gains is None:
            return not_defined(bounds, NOT_A_SUM)
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        is_open = np.asarray(opened.any(axis=(1, 2)))
        hidden = hidden_documents(collection, measure.cutoff)
        if not len(hidden):
            values = np.where(is_open[:, None], np.nan, bounds.lower)
            return Corrected(
                values, notes=tuple(_NOTHING_HIDDEN if has_unjudged else "" for has_unjudged in is_open)
            )
        gain = (level_rates(collection, judge, hidden, levels) @ gains)[np.append(judge.grade, -1)[document]]
        amounts = amounts_with_expected(measure, level, opened, gain)
        return Corrected(values_of_expected(collection, bounds, amounts))
