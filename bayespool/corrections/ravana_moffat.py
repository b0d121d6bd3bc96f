"""Corrections that place a measure inside its interval [B, B + Δ] with constants (Ravana & Moffat 2010).

The constants are chances. A measure that does not end at 1 is corrected as a share of the value of a ranking
with the highest relevance throughout, and one that falls with relevance as 1 minus itself. T of measures over
ideal rankings is the paper's estimate (`bayespool.evidence.Bounds`).

With ``fit="pool"`` constants are fitted to the pool at hand: each organization in turn is out of the pool,
and the scores of its runs, on each topic, are what the corrections should come to.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    PointCorrection,
    SharedCorrection,
    not_defined,
    open_residual,
)
from bayespool.corrections.registry import Class, register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds, Estimand, JudgmentCounts, score_bounds
from bayespool.evidence.ideals import relevance_levels, values_on_fuller
from bayespool.measures import Additive, Measure, Normalized, parse_measure
from bayespool.validation import check_choice, check_number

_MIN_JUDGED_SHARE = 1e-12  # of the weights; less is rounding


def background(lower: FloatArray, residual: FloatArray, e: float) -> FloatArray:
    """Return the background estimate X_B = B + Δ·E.

    E is the chance that an unjudged document is relevant.
    """
    return lower + residual * e


def interpolated(lower: FloatArray, residual: FloatArray, c: float, e: float) -> FloatArray:
    """Return the interpolated estimate X_I = B + C·Δ·B/(1 − Δ), or E if nothing is judged (Δ = 1)."""
    judged = 1 - residual
    some = judged > _MIN_JUDGED_SHARE
    return np.where(some, lower + c * residual * lower / np.where(some, judged, 1), e)


def smoothed(
    lower: FloatArray, residual: FloatArray, c: float, e: float, alpha: float | None = None
) -> FloatArray:
    """Return the smoothed estimate α·X_I + (1 − α)·X_B, by default with α = 1 − Δ.

    The default is X_M = B + C·Δ·B + Δ²·E.
    """
    if alpha is None:
        return lower + c * residual * lower + residual**2 * e
    return alpha * interpolated(lower, residual, c, e) + (1 - alpha) * background(lower, residual, e)


def _register(name: str, label: str) -> Callable[[Class], Class]:
    return register_estimator(
        name, label=label, source="Ravana & Moffat 2010, §3", citations=("ravana-moffat-2010",)
    )


@_register("as-judged", "lower\nbound")
@dataclass(frozen=True, kw_only=True)
class AsJudged(PointCorrection):
    """Score as judged X_S = B, with unjudged documents as nonrelevant, as in trec_eval."""

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Return the score as judged on each topic."""
        return Corrected(bounds.lower)


@dataclass(frozen=True, kw_only=True)
class _PlacedCorrection(SharedCorrection):
    """Correction given by a formula in B and Δ scaled to [0, 1]."""

    fit: Literal["none", "pool"] = "none"

    def __post_init__(self) -> None:
        for name in ("c", "e", "alpha"):
            check_number(f"constant {name}", getattr(self, name, None), least=0, most=1)
        check_choice("fit", self.fit, ("none", "pool"))

    @abstractmethod
    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Return corrected scores between B and B + Δ."""

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return corrected per-topic scores, with constants fitted for each measure."""
        held_out = _organizations_left_out(collection) if self.fit == "pool" else []
        return [self._correct(collection, bounds, held_out) for bounds in all_bounds]

    def _correct(
        self, collection: Collection, bounds: Bounds, held_out: Sequence[tuple[Collection, tuple[str, ...]]]
    ) -> Corrected:
        highest = _highest(collection, bounds.measure)
        if isinstance(highest, str):
            return not_defined(bounds, highest)
        lower, residual = _as_shares(bounds, highest)
        if self.fit == "none":
            return Corrected(_to_values(bounds, self.formula(lower, residual), highest))
        best = _fit_to(held_out, collection, bounds.measure, self.name, getattr(self, "alpha", None), highest)
        constants = {name: x for name in ("c", "e") if not np.isnan(x := getattr(best, name))}
        fitted = dataclasses.replace(self, fit="none", **constants)
        n_runs = len(bounds.run_ids)
        used = {
            f"constant_{name}": np.full(n_runs, x) for name, x in vars(fitted).items() if name in ("c", "e")
        }
        used["rmse"] = np.full(n_runs, best.rmse)
        note = "" if constants else "no organization is left to fit constants to: those given"
        defaults = {f.name: f.default for f in dataclasses.fields(self)}
        if replaced := [name for name in constants if getattr(self, name) != defaults[name]]:
            given = ", ".join(f"{name} = {getattr(self, name):g}" for name in replaced)
            note = f"constants are fitted to the pool, and {given} is not used"
        return Corrected(
            _to_values(bounds, fitted.formula(lower, residual), highest),
            notes=(note,) * n_runs,
            indicators=used,
        )


