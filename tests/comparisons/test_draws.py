"""Chances of pairs and of ranks over draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bayespool.comparisons import compare_runs_by_draws, rank_probabilities


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(2, 4)), elements=st.integers(0, 3)))
def test_chances_of_a_pair_sum_to_one_to_the_bit(values: np.ndarray) -> None:
    found = compare_runs_by_draws(values, ci_prob=0.9)
    greater, equal = found.prob_greater, found.prob_equal
    assert ((greater + greater.T) + equal == 1).all()
    off = ~np.eye(values.shape[1], dtype=bool)
    np.testing.assert_array_equal((found.n_greater + found.n_greater.T + found.n_equal)[off], len(values))
    np.testing.assert_allclose(equal, found.n_equal / len(values), atol=1e-15)
    np.testing.assert_array_equal(found.difference, -found.difference.T)
    np.testing.assert_array_equal(found.lower, -found.upper.T)
    assert (found.n_equal <= found.n_equivalent).all()


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=st.integers(0, 3)))
def test_rank_chances_sum_to_one_over_ranks_and_over_runs(values: np.ndarray) -> None:
    chance = rank_probabilities(values)
    np.testing.assert_allclose(chance.sum(axis=0), 1)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    expected = values.shape[1] + 1 - np.mean([stats.rankdata(row) for row in values], axis=0)
    np.testing.assert_allclose(chance @ np.arange(1, values.shape[1] + 1), expected)


def test_draws_of_two_runs_by_hand() -> None:
    totals = np.array([[7, 5], [6, 6], [5, 6], [8, 4]])  # differences 2, 0, −1, 4
    found = compare_runs_by_draws(totals, ci_prob=0.5, rope=0.1, unit=10)
    assert found.difference[0, 1] == pytest.approx(0.125)
    assert (found.lower[0, 1], found.upper[0, 1]) == (0.0, 0.2)
    assert (found.prob_greater[0, 1], found.prob_equal[0, 1], found.prob_greater[1, 0]) == (0.5, 0.25, 0.25)
    assert found.prob_equivalent[0, 1] == 0.5  # 0 and −1: the region holds its ends
    np.testing.assert_allclose(found.expected_rank, [1 + 0.5 / 4 + 1 / 4, 2 - 0.5 / 4 - 1 / 4])
