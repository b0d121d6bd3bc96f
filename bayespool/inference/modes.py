"""Points in the scales of effects, and the mode of the other parameters at each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError
from scipy.special import ndtri

from bayespool.arrays import FloatArray
from bayespool.inference.arrow import Arrow, Factor
from bayespool.inference.density import Density

_LEFT_MEAN_DISTANCE = 2.2  # of points left of θ's mode, where any scale near zero may be as likely
_RIGHT_SD = 1.3  # of points right of θ's mode
_DENSITY_POWER = 0.1  # of a density against distance in the choice of nodes
_AXIS_WEIGHT = 3.0  # of functions of one coordinate relative to those of all


def lay_points(n: int, n_dims: int) -> tuple[FloatArray, FloatArray]:
    """Points that fill space evenly, shape (point, dimension), and log densities of them, shape (point,)."""
    # exponential to the left of zero, normal to the right
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (n_dims + 1))
    steps = ratio ** -np.arange(1, n_dims + 1)  # an additive recurrence (Roberts 2018)
    uniform = (0.5 + np.arange(1, n + 1)[:, None] * steps) % 1
    is_left = uniform < 0.5
    normal = ndtri(np.maximum(uniform, 0.5))
    left = np.log(2 * uniform)
    points = np.where(is_left, _LEFT_MEAN_DISTANCE * left, _RIGHT_SD * normal)
    log_density = np.where(
        is_left,
        left - np.log(2 * _LEFT_MEAN_DISTANCE),
        -0.5 * normal**2 - np.log(_RIGHT_SD * np.sqrt(2 * np.pi)),
    )
    return points, log_density.sum(axis=1)


def axis_points(n_dims: int) -> FloatArray:
    """Two points on each axis, a cubature of degree 3 for a standard normal, shape (point, dimension)."""
    return np.asarray(
        np.sqrt(n_dims) * np.repeat(np.eye(n_dims), 2, axis=0) * np.tile([1.0, -1.0], n_dims)[:, None]
    )


def straightened(theta: FloatArray, mode: FloatArray, spread: FloatArray) -> FloatArray:
    """Coordinates in which modes depend smoothly on log scales θ, in standard deviations, (point, scale)."""
    return 2 * np.log1p(np.expm1(theta - mode) / 2) / spread


def choose_points(points: FloatArray, n: int) -> npt.NDArray[np.intp]:
    """Indices of up to n points far from each other and from zero, farthest first; shape (point,)."""
    distance: FloatArray = (points**2).sum(axis=1)
    chosen: list[int] = []
    while len(chosen) < min(n, len(points)) and distance.max() > 0:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen, dtype=np.intp)


def choose_next(points: FloatArray, nodes: FloatArray, log_density: FloatArray) -> int:
    """Index of the point that is far from all nodes, weighted toward high log density."""
    distance: FloatArray = np.sqrt(((points[:, None] - nodes) ** 2).sum(axis=2)).min(axis=1)
    return int(np.argmax(distance * np.exp(_DENSITY_POWER * (log_density - log_density.max()))))


def interpolate(points: FloatArray, nodes: FloatArray, *, by_axis: bool) -> FloatArray:
    """Weight of each node in the value at each point, shape (point, node); rows sum to 1."""
    # Cubic radial basis functions about the nodes and a plane (Duchon 1977, Splines minimizing
    # rotation-invariant semi-norms in Sobolev spaces), exact at the nodes; with too few nodes distances and a
    # constant. ``by_axis`` adds cubic functions of each coordinate.
    n, n_dims = nodes.shape
    is_flat = n < 2 * (n_dims + 1)

    def among(some: FloatArray) -> tuple[FloatArray, FloatArray]:
        squared, along = np.zeros((2, len(some), n))
        for x, y in zip(some.T, nodes.T, strict=True):
            apart = np.abs(x[:, None] - y)
            squared += (square := apart * apart)
            along += square * apart
        ones, distance = np.ones((len(some), 1)), np.sqrt(squared)
        if is_flat:
            return distance, ones
        return squared * distance + _AXIS_WEIGHT * by_axis * along, np.hstack([ones, some])

    of_nodes, plane = among(nodes)
    corner = np.zeros((plane.shape[1], plane.shape[1]))
    system = np.block([[of_nodes, plane], [plane.T, corner]])
    return np.linalg.solve(system, np.hstack(among(points)).T)[:n].T


_LOG_SCALE_STEP = 0.15  # of finite differences in θ, about a fifth of its standard deviation
_SCALES_TOLERANCE = 0.05  # of twice a step's gain in log density; points are only laid about θ's mode
_MODE_TOLERANCE = 1e-4  # the same, of modes of x
COARSE_TOLERANCE = 1e-3  # the same, while scales are optimized
_POINT_TOLERANCE = 0.1  # the same, at points where scales are integrated
_MAX_STEP = 4.0  # in any parameter, all of which are log odds: far out the density has no curvature


class PosteriorMode(NamedTuple):
    """Mode of x given θ, negative Hessian and Gaussian there, log marginal of θ, and whether it converged."""

    x: FloatArray
    curvature: Arrow
    gaussian: Factor
    log_marginal: float
    is_fine: bool


def find_scales(
    density: Density, theta: FloatArray, x: FloatArray
) -> tuple[FloatArray, PosteriorMode, FloatArray, FloatArray]:
    """Mode of θ's marginal, x's mode there, its drift with θ, and standard deviations of θ."""
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
    return theta, middle, drift, 1 / np.sqrt(curvature)


def find_mode(
    density: Density, theta: FloatArray, x: FloatArray, tolerance: float = _MODE_TOLERANCE
) -> PosteriorMode:
    """Mode of x given θ; the last step gains less than half of ``tolerance`` in log density."""
    value, gradient, curvature = density.expand(x, theta)
    converged = False
    for _ in range(100):
        curvature, gaussian, exact = factor_of(density, theta, x, curvature)
        step = gaussian.solve(gradient)
        gain = float(gradient @ step)
        if gain < tolerance:
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
    return PosteriorMode(x, curvature, gaussian, value - 0.5 * gaussian.log_determinant, converged)


def find_modes(
    density: Density,
    theta: FloatArray,
    middle: PosteriorMode,
    points: FloatArray,
    straight: FloatArray,
    drift: FloatArray,
    n: int,
) -> tuple[list[int], list[PosteriorMode]]:
    """Positions of up to n points in θ, and the modes there."""
    # ``straight`` are coordinates of the points in which x depends smoothly on θ, zero at ``middle``, and
    # ``drift`` its derivative in them. If there are more points than n, the first nodes are far from each
    # other, the others far from these where θ is likely by then.
    n_first, is_choice = 2 * len(theta), n < len(points)
    chosen = choose_points(straight, n_first).tolist() if is_choice else list(range(len(points)))
    prior, modes = density.log_prior_of_scales(points.T), [middle]
    known = [middle.log_marginal - density.log_prior_of_scales(theta)]
    for k in range(min(n, len(points))):
        nodes = np.vstack([np.zeros_like(theta), straight[chosen[:k]]])
        if k == len(chosen):
            shares = interpolate(straight, nodes, by_axis=True)
            chosen.append(choose_next(straight, nodes, shares @ known + prior))
        at = chosen[k]
        if k > n_first:
            shares = interpolate(straight[at][None], nodes, by_axis=density.is_concave)
            start = shares[0] @ [mode.x for mode in modes]
        else:
            start = middle.x + straight[at] @ drift
        modes.append(find_mode(density, points[at], start, _POINT_TOLERANCE))
        known.append(modes[-1].log_marginal - prior[at])
    order = np.roll(np.arange(len(modes) - 1), -n_first if is_choice else 0).tolist()
    return [chosen[k] for k in order], [modes[1 + k] for k in order]


def find_center(
    density: Density, theta: FloatArray, x: FloatArray, gaussian: Factor, n_steps: int
) -> tuple[FloatArray, Factor, Arrow | None, float]:
    """Mean, Gaussian, curvature and log marginal after steps to the best Gaussian given θ."""
    # The best by Kullback–Leibler divergence. The log marginal, mean log density plus entropy, is a lower
    # bound, nearer to the truth than Laplace's where the density is skewed or flat, as of topics without a
    # relevant document. Without a step it is NaN, and there is no curvature.
    curvature, log_marginal = None, float("nan")
    for _ in range(n_steps):
        value, gradient, there = density.mean_derivatives(x, theta, gaussian)
        try:
            gaussian = there.factor(density.sums)
        except LinAlgError:
            break
        step = gaussian.solve(gradient)
        log_marginal = value + 0.5 * float(gradient @ step) - 0.5 * gaussian.log_determinant
        x, curvature = x + step, there
    return x, gaussian, curvature, log_marginal


def _is_better(
    new: tuple[float, FloatArray, Arrow], value: float, gradient: FloatArray, step: FloatArray
) -> bool:
    """Whether a point is higher, or about as high and near the maximum along the step."""
    # integrals over cells are not exact to the last digits
    if new[0] >= value - 1e-9:
        return True
    lowest = value - 0.1 - 1e-4 * abs(value)
    return bool(new[0] >= lowest and 2 * abs(float(new[1] @ step)) <= float(gradient @ step))


def factor_of(
    density: Density, theta: FloatArray, x: FloatArray, curvature: Arrow
) -> tuple[Arrow, Factor, bool]:
    """The curvature and its Gaussian, exact or else expected, and whether a mode may be there."""
    try:
        return curvature, curvature.factor(density.sums), True
    except LinAlgError:  # not positive: Fisher's scoring
        expected = density.expand(x, theta, expected=True)[2]
        return expected, expected.factor(density.sums), density.is_concave
