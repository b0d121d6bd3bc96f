"""Points in the log scales: where they are laid, and which of them are nodes."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from bayespool.arrays import FloatArray, OrderArray

N_SCALE_POINTS = 4096
"""Points that scales are drawn from."""
_LEFT_MEAN_DISTANCE = 2.2  # of points left of θ's mode, where any scale near zero may be as likely
_RIGHT_SD = 1.3  # of points right of θ's mode
_DENSITY_POWER = 0.1  # of a density against distance in the choice of nodes


def design_points(n: int, n_dims: int) -> tuple[FloatArray, FloatArray]:
    """Return evenly spread points, shape (point, dimension), and their log densities, shape (point,)."""
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


def draw_points(chance: FloatArray, n: int, rng: np.random.Generator) -> OrderArray:
    """Draw n points systematically, given their probabilities, and return their numbers in random order."""
    position = (rng.permutation(n) + rng.random()) / n
    return np.searchsorted(np.cumsum(chance), position).clip(max=len(chance) - 1)


def axis_points(n_dims: int) -> FloatArray:
    """Return cubature points on each axis, of degree 3 for a standard normal, (point, dimension)."""
    return np.asarray(
        np.sqrt(n_dims) * np.repeat(np.eye(n_dims), 2, axis=0) * np.tile([1.0, -1.0], n_dims)[:, None]
    )


def standardize_skew(theta: FloatArray, mode: FloatArray, spread: FloatArray) -> FloatArray:
    """Transform log scales θ to standardized coordinates in which modes vary smoothly."""
    return 2 * np.log1p(np.expm1(theta - mode) / 2) / spread


def choose_points(points: FloatArray, n: int) -> OrderArray:
    """Return indices of up to n points far from zero and each other, farthest first, shape (point,)."""
    distance: FloatArray = (points**2).sum(axis=1)
    chosen: list[int] = []
    while len(chosen) < min(n, len(points)) and distance.max() > 0:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen, dtype=np.intp)


def choose_next(points: FloatArray, nodes: FloatArray, log_density: FloatArray) -> int:
    """Return the index of the point farthest from all nodes, weighted toward high log density."""
    distance: FloatArray = np.sqrt(((points[:, None] - nodes) ** 2).sum(axis=2)).min(axis=1)
    return int(np.argmax(distance * np.exp(_DENSITY_POWER * (log_density - log_density.max()))))
