"""Interpolation: exact at nodes and of planes, from few nodes, and from points of a set."""

from __future__ import annotations

import numpy as np
import pytest
from each import cases

from bayespool.inference.interpolation import Interpolation, interpolate


def test_sums_of_functions_of_one_coordinate_are_known_from_few_nodes() -> None:
    """33 nodes in four dimensions, two for each axis if they stood in a grid."""
    rng = np.random.default_rng(1)
    nodes, points = rng.uniform(-2, 2, size=(33, 4)), rng.uniform(-1.5, 1.5, size=(500, 4))

    def value(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.cos([1.0, 1.2, 1.4, 1.6] * x).sum(axis=1))

    off = [
        (interpolate(points, nodes, by_axis=b) @ value(nodes) - value(points)).std() for b in (False, True)
    ]
    assert value(points).std() == pytest.approx(0.88, abs=0.01)
    assert off == pytest.approx([0.245, 0.115], abs=0.01)


@cases("by_axis", [False, True])
@cases("n_dims", [1, 3])
def test_interpolation_is_exact_at_nodes_and_of_planes(n_dims: int, by_axis: bool) -> None:
    rng = np.random.default_rng(1)
    nodes, points = rng.normal(size=(12, n_dims)), rng.normal(size=(50, n_dims))
    shares, slope = interpolate(points, nodes, by_axis=by_axis), np.arange(1.0, n_dims + 1)
    assert shares.sum(axis=1) == pytest.approx(np.ones(50))
    assert shares @ (2 + nodes @ slope) == pytest.approx(2 + points @ slope)
    assert interpolate(nodes, nodes, by_axis=by_axis) == pytest.approx(np.eye(12), abs=1e-9)
    few = interpolate(points, nodes[: n_dims + 1], by_axis=by_axis)  # no plane, yet a constant is a constant
    assert few.sum(axis=1) == pytest.approx(np.ones(50))
    assert interpolate(points, nodes[:1], by_axis=by_axis) == pytest.approx(np.ones((50, 1)))


@cases("by_axis", [False, True])
@cases("n_nodes", [1, 5, 12])
def test_points_of_a_set_are_interpolated_as_any_are(n_nodes: int, by_axis: bool) -> None:
    points = np.random.default_rng(1).normal(size=(20, 2))
    nodes = [19, *range(n_nodes - 1)]
    found = Interpolation(points, by_axis=by_axis).weights(slice(3, 19), nodes)
    np.testing.assert_array_equal(found, interpolate(points[3:19], points[nodes], by_axis=by_axis))
