"""Measures of a ranking alone, by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool.measures import ERR, INST, RBP, Judged, NonrelevantShare, Precision, ReciprocalRank, Success
from bayespool.measures.base import MISSING_RANK

RANKINGS = st.lists(st.integers(MISSING_RANK, 3), max_size=8)


@given(RANKINGS, st.integers(1, 10), st.integers(1, 3))
def test_shares_sum_to_one(ranking: list[int], cutoff: int, rel: int) -> None:
    """P@n + AntiP@n + unjudged share = 1 (Lipani et al. 2015, §3)."""
    levels = np.array(ranking, dtype=np.int16)
    anti, precision = NonrelevantShare(cutoff, rel), Precision(cutoff, rel)
    n_unjudged = int((levels[:cutoff] == -1).sum())
    assert anti.amounts(levels) + precision.amounts(precision.read(levels)) + n_unjudged == cutoff


def test_expected_reciprocal_rank_by_hand() -> None:
    levels = np.array([[1, 0, 2, 4]], dtype=np.int16)
    stop = [1 / 16, 0, 3 / 16, 15 / 16]
    expected = stop[0] + (1 - stop[0]) * stop[2] / 3 + (1 - stop[0]) * (1 - stop[2]) * stop[3] / 4
    assert ERR(4).evaluate(levels) == pytest.approx(expected, abs=1e-15)
    assert ERR(3, rel=2).evaluate(levels) == pytest.approx(stop[2] / 3, abs=1e-15)
    assert ERR(1, max_rel=1).evaluate(levels) == pytest.approx(1 / 2)


def test_inst_by_hand() -> None:
    """T = 1: the reader goes on with (2/3)² after nothing at rank 1, with (1/2)² after a find."""
    assert INST(2).evaluate(np.array([0, 1])) == pytest.approx((4 / 9) / (13 / 9))
    assert INST(2).evaluate(np.array([1, 0])) == pytest.approx(1 / (5 / 4))
    assert INST(2, max_rel=2).evaluate(np.array([1])) == pytest.approx(0.5 / (1 + (1.5 / 2.5) ** 2))


def test_inst_never_falls_when_a_document_is_more_relevant() -> None:
    """All rankings of three levels, and long ones at random, with each document in turn a level higher."""
    short = np.array(list(product(range(3), repeat=7)))
    rng = np.random.default_rng(3)
    long = (rng.random((40, 80)) < rng.random((40, 1))) * rng.integers(1, 3, (40, 80))
    for wanted, levels in product((0.5, 0.7, 1.0, 3.0, 20.0), (short, long)):
        measure = INST(levels.shape[1], max_rel=2, T=wanted)
        before = measure.evaluate(levels)
        for rank in range(levels.shape[1]):
            risen = levels.copy()
            risen[:, rank] = np.minimum(risen[:, rank] + 1, 2)
            assert (measure.evaluate(risen) >= before - 1e-12).all(), (wanted, rank)


def test_what_is_found_and_what_is_judged_to_the_cutoff() -> None:
    levels = np.array([[0, 0, 1, 2], [1, 1, 1, 1], [0, 0, 0, 2], [0, 0, 0, 0]])
    assert ReciprocalRank(3).evaluate(levels).tolist() == [1 / 3, 1, 0, 0]
    assert ReciprocalRank(4, rel=2).evaluate(levels).tolist() == [1 / 4, 0, 1 / 4, 0]
    assert Success(3).evaluate(levels).tolist() == [1, 1, 0, 0]
    assert Success(4, rel=2).evaluate(levels).tolist() == [1, 0, 1, 0]
    for family in (ReciprocalRank, Success):
        assert family(3).evaluate(levels[:, :0]).tolist() == [0, 0, 0, 0]
    amounts = Precision(4).amounts(np.array([[[2, 0, 1, 0, 1]]], dtype=np.int16))
    assert amounts.dtype == np.int32
    assert amounts.tolist() == [[2]]
    judged = np.array([[0, -1, 2, MISSING_RANK], [MISSING_RANK] * 4, [-1, -1, -1, -1], [0, 0, 0, 0]])
    assert Judged(4).evaluate(judged).tolist() == [2 / 3, 0, 0, 1]
    assert Judged(2).evaluate(judged).tolist() == [1 / 2, 0, 0, 1]


def test_weights_of_webber_and_park() -> None:
    """Ten geometric weights, adjusted so that they sum to 1."""
    weights = RBP(10).weights()
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights[1:] / weights[:-1], 0.8)
    assert weights.round(4).tolist() == [
        *(0.2241, 0.1792, 0.1434, 0.1147, 0.0918, 0.0734, 0.0587, 0.047, 0.0376, 0.0301)
    ]


def test_what_is_left_without_a_cutoff_is_the_residual() -> None:
    for p in (0.01, 0.5, 0.8, 0.95, 0.99):
        measure = RBP.without_cutoff(p=p)
        assert p**measure.cutoff <= 1e-10 < p ** (measure.cutoff - 1)
        n_ranks = np.array([[0, 1, measure.cutoff // 2, measure.cutoff, 10**6]])
        left = measure.open_end(n_ranks)
        assert left is not None
        first = [measure.weights()[:n].sum() for n in n_ranks[0]]
        np.testing.assert_allclose(left + first, 1, rtol=0, atol=1e-12)
        assert RBP(10, p=p).open_end(n_ranks) is None
