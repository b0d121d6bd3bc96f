"""Reliability, by hand and against Brennan's tables."""

from __future__ import annotations

import numpy as np
import pytest
from precisions import BY_HAND

from bayespool.comparisons import dependability, generalizability, reliability, variance_components
from bayespool.errors import InputError


def test_reliability_by_hand() -> None:
    # run means 2, 4, 5 and SS_run = 14, MS 7; topic means 2, 3, 6 and SS_topic = 26, MS 13; MS error 2
    components = variance_components(BY_HAND)
    assert float(components.run) == pytest.approx(5 / 3)
    assert float(components.topic) == pytest.approx(11 / 3)
    assert float(components.residual) == pytest.approx(2)
    assert float(generalizability(BY_HAND)) == pytest.approx((5 / 3) / (5 / 3 + 2 / 3))
    assert float(dependability(BY_HAND)) == pytest.approx((5 / 3) / (5 / 3 + (11 / 3 + 2) / 3))
    assert float(generalizability(BY_HAND, n_topics=30)) == pytest.approx((5 / 3) / (5 / 3 + 2 / 30))


def with_mean_squares(n_runs: int, n_topics: int, run: float, topic: float, rest: float) -> np.ndarray:
    """Scores whose analysis of variance has these mean squares."""
    rng = np.random.default_rng(7)

    def scaled(x: np.ndarray, sum_of_squares: float) -> np.ndarray:
        return x * np.sqrt(sum_of_squares / (x**2).sum())

    a, b = rng.normal(size=n_runs), rng.normal(size=n_topics)
    c = rng.normal(size=(n_runs, n_topics))
    c = c - c.mean(axis=1, keepdims=True) - c.mean(axis=0) + c.mean()
    of_run = scaled(a - a.mean(), run * (n_runs - 1) / n_topics)
    of_topic = scaled(b - b.mean(), topic * (n_topics - 1) / n_runs)
    matrix: np.ndarray = 5 + of_run[:, None] + of_topic + scaled(c, rest * (n_runs - 1) * (n_topics - 1))
    return matrix


def test_reliability_of_brennans_example() -> None:
    """Brennan (2001), synthetic data set 4: mean squares of table 6.2, coefficients and intervals of 6.5."""
    scores = with_mean_squares(10, 12, run=10.2963, topic=11.6273, rest=2.7872)
    found = reliability(scores, ci_prob=0.8)
    assert found.n_topics == 12
    ours = [found.generalizability, found.generalizability_lower, found.generalizability_upper]
    np.testing.assert_allclose(ours, [0.729, 0.541, 0.876], atol=5e-4)
    ours = [found.dependability, found.dependability_lower, found.dependability_upper]
    np.testing.assert_allclose(ours, [0.672, 0.457, 0.845], atol=5e-4)


def test_reliability_at_its_edges() -> None:
    additive = np.array([0.1, 0.3, 0.5])[:, None] + np.array([0.0, 0.2, 0.1, 0.4])
    found = reliability(additive)
    assert found.generalizability == pytest.approx(1)
    assert np.isnan([found.generalizability_lower, found.dependability_upper]).all()
    noise = np.array([[0.1, 0.9, 0.1, 0.9], [0.9, 0.1, 0.9, 0.1]])
    assert reliability(noise).generalizability == 0
    assert reliability(noise).generalizability_lower == 0
    for bad in ([[0.1, 0.2]], [0.1, 0.2], [[0.1, np.nan], [0.2, 0.3]]):
        with pytest.raises(InputError, match="no reliability"):
            reliability(bad)
    with pytest.raises(InputError, match="ci_prob"):
        reliability(additive, ci_prob=1)
