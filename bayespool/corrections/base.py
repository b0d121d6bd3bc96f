"""Common base of point corrections: from measures to bounds and from corrected values to estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, LevelArray
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import Bounds, Estimand, score_bounds
from bayespool.evidence.held_out import sole_beside
from bayespool.evidence.ideals import judged_tally, level_index, open_ranks, ranked_levels, relevance_levels
from bayespool.measures import (
    NDCG,
    Additive,
    AveragePrecision,
    Estimates,
    Measure,
    Normalized,
    Values,
    parse_measures,
)
from bayespool.notes import Kind, Note, noted
from bayespool.pooling import StrategyPool
from bayespool.pooling.discovery import strategy_misfit
from bayespool.reading.samples import Sample, stratum_shares


def hidden_at_levels(
    collection: Collection,
    levels: Sequence[int],
    *,
    by: Literal["organization", "run"] = "organization",
    substitute: str | None = None,
) -> IndexArray:
    """Count documents that only one run or its organization contributed, shape (run, topic, level).

    Levels ascend from 0.
    """
    sole = sole_beside(collection, by, substitute)
    index = np.flatnonzero(collection.pooled)
    unit = collection.organization[index] if by == "organization" else index
    pairs = np.flatnonzero(sole >= 0)
    at = level_index(collection.relevance[pairs], levels)
    pairs, at = pairs[at >= 0], at[at >= 0]
    n_units = len(collection.organizations) if by == "organization" else len(collection.run_ids)
    n = np.zeros((n_units, len(collection.query_ids), len(levels)), dtype=np.int64)
    np.add.at(n, (sole[pairs], collection.pair_topic[pairs], at), 1)
    return n[unit]


NO_SAMPLE = "needs judgments that are a random sample (a published one, or --pool-strategy)"
"""Note for runs without a corrected score because the judgments are not a random sample."""
NO_STRATA = "defined for uniform and stratified samples"
"""Note for samples that are neither uniform nor stratified."""


def is_fitted(indicator: str) -> bool:
    """Return whether an indicator is fitted to the pool: constants, their error, adjustments of runs."""
    return indicator.startswith("constant_") or indicator in ("rmse", "adjustment")


RunNotes = tuple[tuple[str, ...], ...]
"""Notes of each run."""


class Corrected(NamedTuple):
    """Corrected scores for several runs under one measure.

    Attributes
    ----------
    per_topic : ndarray of float, shape (run, topic)
    std : ndarray of float, shape (run,), or None
        Standard error of the runs' values where the estimator has one.
    notes : tuple of tuple of str
        Notes of each run, or empty (`run_notes`).
    draws : Values, shape (draw, run, topic), or None
        Draws of the estimator's own distribution (prediction-powered inference, conformal risk control).
    indicators : mapping of str to ndarray of float, shape (run,)
        What an estimator knows of a run besides its value: λ of anti-precision, fitted constants.
    """

    per_topic: FloatArray
    std: FloatArray | None = None
    notes: RunNotes = ()
    draws: Values | None = None
    indicators: Mapping[str, FloatArray] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class PointCorrection(ABC):
    """Published correction that computes corrected scores from the bounds.

    Measures of the judgments themselves are not corrected: every correction gives B.

    Parameters
    ----------
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth may be relevant (`bayespool.evidence.bounds`).
    """

    estimand: Estimand = "complete"

    # no annotations, so that these are no fields
    needs_pool = True  # where a run has unjudged documents
    registered_name = ""  # set by `register_estimator`

    @property
    def name(self) -> str:
        """Name under which the class is registered with `register_estimator`."""
        return self.registered_name

    @abstractmethod
    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Return corrected per-topic scores from the runs' bounds under one measure."""

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return corrected per-topic scores for each of several measures.

        Corrections override it if measures can share work.
        """
        return [self.correct(collection, bounds) for bounds in all_bounds]

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        """Estimate corrected scores for the runs under each measure.

        Parameters
        ----------
        collection : Collection
        run_ids : str or iterable of str, optional
            Default: all runs.
        measures : measure or iterable of measures
            ``"P@10"``, ``["P@5", "P(rel=2)@10"]``, ir_measures objects.

        Returns
        -------
        tuple of Estimates
            One per measure; ``draws`` is None unless the estimator has an interval of its own.
        """
        if run_ids is not None:
            run_ids = [run_ids] if isinstance(run_ids, str) else list(run_ids)
        all_bounds = [
            score_bounds(collection, run_ids, measure, estimand=self.estimand)
            for measure in parse_measures(measures)
        ]
        open_ = [bounds for bounds in all_bounds if not bounds.measure.describes_judgments]
        corrected = iter(self.correct_all(collection, open_) if open_ else ())
        return tuple(
            self._estimates(
                collection,
                bounds,
                Corrected(bounds.lower) if bounds.measure.describes_judgments else next(corrected),
            )
            for bounds in all_bounds
        )

    def opened_ranks(
        self, collection: Collection, run_ids: Iterable[str], depth: int
    ) -> tuple[LevelArray, BoolArray, IntArray]:
        """Return relevance, unjudged mask and document index for top ranks, shape (run, topic, rank)."""
        index = collection.run_index(run_ids)
        level = ranked_levels(collection, index, depth)
        opened = open_ranks(collection, index, depth, self.estimand)
        return level, opened, collection.document[index, :, :depth]

    def _estimates(self, collection: Collection, bounds: Bounds, corrected: Corrected) -> Estimates:
        if not isinstance(corrected, Corrected):
            raise InputError(
                f"correct of estimator {self.name!r} does not return a Corrected, but an object of type "
                f"{type(corrected).__name__}",
                hint="wrap the values of each run and topic: Corrected(per_topic)",
            )
        # from the total, so that a fully judged run has exactly trec_eval's value
        value = bounds.low.means() + (corrected.per_topic - bounds.lower).mean(axis=1)
        lacking = self.needs_pool & lacks_pool(collection, bounds) & np.isnan(value)
        notes = run_notes((lacking, "needs a pooled run"))
        if corrected.notes:
            notes = tuple(pair[not pair[0]] for pair in zip(notes, corrected.notes, strict=True))
        return Estimates(
            estimator=self.name,
            measure=bounds.measure,
            run_ids=bounds.run_ids,
            query_ids=bounds.query_ids,
            per_topic=corrected.per_topic,
            value=value,
            draws=corrected.draws,
            indicators=corrected.indicators,
            std=corrected.std,
            notes=tuple(noted(of_run, "point-estimator") for of_run in notes),
            fingerprint=collection.fingerprint,
            random_seed=None if corrected.draws is None else getattr(self, "random_seed", None),
        )


class SharedCorrection(PointCorrection):
    """Correction that computes several measures together.

    In a subclass that overrides `correct`, measures share no work.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "correct" in vars(cls) and "correct_all" not in vars(cls):
            cls.correct_all = PointCorrection.correct_all  # type: ignore[method-assign]

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Return corrected per-topic scores under one measure."""
        return self.correct_all(collection, [bounds])[0]

    @abstractmethod
    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return corrected per-topic scores from the runs' bounds under each measure."""


