"""Base class of corrections by labels of an LLM judge, and rates of relevance by grade."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IntArray, LevelArray, OrderArray
from bayespool.collection import Collection, Judge
from bayespool.corrections.base import (
    Corrected,
    PointCorrection,
    amounts_with_expected,
    clip_to_bounds,
    normalize_expected,
    not_defined,
    run_notes,
    to_integer_amounts,
)
from bayespool.corrections.registry import register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.held_out import held_out_documents, held_out_levels
from bayespool.evidence.ideals import judged_tally, level_index, relevance_levels, tally_within_reach
from bayespool.evidence.labels import TOP_OF_LABELS, in_top, is_other
from bayespool.measures import Additive, Normalized, Values
from bayespool.measures.base import safe_ratio
from bayespool.randomness import key_of, normals
from bayespool.validation import check_choice, check_count

NO_JUDGE = "needs labels of a judge (--judge)"
"""Note for runs without a corrected score because the collection has no LLM judge."""
NOT_A_SUM = "defined for sums of gains"
"""Note for measures that are not a sum of gains."""
_MAX_DRAWS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class LabelCorrection(PointCorrection):
    """Correction that uses the labels of one LLM judge.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    """

    judge: str | None = None

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Return scores corrected with labels, or NaN if the collection has no LLM judge.

        Raises
        ------
        InputError
            No judge has the name, or there are several and none is named.
        """
        judge = find_judge(collection, self.judge, self.name)
        if judge is None:
            return not_defined(bounds, NO_JUDGE)
        return self.by_labels(collection, bounds, judge)

    @abstractmethod
    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Return corrected per-topic scores from the bounds and a judge's labels."""


class LabeledRanks(NamedTuple):
    """Runs' top ranks with judged levels, a judge's labels and gains under the measure of bounds.

    ``level``, ``opened``, ``document``: as `PointCorrection.opened_ranks` gives them. ``weight``: by
    `rank_weights`. ``rates``: by `unhidden_level_rates`. ``gains``: of the levels, shape (level,).
    """

    collection: Collection
    bounds: Bounds
    judge: Judge
    measure: Additive
    level: LevelArray
    opened: BoolArray
    document: IntArray
    weight: FloatArray
    rates: FloatArray
    gains: FloatArray

    @property
    def is_open(self) -> BoolArray:
        """Whether each run has an unjudged document on the topic, shape (run, topic)."""
        return np.asarray(self.opened.any(axis=2))


class RunCorrection(NamedTuple):
    """Increases of one run's scores over those as judged, before they are kept within the bounds.

    ``expected``: shape (topic,). ``drawn``: shape (draw, topic). ``std``: of the run's mean score; None for
    that of the draws.
    """

    expected: FloatArray
    drawn: FloatArray
    std: float | None = None


