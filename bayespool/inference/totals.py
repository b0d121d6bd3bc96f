"""How far the ends of intervals of totals are off, by a finer approximation along each total."""

from __future__ import annotations

import dataclasses
from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import ndtri

from bayespool.arrays import FloatArray
from bayespool.inference.arrow import Factor
from bayespool.inference.density import Density
from bayespool.inference.modes import factorize

_RIDGE_TOLERANCE = 0.01  # of twice the gain in log density of a step
_TOTAL_GRID = (-2.4, -1.2, 0.0, 1.2, 2.4)  # standard deviations from the mean of a total


def interval_error(density: Density, theta: FloatArray, mean: FloatArray, gaussian: Factor) -> float:
    """Return the largest error in a total's 95 % interval, relative to its width; NaN if unknown.

    The Gaussian is that about the mean at scales θ.
    """
    # a total's density: height of its ridge over the curvature across it (Tierney & Kadane 1986)
    worst = 0.0
    for direction in density.totals(mean, theta):
        toward = gaussian.solve(direction)
        spread = np.sqrt(float(direction @ toward))
        if not spread > 0:
            continue
        ridge = dataclasses.replace(gaussian, sums=(*gaussian.sums, direction))
        along = [mean + s * toward / spread for s in _TOTAL_GRID]
        log_height = [_profile_log_density(density, theta, x, direction, ridge) for x in along]
        worst = float(np.maximum(worst, _quantile_error(np.array(log_height))))
    return worst


def _profile_log_density(
    density: Density, theta: FloatArray, x: FloatArray, direction: FloatArray, ridge: Factor
) -> float:
    """Return the log density of direction·x, up to a constant, or NaN if the curvature is not positive."""
    # where modes may jump, curvature at a point says little: means over the Gaussian across ``direction``
    for _ in range(16):
        if density.is_concave:
            value, gradient, curvature = density.expand(x, theta)
            gaussian = factorize(density, theta, x, curvature)[1]
            toward, step = gaussian.solve(direction), gaussian.solve(gradient)
            across = float(direction @ toward)
            step = step - toward * (float(direction @ step) / across)
            log_determinant = gaussian.log_determinant + float(np.log(across))
        else:
            value, gradient, curvature = density.mean_derivatives(x, theta, ridge)
            step, log_determinant = ridge.solve(gradient), float("nan")
            with suppress(LinAlgError):
                step, log_determinant = curvature.step_within(ridge.multipliers, gradient)
        if float(gradient @ step) < _RIDGE_TOLERANCE:
            return value - 0.5 * log_determinant
        x = x + step * min(1.0, 1.0 / float(np.abs(step).max()))
    return float("nan")


def _quantile_error(log_height: FloatArray) -> float:
    """Return the error of a normal 95 % interval relative to its width, given heights at `_TOTAL_GRID`."""
    if not np.isfinite(log_height).all():
        return float("nan")
    s = np.linspace(-5, 5, 2001)
    bent = np.polyfit(_TOTAL_GRID, log_height + 0.5 * np.square(_TOTAL_GRID), 4)
    inside = np.clip(s, _TOTAL_GRID[0], _TOTAL_GRID[-1])
    log_density = -0.5 * s**2 + np.polyval(bent, inside)
    share = np.cumsum(np.exp(log_density - log_density.max()))
    ends = np.interp([0.025, 0.975], share / share[-1], s)
    return float(np.abs(ends - ndtri([0.025, 0.975])).max() / (2 * ndtri(0.975)))
