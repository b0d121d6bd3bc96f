"""Calibration of draws, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.errors import InputError
from bayespool.experiments import central_share, covered, crps, pit_range, randomized_pit


def test_crps_is_the_integral_over_thresholds() -> None:
    """Σ over thresholds of (share of draws up to it − [truth up to it])², for integers."""
    rng = np.random.default_rng(5)
    draws, truth = rng.integers(0, 9, size=(40, 6)), rng.integers(-2, 12, size=6)
    thresholds = np.arange(-5, 20)[:, None, None]
    distance = (draws <= thresholds).mean(axis=1) - (truth <= thresholds[:, 0])
    np.testing.assert_allclose(crps(draws, truth), (distance**2).sum(axis=0), atol=1e-12)
    # one draw: the absolute error
    np.testing.assert_array_equal(crps(draws[:1], truth), np.abs(draws[0] - truth))
    with pytest.raises(InputError, match="no draws"):
        crps(draws[:0], truth)


def test_coverage_counts_the_ends() -> None:
    draws = np.repeat(np.arange(10, 20), 10)[:, None]  # 10 % at each of 10 … 19
    inside = [bool(covered(draws, np.array([truth]), 0.8)[0]) for truth in range(9, 21)]
    assert inside == [False, False, *[True] * 8, False, False]


def test_randomized_pit_of_what_was_drawn_is_uniform_over_its_step() -> None:
    draws = np.repeat([0, 1, 2, 3], [10, 20, 30, 40])[:, None]
    steps = {-1: (0, 0), 0: (0, 0.1), 1: (0.1, 0.3), 2: (0.3, 0.6), 3: (0.6, 1), 4: (1, 1)}
    for value, (low, high) in steps.items():
        many = np.full(2000, value)
        pit = randomized_pit(np.repeat(draws, 2000, axis=1), many, np.random.default_rng(1))
        assert pit.min() >= low
        assert pit.max() <= high
        assert pit.mean() == pytest.approx((low + high) / 2, abs=0.01)


def test_randomized_pit_is_uniform_for_discrete_draws() -> None:
    rng = np.random.default_rng(6)
    n = 4000
    truth, draws = rng.poisson(2, size=n), rng.poisson(2, size=(500, n))
    pit = randomized_pit(draws, truth, rng)
    share = np.histogram(pit, bins=10, range=(0, 1))[0] / n
    assert np.abs(share - 0.1).max() < 4 * np.sqrt(0.09 / n)
    assert central_share(pit, pit, 0.5) == pytest.approx(0.5, abs=0.04)
    lower, upper = pit_range(draws, truth)
    assert ((lower <= pit) & (pit <= upper)).all()
    assert central_share(lower, upper, 0.5) == pytest.approx(central_share(pit, pit, 0.5), abs=0.02)
    # the plain PIT, which takes every step whole, is far from it
    assert central_share(upper, upper, 0.5) > 0.55


def test_central_share_by_hand() -> None:
    points = [0.024, 0.025, 0.5, 0.975, np.nan]
    assert central_share(points, points, 0.95) == 0.75
    assert central_share([0.0, 0.7, 0.0], [0.5, 0.8, 1.0], 0.5) == pytest.approx((0.5 + 0.5 + 0.5) / 3)
    assert np.isnan(central_share([np.nan], [np.nan], 0.5))
    with pytest.raises(InputError, match="prob"):
        central_share([0.5], [0.5], 1.0)
