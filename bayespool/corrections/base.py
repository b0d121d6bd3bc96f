"""Base classes of point corrections, from bounds to `Estimates`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.evidence import Bounds, Estimand, score_bounds
from bayespool.measures import AveragePrecision, Estimates, Values, parse_measures
from bayespool.pooling import StrategyPool
from bayespool.pooling.misfit import misfit_of

FloatArray = npt.NDArray[np.float64]

NO_SAMPLE = "needs a pool that is a random sample (--pool-strategy)"
"""Note of a correction for samples without a value."""


class Corrected(NamedTuple):
    """Corrected values under one measure.

    Attributes
    ----------
    per_topic : ndarray of float, shape (run, topic)
    std : ndarray of float, shape (run,), or None
        Standard error of the runs' values where the method has one.
    notes : tuple of str, one per run, or empty
    draws : Values, shape (draw, run, topic), or None
        Draws of the method's own distribution (prediction-powered inference).
    """

    per_topic: FloatArray
    std: FloatArray | None = None
    notes: tuple[str, ...] = ()
    draws: Values | None = None


@dataclass(frozen=True, kw_only=True)
class PointCorrection(ABC):
    """A published correction: arithmetic on bounds, without an interval unless the method has one.

    Measures of the judgments themselves are not corrected: every correction gives B.

    Parameters
    ----------
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth may be relevant (`bayespool.evidence.bounds`).
    """

    estimand: Estimand = "complete"

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the method."""

    @abstractmethod
    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """Corrected per-topic values from the bounds of the runs under one measure."""

    def correct_all(self, collection: Collection, found: Sequence[Bounds]) -> list[Corrected]:
        """`correct` for several measures, for methods in which they share work."""
        return [self.correct(collection, bounds) for bounds in found]

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        """Estimate corrected values of runs.

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
            One per measure; ``draws`` is None unless the method has an interval of its own.
        """
        if run_ids is not None:
            run_ids = [run_ids] if isinstance(run_ids, str) else list(run_ids)
        all_bounds = [
            score_bounds(collection, run_ids, measure, estimand=self.estimand)
            for measure in parse_measures(measures)
        ]
        open_ = [bounds for bounds in all_bounds if not bounds.measure.of_judgments]
        corrected = iter(self.correct_all(collection, open_) if open_ else ())
        return tuple(
            self._estimates(
                collection,
                bounds,
                Corrected(bounds.lower) if bounds.measure.of_judgments else next(corrected),
            )
            for bounds in all_bounds
        )

    def _estimates(self, collection: Collection, bounds: Bounds, corrected: Corrected) -> Estimates:
        # from the total, so that a fully judged run has exactly trec_eval's value
        value = bounds.low.means() + (corrected.per_topic - bounds.lower).mean(axis=1)
        notes = corrected.notes or ("",) * len(value)
        return Estimates(
            method=self.name,
            measure=bounds.measure,
            run_ids=bounds.run_ids,
            query_ids=bounds.query_ids,
            per_topic=corrected.per_topic,
            value=value,
            draws=corrected.draws,
            std=corrected.std,
            notes=tuple(
                "needs a pooled run" if lacking and np.isnan(v) else note
                for v, note, lacking in zip(value, notes, lacks_pool(collection, bounds), strict=True)
            ),
            fingerprint=collection.fingerprint,
            random_seed=None if corrected.draws is None else getattr(self, "random_seed", None),
        )


class SharedCorrection(PointCorrection):
    """A correction in which the measures share work."""

    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """`correct_all` of one measure."""
        return self.correct_all(collection, [found])[0]

    @abstractmethod
    def correct_all(self, collection: Collection, found: Sequence[Bounds]) -> list[Corrected]:
        """Corrected per-topic values from the bounds of the runs under each measure."""


def open_residual(bounds: Bounds) -> FloatArray:
    """Δ on each topic, 0 where the run has no unjudged document (though ranks beyond its end may add to T),
    shape (run, topic).
    """
    residual: FloatArray = np.where(bounds.n_unjudged > 0, bounds.residual, 0.0)
    return residual


def not_defined(bounds: Bounds, why: str) -> Corrected:
    """NaN for every run, with the reason as its note."""
    return Corrected(np.full_like(bounds.lower, np.nan), notes=(why,) * len(bounds.run_ids))


def has_open_ranks(bounds: Bounds) -> npt.NDArray[np.bool_]:
    """Runs with an unjudged document down to the cutoff, shape (run,)."""
    return np.asarray(bounds.n_unjudged.any(axis=1))


def lacks_pool(collection: Collection, bounds: Bounds) -> npt.NDArray[np.bool_]:
    """Runs with an unjudged document and no other pooled run to learn from, shape (run,)."""
    n_others = collection.pooled.sum() - collection.pooled[collection.run_index(bounds.run_ids)]
    return np.asarray((n_others == 0) & has_open_ranks(bounds))


def sample_of(collection: Collection) -> StrategyPool | str:
    """The pool if it is a random sample, else the reason: it is not a sample, or judgments differ from it by
    more than a few (`bayespool.pooling.misfit.Misfit`).
    """
    pool, misfit = collection.pooling, misfit_of(collection)
    if not (isinstance(pool, StrategyPool) and pool.is_sample and misfit and collection.pooled.any()):
        return NO_SAMPLE
    return f"the sample is not as stated: {misfit}" if misfit.is_large else pool


def notes_on_sample(collection: Collection, pool: StrategyPool, bounds: Bounds) -> tuple[str, ...]:
    """A note for each run on unjudged documents down to the cutoff outside the sampled population, and on a
    few judgments that differ from the sample.
    """
    candidates = pool.candidates(collection, np.flatnonzero(collection.pooled))
    outside = np.append(~candidates & ~collection.judged, False)
    top = collection.document[collection.run_index(bounds.run_ids), :, : bounds.measure.cutoff]
    few = str(misfit_of(collection) or "")
    return tuple(
        "; ".join(
            [f"documents that could not be sampled count as not relevant: {n}"] * bool(n) + [few] * bool(few)
        )
        for n in outside[top].sum(axis=(1, 2)).tolist()
    )


def ap_of_sample(
    collection: Collection, pool: StrategyPool, bounds: Bounds, values: Callable[[Bounds], FloatArray]
) -> Corrected:
    """Estimates of AP from a sample, with notes; `not_defined` for other measures."""
    if not isinstance(bounds.measure, AveragePrecision) or bounds.measure.ideal == "judged":
        return not_defined(bounds, "defined for AP over completed judgments")
    return Corrected(values(bounds), notes=notes_on_sample(collection, pool, bounds))
