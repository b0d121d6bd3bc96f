"""Points over scales: what they integrate, and draws between them."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.inference.points import lay_points, spread_out


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_weighted_points_integrate_a_density_about_zero(n_dims: int) -> None:
    points, log_placed = lay_points(2000, n_dims)
    assert points.shape == (2000, n_dims)
    weight = np.exp(-0.5 * (points**2).sum(axis=1) - log_placed) / (2 * np.pi) ** (n_dims / 2)
    assert weight.mean() == pytest.approx(1, abs=0.03)
    share = weight / weight.sum()
    assert share @ points == pytest.approx(np.zeros(n_dims), abs=0.05)
    assert share @ points**2 == pytest.approx(np.ones(n_dims), abs=0.08)


def test_draws_lie_half_way_to_the_neighbors_and_down_to_zero_if_that_is_near() -> None:
    scales = np.array([[2.0, 5.0], [0.5, 7.0], [3.0, 6.0]])
    point = np.arange(3).repeat(4000)
    moved = spread_out(scales, point, np.random.default_rng(1))
    ends = {(0, 0): (1.25, 2.5), (1, 0): (0.0, 1.25), (2, 0): (2.5, 3.5)}
    ends |= {(0, 1): (4.5, 5.5), (1, 1): (6.5, 7.5), (2, 1): (5.5, 6.5)}
    for (p, scale), (low, high) in ends.items():
        mine = moved[point == p, scale]
        assert low <= mine.min() < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < mine.max() <= high
    assert (moved > 0).all()


def test_a_single_point_leaves_everything_up_to_twice_itself() -> None:
    moved = spread_out(np.array([[2.0]]), np.zeros(1000, dtype=int), np.random.default_rng(1))
    assert 0 < moved.min() < 0.02
    assert 3.98 < moved.max() <= 4
