"""Correction by the effect of a run on the pooled runs (Lipani, Lupu & Hanbury 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayespool.collection import Collection
from bayespool.corrections.base import Corrected, SharedCorrection, lacks_pool, not_defined
from bayespool.corrections.registry import register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.composition import CompositionEffects, composition_effects
from bayespool.measures import Precision


@register_estimator(
    "anti-precision",
    label="anti-\nprec.",
    source="Lipani, Lupu & Hanbury 2015, algorithm 1",
    citations=("lipani-lupu-hanbury-2015",),
)
@dataclass(frozen=True, kw_only=True)
class AntiPrecision(SharedCorrection):
    """Add k̄·max(Δk̄, 0) where the trigger fires (Lipani et al. 2015, algorithm 1).

    With s, s̄ and k̄ the run's mean precision, anti-precision and unjudged share of the top n, and ΔP, ΔP̄
    and Δk̄ = −ΔP − ΔP̄ the mean effects of composing it with the pooled runs, the estimate is s + k̄·max(Δk̄,
    0) if λ = k̄·(ΔP·s̄ − ΔP̄·s) > 0 (equation 3) and s otherwise. These are means over topics; topics share
    the correction in proportion to their unjudged documents. A missing rank counts as judged and nonrelevant,
    so that k̄ is the residual Δ and s̄ = 1 − s − k̄. Other measures than P@n have no anti-precision, and
    their values are NaN.

    Parameters
    ----------
    alpha : float in [0, 1], default 1
        Weight of the run's own ranks in the composition; 0 corrects nothing.
    trigger : {"lambda", "precision", "anti-precision"}
        Condition of the correction: λ > 0, ΔP > 0, or ΔP̄ < 0 (§5.1).
    """

    alpha: float = 1.0
    trigger: Literal["lambda", "precision", "anti-precision"] = "lambda"

    def __post_init__(self) -> None:
        if self.trigger not in ("lambda", "precision", "anti-precision"):
            raise InputError(f"no trigger {self.trigger!r}", hint="lambda, precision or anti-precision")

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """`correct` for several measures, with one composition for all cutoffs of a relevance level."""
        effects: dict[int, CompositionEffects] = {}
        for rel in {b.measure.rel for b in all_bounds if isinstance(b.measure, Precision)}:
            cutoffs = sorted({b.measure.cutoff for b in all_bounds if b.measure.rel == rel})
            effects[rel] = composition_effects(
                collection, all_bounds[0].run_ids, cutoffs=cutoffs, rel=rel, alpha=self.alpha
            )
        return [
            self._share_out(collection, b, effects[b.measure.rel])
            if isinstance(b.measure, Precision)
            else not_defined(b, "defined for P@n alone")
            for b in all_bounds
        ]

    def _share_out(self, collection: Collection, bounds: Bounds, effects: CompositionEffects) -> Corrected:
        c = effects.cutoffs.index(bounds.measure.cutoff)
        delta_p = effects.delta_precision[:, :, c].mean(axis=1)
        delta_anti_p = effects.delta_antiprecision[:, :, c].mean(axis=1)
        s, k = bounds.lower.mean(axis=1), bounds.residual.mean(axis=1)
        fires = {
            "lambda": k * (delta_p * (1 - s - k) - delta_anti_p * s) > 0,
            "precision": delta_p > 0,
            "anti-precision": delta_anti_p < 0,
        }[self.trigger]
        share = np.where(fires, np.maximum(-delta_p - delta_anti_p, 0), 0)
        share[lacks_pool(collection, bounds)] = np.nan
        return Corrected(bounds.lower + bounds.residual * share[:, None])
