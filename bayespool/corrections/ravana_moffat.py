"""Corrections that place a measure inside its interval [B, B + Δ] with constants (Ravana & Moffat 2010).

The constants are probabilities. A measure that does not end at 1 is corrected as a share of the value of a
ranking with the highest relevance throughout, and one that falls with relevance as 1 minus itself. T of
measures over ideal rankings is the paper's estimate (`bayespool.evidence.Bounds`).

With ``fit="pool"`` constants are fitted to the pool at hand: each organization in turn is out of the pool,
and the scores of its runs, on each topic, are what the corrections should come to.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

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
from bayespool.corrections.registry import Class, estimator_from_text, register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds, Estimand, JudgmentCounts, score_bounds
from bayespool.evidence.ideals import relevance_levels, values_on_fuller
from bayespool.measures import Additive, Measure, Normalized, parse_measure
from bayespool.validation import check_choice, check_number

_MIN_JUDGED_SHARE = 1e-12  # of the weights; less is rounding


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
class PlacedCorrection(SharedCorrection):
    """Correction that places scores between B and B + Δ by a formula that is linear in its constants.

    A subclass has its constants as fields made by `constant`. B and Δ are scaled to [0, 1].

    Parameters
    ----------
    fit : {"none", "pool"}
        ``"pool"`` takes the constants fitted to the pool (`fit_constants_to_pool`) where it determines them.
    """

    fit: Literal["none", "pool"] = "none"

    def __post_init__(self) -> None:
        for name, value in self.constants.items():
            check_number(f"constant {name}", value, least=0, most=1)
        check_choice("fit", self.fit, ("none", "pool"))

    @property
    def constants(self) -> dict[str, float]:
        """The constants by name."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if "constant" in f.metadata}

    def with_constants(self, constants: Mapping[str, float]) -> Self:
        """Return the correction with these constants, but for those that are NaN."""
        known: dict[str, Any] = {name: x for name, x in constants.items() if not np.isnan(x)}
        return dataclasses.replace(self, fit="none", **known)

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
        best, n_runs = _fit_to(held_out, collection, bounds.measure, self, highest), len(bounds.run_ids)
        fitted = self.with_constants(best.values)
        used = {f"constant_{name}": np.full(n_runs, x) for name, x in fitted.constants.items()}
        used["rmse"] = np.full(n_runs, best.rmse)
        is_known = {name: not np.isnan(x) for name, x in best.values.items()}
        note = "" if any(is_known.values()) else "no organization is left to fit constants to: those given"
        given = [
            f"{f.name} = {x:g}"
            for f in dataclasses.fields(self)
            if is_known.get(f.name) and (x := getattr(self, f.name)) != f.default
        ]
        if given:
            note = f"constants are fitted to the pool, and {', '.join(given)} is not used"
        return Corrected(
            _to_values(bounds, fitted.formula(lower, residual), highest),
            notes=((note,) if note else (),) * n_runs,
            indicators=used,
        )


def constant(default: float) -> Any:
    """Return a field of a `PlacedCorrection` for a constant in [0, 1], which can be fitted to a pool."""
    return dataclasses.field(default=default, metadata={"constant": True})


@_register("background", "back\xad\nground")
@dataclass(frozen=True, kw_only=True)
class Background(PlacedCorrection):
    """Background estimator X_B = B + Δ·E (Ravana & Moffat 2010, §3).

    Parameters
    ----------
    e : float in [0, 1], default 0.03
        Probability that an unjudged document is relevant; the middle of the paper's range, 0.01 to 0.05.
    fit : {"none", "pool"}
        As in `PlacedCorrection`.
    """

    e: float = constant(0.03)

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the background estimate on each topic."""
        return lower + residual * self.e


@_register("interpolated", "inter\xad\npolated")
@dataclass(frozen=True, kw_only=True)
class Interpolated(PlacedCorrection):
    """Interpolated estimator X_I = B + C·Δ·B/(1 − Δ), or E where Δ = 1 (Ravana & Moffat 2010, §3).

    A missing rank counts as judged and nonrelevant, so that B/(1 − Δ) is the precision over all ranks of
    known relevance.

    Parameters
    ----------
    c, e : float in [0, 1], default 0.42 and 0.01
        The paper's constants for P@10 on TREC-9 Web (§4).
    fit : {"none", "pool"}
        As in `PlacedCorrection`.
    """

    c: float = constant(0.42)
    e: float = constant(0.01)

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the interpolated estimate on each topic."""
        judged = 1 - residual
        some = judged > _MIN_JUDGED_SHARE
        return np.where(some, lower + self.c * residual * lower / np.where(some, judged, 1), self.e)


