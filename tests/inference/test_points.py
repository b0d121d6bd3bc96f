"""Points over scales: what they integrate, and what lies between them."""

from __future__ import annotations

import numpy as np
import pytest
from each import cases

from bayespool.inference.modes import (
    axis_points,
    choose_next,
    choose_points,
    interpolate,
    lay_points,
    straightened,
)


@cases("n_dims", [1, 2, 3])
def test_weighted_points_integrate_a_density_about_zero(n_dims: int) -> None:
    points, log_placed = lay_points(2000, n_dims)
    assert points.shape == (2000, n_dims)
    weight = np.exp(-0.5 * (points**2).sum(axis=1) - log_placed) / (2 * np.pi) ** (n_dims / 2)
    assert weight.mean() == pytest.approx(1, abs=0.03)
    share = weight / weight.sum()
    assert share @ points == pytest.approx(np.zeros(n_dims), abs=0.05)
    assert share @ points**2 == pytest.approx(np.ones(n_dims), abs=0.08)


@cases("n_dims", [1, 2, 4])
def test_points_on_axes_have_the_moments_of_a_normal_distribution(n_dims: int) -> None:
    points = axis_points(n_dims)
    assert points.shape == (2 * n_dims, n_dims)
    assert points.mean(axis=0) == pytest.approx(np.zeros(n_dims))
    assert points.T @ points / len(points) == pytest.approx(np.eye(n_dims))
    assert (points**3).mean(axis=0) == pytest.approx(np.zeros(n_dims))


def test_chosen_points_are_far_from_each_other_and_from_zero() -> None:
    points = np.array([[0.2], [3.0], [-2.0], [2.9], [1.4]])
    assert choose_points(points, 3).tolist() == [1, 2, 4]
    assert choose_points(points, 9).tolist() == [1, 2, 4, 0, 3]
    assert choose_points(np.zeros((2, 1)), 2).tolist() == []  # where something is known


def test_the_next_point_is_far_from_nodes_and_more_so_where_the_density_is_high() -> None:
    points, nodes = np.array([[3.0], [-2.0], [0.1]]), np.zeros((1, 1))
    assert choose_next(points, nodes, np.zeros(3)) == 0
    assert choose_next(points, nodes, np.array([-5.0, 0.0, 0.0])) == 1  # 3·exp(−.5) = 1.8 against 2
    assert choose_next(points, nodes, np.array([-4.0, 0.0, 0.0])) == 0  # 3·exp(−.4) = 2.01
    assert choose_next(points, np.array([[0.0], [-2.0], [3.0]]), np.array([9.0, 9.0, 0.0])) == 2


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


def test_coordinates_are_straight_about_the_mode_and_end_where_a_scale_is_zero() -> None:
    mode, spread = np.array([-0.5]), np.array([0.2])
    theta = mode + np.array([[-1e-4], [0.0], [1e-4], [-50.0]])
    straight = straightened(theta, mode, spread)[:, 0]
    assert straight[:3] == pytest.approx([-5e-4, 0, 5e-4], rel=1e-3)
    assert straight[3] == pytest.approx(2 * np.log(0.5) / 0.2)
