"""Probabilities of pairs and of ranks over draws, of one measure and of several at once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from compared import NEW
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bayespool.comparisons import (
    Comparison,
    agree_on_draws,
    compare,
    compare_runs_by_draws,
    rank_probabilities,
)
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.measures.populations import population_draws

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


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


def test_differences_on_topics_like_these_stay_within_the_range_of_the_measure() -> None:
    """Of two topics the t distribution has one degree of freedom; on all of P@10 a difference ends at 1."""
    values = np.repeat(np.array([[[10, 9], [1, 3]]]), 4000, axis=0)
    on_likes = population_draws(values, random_seed=1)
    free, bound = (compare_runs_by_draws(on_likes, unit=10, largest=most) for most in (np.inf, 1.0))
    assert free.upper[0, 1] > 1
    assert (bound.upper[0, 1], bound.lower[1, 0], bound.lower[0, 1]) == (1.0, -1.0, -1.0)
    assert bound.n_greater.tolist() == free.n_greater.tolist()
    assert abs(bound.difference[0, 1]) <= 1


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


METHOD = "posterior-ratio"
NDCG = "nDCG@10"


@cache
def compared(*measures: str, joint: bool = True) -> Comparison:
    return compare(
        load_example(), NEW, measures, estimators=[METHOD], posterior_settings=f"draws=60, joint={joint}"
    )


def test_draws_of_two_runs_on_two_measures_by_hand() -> None:
    """a above b on both; on the first alone; equal on one; equal on both; below on both."""
    first = np.array([[3, 2], [3, 2], [2, 2], [1, 1], [1, 4]])
    second = np.array([[0.4, 0.1], [0.1, 0.4], [0.5, 0.1], [0.3, 0.3], [0.1, 0.2]])
    found = agree_on_draws([first, second])
    assert found.prob_all_greater[0, 1] == pytest.approx(1 / 5)
    assert found.prob_all_greater[1, 0] == pytest.approx(1 / 5)
    assert found.prob_disagree[0, 1] == found.prob_disagree[1, 0] == pytest.approx(1 / 5)
    assert found.prob_tied[0, 1] == pytest.approx(2 / 5)
    three = agree_on_draws([first, second, -second])
    assert three.prob_all_greater[0, 1] == three.prob_all_greater[1, 0] == 0
    assert three.prob_disagree[0, 1] == pytest.approx(4 / 5)


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(2, 4)), elements=st.integers(0, 3)))
def test_a_measure_agrees_with_itself(values: np.ndarray) -> None:
    found = agree_on_draws([values, values / 3])
    assert not found.n_disagree.any()
    above = (values[:, :, None] > values[:, None]).sum(axis=0)
    np.testing.assert_array_equal(found.n_greater, above)


def test_draws_of_other_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="as many draws of the same runs"):
        agree_on_draws([np.zeros((3, 2)), np.zeros((4, 2))])
    with pytest.raises(InputError, match="as many draws of the same runs"):
        agree_on_draws([])


@pytest.mark.slow
def test_measures_completed_together_share_every_draw() -> None:
    """P@5 and P@10 of one completion: relevant in the top 5 is relevant in the top 10, and so for ideals."""
    scores = compared("P@5", "P@10", "nDCG@10", "R@100").scores
    five, ten = (scores[measure, METHOD].draws for measure in ("P@5", "P@10"))
    assert (five.amount <= ten.amount).all()
    assert ten.amount.std(axis=0).max() > 0.5
    follow = np.corrcoef(ten.totals()[:, 1], scores[NDCG, METHOD].draws.totals()[:, 1])[0, 1]
    assert follow > 0.5
    alone = compared("P@10").scores["P@10", METHOD].draws
    assert (five.amount <= alone.amount).mean() > 0.9  # the same numbers, of a fit to other evidence