@_register("background", "back\xad\nground")
@dataclass(frozen=True, kw_only=True)
class Background(_PlacedCorrection):
    """Background estimator X_B = B + Δ·E (Ravana & Moffat 2010, §3).

    Parameters
    ----------
    e : float in [0, 1], default 0.03
        Chance that an unjudged document is relevant; the middle of the paper's range, 0.01 to 0.05.
    fit : {"none", "pool"}
        ``"pool"`` takes the constant fitted to the pool (`fit_constants_to_pool`) where it determines it.
    """

    e: float = 0.03

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the background estimate on each topic."""
        return background(lower, residual, self.e)


@_register("interpolated", "inter\xad\npolated")
@dataclass(frozen=True, kw_only=True)
class Interpolated(_PlacedCorrection):
    """Interpolated estimator X_I = B + C·Δ·B/(1 − Δ) (Ravana & Moffat 2010, §3).

    A missing rank counts as judged and nonrelevant, so that B/(1 − Δ) is the precision over all ranks of
    known relevance.

    Parameters
    ----------
    c, e : float in [0, 1], default 0.42 and 0.01
        The paper's constants for P@10 on TREC-9 Web (§4).
    fit : {"none", "pool"}
        ``"pool"`` takes constants fitted to the pool (`fit_constants_to_pool`) where it determines them.
    """

    c: float = 0.42
    e: float = 0.01

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the interpolated estimate on each topic."""
        return interpolated(lower, residual, self.c, self.e)


