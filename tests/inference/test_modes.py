"""Modes and means of what the engine approximates."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from each import cases
from fits import prepared_evidence

from bayespool.inference.density import Density
from bayespool.inference.modes import _is_better, find_center, find_mode
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
    same, unmoved, none, unknown = find_center(of, theta, mode.x, mode.gaussian, 0)
    assert none is None
    assert np.isnan(unknown)
    assert unmoved is mode.gaussian
    assert same is mode.x


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
        (4, 2, -0.0260, -0.0016),
        (10, 5, -0.0179, -0.0002),
        (6, 6, -0.0220, -0.0058),
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
