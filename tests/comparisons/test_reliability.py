"""Reliability of a whole comparison, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from precisions import BY_HAND, known_draws

from bayespool.comparisons import dependability, generalizability, variance_components


def test_reliability_by_hand() -> None:
    # run means 2, 4, 5 and SS_run = 14, MS 7; topic means 2, 3, 6 and SS_topic = 26, MS 13; MS error 2
    components = variance_components(BY_HAND)
    assert float(components.run) == pytest.approx(5 / 3)
    assert float(components.topic) == pytest.approx(11 / 3)
    assert float(components.residual) == pytest.approx(2)
    assert float(generalizability(BY_HAND)) == pytest.approx((5 / 3) / (5 / 3 + 2 / 3))
    assert float(dependability(BY_HAND)) == pytest.approx((5 / 3) / (5 / 3 + (11 / 3 + 2) / 3))
    assert float(generalizability(BY_HAND, n_topics=30)) == pytest.approx((5 / 3) / (5 / 3 + 2 / 30))


def test_reliability_of_draws_is_that_of_each() -> None:
    draws = known_draws()
    for coefficient in (generalizability, dependability):
        of_draws = coefficient(draws)
        assert of_draws.shape == (len(draws),)
        np.testing.assert_allclose(of_draws[:5], [float(coefficient(one)) for one in draws[:5]])
        np.testing.assert_allclose(coefficient(draws / 10), of_draws)  # no matter on which scale
    assert (dependability(draws) <= generalizability(draws)).all()


def test_reliability_where_runs_do_not_differ() -> None:
    assert float(generalizability([[1.0, 3.0, 2.0], [3.0, 1.0, 2.0]])) == 0  # a component below zero is zero
    assert np.isnan(generalizability(np.ones((3, 4))))
