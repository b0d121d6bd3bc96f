"""Correction by the effect of a run on the pooled runs (Lipani, Lupu & Hanbury 2015)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.corrections.base import Corrected, SharedCorrection, lacks_pool, not_defined, run_notes
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds, score_bounds
from bayespool.evidence.composition import CompositionEffects, composition_effects
from bayespool.measures import Precision
from bayespool.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

INDICATORS = ("delta_precision", "delta_anti_precision", "delta_k_bar", "k_bar", "lambda", "triggered")
"""Indicator columns from `AntiPrecision`: ΔP, ΔP̄, Δk̄, k̄, λ and whether its trigger fired."""
_UNTRIGGERED = {"lambda": "λ ≤ 0", "precision": "ΔP ≤ 0", "anti-precision": "ΔP̄ ≥ 0"}


@register_estimator(
    "anti-precision",
    label="anti-\nprec.",
    source="Lipani, Lupu & Hanbury 2015, algorithm 1",
    citations=("lipani-lupu-hanbury-2015",),
)
@dataclass(frozen=True, kw_only=True)
class AntiPrecision(SharedCorrection):
    r"""Score plus k̄·max(Δk̄, 0) if the trigger fires (Lipani et al. 2015, algorithm 1).

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
    denominator : {"padded", "cutoff", "retrieved"}
        What P and P̄ divide by: n, where a missing rank is nonrelevant; n to the letter of P@n and P̄@n (§3),
        where a missing rank is in neither, but in k̄ = 1 − s − s̄; or the number of documents that the run has
        in its top n, as P and P̄ divide by \|D_r\| (§3). ΔP and ΔP̄ are the same under all three: a pooled run
        shorter than n keeps its documents. With the last two the value may exceed T.
    """

    alpha: float = 1.0
    trigger: Literal["lambda", "precision", "anti-precision"] = "lambda"
    denominator: Literal["padded", "cutoff", "retrieved"] = "padded"

    def __post_init__(self) -> None:
        check_choice("trigger", self.trigger, tuple(_UNTRIGGERED))
        check_choice("denominator", self.denominator, ("padded", "cutoff", "retrieved"))

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return corrected per-topic scores, composing runs once per relevance level."""
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

    def shares(self, bounds: Bounds) -> tuple[FloatArray, FloatArray]:
        """Return precision s and unjudged share k̄ on each topic, each of shape (run, topic)."""
        if self.denominator == "padded":
            return bounds.lower, bounds.residual
        n = bounds.measure.cutoff
        if self.denominator == "cutoff":
            return bounds.lower, (bounds.n_unjudged + bounds.n_missing) / n
        n_retrieved = np.maximum(n - bounds.n_missing, 1)
        return bounds.low.amount / n_retrieved, bounds.n_unjudged / n_retrieved

    def _share_out(self, collection: Collection, bounds: Bounds, effects: CompositionEffects) -> Corrected:
        c = effects.cutoffs.index(bounds.measure.cutoff)
        delta_p = effects.delta_precision[:, :, c].mean(axis=1)
        delta_anti_p = effects.delta_antiprecision[:, :, c].mean(axis=1)
        precision, unjudged = self.shares(bounds)
        s, k = precision.mean(axis=1), unjudged.mean(axis=1)
        lambda_ = k * (delta_p * (1 - s - k) - delta_anti_p * s)
        fires = {"lambda": lambda_ > 0, "precision": delta_p > 0, "anti-precision": delta_anti_p < 0}[
            self.trigger
        ]
        delta_k = -delta_p - delta_anti_p
        share = np.where(fires, np.maximum(delta_k, 0), 0)
        indicators = dict(
            zip(INDICATORS, (delta_p, delta_anti_p, delta_k, k, lambda_, fires.astype(float)), strict=True)
        )
        alone = lacks_pool(collection, bounds)
        for values in (share, *(indicators[name] for name in INDICATORS if name != "k_bar")):
            values[alone] = np.nan
        is_idle = (k > 0) & ~(share > 0)
        reason = f"left uncorrected, since {_UNTRIGGERED[self.trigger]}"
        notes = run_notes((is_idle & fires, "left uncorrected, since Δk̄ ≤ 0"), (is_idle & ~fires, reason))
        return Corrected(precision + unjudged * share[:, None], notes=notes, indicators=indicators)


def anti_precision_indicators(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    correction: AntiPrecision | None = None,
) -> pd.DataFrame:
    """Return how composing a run with the pooled runs changes their scores (Lipani et al. 2015, table 1).

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        Default: all runs.
    measures : measure or iterable of measures
        P@n, at any relevance; others have no indicators.
    correction : AntiPrecision, optional
        With its settings; default: those of the paper.

    Returns
    -------
    pandas.DataFrame
        A row per run and measure: ``run_id``, ``measure``, ``as_judged`` (s), ``delta_precision`` (ΔP) and
        ``delta_anti_precision`` (ΔP̄), from −1 to 1, the mean changes of the pooled runs' precision and
        anti-precision; ``delta_k_bar`` (Δk̄ = −ΔP − ΔP̄), that of their unjudged share; ``k_bar`` (k̄), the
        run's own unjudged share; ``lambda`` (λ = k̄·(ΔP·s̄ − ΔP̄·s), equation 3, with s̄ = 1 − s − k̄);
        ``triggered``, whether it is corrected; and ``value``, s + k̄·max(Δk̄, 0) then, else s.

    Raises
    ------
    InputError
        Unknown run or measure.

    Examples
    --------
    The pooled run p has ``a`` (relevant) and ``b`` (not) in its top two, ``x`` and ``c`` below. The new run u
    ranks ``a`` first, ``x`` third and ``b`` fourth, so that p composed with it is a, x, c, b: the unjudged x
    stands where b stood. Thus ΔP = 0, ΔP̄ = −½ and Δk̄ = ½. Of u's own top two ``a`` is relevant and ``z``
    unjudged: s = ½, s̄ = 0, k̄ = ½, λ = ½·(0·0 + ½·½) = ⅛ > 0, and the corrected score is ½ + ½·½.

    >>> from bayespool import read_collection
    >>> qrels = {"1": {"a": 1, "b": 0, "c": 0}}
    >>> p = {"1": {"a": 4, "b": 3, "x": 2, "c": 1}}
    >>> u = {"1": {"a": 4, "z": 3, "x": 2, "b": 1}}
    >>> own = {"p": "north", "u": "south"}
    >>> collection = read_collection(qrels, {"u": u}, pool={"p": p}, organizations=own, known_depth=2)
    >>> row = anti_precision_indicators(collection, "u", "P@2").iloc[0]
    >>> [float(row[name]) for name in ("delta_precision", "delta_anti_precision", "delta_k_bar", "k_bar")]
    [0.0, -0.5, 0.5, 0.5]
    >>> float(row["lambda"]), bool(row["triggered"]), float(row["as_judged"]), float(row["value"])
    (0.125, True, 0.5, 0.75)
    """
    import pandas as pd

    estimator = correction or AntiPrecision()
    frames = []
    for e in estimator.estimate(collection, run_ids, measures):
        bounds = score_bounds(collection, e.run_ids, e.measure, estimand=estimator.estimand)
        as_judged = bounds.low.means() + (estimator.shares(bounds)[0] - bounds.lower).mean(axis=1)
        columns = {"as_judged": as_judged, **e.indicators, "value": e.value}
        frames.append(pd.DataFrame({"run_id": e.run_ids, "measure": str(e.measure), **columns}))
    return pd.concat(frames, ignore_index=True)