def run_notes(*conditions: tuple[npt.ArrayLike, str] | tuple[npt.ArrayLike, str, Kind]) -> RunNotes:
    """Return the notes of each run: texts whose condition holds, a mask, numbers or words of shape (run,).

    Notes are of a point estimator, or of the kind after the text.

    Examples
    --------
    >>> run_notes(([True, False], "idle"), ([2, 3], "unjudged: {}"))
    (('idle', 'unjudged: 2'), ('unjudged: 3',))
    """
    columns = []
    for mask, text, *kinds in conditions:
        kind: Kind = kinds[0] if kinds else "point-estimator"
        values = np.asarray(mask).tolist()
        columns.append([(Note(kind, text, *[value] * ("{}" in text)),) if value else () for value in values])
    return joined_notes(*columns)


def joined_notes(*notes: Sequence[tuple[str, ...]]) -> RunNotes:
    """Return each run's notes together, from sequences with notes of each run, some of which are empty."""
    return tuple(tuple(chain(*of_run)) for of_run in zip(*filter(len, notes), strict=True))


def open_residual(bounds: Bounds) -> FloatArray:
    """Return the residual Δ per topic, 0 without unjudged documents, shape (run, topic)."""
    return np.asarray(np.where(bounds.n_unjudged > 0, bounds.residual, 0.0))


