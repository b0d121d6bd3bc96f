"""What every point correction shares: from measures to bounds and from corrected values to `Estimates`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.counts import Bounds, Estimand, bounds
from bayespool.estimates import Estimates
from bayespool.measures import parse_measures

__all__ = ["Corrected", "PointCorrection", "lacks_pool"]

FloatArray = npt.NDArray[np.float64]


class Corrected(NamedTuple):
    """Corrected values under one measure.

    Attributes
    ----------
    per_topic : ndarray of float, shape (run, topic)
    std : ndarray of float, shape (run,), or None
        Standard error of the runs' values where the method has one.
    notes : tuple of str, one per run, or empty
    """

    per_topic: FloatArray
    std: FloatArray | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PointCorrection(ABC):
    """A published correction: arithmetic on bounds, without an interval.

    Parameters
    ----------
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth may be relevant (`bayespool.counts.bounds`).
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
            One per measure, with ``draws=None``.
        """
        if run_ids is not None:
            run_ids = [run_ids] if isinstance(run_ids, str) else list(run_ids)
        found = [
            bounds(collection, run_ids, measure, estimand=self.estimand)
            for measure in parse_measures(measures)
        ]
        corrected = self.correct_all(collection, found)
        return tuple(self._estimates(collection, *pair) for pair in zip(found, corrected, strict=True))

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
            std=corrected.std,
            notes=tuple(
                "needs a pooled run" if lacking and np.isnan(v) else note
                for v, note, lacking in zip(value, notes, lacks_pool(collection, found), strict=True)
            ),
            fingerprint=collection.fingerprint,
        )


def lacks_pool(collection: Collection, found: Bounds) -> npt.NDArray[np.bool_]:
    """Where a run has something unjudged and no other run was pooled to learn from, shape (run,)."""
    n_others = collection.pooled.sum() - collection.pooled[collection.run_index(found.run_ids)]
    lacking: npt.NDArray[np.bool_] = (n_others == 0) & found.has_unjudged
    return lacking
