"""Modes and means of what the engine approximates, and points over scales."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from each import cases
from fits import prepared_evidence

from bayespool.inference.density import Density
from bayespool.inference.modes import _is_better, find_center, find_mode
from bayespool.inference.points import (
    axis_points,
    choose_next,
    choose_points,
    design_points,
    standardize_skew,
)
from bayespool.models import MODELS


def density(model: str = "ratio") -> Density:
    return Density(MODELS[model].structure(prepared_evidence(model)))


@cases("model", ["background", "interpolated", "ratio", "evidence"])
def test_no_step_leads_higher_from_a_mode(model: str) -> None:
    of = density(model)
    x, theta = of.start()
    mode = find_mode(of, theta, x, 1e-8)
    assert mode.is_fine
    gradient = of.expand(mode.x, theta)[1]
    assert float(gradient @ mode.gaussian.solve(gradient)) < 1e-4  # twice what is left to gain
    for where in of.sums:
        assert mode.x[where].sum() == pytest.approx(0, abs=1e-9)


def test_means_lie_where_the_mean_gradient_vanishes() -> None:
    of = density()
    x, theta = of.start()
    mode = find_mode(of, theta, x)
    mean, about, curvature, _ = find_center(of, theta, mode.x, mode.gaussian, 6)
    assert curvature is not None
    gradient = of.mean_derivatives(mean, theta, about)[1]
    assert float(gradient @ about.solve(gradient)) < 1e-6
    assert np.abs(mean - mode.x).max() > 0.01
    gaussian = mode.gaussian
    same, unmoved, none, unknown = find_center(of, theta, mode.x, gaussian, 0)
    assert none is None
    assert np.isnan(unknown)
    assert unmoved is gaussian
    assert same is mode.x


@cases(("model", "n_taken"), [("background", 1), ("smoothed", 4)])
def test_a_long_step_to_the_mean_is_followed_by_others_where_modes_may_jump(model, n_taken) -> None:
    of, taken = density(model), []
    x, theta = of.start()
    mode = find_mode(of, theta, x)
    derivatives = of.mean_derivatives
    of.mean_derivatives = lambda *at: taken.append(at) or derivatives(*at)
    find_center(of, theta, mode.x + 0.5, mode.gaussian, 1)
    assert len(taken) == n_taken
    taken.clear()
    find_center(of, theta, mode.x, mode.gaussian, 1)
    assert len(taken) == 1


def small_density(n_hidden: list[int], n_relevant: list[int], n_topics: int) -> Density:
    """Background model of organizations that have as many hidden documents on each topic, topic by topic."""
    n_organizations = len(n_hidden) // n_topics
    evidence = dataclasses.replace(
        prepared_evidence("background"),
        query_ids=tuple(str(t) for t in range(n_topics)),
        organizations=tuple(str(o) for o in range(n_organizations)),
        hidden_topic=np.repeat(np.arange(n_topics), n_organizations),
        hidden_organization=np.tile(np.arange(n_organizations), n_topics),
        n_hidden=np.array(n_hidden),
        n_hidden_relevant=np.array(n_relevant),
    )
    return Density(MODELS["background"].structure(evidence))


@cases(
    ("n", "k", "laplace_off", "bound_off"),
    [
        *((4, 2, -0.0260, -0.0016), (10, 5, -0.0179, -0.0002), (6, 6, -0.0220, -0.0058)),
        (40, 0, -0.0037, -0.0196),
    ],
)
def test_the_log_marginal_of_the_best_gaussian_is_a_lower_bound(n, k, laplace_off, bound_off):
    """Of one coefficient, against quadrature: nearer than Laplace's but where all that is off is skewness."""
    of, theta, grid = small_density([n], [k], 1), np.zeros(0), np.linspace(-16, 12, 4001)
    mode = find_mode(of, theta, of.start()[0], 1e-10)
    bound = find_center(of, theta, mode.x, mode.gaussian, 3)[3]
    total = sum(np.exp(of.log_density(np.array([at]), theta)) for at in grid)
    exact = np.log(total * (grid[1] - grid[0])) - 0.5 * np.log(2 * np.pi)
    assert mode.log_marginal - exact == pytest.approx(laplace_off, abs=1e-3)
    assert bound - exact == pytest.approx(bound_off, abs=1e-3)
    assert bound < exact


def test_a_step_that_ends_near_the_top_is_taken_though_integrals_are_not_exact() -> None:
    """Of 12,000 cells: .27 lower by the sum of integrals, and next to no slope left."""
    gradient, step = np.array([2.0]), np.array([0.09])
    near_top, too_far = np.array([-0.007]), np.array([-1.9])
    assert _is_better((-9326.54, near_top, None), -9326.27, gradient, step)
    assert not _is_better((-9326.54, too_far, None), -9326.27, gradient, step)
    assert not _is_better((-26.54, near_top, None), -26.27, gradient, step)  # of few cells sums are exact
    assert _is_better((-26.2, too_far, None), -26.27, gradient, step)


@cases("n_dims", [1, 2, 3])
def test_weighted_points_integrate_a_density_about_zero(n_dims: int) -> None:
    points, log_placed = design_points(2000, n_dims)
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


def test_coordinates_are_straight_about_the_mode_and_end_where_a_scale_is_zero() -> None:
    mode, spread = np.array([-0.5]), np.array([0.2])
    theta = mode + np.array([[-1e-4], [0.0], [1e-4], [-50.0]])
    straight = standardize_skew(theta, mode, spread)[:, 0]
    assert straight[:3] == pytest.approx([-5e-4, 0, 5e-4], rel=1e-3)
    assert straight[3] == pytest.approx(2 * np.log(0.5) / 0.2)