@dataclass(frozen=True, kw_only=True)
class SumCorrection(LabelCorrection):
    """Correction for sums of gains using labels and a judged sample, with draws for intervals.

    Attributes
    ----------
    sample_notes : mapping of str to (str, str)
        By sample: the notes of a run with a value, and of one without.
    """

    sample_notes: ClassVar[Mapping[str, tuple[str, str]]]

    sample: str = "hidden"
    n_draws: int = 4000
    random_seed: int = 1

    def __post_init__(self) -> None:
        check_choice("sample", self.sample, tuple(self.sample_notes))
        check_count("n_draws", self.n_draws, most=_MAX_DRAWS)

    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Return corrected scores, or NaN if the measure is not a sum of gains."""
        measure = bounds.measure
        if not isinstance(measure, Additive):
            return not_defined(bounds, NOT_A_SUM)
        levels = relevance_levels(collection, measure)
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        weight = rank_weights(collection, measure, levels, level.shape[2])
        rates = unhidden_level_rates(collection, judge, levels)
        gains = np.asarray(measure.gains(np.array(levels)), dtype=np.float64)
        ranks = LabeledRanks(
            collection, bounds, judge, measure, level, opened, document, weight, rates, gains
        )
        room = np.where(ranks.is_open, np.maximum(bounds.most.scores() - bounds.lower, 0), 0.0)
        per_topic, std = bounds.lower.copy(), np.zeros(len(room))
        notes: list[tuple[str, ...]] = [()] * len(room)
        amounts = np.repeat(bounds.low.amount[None], self.n_draws, axis=0)
        rows = np.flatnonzero(ranks.is_open.any(axis=1)).tolist()
        for r, correction in zip(rows, self.run_corrections(ranks, rows), strict=True):
            notes[r] = (self.sample_notes[self.sample][correction is None],)
            if correction is None:
                per_topic[r] = std[r] = np.nan
                continue
            added = clip_to_bounds(correction.drawn, room[r])
            per_topic[r] += clip_to_bounds(correction.expected, room[r])
            amounts[:, r] += to_integer_amounts(added, measure)
            std[r] = added.mean(axis=1).std() if correction.std is None else correction.std
        draws = None if np.isnan(std).any() else Values(amounts, measure.unit)
        return Corrected(per_topic, std, tuple(notes), draws)

    @abstractmethod
    def run_corrections(self, ranks: LabeledRanks, rows: list[int]) -> Iterator[RunCorrection | None]:
        """Yield the correction of each of the runs, or None if its sample is too small."""


def find_judge(collection: Collection, name: str | None, estimator: str) -> Judge | None:
    """Return the LLM judge with the given name, or the only one.

    None without any, `InputError` if it is unknown or unclear.
    """
    judges = {judge.name: judge for judge in collection.judges}
    if name is None and len(judges) < 2:
        return next(iter(judges.values()), None)
    if name in judges:
        return judges[name]
    known = f"known: {', '.join(judges)}" if judges else "give labels: --judge"
    if name is not None:
        raise InputError(f"{estimator}: no judge {name!r}", hint=known)
    example = f"{estimator}(judge={next(iter(judges))!r})"
    raise InputError(f"{estimator}: there are {len(judges)} judges, name one", hint=f"{example}; {known}")


def hidden_documents(collection: Collection, depth: int) -> OrderArray:
    """Return documents that one organization alone contributed, down to rank 30 or ``depth``.

    Shape (document,).
    """
    _, _, _, pair, _ = held_out_documents(collection, cutoff=max(depth, TOP_OF_LABELS))
    return np.asarray(pair, dtype=np.intp)


class KnownRanks(NamedTuple):
    """Ranks with judged documents, each array of shape (run, topic, rank).

    ``weight``: what a gain of 1 adds to the value, 0 where a rank does not count. ``gain``: by the judgment.
    ``document``: pair code.
    """

    weight: FloatArray
    gain: FloatArray
    document: IntArray

    def amounts(self) -> FloatArray:
        """Return the score contributed by the ranks, shape (run, topic)."""
        return np.asarray((self.weight * self.gain).sum(axis=2))


def hidden_ranks(collection: Collection, measure: Additive, rank_weight: FloatArray) -> KnownRanks:
    """Return the pooled runs' ranks whose documents only their own organization contributed."""
    level, is_hidden = held_out_levels(collection, rank_weight.shape[1])
    document = collection.document[np.flatnonzero(collection.pooled), :, : rank_weight.shape[1]]
    gain = np.asarray(measure.gains(np.maximum(level, 0)), dtype=np.float64)
    return KnownRanks(np.where(is_hidden, rank_weight, 0.0), gain, document)


def unhidden_level_rates(collection: Collection, judge: Judge, levels: Sequence[int]) -> FloatArray:
    """Return level shares per grade among judged documents that are not hidden, equal if there are none."""
    pair = np.flatnonzero(is_other(collection))
    if not len(pair):
        return np.full((len(judge.thresholds) + 2, len(levels)), 1 / len(levels))
    return level_rates(collection, judge, pair, levels)


def rank_weights(collection: Collection, measure: Additive, levels: Sequence[int], depth: int) -> FloatArray:
    """Return the score increase from a gain of 1 at each rank, shape (topic, rank).

    It is over the judged ideal where the measure has one.
    """
    weights = np.asarray(measure.weights()[:depth] / measure.unit, dtype=np.float64)
    topic_weights = np.tile(weights, (len(collection.query_ids), 1))
    if isinstance(measure, Normalized):
        return safe_ratio(topic_weights, measure.best(judged_tally(collection, levels))[:, None])
    return topic_weights


def level_rates(
    collection: Collection, judge: Judge, pair: npt.NDArray[np.integer], levels: Sequence[int]
) -> FloatArray:
    """Return each level's share among judged documents per label grade, shape (grade + 1, level).

    The last row is that of all documents, also used for empty grades; the grade −1 of no label selects it.
    """
    counts = level_counts(collection, judge, pair, levels)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def level_counts(
    collection: Collection, judge: Judge, pair: npt.NDArray[np.integer], levels: Sequence[int]
) -> FloatArray:
    """Return the numbers of documents of `level_rates`, shape (grade + 1, level)."""
    n_grades = len(judge.thresholds) + 1
    counts = np.zeros((n_grades + 1, len(levels)))
    at = level_index(collection.relevance[pair], levels)
    grade = judge.grade[pair]
    np.add.at(counts, (grade[grade >= 0], at[grade >= 0]), 1.0)
    counts[-1] = np.bincount(at, minlength=len(levels))
    counts[counts.sum(axis=1) == 0] = counts[-1]
    return counts