def clip_to_bounds(added: FloatArray, room: FloatArray) -> FloatArray:
    """Clip score increases so that each of them and their sum stay within bounds, shape (..., topic).

    Each topic is first cut to its room. A sum that is then too large is scaled down by one factor; where it
    is too small, all take the same share of the room they have left.
    """
    total = np.clip(added.sum(axis=-1), 0, room.sum(axis=-1))[..., None]
    inside = np.clip(added, 0, room)
    current = inside.sum(axis=-1)[..., None]
    left = room - inside
    free = left.sum(axis=-1)[..., None]
    down = np.divide(total, current, out=np.ones_like(current), where=current > total)
    up = np.divide(total - current, free, out=np.zeros_like(current), where=(current < total) & (free > 0))
    return np.asarray(np.clip(inside * down + left * up, 0, room))


def to_integer_amounts(values: FloatArray, measure: Measure) -> AnyArray:
    """Convert scores to unnormalized scores, as integers if the measure has integer ones."""
    if not measure.is_exact:
        return values * measure.unit
    sums = np.rint(np.cumsum(values * measure.unit, axis=-1)).astype(np.int32)
    # halves that are not quite may round up where the sum before rounds down
    return np.clip(np.diff(sums, axis=-1, prepend=np.int32(0)), 0, measure.unit)


def amounts_with_expected(
    measure: Measure, level: AnyArray, opened: BoolArray, gain: FloatArray
) -> FloatArray:
    """Return unnormalized scores (...) with expected gains for unjudged documents.

    The other arrays have the shape (..., rank).
    """
    read = measure.read(level)
    base = np.asarray(measure.amounts(read), dtype=np.float64)
    if isinstance(measure, Additive):
        more = np.where(opened, gain * measure.weights()[: level.shape[-1]], 0.0)
        return np.asarray(base + more.sum(axis=-1))
    gains = np.where(opened, gain, measure.document_gains(read))
    return np.where(opened.any(axis=-1), measure.expected_amounts(gains), base)


def normalize_expected(collection: Collection, bounds: Bounds, amounts: FloatArray) -> FloatArray:
    """Normalize scores using the judged ideal ranking, clipped to the bounds over completed judgments."""
    measure = bounds.measure
    tally = judged_tally(collection, relevance_levels(collection, measure))
    values: FloatArray = measure.normalize(amounts, tally) / measure.unit
    if isinstance(measure, Normalized):
        values = np.clip(values, bounds.least.scores(), bounds.most.scores())
    return values


def not_defined(bounds: Bounds, why: str) -> Corrected:
    """Return NaN for every run, with the reason as its note."""
    return Corrected(np.full_like(bounds.lower, np.nan), notes=((why,),) * len(bounds.run_ids))


def has_open_ranks(bounds: Bounds) -> BoolArray:
    """Return whether each run has an unjudged document down to the cutoff, shape (run,)."""
    return np.asarray(bounds.n_unjudged.any(axis=1))


def lacks_pool(collection: Collection, bounds: Bounds) -> BoolArray:
    """Return whether each run has unjudged documents but no other pooled run to learn from, shape (run,)."""
    n_others = collection.pooled.sum() - collection.pooled[collection.run_index(bounds.run_ids)]
    return np.asarray((n_others == 0) & has_open_ranks(bounds))


def judgment_sample(collection: Collection) -> Sample | str:
    """Return the random sample behind the judgments, or a reason why there is none.

    Judgments follow that of a strategy but for a few.
    """
    if collection.sample is not None:
        return collection.sample
    pool, misfit = collection.pool, strategy_misfit(collection)
    if not (isinstance(pool, StrategyPool) and pool.is_sample and misfit and collection.pooled.any()):
        return NO_SAMPLE
    if misfit.is_large:
        return f"the sample is not as stated: {misfit}"
    return pool.sample(collection, np.flatnonzero(collection.pooled))


