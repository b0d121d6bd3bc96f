"""Points over which scales are integrated: placement, choice of nodes, and interpolation between nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

FloatArray = npt.NDArray[np.float64]

_LEFT_MEAN_DISTANCE = 2.2  # of points left of θ's mode, where any scale near zero may be as likely
_RIGHT_SD = 1.3  # of points right of θ's mode
_DENSITY_POWER = 0.1  # of a density against distance in the choice of nodes
_AXIS_WEIGHT = 3.0  # of functions of one coordinate relative to those of all


def lay_points(n: int, n_dims: int) -> tuple[FloatArray, FloatArray]:
    """Points that fill space evenly, shape (point, dimension), and the log density of their placement, shape
    (point,): exponential to the left of zero, normal to the right.
    """
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
    points: FloatArray = (
        np.sqrt(n_dims) * np.repeat(np.eye(n_dims), 2, axis=0) * np.tile([1.0, -1.0], n_dims)[:, None]
    )
    return points


def straightened(theta: FloatArray, mode: FloatArray, spread: FloatArray) -> FloatArray:
    """Coordinates in which quantities depend smoothly on log scales θ, in standard deviations, shape (point,
    scale): they hardly change near a scale of zero.
    """
    straight: FloatArray = 2 * np.log1p(np.expm1(theta - mode) / 2) / spread
    return straight


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
    """Weight of each node in the value at each point, shape (point, node); rows sum to 1.

    Cubic radial basis functions about the nodes and a plane (Duchon 1977, Splines minimizing
    rotation-invariant semi-norms in Sobolev spaces), exact at the nodes; with too few nodes distances and a
    constant. ``by_axis`` adds cubic functions of each coordinate.
    """
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
    shares: FloatArray = np.linalg.solve(system, np.hstack(among(points)).T)[:n].T
    return shares
