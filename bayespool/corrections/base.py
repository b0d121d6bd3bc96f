"""What every point correction shares: from measures to counts and from corrected values to `Estimates`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.counts import Estimand, JudgmentCounts, judgment_counts
from bayespool.estimates import Estimates
from bayespool.measures import parse_measures

__all__ = ["Corrected", "PointCorrection", "lacks_pool"]

FloatArray = npt.NDArray[np.float64]


class Corrected(NamedTuple):
    """Corrected values for several cutoffs at once.

    Attributes
    ----------
    per_topic : ndarray of float, shape (run, topic, cutoff)
    std : ndarray of float, shape (run, cutoff), or None
        Standard error of the runs' values where the method has one.
    notes : tuple of tuple of str, shape (cutoff, run), or empty
    """

    per_topic: FloatArray
    std: FloatArray | None = None
    notes: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PointCorrection(ABC):
    """A published correction: arithmetic on count tables, without an interval.

    Parameters
    ----------
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth may be relevant (`bayespool.counts.judgment_counts`).
    """

    estimand: Estimand = "complete"

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the method."""

    @abstractmethod
    def correct(self, collection: Collection, counts: JudgmentCounts, rel: int) -> Corrected:
        """Corrected per-topic values from the judgment counts of the runs at all cutoffs."""

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
        parsed = parse_measures(measures)
        if run_ids is not None:
            run_ids = [run_ids] if isinstance(run_ids, str) else list(run_ids)
        results = {}
        for rel in dict.fromkeys(m.rel for m in parsed):
            group = [m for m in parsed if m.rel == rel]
            counts = judgment_counts(
                collection, run_ids, cutoffs=[m.cutoff for m in group], rel=rel, estimand=self.estimand
            )
            corrected = self.correct(collection, counts, rel)
            for c, measure in enumerate(group):
                # B from the integer sum: a run with nothing unjudged has trec_eval's value to the bit
                lower = counts.n_relevant[:, :, c].sum(axis=1) / (measure.cutoff * len(counts.query_ids))
                value = lower + (corrected.per_topic[:, :, c] - counts.lower[:, :, c]).mean(axis=1)
                notes = corrected.notes[c] if corrected.notes else ("",) * len(value)
                results[measure] = Estimates(
                    method=self.name,
                    measure=measure,
                    run_ids=counts.run_ids,
                    query_ids=counts.query_ids,
                    per_topic=corrected.per_topic[:, :, c],
                    value=value,
                    std=None if corrected.std is None else corrected.std[:, c],
                    notes=tuple(
                        "needs a pooled run" if np.isnan(v) else note
                        for v, note in zip(value, notes, strict=True)
                    ),
                    fingerprint=collection.fingerprint,
                )
        return tuple(results[m] for m in parsed)


def lacks_pool(collection: Collection, counts: JudgmentCounts) -> npt.NDArray[np.bool_]:
    """Where a run has something unjudged and no other run was pooled to learn from, shape (run, cutoff)."""
    n_others = collection.pooled.sum() - collection.pooled[collection.run_index(counts.run_ids)]
    lacking: npt.NDArray[np.bool_] = (n_others == 0)[:, None] & counts.n_unjudged.any(axis=1)
    return lacking
