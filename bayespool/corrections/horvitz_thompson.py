"""Sums over a random sample of the judgments, weighted by inclusion (Horvitz & Thompson 1952)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    PointCorrection,
    joined,
    not_defined,
    notes_on_sample,
    sample_of,
)
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import ranked_levels
from bayespool.measures import Additive
from bayespool.measures.normalized import Normalized


@register_estimator(
    "horvitz-thompson", label="Horvitz-\nThompson", citations=("horvitz-thompson-1952",), needs_sample=True
)
@dataclass(frozen=True, kw_only=True)
class HorvitzThompson(PointCorrection):
    """Weight each document of the sample by 1 / p, where p is its inclusion probability.

    The estimate is Σ weight · gain / p over the judged documents of the run's top n. It is unbiased over
    samples of documents that could all have been sampled. A document that no pooled run retrieves could not,
    and counts as not relevant; a note gives the number of such documents. Judgments outside the sample (added
    ones, those that no pooled run explains) count once. The value is NaN where the judgments are no sample,
    published or by a strategy (`bayespool.pooling.Sampling`), or cannot be the stated one: more than 1 % of
    the sample (and more than one document) is unjudged, or as many documents are judged that could have been
    sampled but were not. A note reports smaller numbers. Of these the former count as not relevant, the
    latter once.

    Defined for sums of gains that no ideal ranking divides: P@n, RBP, DCG.

    Parameters
    ----------
    within_bounds : bool, default True
        Keep every run's value inside [B, T], by scaling the addition to B on all topics alike; a note says
        where. Values of single topics may leave the bounds either way: one relevant document of a sample of
        one in twenty counts twenty. ``False`` gives the unbounded sums.

    Notes
    -----
    A run whose top is fully judged, by chance or by added judgments, keeps B within bounds. Both estimands
    coincide but for T.
    """

    needs_pool = False
    within_bounds: bool = True

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """B plus (1 / p − 1) times the gain of each document of the sample."""
        measure, sample = bounds.measure, sample_of(collection)
        if isinstance(sample, str):
            return not_defined(bounds, sample)
        if not isinstance(measure, Additive) or isinstance(measure, Normalized):
            return not_defined(bounds, "defined for sums of gains that no ideal ranking divides")
        index = collection.run_index(bounds.run_ids)
        inclusion = sample.weighing(collection.judged)
        more = np.append(np.where(np.isnan(inclusion), 0.0, 1 / inclusion - 1), 0.0)
        level = measure.read(ranked_levels(collection, index, measure.cutoff))
        gains = measure.gains(level) * measure.weights()[: level.shape[2]] / measure.unit
        added = (gains * more[collection.document[index, :, : measure.cutoff]]).sum(axis=2)
        notes = notes_on_sample(collection, sample, bounds)
        if self.within_bounds:
            total, room = added.sum(axis=1), bounds.residual.sum(axis=1)
            kept = np.clip(total, np.minimum(room, 0), np.maximum(room, 0))
            added *= np.where(total != 0, kept / np.where(total != 0, total, 1), 0)[:, None]
            cut = np.abs(total - kept) > 1e-12
            notes = tuple(
                joined(was_cut and "cut to the upper bound", note)
                for note, was_cut in zip(notes, cut.tolist(), strict=True)
            )
        return Corrected(bounds.lower + added, notes=notes)
