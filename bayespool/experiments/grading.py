"""Grading of estimates against a known truth: errors over runs, calibration of draws.

References
----------
T. Gneiting and A. E. Raftery (2007). Strictly proper scoring rules, prediction, and estimation. Journal of
the American Statistical Association 102, 359–378.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.errors import InputError
from bayespool.measures import Estimates, Values, equal_tailed_interval
from bayespool.measures.errors import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    root_mean_squared_error,
    system_rank_error,
)

if TYPE_CHECKING:
    import pandas as pd

IntDraws = npt.NDArray[Any]


ERRORS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], float]] = {
    "mae": mean_absolute_error,
    "rmse": root_mean_squared_error,
    "bias": mean_error,
    "sre": system_rank_error,
    "kendall_tau_b": kendall_tau_b,
}
"""Errors by the name of their column."""


def errors_of(
    rows: pd.DataFrame, *names: str, value: str = "value", truth: str = "truth"
) -> dict[str, float]:
    """Errors of `ERRORS` of a column of estimates, by name."""
    true, estimate = rows[truth].to_numpy(), rows[value].to_numpy()
    return {name: ERRORS[name](true, estimate) for name in names}


def randomized_pit(
    draws: npt.NDArray[np.integer], observed: npt.NDArray[np.integer], rng: np.random.Generator
) -> FloatArray:
    """Randomized PIT P(draw < observed) + u·P(draw = observed), u uniform on (0, 1) (Czado et al. 2009).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, ...)
    observed : ndarray of int, shape (...)
    rng : numpy.random.Generator
        Generator of u.

    References
    ----------
    C. Czado, T. Gneiting and L. Held (2009). Predictive model assessment for count data. Biometrics 65,
    1254–1261.

    Examples
    --------
    >>> draws = np.repeat([[0], [1]], 50, axis=0)
    >>> bool(0.5 <= randomized_pit(draws, np.array([1]), np.random.default_rng(1))[0] <= 1)
    True
    """
    below, equal = (draws < observed).mean(axis=0), (draws == observed).mean(axis=0)
    pit: FloatArray = below + rng.random(observed.shape) * equal
    return pit


def covered(draws: IntDraws, truth: IntDraws, ci_prob: float) -> npt.NDArray[np.bool_]:
    """Whether the truth lies inside the equal-tailed interval of the draws, ends included; shape (run,).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run)
    truth : ndarray of int, shape (run,)
    ci_prob : float in (0, 1)

    Examples
    --------
    >>> draws = np.arange(101)[:, None] + np.zeros(3, dtype=int)
    >>> covered(draws, np.array([5, 95, 96]), 0.9).tolist()
    [True, True, False]
    """
    lower, upper = equal_tailed_interval(draws, ci_prob)
    inside: npt.NDArray[np.bool_] = (lower <= truth) & (truth <= upper)
    return inside


def pit_range(draws: IntDraws, truth: IntDraws) -> tuple[FloatArray, FloatArray]:
    """P(draw < truth) and P(draw ≤ truth), each of shape (run,); the randomized PIT lies between them.

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run)
    truth : ndarray of int, shape (run,)

    Examples
    --------
    >>> [end.tolist() for end in pit_range(np.array([[1], [2], [2], [3]]), np.array([2]))]
    [[0.25], [0.75]]
    """
    return (draws < truth).mean(axis=0), (draws <= truth).mean(axis=0)


def central_share(lower: npt.ArrayLike, upper: npt.ArrayLike, prob: float) -> float:
    """Share of randomized PIT values in the central ``prob`` of (0, 1), in expectation over their random
    part; about ``prob`` for calibrated draws. NaN values are left out; NaN if no value is left.

    Parameters
    ----------
    lower, upper : array-like of float in [0, 1], shape (run,)
        Ends of `pit_range`.
    prob : float in (0, 1)

    Examples
    --------
    >>> central_share([0.1, 0.3, 0.5, 0.2], [0.1, 0.3, 0.5, 0.3], 0.5)
    0.625
    """
    if not 0 < prob < 1:
        raise InputError(f"prob {prob} is not between 0 and 1")
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    known = ~np.isnan(low)
    low, high = low[known], high[known]
    if not len(low):
        return float("nan")
    start, stop = 0.5 - prob / 2, 0.5 + prob / 2
    inside = np.clip(high, start, stop) - np.clip(low, start, stop)
    point = np.abs(low - 0.5) <= prob / 2
    width = high - low
    return float(np.where(width > 0, inside / np.where(width > 0, width, 1), point).mean())


def crps(draws: IntDraws, truth: IntDraws) -> FloatArray:
    """Continuous ranked probability score of the draws' distribution, shape (run,), in documents; 0 is best.

    ``E|X − y| − ½·E|X − X′|`` with X and X′ independent draws and y the truth (equation 21 of Gneiting &
    Raftery 2007).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run)
    truth : ndarray of int, shape (run,)

    Examples
    --------
    >>> crps(np.array([[1], [3]]), np.array([3])).tolist()
    [0.5]
    """
    ordered = np.sort(draws, axis=0)
    n_draws = len(ordered)
    if not n_draws:
        raise InputError("no draws")
    weight = 2 * np.arange(n_draws, dtype=np.int64) - (n_draws - 1)
    spread = (weight[:, None] * ordered).sum(axis=0)  # Σ over pairs i < j of x_j − x_i, exact for integers
    distance = np.abs(ordered - truth).sum(axis=0)
    score: FloatArray = distance / n_draws - spread / n_draws**2
    return score


COVERAGE_LEVELS = (50, 80, 95)
"""Levels, in percent, at which coverage is checked whatever ``ci_prob`` is."""


INTERVAL_COLUMNS = (
    *("lower", "upper", "ci_prob", "std"),
    *(f"covered_{level}" for level in COVERAGE_LEVELS),
    *("pit", "pit_lower", "pit_upper", "crps"),
)
"""Columns on the interval of a run."""


def interval_columns(
    estimates: Estimates,
    truth: Values,
    open_: npt.NDArray[np.bool_],
    *,
    ci_prob: float,
    seed: int,
    n_topics: npt.NDArray[np.intp] | int | None = None,
) -> dict[str, Any]:
    """`INTERVAL_COLUMNS`, an entry per run. Coverage is None and PIT NaN for runs not `open_`, whose
    intervals are points; `n_topics` is the number of topics in each mean.
    """
    draws, n_runs = estimates.draws, len(open_)
    n_all = len(estimates.query_ids)
    n_topics = n_all if n_topics is None else n_topics
    columns: dict[str, Any] = dict.fromkeys(INTERVAL_COLUMNS, np.full(n_runs, np.nan))
    if estimates.std is not None:
        columns["std"] = estimates.std * n_all / n_topics
    if draws is None:
        return columns | {f"covered_{level}": [None] * n_runs for level in COVERAGE_LEVELS}
    total, true_total = draws.totals(), truth.totals()
    per_mean = draws.per_mean(n_topics)
    low, high = equal_tailed_interval(total, ci_prob)
    inside = {level: covered(total, true_total, level / 100) for level in COVERAGE_LEVELS}
    pit = randomized_pit(total, true_total, np.random.default_rng(seed))
    below, up_to = pit_range(total, true_total)
    return columns | {
        "lower": low / per_mean,
        "upper": high / per_mean,
        "ci_prob": np.full(n_runs, ci_prob),
        **{
            f"covered_{level}": [bool(hit) if o else None for hit, o in zip(hits, open_, strict=True)]
            for level, hits in inside.items()
        },
        "pit": np.where(open_, pit, np.nan),
        "pit_lower": np.where(open_, below, np.nan),
        "pit_upper": np.where(open_, up_to, np.nan),
        "crps": crps(total, true_total) / per_mean,
    }


def with_missing_flags(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with columns of coverage in which a value may be missing."""
    return rows.astype({f"covered_{level}": "boolean" for level in COVERAGE_LEVELS})


def interval_summary(rows: pd.DataFrame, open_: pd.Series) -> dict[str, Any]:
    """Means over an estimator's runs of `interval_columns`: ``n_open``; over these ``coverage_…``, ``pit_…``
    (see `central_share`) and ``width``; ``crps`` over all; NaN without a value.
    """
    graded = rows[open_]
    posterior = bool(rows["ci_prob"].notna().any())
    summary: dict[str, Any] = {"n_open": len(graded)}
    for level in COVERAGE_LEVELS:
        hits = graded[f"covered_{level}"].dropna().astype(bool)
        summary[f"coverage_{level}"] = float(hits.mean()) if len(hits) else np.nan
    for level in COVERAGE_LEVELS:
        summary[f"pit_{level}"] = central_share(graded["pit_lower"], graded["pit_upper"], level / 100)
    summary["width"] = float((graded["upper"] - graded["lower"]).mean()) if posterior else np.nan
    summary["crps"] = float(rows["crps"].mean()) if posterior else np.nan
    return summary
