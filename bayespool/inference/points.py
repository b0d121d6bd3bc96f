"""Points over which scales are integrated: how they are laid, which are looked at, and what the others take
from these.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

FloatArray = npt.NDArray[np.float64]

_LEFT = 2.2  # mean distance of the points to the left of θ's mode: near zero any scale may be as likely
_RIGHT = 1.3  # standard deviation of those to the right
_TOWARD_HIGH = 0.1  # power of the density that makes up for distance
_ALONG_AXES = 3.0  # what functions of one coordinate count, relative to those of all


def lay_points(n: int, n_dims: int) -> tuple[FloatArray, FloatArray]:
    """Points that fill space evenly, shape (point, dimension), and the log density they are placed with.

    To the left of zero the density is exponential, as a scale's logarithm has it where the data allow a scale
    of zero; to the right it is normal.
    """
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (n_dims + 1))
    steps = ratio ** -np.arange(1, n_dims + 1)  # an additive recurrence (Roberts 2018)
    uniform = (0.5 + np.arange(1, n + 1)[:, None] * steps) % 1
    is_left = uniform < 0.5
    normal = ndtri(np.maximum(uniform, 0.5))
    left = np.log(2 * uniform)
    points = np.where(is_left, _LEFT * left, _RIGHT * normal)
    log_density = np.where(
        is_left,
        left - np.log(2 * _LEFT),
        -0.5 * normal**2 - np.log(_RIGHT * np.sqrt(2 * np.pi)),
    )
    return points, log_density.sum(axis=1)


def axis_points(n_dims: int) -> FloatArray:
    """Two points on each axis, whose mean is that of a standard normal distribution for whatever is a
    polynomial of degree 3; shape (point, dimension).
    """
    points: FloatArray = (
        np.sqrt(n_dims) * np.repeat(np.eye(n_dims), 2, axis=0) * np.tile([1.0, -1.0], n_dims)[:, None]
    )
    return points


def straightened(theta: FloatArray, mode: FloatArray, spread: FloatArray) -> FloatArray:
    """Coordinates in which quantities depend smoothly on log scales θ, shape (point, scale): logarithms of a
    scale plus its mode, in standard deviations. Near zero, where nothing changes any more, they hardly do.
    """
    straight: FloatArray = 2 * np.log1p(np.expm1(theta - mode) / 2) / spread
    return straight


def choose_points(points: FloatArray, n: int) -> npt.NDArray[np.intp]:
    """Up to n points far from each other and from zero, the first one farthest; shape (point,).

    Parameters
    ----------
    points : ndarray, shape (point, dimension)
    n : int
    """
    distance: FloatArray = (points**2).sum(axis=1)
    chosen: list[int] = []
    while len(chosen) < min(n, len(points)) and distance.max() > 0:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen, dtype=np.intp)


def choose_next(points: FloatArray, nodes: FloatArray, log_density: FloatArray) -> int:
    """The point from which a density is best known elsewhere, too: one that is far from all nodes, and more
    so where the density is high.

    Parameters
    ----------
    points, nodes : ndarray, shape (point or node, dimension)
    log_density : ndarray, shape (point,)
        Up to a constant.
    """
    distance: FloatArray = np.sqrt(((points[:, None] - nodes) ** 2).sum(axis=2)).min(axis=1)
    return int(np.argmax(distance * np.exp(_TOWARD_HIGH * (log_density - log_density.max()))))


def interpolate(points: FloatArray, nodes: FloatArray, *, by_axis: bool) -> FloatArray:
    """What each node counts for the value at each point, shape (point, node); rows sum to 1.

    Cubic radial basis functions about the nodes and a plane (Duchon 1977), which are exact at the nodes; with
    too few nodes for a plane, distances and a constant.

    Parameters
    ----------
    points, nodes : ndarray, shape (point or node, dimension)
    by_axis : bool
        Whether cubic functions of each coordinate stand beside those of all: most of a smooth function is
        often a sum of such.

    References
    ----------
    J. Duchon (1977). Splines minimizing rotation-invariant semi-norms in Sobolev spaces. Constructive Theory
    of Functions of Several Variables, 85-100.
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
        return squared * distance + _ALONG_AXES * by_axis * along, np.hstack([ones, some])

    of_nodes, plane = among(nodes)
    corner = np.zeros((plane.shape[1], plane.shape[1]))
    system = np.block([[of_nodes, plane], [plane.T, corner]])
    shares: FloatArray = np.linalg.solve(system, np.hstack(among(points)).T)[:n].T
    return shares