@_register("smoothed", "smooth\xad\ned")
@dataclass(frozen=True, kw_only=True)
class Smoothed(_PlacedCorrection):
    """Smoothed estimator α·X_I + (1 − α)·X_B, by default with α = 1 − Δ (Ravana & Moffat 2010, §3).

    Parameters
    ----------
    c, e : float in [0, 1], default 0.91 and 0.05
        The paper's constants for P@10 on TREC-9 Web (§4).
    alpha : float in [0, 1], optional
        Weight of the interpolated value; default: 1 − Δ, the paper's, topic by topic.
    fit : {"none", "pool"}
        ``"pool"`` takes constants fitted to the pool (`fit_constants_to_pool`) where it determines them.
    """

    c: float = 0.91
    e: float = 0.05
    alpha: float | None = None

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the smoothed estimate on each topic."""
        return smoothed(lower, residual, self.c, self.e, self.alpha)


@dataclass(frozen=True, slots=True)
class Constants:
    """Fitted constants C and E for a correction, with their RMSE.

    Attributes
    ----------
    c, e : float in [0, 1]
        The best constants; NaN where the data do not determine one (no topic without any judged document,
        say).
    rmse : float
        Root mean squared error per (pool, run, topic) at these constants.
    """

    c: float
    e: float
    rmse: float


def fit_constants(
    method: Literal["background", "interpolated", "smoothed"],
    counts: Iterable[JudgmentCounts | Bounds],
    truth: JudgmentCounts | Bounds,
    *,
    alpha: float | None = None,
) -> Constants:
    """Fit constants (C, E) by least squares to a fuller judgment set (Ravana & Moffat 2010, §4).

    The corrections are linear in their constants, so that bounded least squares gives the exact minimum over
    the unit square.

    Parameters
    ----------
    method : {"background", "interpolated", "smoothed"}
        For ``"background"`` C is NaN.
    counts : iterable of JudgmentCounts or Bounds
        Of the same runs at the same cutoffs, or under the same measure, with several smaller judgment sets of
        equal weight.
    truth : JudgmentCounts or Bounds
        Under the fullest set, whose lower bounds are the values to predict.
    alpha : float in [0, 1], optional
        Of ``"smoothed"``: the weight of the interpolated value; default: 1 − Δ.

    Returns
    -------
    Constants

    Raises
    ------
    InputError
        Unknown method, no counts, or counts of other runs, topics or cutoffs than the truth's; a measure that
        does not end at 1.

    Examples
    --------
    >>> from bayespool import judgment_counts, load_example
    >>> example = load_example()
    >>> runs = example.pooled_run_ids
    >>> full = judgment_counts(example, runs, cutoffs=10)
    >>> shallow = [judgment_counts(example.truncate_pool(d), runs, cutoffs=10) for d in (1, 2, 5)]
    >>> constants = fit_constants("smoothed", shallow, full)
    >>> 0 < constants.c <= 1 and constants.rmse < 0.2
    True
    """
    tables = list(counts)
    if isinstance(truth, Bounds) and not _ends_at_one(truth.measure):
        raise InputError(f"constants are fitted to measures from 0 to 1, and {truth.measure} is none")
    if not tables or any(_axes(t) != _axes(truth) for t in tables):
        raise InputError("constants need counts of the same runs, topics and cutoffs as the truth's")
    lower = np.concatenate([t.lower.ravel() for t in tables])
    residual = np.concatenate([t.residual.ravel() for t in tables])
    return _least_squares(method, lower, residual, np.tile(truth.lower.ravel(), len(tables)), alpha)


def fit_constants_to_pool(
    method: Literal["background", "interpolated", "smoothed"],
    collection: Collection,
    measure: object = "P@10",
    *,
    alpha: float | None = None,
) -> Constants:
    """Fit constants (C, E) by least squares to organizations held out of the pool.

    The paper fits them to shallower pools of the campaign's own runs, and nobody has the deeper pool before
    judging. Here the pool is judged, and what is unjudged are documents of runs outside of it: as if new, the
    runs of each organization in turn are what the constants are fitted to, on each topic.

    Parameters
    ----------
    method : {"background", "interpolated", "smoothed"}
        For ``"background"`` C is NaN.
    collection : Collection
        With two organizations in the pool or more.
    measure : measure
        Any that rises with relevance or falls.
    alpha : float in [0, 1], optional
        Of ``"smoothed"``, as in `fit_constants`.

    Returns
    -------
    Constants
        NaN where the pool does not determine one. The error is that of shares of the highest value.

    Raises
    ------
    InputError
        Unknown method; a measure that the corrections are not defined for.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> constants = fit_constants_to_pool("smoothed", load_example())
    >>> scores = score(load_example(), "new-b", estimators="smoothed(fit='pool')")
    >>> bool(scores.to_frame("constants")["constant_c"][0] == constants.c)
    True
    """
    parsed = parse_measure(measure)
    highest = _highest(collection, parsed)
    if isinstance(highest, str):
        raise InputError(f"constants are {highest}, and {parsed} is none")
    return _fit_to(_organizations_left_out(collection), collection, parsed, method, alpha, highest)


def _organizations_left_out(collection: Collection) -> list[tuple[Collection, tuple[str, ...]]]:
    """Return the collection without each pooled organization in turn, with that organization's runs."""
    pool_organization = collection.organization[collection.pooled]
    if len(names := np.unique(pool_organization)) < 2:
        return []
    pooled = np.array(collection.pooled_run_ids, dtype=object)
    groups = [tuple(pooled[pool_organization == name].tolist()) for name in names]
    return [(collection.unpool(runs), runs) for runs in groups]