def undrawn_strata(collection: Collection, sample: Sample) -> BoolArray:
    """Return whether nothing was drawn of an unjudged document's stratum, so that none stands for it.

    Shape (pair,). False where probabilities are stated, as a strategy's are: its estimates are unbiased over
    samples, those that draw nothing as well.
    """
    if sample.stratum is None or not sample.is_published:
        return np.zeros(len(collection.relevance), dtype=bool)
    drawn, topic = sample.chosen & collection.judged, collection.pair_topic * sample.by_topic
    return np.asarray((stratum_shares(sample.stratum, drawn, topic) == 0) & ~collection.judged)


def lone_strata(collection: Collection, sample: Sample) -> BoolArray:
    """Return whether a single drawn document stands for an unjudged one's stratum, shape (pair,)."""
    if sample.stratum is None or not sample.is_published:
        return np.zeros(len(collection.relevance), dtype=bool)
    stratum, inside = sample.stratum, sample.stratum >= 0
    key = collection.pair_topic * sample.by_topic * (int(stratum.max(initial=0)) + 1) + stratum
    n_drawn = np.bincount(key[inside & sample.chosen & collection.judged], minlength=int(key.max()) + 1)
    return np.asarray(inside & ~collection.judged & (n_drawn[key] == 1))


def undrawn_topics(collection: Collection, sample: Sample) -> BoolArray:
    """Return whether nothing was drawn on a topic that has unjudged candidates, shape (topic,)."""
    if sample.stratum is None or not sample.is_published:
        return np.zeros(len(collection.query_ids), dtype=bool)
    n_drawn, n_left = (
        np.bincount(collection.pair_topic[mask], minlength=len(collection.query_ids))
        for mask in (sample.chosen & collection.judged, sample.candidates & ~collection.judged)
    )
    return np.asarray((n_drawn == 0) & (n_left > 0))


def sampling_notes(collection: Collection, sample: Sample, bounds: Bounds) -> RunNotes:
    """Return notes of each run on documents that could not be sampled, on single documents that stand for a
    stratum, and on judgments outside the sample.
    """
    outside = np.append(~sample.candidates & ~collection.judged, False)
    alone = np.append(lone_strata(collection, sample), False)
    top = collection.document[collection.run_index(bounds.run_ids), :, : bounds.measure.cutoff]
    misfit = str(strategy_misfit(collection) or "")
    return run_notes(
        (outside[top].sum(axis=(1, 2)), "documents that could not be sampled count as not relevant: {}"),
        (
            alone[top].any(axis=2).sum(axis=1),
            "topics on which a single judged document stands for a stratum of the run's: {}",
        ),
        ([misfit] * len(top), "{}"),
    )


class SampledCorrection(SharedCorrection):
    """Estimator for a measure over completed judgments, using judgments that are a random sample."""

    needs_pool = False
    needs_strata = True
    family: ClassVar[type[AveragePrecision | NDCG]] = AveragePrecision
    """Class of the measures that are estimated."""

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return sample estimates with notes, or NaN if the measure or pool is not supported."""
        sample = judgment_sample(collection)
        if not isinstance(sample, str) and self.needs_strata and sample.stratum is None:
            sample = NO_STRATA
        if isinstance(sample, str):
            return [not_defined(bounds, sample) for bounds in all_bounds]
        undrawn = undrawn_topics(collection, sample)
        text = "no value: topics of which nothing was drawn: {}"
        return [
            Corrected(
                np.where(undrawn, np.nan, self.estimate_from_sample(collection, sample, bounds)),
                notes=joined_notes(
                    run_notes((np.full(len(bounds.run_ids), undrawn.sum()), text, "no-value")),
                    sampling_notes(collection, sample, bounds),
                ),
            )
            if isinstance(bounds.measure, self.family) and bounds.measure.ideal != "judged"
            else not_defined(bounds, f"defined for {self.family.name} over completed judgments")
            for bounds in all_bounds
        ]

    @abstractmethod
    def estimate_from_sample(self, collection: Collection, sample: Sample, bounds: Bounds) -> FloatArray:
        """Return scores under a measure of the family, shape (run, topic)."""
