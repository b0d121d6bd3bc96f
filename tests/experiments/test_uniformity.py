"""Ranks and PITs of what was drawn are uniform, and their bands and p-values are right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from arviz_stats.ecdf_utils import ecdf_pit
from checked import with_the_first_arviz_stats

from bayespool.experiments import ecdf_band, holm, randomized_pit, uniformity_p_value
from bayespool.experiments.grading import randomized_rank


def test_pit_of_what_was_drawn_is_uniform_over_its_step() -> None:
    draws = np.repeat([0, 1, 2, 3], [10, 20, 30, 40])[:, None]
    steps = {-1: (0, 0), 0: (0, 0.1), 1: (0.1, 0.3), 2: (0.3, 0.6), 3: (0.6, 1), 4: (1, 1)}
    for value, (low, high) in steps.items():
        many = np.full(2000, value)
        pit = randomized_pit(np.repeat(draws, 2000, axis=1), many, np.random.default_rng(1))
        assert pit.min() >= low
        assert pit.max() <= high
        assert pit.mean() == pytest.approx((low + high) / 2, abs=0.01)


def test_rank_counts_draws_below_and_shares_ties_out() -> None:
    rng = np.random.default_rng(1)
    assert randomized_rank(np.array([0.1, 0.2, 0.3]), 0.25, rng) == 2
    assert {randomized_rank(np.array([0.1, 0.2, 0.2]), 0.2, rng) for _ in range(100)} == {1, 2, 3}


@pytest.mark.parametrize(("n", "n_values"), [(3, 3), (4, 2), (3, 5)])
def test_p_value_is_the_share_of_samples_as_extreme(n: int, n_values: int) -> None:
    """Over all samples there are, the chance of a p-value of at most p is p, at every p that occurs."""
    p_values = np.array(
        [uniformity_p_value(np.array(s), n_values) for s in itertools.product(range(n_values), repeat=n)]
    )
    assert len(np.unique(p_values.round(9))) > 1
    for p in np.unique(p_values.round(9)):
        share = (p_values <= p + 1e-9).mean()
        assert share == pytest.approx(p, abs=1e-9) or p == pytest.approx(1)


@pytest.mark.parametrize("prob", [0.9])
def test_band_holds_as_many_samples_as_it_says(prob: float) -> None:
    n, n_values = 4, 4
    lower, upper = ecdf_band(n, n_values, prob)
    samples = np.array(list(itertools.product(range(n_values), repeat=n)))
    share = np.array([(samples < v).mean(axis=1) for v in range(1, n_values)]).T
    inside = ((share >= lower - 1e-12) & (share <= upper + 1e-12)).all(axis=1).mean()
    assert inside >= prob
    narrower = ((share > lower + 1e-12) | (lower == 0)) & ((share < upper - 1e-12) | (upper == 1))
    assert narrower.all(axis=1).mean() < prob


@with_the_first_arviz_stats
def test_band_is_the_one_that_arviz_simulates() -> None:
    n = 100
    lower, upper = ecdf_band(n, n, 0.94)
    x, _, theirs_lower, theirs_upper = ecdf_pit(np.random.default_rng(1).random(n), 0.94, n_simulations=5000)
    np.testing.assert_allclose(x, np.arange(1, n) / n)
    np.testing.assert_allclose(lower, theirs_lower, atol=0.0201)
    np.testing.assert_allclose(upper, theirs_upper, atol=0.0201)


def test_holm_steps_down() -> None:
    # 0.01·4; 0.015·3 = 0.045; 0.03·2 = 0.06; 0.2·1
    adjusted = holm(np.array([0.2, 0.01, 0.03, 0.015]))
    np.testing.assert_allclose(adjusted, [0.2, 0.04, 0.06, 0.045])
    np.testing.assert_allclose(holm(np.array([0.5, 0.6, 0.7])), [1, 1, 1])
