"""Corrections that place a measure inside its interval [B, B + Δ] with constants (Ravana & Moffat 2010).

The constants are chances. A measure that does not end at 1 is corrected as a share of the value of a ranking
with the highest relevance throughout, and one that falls with relevance as 1 minus itself. T of measures over
ideal rankings is the paper's estimate (`bayespool.evidence.Bounds`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections.base import Corrected, PointCorrection, not_defined, open_residual
from bayespool.corrections.registry import Class, register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds, JudgmentCounts
from bayespool.evidence.ideals import relevance_levels
from bayespool.measures import Additive, Measure, Normalized

FloatArray = npt.NDArray[np.float64]

_MIN_JUDGED_SHARE = 1e-12  # of the weights; less is rounding


def background(lower: FloatArray, residual: FloatArray, e: float) -> FloatArray:
    """X_B = B + Δ·E, with the chance E of relevance for each unjudged document."""
    return lower + residual * e


def interpolated(lower: FloatArray, residual: FloatArray, c: float, e: float) -> FloatArray:
    """X_I = B + C·Δ·B/(1 − Δ), and E where nothing is judged (Δ = 1)."""
    judged = 1 - residual
    some = judged > _MIN_JUDGED_SHARE
    return np.where(some, lower + c * residual * lower / np.where(some, judged, 1), e)


def smoothed(lower: FloatArray, residual: FloatArray, c: float, e: float) -> FloatArray:
    """X_M = (1 − Δ)·X_I + Δ·X_B = B + C·Δ·B + Δ²·E."""
    return lower + c * residual * lower + residual**2 * e


def _of_paper(name: str, label: str) -> Callable[[Class], Class]:
    return register_estimator(
        name, label=label, source="Ravana & Moffat 2010, §3", citations=("ravana-moffat-2010",)
    )


@_of_paper("as-judged", "lower\nbound")
@dataclass(frozen=True, kw_only=True)
class AsJudged(PointCorrection):
    """X_S = B, the measure as trec_eval gives it, with unjudged documents as nonrelevant."""

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """B on each topic."""
        return Corrected(bounds.lower)


@dataclass(frozen=True, kw_only=True)
class _Placed(PointCorrection):
    """Values from a formula of B and Δ, both scaled to between 0 and 1, whose constants are chances."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name in ("c", "e") and not 0 <= value <= 1:
                raise InputError(f"constant {name} = {value} is not between 0 and 1")

    @abstractmethod
    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """Values between B and B + Δ."""

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Values of the formula on each topic."""
        highest = _highest(collection, bounds.measure)
        if not (bounds.measure.rises or bounds.measure.falls):
            return not_defined(bounds, "defined for measures that rise with relevance, or fall")
        if highest is None:
            return not_defined(bounds, "defined for measures from 0 to 1")
        lower, residual = bounds.lower / highest, open_residual(bounds) / highest
        if bounds.measure.rises:
            corrected = self.formula(lower, residual)
        else:
            corrected = 1 - self.formula(1 - lower - residual, residual)
        return Corrected(np.where(residual > 0, corrected * highest, bounds.lower))


@_of_paper("background", "back\xad\nground")
@dataclass(frozen=True, kw_only=True)
class Background(_Placed):
    """X_B = B + Δ·E (Ravana & Moffat 2010, §3).

    Parameters
    ----------
    e : float in [0, 1], default 0.03
        Chance that an unjudged document is relevant; the middle of the paper's range, 0.01 to 0.05.
    """

    e: float = 0.03

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """X_B on each topic."""
        return background(lower, residual, self.e)


@_of_paper("interpolated", "inter\xad\npolated")
@dataclass(frozen=True, kw_only=True)
class Interpolated(_Placed):
    """X_I = B + C·Δ·B/(1 − Δ) (Ravana & Moffat 2010, §3).

    A missing rank counts as judged and nonrelevant, so that B/(1 − Δ) is the precision over all ranks of
    known relevance.

    Parameters
    ----------
    c, e : float in [0, 1], default 0.42 and 0.01
        The paper's constants for P@10 on TREC-9 Web (§4).
    """

    c: float = 0.42
    e: float = 0.01

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """X_I on each topic."""
        return interpolated(lower, residual, self.c, self.e)


@_of_paper("smoothed", "smooth\xad\ned")
@dataclass(frozen=True, kw_only=True)
class Smoothed(_Placed):
    """X_M = B + C·Δ·B + Δ²·E (Ravana & Moffat 2010, §3).

    Parameters
    ----------
    c, e : float in [0, 1], default 0.91 and 0.05
        The paper's constants for P@10 on TREC-9 Web (§4).
    """

    c: float = 0.91
    e: float = 0.05

    def formula(self, lower: FloatArray, residual: FloatArray) -> FloatArray:
        """X_M on each topic."""
        return smoothed(lower, residual, self.c, self.e)


@dataclass(frozen=True, slots=True)
class Constants:
    """Fitted constants of a correction and their error.

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
) -> Constants:
    """Fit constants (C, E) of least RMSE against a fuller judgment set (Ravana & Moffat 2010, §4).

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
    from scipy.optimize import lsq_linear

    tables = list(counts)
    if isinstance(truth, Bounds) and not _ends_at_one(truth.measure):
        raise InputError(f"constants are fitted to measures from 0 to 1, and {truth.measure} is none")
    if not tables or any(_axes(t) != _axes(truth) for t in tables):
        raise InputError("fit_constants needs counts of the same runs, topics and cutoffs as the truth's")
    lower = np.concatenate([t.lower.ravel() for t in tables])
    residual = np.concatenate([t.residual.ravel() for t in tables])
    target = np.tile(truth.lower.ravel(), len(tables)) - lower
    none_judged = residual > 1 - _MIN_JUDGED_SHARE
    if method == "background":
        columns = [np.zeros_like(lower), residual]
    elif method == "interpolated":
        columns = [residual * lower / np.where(none_judged, 1, 1 - residual), none_judged.astype(float)]
    elif method == "smoothed":
        columns = [residual * lower, residual**2]
    else:
        raise InputError(f"no constants to fit for {method!r}", hint="background, interpolated or smoothed")
    design = np.column_stack(columns)
    touched = design.any(axis=0)
    fitted = np.full(2, np.nan)
    if touched.any():
        fitted[touched] = lsq_linear(design[:, touched], target, bounds=(0, 1), method="bvls").x
    error = target - design @ np.nan_to_num(fitted)
    return Constants(float(fitted[0]), float(fitted[1]), float(np.sqrt(np.mean(error**2))))


def _highest(collection: Collection, measure: Measure) -> float | None:
    """Value of a ranking with the highest relevance throughout; None where it is unknown."""
    if _ends_at_one(measure):
        return 1.0
    if not isinstance(measure, Additive):
        return None
    top = max(*relevance_levels(collection, measure), measure.rel)
    highest = float(measure.amounts(np.full((1, measure.cutoff), top))[0] / measure.unit)
    return highest if highest > 0 else 1.0


def _ends_at_one(measure: Measure) -> bool:
    """Whether B and T lie between 0 and 1, as they do over the ideal ranking of the judged documents."""
    return measure.range == (0.0, 1.0) or isinstance(measure, Normalized)


def _axes(table: JudgmentCounts | Bounds) -> tuple[object, ...]:
    measured = table.measure if isinstance(table, Bounds) else table.cutoffs
    return table.run_ids, table.query_ids, measured