def _fit_to(
    held_out: Sequence[tuple[Collection, tuple[str, ...]]],
    collection: Collection,
    measure: Measure,
    method: str,
    alpha: float | None,
    highest: float,
) -> Constants:
    """Fit constants to held-out runs, whose scores are known down to the pool depth."""
    estimand: Estimand = "pooled" if collection.pool_depth else "complete"
    parts = []
    for smaller, runs in held_out:
        lower, residual = _as_shares(score_bounds(smaller, runs, measure, estimand=estimand), highest)
        truth = values_on_fuller(smaller, collection, runs, measure, estimand).scores() / highest
        parts.append((lower, residual, truth if measure.rises else 1 - truth))
    if not parts:
        return Constants(np.nan, np.nan, np.nan)
    lower, residual, truth = (
        np.concatenate([x.ravel() for x in group]) for group in zip(*parts, strict=True)
    )
    return _least_squares(method, lower, residual, truth, alpha)


def _least_squares(
    method: str, lower: FloatArray, residual: FloatArray, truth: FloatArray, alpha: float | None
) -> Constants:
    """Fit constants by least squares to scaled scores of shape (n,)."""
    from scipy.optimize import lsq_linear

    none_judged = residual > 1 - _MIN_JUDGED_SHARE
    at_rate = residual * lower / np.where(none_judged, 1, 1 - residual)
    if method == "background":
        columns = [np.zeros_like(lower), residual]
    elif method == "interpolated":
        columns = [at_rate, none_judged.astype(float)]
    elif method == "smoothed":
        weight = 1 - residual if alpha is None else np.full_like(residual, alpha)
        columns = [weight * at_rate, np.where(none_judged, 1, (1 - weight) * residual)]
    else:
        raise InputError(f"no constants to fit for {method!r}", hint="background, interpolated or smoothed")
    target, design = truth - lower, np.column_stack(columns)
    touched = design.any(axis=0)
    fitted = np.full(2, np.nan)
    if touched.any():
        fitted[touched] = lsq_linear(design[:, touched], target, bounds=(0, 1), method="bvls").x
    error = target - design @ np.nan_to_num(fitted)
    return Constants(float(fitted[0]), float(fitted[1]), float(np.sqrt(np.mean(error**2))))


def _as_shares(bounds: Bounds, highest: float) -> tuple[FloatArray, FloatArray]:
    """Return scores as judged and residuals, divided by the highest score, reversed if less is better."""
    lower, residual = bounds.lower / highest, open_residual(bounds) / highest
    return (lower if bounds.measure.rises else 1 - lower - residual), residual


def _to_values(bounds: Bounds, shares: FloatArray, highest: float) -> FloatArray:
    """Convert scaled estimates back to scores, keeping B for fully judged topics."""
    values = (shares if bounds.measure.rises else 1 - shares) * highest
    return np.asarray(np.where(open_residual(bounds) > 0, values, bounds.lower))


def _highest(collection: Collection, measure: Measure) -> float | str:
    """Return the highest possible score, or a reason why the measure is not supported."""
    if not (measure.rises or measure.falls):
        return "defined for measures that rise with relevance, or fall"
    if _ends_at_one(measure):
        return 1.0
    if not isinstance(measure, Additive):
        return "defined for measures from 0 to 1"
    top = max(*relevance_levels(collection, measure), measure.rel)
    highest = float(measure.amounts(np.full((1, measure.cutoff), top))[0] / measure.unit)
    return highest if highest > 0 else 1.0


def _ends_at_one(measure: Measure) -> bool:
    """Return whether scores of the measure lie between 0 and 1."""
    return measure.range == (0.0, 1.0) or isinstance(measure, Normalized)


def _axes(table: JudgmentCounts | Bounds) -> tuple[object, ...]:
    measured = table.measure if isinstance(table, Bounds) else table.cutoffs
    return table.run_ids, table.query_ids, measured
