"""What every point correction shares: from measures to bounds and from corrected values to `Estimates`."""

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
"""Why a correction for samples has no value."""


class Corrected(NamedTuple):
    """Corrected values under one measure.

    Attributes
    ----------
    per_topic : ndarray of float, shape (run, topic)
    std : ndarray of float, shape (run,), or None
        Standard error of the runs' values where the method has one.
    notes : tuple of str, one per run, or empty
    draws : Values, shape (draw, run, topic), or None
        Draws of the distribution that the method itself states (prediction-powered inference).
    """

    per_topic: FloatArray
    std: FloatArray | None = None
    notes: tuple[str, ...] = ()
    draws: Values | None = None


@dataclass(frozen=True, kw_only=True)
class PointCorrection(ABC):
    """A published correction: arithmetic on bounds, without an interval, but where the method states its own.

    For a measure of the judgments themselves there is nothing to correct: every correction gives B.

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
        return [self.correct(collection, one) for one in found]

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        """Corrected values of runs.

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
        found = [
            score_bounds(collection, run_ids, measure, estimand=self.estimand)
            for measure in parse_measures(measures)
        ]
        open_ = [one for one in found if not one.measure.of_judgments]
        corrected = iter(self.correct_all(collection, open_) if open_ else ())
        return tuple(
            self._estimates(
                collection, one, Corrected(one.lower) if one.measure.of_judgments else next(corrected)
            )
            for one in found
        )

    def _estimates(self, collection: Collection, found: Bounds, corrected: Corrected) -> Estimates:
        # B from the total: a run with nothing unjudged has trec_eval's value to the bit
        value = found.low.means() + (corrected.per_topic - found.lower).mean(axis=1)
        notes = corrected.notes or ("",) * len(value)
        return Estimates(
            method=self.name,
            measure=found.measure,
            run_ids=found.run_ids,
            query_ids=found.query_ids,
            per_topic=corrected.per_topic,
            value=value,
            draws=corrected.draws,
            std=corrected.std,
            notes=tuple(
                "needs a pooled run" if lacking and np.isnan(v) else note
                for v, note, lacking in zip(value, notes, lacks_pool(collection, found), strict=True)
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


def open_residual(found: Bounds) -> FloatArray:
    """Δ on each topic, 0 where nothing of the run is unjudged, shape (run, topic).

    Beyond the end of a run there is nothing to be judged, although ranks there may add to T.
    """
    residual: FloatArray = np.where(found.n_unjudged > 0, found.residual, 0.0)
    return residual


def not_defined(found: Bounds, why: str) -> Corrected:
    """NaN for every run, and the reason."""
    return Corrected(np.full_like(found.lower, np.nan), notes=(why,) * len(found.run_ids))


def has_open_ranks(found: Bounds) -> npt.NDArray[np.bool_]:
    """Runs with an unjudged document down to the cutoff, shape (run,)."""
    return np.asarray(found.n_unjudged.any(axis=1))


def lacks_pool(collection: Collection, found: Bounds) -> npt.NDArray[np.bool_]:
    """Where a run has something unjudged and no other run was pooled to learn from, shape (run,)."""
    n_others = collection.pooled.sum() - collection.pooled[collection.run_index(found.run_ids)]
    return np.asarray((n_others == 0) & has_open_ranks(found))


def sample_of(collection: Collection) -> StrategyPool | str:
    """The pool of the collection if it is a random sample of what some runs retrieve, else the reason why
    not: the pool is not a sample, or more than a few judgments differ from the stated sample
    (`bayespool.pooling.Misfit`).
    """
    pool, misfit = collection.pooling, misfit_of(collection)
    if not (isinstance(pool, StrategyPool) and pool.is_sample and misfit and collection.pooled.any()):
        return NO_SAMPLE
    return f"the sample is not as stated: {misfit}" if misfit.is_large else pool


def notes_on_sample(collection: Collection, pool: StrategyPool, found: Bounds) -> tuple[str, ...]:
    """A note for each run on its unjudged documents down to the cutoff that could not be sampled, and on a
    few judgments that are not as the sample asks for.
    """
    candidates = pool.candidates(collection, np.flatnonzero(collection.pooled))
    outside = np.append(~candidates & ~collection.judged, False)
    top = collection.document[collection.run_index(found.run_ids), :, : found.measure.cutoff]
    few = str(misfit_of(collection) or "")
    return tuple(
        "; ".join(
            [f"documents that could not be sampled count as not relevant: {n}"] * bool(n) + [few] * bool(few)
        )
        for n in outside[top].sum(axis=(1, 2)).tolist()
    )


def ap_of_sample(
    collection: Collection, pool: StrategyPool, found: Bounds, values: Callable[[Bounds], FloatArray]
) -> Corrected:
    """What an estimator of AP makes of a sample, with its notes; `not_defined` of other measures."""
    if not isinstance(found.measure, AveragePrecision) or found.measure.ideal == "judged":
        return not_defined(found, "defined for AP over completed judgments")
    return Corrected(values(found), notes=notes_on_sample(collection, pool, found))
