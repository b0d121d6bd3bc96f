"""Interpolation between scattered points by radial functions.

Cubic radial basis functions about the nodes and a plane (Duchon 1977, Splines minimizing rotation-invariant
semi-norms in Sobolev spaces), exact at the nodes; with too few nodes distances and a constant. ``by_axis``
adds cubic functions of each coordinate.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bayespool.arrays import FloatArray

_AXIS_WEIGHT = 3.0  # of functions of one coordinate relative to those of all

RadialFunctions: TypeAlias = tuple[FloatArray, FloatArray]
"""Distances of points from nodes, and cubic functions of them, shape (point, node) each."""


def interpolate(points: FloatArray, nodes: FloatArray, *, by_axis: bool) -> FloatArray:
    """Return interpolation weights of nodes at each point, shape (point, node); rows sum to 1."""
    of_nodes, of_points = (_radial_functions(each, nodes, by_axis=by_axis) for each in (nodes, points))
    return _weights(points, of_points, nodes, of_nodes)


class Interpolation:
    """Interpolation between points of a set, whose radial functions are computed once.

    Parameters
    ----------
    points : ndarray of float, shape (point, dimension)
    by_axis : bool
    """

    def __init__(self, points: FloatArray, *, by_axis: bool) -> None:
        self._points, self._functions = points, _radial_functions(points, points, by_axis=by_axis)

    def weights(self, at: slice, nodes: list[int]) -> FloatArray:
        """Return interpolation weights of points that are nodes at other points, shape (point, node)."""
        distance, cubic = self._functions
        of_points, of_nodes = (
            (distance[some][:, nodes], cubic[some][:, nodes]) for some in (at, np.array(nodes))
        )
        return _weights(self._points[at], of_points, self._points[nodes], of_nodes)


def _radial_functions(points: FloatArray, nodes: FloatArray, *, by_axis: bool) -> RadialFunctions:
    squared, along = np.zeros((2, len(points), len(nodes)))
    for x, y in zip(points.T, nodes.T, strict=True):
        apart = np.abs(x[:, None] - y)
        squared += (square := apart * apart)
        along += square * apart
    distance = np.sqrt(squared)
    return distance, squared * distance + _AXIS_WEIGHT * by_axis * along


def _weights(
    points: FloatArray, of_points: RadialFunctions, nodes: FloatArray, of_nodes: RadialFunctions
) -> FloatArray:
    """Return interpolation weights of nodes at points, given radial functions of both, (point, node)."""
    n, n_dims = nodes.shape
    is_cubic = n >= 2 * (n_dims + 1)
    size = n + 1 + n_dims * is_cubic
    system, right = np.zeros((size, size)), np.ones((size, len(points)))
    system[:n, :n], right[:n] = of_nodes[is_cubic], of_points[is_cubic].T
    system[:n, n] = system[n, :n] = 1.0
    if is_cubic:
        system[:n, n + 1 :], system[n + 1 :, :n], right[n + 1 :] = nodes, nodes.T, points.T
    return np.asarray(np.linalg.solve(system, right)[:n].T)
