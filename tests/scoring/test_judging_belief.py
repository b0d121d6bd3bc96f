"""What judgments leave open, against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from influences import correlated, covariance

from bayespool.scoring.judging_influence import Belief

PAIR = np.array([[1.0, 0.0], [1.0, -1.0], [0.5, 0.5]])


def left_open(influence, contrasts: np.ndarray, judged: list[int]) -> np.ndarray:
    """w' (C − C_S C_SS⁻¹ C_S') w of each sum."""
    c, w = covariance(influence), contrasts @ influence.weight
    known = np.zeros_like(c)
    if judged:
        known = c[:, judged] @ np.linalg.solve(c[np.ix_(judged, judged)], c[judged])
    return np.asarray(np.einsum("sd,de,se->s", w, c - known, w))


@given(st.integers(0, 10_000), st.permutations(range(6)))
def test_what_is_left_is_that_of_the_best_linear_prediction(seed: int, order: list[int]) -> None:
    influence = correlated(2, 6, seed)
    belief = Belief(influence, PAIR)
    before = left_open(influence, PAIR, [])
    for n in range(len(order) + 1):
        expected = left_open(influence, PAIR, order[:n])
        assert belief.variance == pytest.approx(expected, rel=1e-4, abs=1e-5 * before.max())
        assert (belief.variance >= 0).all()
        if n < len(order):
            belief.judge(order[n])
    assert belief.variance == pytest.approx(np.zeros(3), abs=1e-5 * before.max())


def test_a_gain_is_what_a_judgment_takes_from_the_variances() -> None:
    influence = correlated(2, 8, 11)
    belief, worth = Belief(influence, PAIR), np.array([1.0, 3.0, 0.5])
    belief.judge(2)
    gains = belief.gains(worth)
    for document in (0, 1, 3, 4, 5, 6, 7):
        taken = left_open(influence, PAIR, [2]) - left_open(influence, PAIR, [2, document])
        assert gains[document] == pytest.approx(worth @ taken, rel=1e-4)
    assert gains[2] == 0


def test_a_document_that_is_judged_is_no_news() -> None:
    belief = Belief(correlated(2, 5, 1), PAIR)
    belief.judge(4)
    variance, covariance_, own = belief.variance, belief.covariance.copy(), belief.own
    assert own[4] == 0
    assert not covariance_[:, 4].any()
    belief.judge(4)
    assert np.array_equal(belief.variance, variance)
    assert np.array_equal(belief.covariance, covariance_)
    assert np.array_equal(belief.own, own)
