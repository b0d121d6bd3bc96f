"""Calibration of posterior draws of integer counts against the true counts. Draws and truth are sums over
topics, so that comparing a truth with an interval's end needs no rounding.

References
----------
T. Gneiting and A. E. Raftery (2007). Strictly proper scoring rules, prediction, and estimation. Journal of
the American Statistical Association 102, 359–378.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError
from bayespool.measures import equal_tailed_interval

FloatArray = npt.NDArray[np.float64]
IntDraws = npt.NDArray[Any]


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
