"""P-values and bands of uniform ranks are exact."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from research.checks.uniformity import ecdf_band, randomized_rank, uniformity_p_value


def test_rank_counts_draws_below_and_shares_ties_out() -> None:
    rng = np.random.default_rng(1)
    assert randomized_rank(np.array([0.1, 0.2, 0.3]), 0.25, rng) == 2
    assert {randomized_rank(np.array([0.1, 0.2, 0.2]), 0.2, rng) for _ in range(100)} == {1, 2, 3}


@pytest.mark.parametrize(("n", "n_values"), [(3, 3), (4, 2), (3, 5)])
def test_p_value_is_the_share_of_samples_as_extreme(n: int, n_values: int) -> None:
    samples = itertools.product(range(n_values), repeat=n)
    p_values = np.array([uniformity_p_value(np.array(s), n_values) for s in samples])
    for p in np.unique(p_values.round(9)):
        assert (p_values <= p + 1e-9).mean() == pytest.approx(p, abs=1e-9) or p == pytest.approx(1)


def test_band_holds_as_many_samples_as_it_says() -> None:
    n, n_values, prob = 4, 4, 0.9
    lower, upper = ecdf_band(n, n_values, prob)
    samples = np.array(list(itertools.product(range(n_values), repeat=n)))
    share = np.array([(samples < v).mean(axis=1) for v in range(1, n_values)]).T
    assert ((share >= lower - 1e-12) & (share <= upper + 1e-12)).all(axis=1).mean() >= prob
    narrower = ((share > lower + 1e-12) | (lower == 0)) & ((share < upper - 1e-12) | (upper == 1))
    assert narrower.all(axis=1).mean() < prob