@_register("smoothed", "smooth\xad\ned")
@dataclass(frozen=True, kw_only=True)
class Smoothed(PlacedCorrection):
    """Smoothed estimator α·X_I + (1 − α)·X_B, by default with α = 1 − Δ (Ravana & Moffat 2010, §3).

    The default is X_M = B + C·Δ·B + Δ²·E.

    Parameters
    ----------
    c, e : float in [0, 1], default 0.91 and 0.05
        The paper's constants for P@10 on TREC-9 Web (§4).
    alpha : float in [0, 1], optional
        Weight of the interpolated value; default: 1 − Δ, the paper's, topic by topic.
    fit : {"none", "pool"}
        As in `PlacedCorrection`.
    """

    c: float = constant(0.91)
    e: float = constant(0.05)
    alpha: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("alpha", self.alpha, least=0, most=1)

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the smoothed estimate on each topic."""
        if self.alpha is None:
            return lower + self.c * residual * lower + residual**2 * self.e
        at_rate = Interpolated(c=self.c, e=self.e).formula(lower, residual)
        return self.alpha * at_rate + (1 - self.alpha) * (lower + residual * self.e)


@dataclass(frozen=True, slots=True)
class Constants:
    """Fitted constants of a correction, with their RMSE.

    Attributes
    ----------
    values : mapping of str to float in [0, 1]
        The best constants by name; NaN where the data do not determine one (no topic without any judged
        document, say).
    rmse : float
        Root mean squared error per (pool, run, topic) at these constants.
    """

    values: Mapping[str, float]
    rmse: float


def fit_constants(
    correction: str | PlacedCorrection,
    counts: Iterable[JudgmentCounts | Bounds],
    truth: JudgmentCounts | Bounds,
) -> Constants:
    """Fit constants by least squares to a fuller judgment set (Ravana & Moffat 2010, §4).

    The corrections are linear in their constants, so that bounded least squares gives the exact minimum over
    the unit square.

    Parameters
    ----------
    correction : str or PlacedCorrection
        Such as "smoothed" or "smoothed(alpha=0.5)".
    counts : iterable of JudgmentCounts or Bounds
        Of the same runs at the same cutoffs, or under the same measure, with several smaller judgment sets of
        equal weight.
    truth : JudgmentCounts or Bounds
        Under the fullest set, whose lower bounds are the values to predict.

    Returns
    -------
    Constants

    Raises
    ------
    InputError
        A correction without constants, no counts, or counts of other runs, topics or cutoffs than the
        truth's; a measure that does not end at 1.

    Examples
    --------
    >>> from bayespool import judgment_counts, load_example
    >>> example = load_example()
    >>> runs = example.pooled_run_ids
    >>> full = judgment_counts(example, runs, cutoffs=10)
    >>> shallow = [judgment_counts(example.truncate_pool(d), runs, cutoffs=10) for d in (1, 2, 5)]
    >>> constants = fit_constants("smoothed", shallow, full)
    >>> 0 < constants.values["c"] <= 1 and constants.rmse < 0.2
    True
    """
    placed, tables = _parse_placed(correction), list(counts)
    if isinstance(truth, Bounds) and not _ends_at_one(truth.measure):
        raise InputError(f"constants are fitted to measures from 0 to 1, and {truth.measure} is none")
    if not tables or any(_axes(t) != _axes(truth) for t in tables):
        raise InputError("constants need counts of the same runs, topics and cutoffs as the truth's")
    lower = np.concatenate([t.lower.ravel() for t in tables])
    residual = np.concatenate([t.residual.ravel() for t in tables])
    return _least_squares(placed, lower, residual, np.tile(truth.lower.ravel(), len(tables)))


def fit_constants_to_pool(
    correction: str | PlacedCorrection, collection: Collection, measure: object = "P@10"
) -> Constants:
    """Fit constants by least squares to organizations held out of the pool.

    The paper fits them to shallower pools of the campaign's own runs, and nobody has the deeper pool before
    judging. Here the pool is judged, and what is unjudged are documents of runs outside of it: as if new, the
    runs of each organization in turn are what the constants are fitted to, on each topic.

    Parameters
    ----------
    correction : str or PlacedCorrection
        As in `fit_constants`.
    collection : Collection
        With two organizations in the pool or more.
    measure : measure
        Any that rises with relevance or falls.

    Returns
    -------
    Constants
        NaN where the pool does not determine one. The error is that of shares of the highest value.

    Raises
    ------
    InputError
        A correction without constants; a measure that the corrections are not defined for.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> constants = fit_constants_to_pool("smoothed", load_example())
    >>> scores = score(load_example(), "new-b", estimators="smoothed(fit='pool')")
    >>> bool(scores.to_frame("constants")["constant_c"][0] == constants.values["c"])
    True
    """
    placed, parsed = _parse_placed(correction), parse_measure(measure)
    highest = _highest(collection, parsed)
    if isinstance(highest, str):
        raise InputError(f"constants are {highest}, and {parsed} is none")
    return _fit_to(_organizations_left_out(collection), collection, parsed, placed, highest)


def _parse_placed(correction: str | PlacedCorrection) -> PlacedCorrection:
    """Return a correction with constants from its text, or raise `InputError`."""
    made = estimator_from_text(correction) if isinstance(correction, str) else correction
    if not isinstance(made, PlacedCorrection) or not made.constants:
        raise InputError(f"no constants to fit for {correction!r}", hint="such as interpolated or smoothed")
    return made


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
    correction: PlacedCorrection,
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
        return Constants(dict.fromkeys(correction.constants, np.nan), np.nan)
    lower, residual, truth = (
        np.concatenate([x.ravel() for x in group]) for group in zip(*parts, strict=True)
    )
    return _least_squares(correction, lower, residual, truth)


def _least_squares(
    correction: PlacedCorrection, lower: FloatArray, residual: FloatArray, truth: FloatArray
) -> Constants:
    """Fit constants by least squares to scaled scores of shape (n,)."""
    from scipy.optimize import lsq_linear

    none = dict.fromkeys(correction.constants, 0.0)
    base = correction.with_constants(none).formula(lower, residual)
    units = [correction.with_constants(none | {name: 1.0}).formula(lower, residual) for name in none]
    target, design = truth - base, np.column_stack(units) - base[:, None]
    touched = design.any(axis=0)
    fitted = np.full(len(none), np.nan)
    if touched.any():
        fitted[touched] = lsq_linear(design[:, touched], target, bounds=(0, 1), method="bvls").x
    error = target - design @ np.nan_to_num(fitted)
    return Constants(dict(zip(none, fitted.tolist(), strict=True)), float(np.sqrt(np.mean(error**2))))


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
