"""Modes of scales and of what is given them, and means near the modes."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError

from bayespool.arrays import FloatArray
from bayespool.inference.arrow import Arrow, Factor
from bayespool.inference.density import Density
from bayespool.inference.fit import Start

_LOG_SCALE_STEP = 0.15  # of finite differences in θ, about a fifth of its standard deviation
_SCALES_TOLERANCE = 0.05  # of twice a step's gain in log density; points are only laid about θ's mode
_MODE_TOLERANCE = 1e-4  # the same, of modes of x
COARSE_TOLERANCE = 1e-3  # the same, while scales are optimized
_FISHER_TOLERANCE = 1e-3  # as a share, where only the expected curvature is positive: a mode may be far still
_MAX_STEP = 4.0  # in any parameter, all of which are log odds: far out the density has no curvature
_N_MORE_CENTER_STEPS, _LONG_STEP = 4, 5.0  # where modes may jump, after a step of twice this gain


class ConditionalDensity(Protocol):
    """Protocol for log densities of x given θ that have a mode to find."""

    sums: tuple[slice, ...]
    is_concave: bool

    def expand(
        self, x: FloatArray, theta: FloatArray, *, expected: bool = False
    ) -> tuple[float, FloatArray, Arrow]:
        """Return the log density, its gradient in x, and its negative Hessian."""


class PosteriorMode(NamedTuple):
    """Posterior mode of x given θ, with the Gaussian and log marginal density there."""

    x: FloatArray
    curvature: Arrow
    sums: tuple[slice, ...]
    log_marginal: float
    is_fine: bool

    @property
    def gaussian(self) -> Factor:
        """Gaussian factor of the curvature, not kept: with thousands of topics it is as large as that."""
        return self.curvature.with_precision(np.float64).factor(self.sums)


def find_scales(density: Density, theta: FloatArray, x: FloatArray) -> Start:
    """Return the mode and standard deviations of θ, with x near its mode there."""
    # Newton's method on each scale alone: log scales are hardly correlated
    unit, bent = np.eye(len(theta)) * _LOG_SCALE_STEP, np.zeros((len(theta), len(x)))
    for _ in range(40):  # each step moves a scale that a prior holds near zero by half a unit
        middle = find_mode(density, theta, x, COARSE_TOLERANCE)
        drift, ends = density.drift(middle.x, theta, middle.gaussian), np.empty((2, len(theta)))
        for g, moved in enumerate(_LOG_SCALE_STEP * drift):
            plus = find_mode(density, theta + unit[g], middle.x + moved + bent[g], COARSE_TOLERANCE)
            bent[g] = plus.x - middle.x - moved
            minus = find_mode(density, theta - unit[g], middle.x - moved + bent[g], COARSE_TOLERANCE)
            ends[:, g] = plus.log_marginal, minus.log_marginal
        # a scale is never known worse than to a factor of e
        curvature = np.maximum((2 * middle.log_marginal - ends.sum(axis=0)) / _LOG_SCALE_STEP**2, 1.0)
        gradient = (ends[0] - ends[1]) / (2 * _LOG_SCALE_STEP)
        step = gradient / curvature
        if float(gradient @ step) < _SCALES_TOLERANCE:
            break
        step *= min(1.0, 1.0 / float(np.abs(step).max()))
        theta, x = theta + step, middle.x + step @ drift
    return Start(theta, 1 / np.sqrt(curvature), x)


def find_mode(
    density: ConditionalDensity, theta: FloatArray, x: FloatArray, tolerance: float = _MODE_TOLERANCE
) -> PosteriorMode:
    """Return the mode of x given θ, found by Newton's method to within ``tolerance`` in log density."""
    value, gradient, curvature = density.expand(x, theta)
    converged = False
    for _ in range(100):
        curvature, gaussian, exact = factorize(density, theta, x, curvature)
        step = gaussian.solve(gradient)
        gain = float(gradient @ step)
        if gain < (tolerance if exact else _FISHER_TOLERANCE * tolerance):
            converged = exact  # else it is not a maximum of the exact density
            x, value = x + step, value + gain / 2
            break
        length = min(1.0, _MAX_STEP / float(np.abs(step).max()))
        while not _is_better(new := density.expand(x + length * step, theta), value, gradient, step):
            length /= 2
            if length < 1e-4:
                break
        if not np.isfinite(new[0]):
            break
        x = x + length * step
        value, gradient, curvature = new
    return PosteriorMode(x, curvature, density.sums, value - 0.5 * gaussian.log_determinant, converged)


def find_center(
    density: Density, theta: FloatArray, x: FloatArray, gaussian: Factor, n_steps: int
) -> tuple[FloatArray, Factor, Arrow | None, float]:
    """Return mean, Gaussian, curvature and log marginal after steps to the best-fitting Gaussian."""
    # The best by Kullback–Leibler divergence. The log marginal, mean log density plus entropy, is a lower
    # bound, nearer to the truth than Laplace's where the density is skewed or flat, as of topics without a
    # relevant document. Without a step it is NaN, and there is no curvature.
    curvature, log_marginal, gain = None, float("nan"), 0.0
    for k in range(n_steps + _N_MORE_CENTER_STEPS):
        if k >= n_steps and (density.is_concave or gain < _LONG_STEP):
            break
        value, gradient, there = density.mean_derivatives(x, theta, gaussian)
        try:
            gaussian = there.factor(density.sums)
        except LinAlgError:
            break
        gain = float(gradient @ (step := gaussian.solve(gradient)))
        log_marginal = value + 0.5 * gain - 0.5 * gaussian.log_determinant
        x, curvature = x + step, there
    return x, gaussian, curvature, log_marginal


def _is_better(
    new: tuple[float, FloatArray, Arrow], value: float, gradient: FloatArray, step: FloatArray
) -> bool:
    """Return whether a step increases the density, or nearly keeps the density and flattens its slope."""
    # integrals over cells are not exact to the last digits
    if new[0] >= value - 1e-9:
        return True
    lowest = value - 0.1 - 1e-4 * abs(value)
    return bool(new[0] >= lowest and 2 * abs(float(new[1] @ step)) <= float(gradient @ step))


def factorize(
    density: ConditionalDensity, theta: FloatArray, x: FloatArray, curvature: Arrow
) -> tuple[Arrow, Factor, bool]:
    """Return a positive definite curvature, its Gaussian, and whether a mode may be at this point.

    Where the exact curvature is not positive definite, it is the expected one.
    """
    try:
        return curvature, curvature.factor(density.sums), True
    except LinAlgError:  # not positive: Fisher's scoring
        expected = density.expand(x, theta, expected=True)[2]
        return expected, expected.factor(density.sums), density.is_concave