_NOTHING_HIDDEN = "needs documents that one organization alone contributed"


@register_estimator(
    "judge-filled",
    label="judge\nfilled",
    citations=("upadhyay-kamalloo-lin-2024", "abbasiantaeb-etal-2024"),
    needs_judge=True,
)
@dataclass(frozen=True, kw_only=True)
class JudgeFilled(LabelCorrection):
    """Measure computed with an LLM judge's labels in place of missing judgments.

    Ideal rankings have all labeled documents, those as well that other runs retrieve, as in qrels whose holes
    the labels fill, but for those that only runs which left the pool contributed: each has its own. With
    ``ideal="judged"`` they have none of them. An unjudged document without a label counts as nonrelevant; a
    note has their number.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.

    Notes
    -----
    Relevance of a label (`label_relevance`):

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
        """Return scores with labels used as relevance levels."""
        measure = bounds.measure
        relevance_of_label = label_relevance(collection, judge, measure.rel)
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        level = np.where(opened, np.append(relevance_of_label, np.int16(-1))[document], level)
        relevance = np.where(
            collection.may_be_relevant & (relevance_of_label >= 0), relevance_of_label, collection.relevance
        )
        fuller = dataclasses.replace(collection, relevance=relevance)
        known = np.where(_left_with_runs(collection), collection.relevance, relevance)
        of_judges = isinstance(measure, Normalized) and measure.ideal == "judged"
        filled = collection if of_judges else dataclasses.replace(collection, relevance=known)
        tally = tally_within_reach(filled, fuller, bounds.run_ids, measure, self.estimand)
        n_left = (opened & (level < 0)).sum(axis=(1, 2))
        notes = [(n_left, "unjudged documents without a label count as nonrelevant: {}")]
        if judge.is_labeled.any() and not is_on_scale(collection, judge):
            by_grade = grade_relevance(collection, judge, measure.rel)
            notes.append((opened.any(axis=(1, 2)), _scale_note(judge, by_grade)))
        return Corrected(measure.values(measure.read(level), tally).scores(), notes=run_notes(*notes))


def _left_with_runs(collection: Collection) -> BoolArray:
    """Return a mask of documents that only runs which left the pool contributed, shape (pair,).

    Their labels left with them, as their judgments did.
    """
    former = collection.run_index(collection.formerly_pooled_run_ids)
    if not len(former):
        return np.zeros(len(collection.relevance), dtype=bool)
    before = np.union1d(np.flatnonzero(collection.pooled), former)
    return collection.in_pool(before) & ~collection.in_pool()


def is_on_scale(collection: Collection, judge: Judge) -> bool:
    """Return whether labels are whole numbers on the scale of the judgments, reaching 2 or more."""
    label = judge.label[judge.is_labeled]
    top = collection.levels[-1] if collection.levels else 0
    is_whole = len(label) > 0 and bool((label == np.floor(label)).all())
    return is_whole and bool(label.min() >= 0 and 2 <= label.max() <= top)


def label_relevance(collection: Collection, judge: Judge, rel: int = 1) -> LevelArray:
    """Return the relevance that each label stands for, −1 without a label, shape (pair,).

    Of binary labels the higher one stands for ``rel`` or more.
    """
    if is_on_scale(collection, judge):
        return np.where(judge.is_labeled, judge.label, -1).astype(np.int16)
    by_grade = grade_relevance(collection, judge, rel)
    return np.append(by_grade, np.int16(-1))[judge.grade]


def grade_relevance(collection: Collection, judge: Judge, rel: int = 1) -> LevelArray:
    """Return the relevance for each label grade, from the lowest, shape (grade,)."""
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


def _scale_note(judge: Judge, by_grade: LevelArray) -> str:
    """Return a note on the relevance that labels on another scale stand for."""
    starts = [np.nanmin(judge.label), *judge.thresholds]
    pairs = [f"from {start:g} for {level}" for start, level in zip(starts, by_grade.tolist(), strict=True)]
    return f"labels stand for relevance: {', '.join(pairs)}"


@register_estimator("judge-rates", label="judge\nrates", needs_judge=True)
@dataclass(frozen=True, kw_only=True)
class JudgeRates(LabelCorrection):
    """Expected measure with relevance probabilities from hidden documents with the same labels.

    Hidden documents are the judged ones that one organization alone contributed: without it they would be as
    unjudged as those of a new run. The probability of each level of relevance is its share among the hidden
    documents of the label's grade, all topics and organizations together; among all hidden documents where
    none is of the grade, or a document has no label.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    n_draws : int, default 4000
        Draws of the shares, from which intervals of sums of gains are read.
    random_seed : int, default 1

    Notes
    -----
    Intervals of sums of gains have two errors: of the shares, each with the Dirichlet distribution of its
    counts (and 1/2 for each level), which runs have in common; and of relevance by these shares, document by
    document. They take hidden documents for a random sample of documents like the unjudged ones, whatever
    their run and topic.

    The method is the posterior with labels, but without organizations, topics and all other predictors. It
    counts hidden documents down to rank 30, or to the cutoff if that is deeper. Sums of gains, average
    precision, (expected) reciprocal rank and success are expectations with independent probabilities
    (`bayespool.measures.Measure.expected_amounts`); other measures have no value. Under a measure over an
    ideal ranking the amount is divided by the ideal of the judged documents, and kept within the bounds over
    completed judgments; with the expected ideal of completed judgments, errors of nDCG@10 were larger on DL
    2021.

    Edges: without unjudged documents the value is B; without a hidden document it is NaN.
    """

    n_draws: int = 4000
    random_seed: int = 1

    def by_labels(self, collection: Collection, bounds: Bounds, judge: Judge) -> Corrected:
        """Return expected scores."""
        measure, levels = bounds.measure, relevance_levels(collection, bounds.measure)
        if not measure.has_gains:
            return not_defined(bounds, NOT_A_SUM)
        gains = measure.document_gains(np.array(levels))
        level, opened, document = self.opened_ranks(collection, bounds.run_ids, measure.cutoff)
        is_open = np.asarray(opened.any(axis=(1, 2)))
        hidden = hidden_documents(collection, measure.cutoff)
        if not len(hidden):
            values = np.where(is_open[:, None], np.nan, bounds.lower)
            return Corrected(values, notes=run_notes((is_open, _NOTHING_HIDDEN)))
        grade = np.append(judge.grade, -1)[document]
        gain = (level_rates(collection, judge, hidden, levels) @ gains)[grade]
        amounts = amounts_with_expected(measure, level, opened, gain)
        draws = None
        if isinstance(measure, Additive):
            weight = np.where(opened, rank_weights(collection, measure, levels, level.shape[2]), 0.0)
            counts = level_counts(collection, judge, hidden, levels)
            draws = self._draws(bounds, weight, grade, counts, gains)
        return Corrected(normalize_expected(collection, bounds, amounts), draws=draws)

    def _draws(
        self, bounds: Bounds, weight: FloatArray, grade: IntArray, counts: FloatArray, gains: FloatArray
    ) -> Values:
        """Draw scores from rates by grade that are as uncertain as their counts, shape (draw, run, topic)."""
        rng = np.random.default_rng(key_of(self.random_seed, "judge-rates"))
        rates = np.stack([rng.dirichlet(of + 0.5, self.n_draws) for of in counts], axis=1)
        mean = rates @ gains  # (draw, grade)
        variance = np.maximum(rates @ gains**2 - mean**2, 0.0)
        of_grade = [np.where(grade == g, weight, 0.0) for g in (*range(len(counts) - 1), -1)]
        total = np.stack([w.sum(axis=2) for w in of_grade], axis=2)  # (run, topic, grade)
        square = np.stack([np.square(w).sum(axis=2) for w in of_grade], axis=2)
        room = np.maximum(bounds.most.scores() - bounds.lower, 0)
        amounts = np.repeat(bounds.low.amount[None], self.n_draws, axis=0)
        for r, run_id in enumerate(bounds.run_ids):
            own = [normals(self.n_draws, self.random_seed, run_id, topic) for topic in bounds.query_ids]
            added = mean @ total[r].T + np.stack(own, axis=1) * np.sqrt(variance @ square[r].T)
            amounts[:, r] += to_integer_amounts(clip_to_bounds(added, room[r]), bounds.measure)
        return Values(amounts, bounds.measure.unit)
