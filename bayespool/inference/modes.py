"""Modes of the density given the scales, and of the scales' marginal; means of the Gaussians about them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError

from bayespool.inference.arrow import Arrow, Factor
from bayespool.inference.density import Density
from bayespool.inference.points import choose_next, choose_points, interpolate

FloatArray = npt.NDArray[np.float64]

_STEP = 0.15  # of the finite differences in θ, about a fifth of its standard deviation
_GAIN = 0.05  # in log density, twice what is left to gain: θ's mode is where points are laid about, no more
_NEAR = 1e-4  # twice what is left to gain in log density where a mode is found
NEAR_END = 1e-3  # the same, where more hangs on the scales
_NEAR_POINT = 0.1  # and where scales are integrated
_LONGEST = 4.0  # step in any parameter, all of which are log odds: far out the density has no curvature


class Mode(NamedTuple):
    """Mode of x given θ, negative Hessian and Gaussian there, log marginal of θ, whether all went well."""

    x: FloatArray
    curvature: Arrow
    about: Factor
    log_marginal: float
    is_fine: bool


def find_scales(
    density: Density, theta: FloatArray, x: FloatArray
) -> tuple[FloatArray, Mode, FloatArray, FloatArray]:
    """About the mode of θ's marginal, x's mode there and its drift with θ, and standard deviations of θ;
    Newton's method, each scale by itself, for logarithms of scales hardly go with each other.
    """
    unit, bent = np.eye(len(theta)) * _STEP, np.zeros((len(theta), len(x)))
    for _ in range(40):  # a scale that a prior holds near zero is half a unit nearer with each
        middle = find_mode(density, theta, x, NEAR_END)
        drift, ends = density.drift(middle.x, theta, middle.about), np.empty((2, len(theta)))
        for g, moved in enumerate(_STEP * drift):
            plus = find_mode(density, theta + unit[g], middle.x + moved + bent[g], NEAR_END)
            bent[g] = plus.x - middle.x - moved
            minus = find_mode(density, theta - unit[g], middle.x - moved + bent[g], NEAR_END)
            ends[:, g] = plus.log_marginal, minus.log_marginal
        # a scale is never known worse than to a factor of e
        curvature = np.maximum((2 * middle.log_marginal - ends.sum(axis=0)) / _STEP**2, 1.0)
        gradient = (ends[0] - ends[1]) / (2 * _STEP)
        step = gradient / curvature
        if float(gradient @ step) < _GAIN:
            break
        step *= min(1.0, 1.0 / float(np.abs(step).max()))
        theta, x = theta + step, middle.x + step @ drift
    return theta, middle, drift, 1 / np.sqrt(curvature)


def find_mode(density: Density, theta: FloatArray, x: FloatArray, near: float = _NEAR) -> Mode:
    """Mode of x given θ; a last step is taken unseen where twice what it gains is less than ``near``."""
    value, gradient, curvature = density.expand(x, theta)
    converged = False
    for _ in range(100):
        curvature, about, exact = factor_of(density, theta, x, curvature)
        step = about.solve(gradient)
        gain = float(gradient @ step)
        if gain < near:
            converged = exact  # else it is not a maximum of the exact density
            x, value = x + step, value + gain / 2
            break
        length = min(1.0, _LONGEST / float(np.abs(step).max()))
        while not _is_better(new := density.expand(x + length * step, theta), value, gradient, step):
            length /= 2
            if length < 1e-4:
                break
        if not np.isfinite(new[0]):
            break
        x = x + length * step
        value, gradient, curvature = new
    return Mode(x, curvature, about, value - 0.5 * about.log_determinant, converged)


def find_modes(
    density: Density,
    theta: FloatArray,
    middle: Mode,
    points: FloatArray,
    straight: FloatArray,
    drift: FloatArray,
    n: int,
) -> tuple[list[int], list[Mode]]:
    """Modes at up to n points in θ, and which points these are.

    If there are more, the last ones are far from each other, and the others, which are looked for later, far
    from these where θ is likely by what is known by then.

    Parameters
    ----------
    density : Density
    theta : ndarray, shape (scale,)
    middle : Mode
        The mode at ``theta``.
    points, straight : ndarray, shape (point, scale)
        θ and coordinates in which quantities depend on it smoothly, zero in the middle.
    drift : ndarray, shape (scale, parameter)
        How x moves with these.
    n : int

    Returns
    -------
    chosen : list of int
    found : list of Mode
    """
    n_first, is_choice = 2 * len(theta), n < len(points)
    chosen = choose_points(straight, n_first).tolist() if is_choice else list(range(len(points)))
    prior, found = density.log_prior_of_scales(points.T), [middle]
    known = [middle.log_marginal - density.log_prior_of_scales(theta)]
    for k in range(min(n, len(points))):
        nodes = np.vstack([np.zeros_like(theta), straight[chosen[:k]]])
        if k == len(chosen):
            shares = interpolate(straight, nodes, by_axis=True)
            chosen.append(choose_next(straight, nodes, shares @ known + prior))
        at = chosen[k]
        if k > n_first:
            shares = interpolate(straight[at][None], nodes, by_axis=density.is_concave)
            start = shares[0] @ [mode.x for mode in found]
        else:
            start = middle.x + straight[at] @ drift
        found.append(find_mode(density, points[at], start, _NEAR_POINT))
        known.append(found[-1].log_marginal - prior[at])
    order = np.roll(np.arange(len(found) - 1), -n_first if is_choice else 0).tolist()
    return [chosen[k] for k in order], [found[1 + k] for k in order]


def find_center(
    density: Density, theta: FloatArray, x: FloatArray, about: Factor, n_steps: int
) -> tuple[FloatArray, Factor, Arrow | None, float]:
    """Mean of the Gaussian given θ, the Gaussian about it, its curvature unless it is the one given: moved
    to where its mean gradient vanishes, the best one by Kullback-Leibler divergence; and the log marginal of
    θ that goes with it, NaN with the one given.

    Effects of topics without a relevant document are skewed; their mean is well below their mode. The log
    marginal is the mean log density plus the entropy, a lower bound that is highest for the best Gaussian. It
    is nearer to the truth than Laplace's where the density is skewed or flat.
    """
    curvature, log_marginal = None, float("nan")
    for _ in range(n_steps):
        value, gradient, there = density.mean_derivatives(x, theta, about)
        try:
            about = there.factor(density.sums)
        except LinAlgError:
            break
        step = about.solve(gradient)
        log_marginal = value + 0.5 * float(gradient @ step) - 0.5 * about.log_determinant
        x, curvature = x + step, there
    return x, about, curvature, log_marginal


def _is_better(
    new: tuple[float, FloatArray, Arrow], value: float, gradient: FloatArray, step: FloatArray
) -> bool:
    """Whether a point is higher, or about as high and near the top as far as the step goes: integrals over
    cells are not exact to the last digits, and there are as many as there is to sum up.
    """
    if new[0] >= value - 1e-9:
        return True
    lowest = value - 0.1 - 1e-4 * abs(value)
    return bool(new[0] >= lowest and 2 * abs(float(new[1] @ step)) <= float(gradient @ step))


def factor_of(
    density: Density, theta: FloatArray, x: FloatArray, curvature: Arrow
) -> tuple[Arrow, Factor, bool]:
    """The curvature and its Gaussian: the exact one, or the expected one where that is not positive (Newton's
    steps near the mode, Fisher's scores far from it); whether it may be where a mode is, as any may of a
    concave density.
    """
    try:
        return curvature, curvature.factor(density.sums), True
    except LinAlgError:
        expected = density.expand(x, theta, expected=True)[2]
        return expected, expected.factor(density.sums), density.is_concave
