"""Errors of estimates, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool.errors import InputError
from bayespool.measures import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    overtaken_runs,
    rank_biased_overlap,
    root_mean_squared_error,
    system_rank_error,
    tau_ap,
)

TRUTH = [0.5, 0.4, 0.4, 0.3, 0.1]
VALUE = [0.4, 0.4, 0.5, 0.1, 0.45]


def rank(x: float, others: list[float]) -> int:
    return 1 + sum(other > x for other in others)


def test_errors_by_hand() -> None:
    # estimate − truth: −0.1, 0, 0.1, −0.2, 0.35
    assert mean_absolute_error(TRUTH, VALUE) == pytest.approx(0.15)
    assert mean_error(TRUTH, VALUE) == pytest.approx(0.03)
    assert root_mean_squared_error(TRUTH, VALUE) == pytest.approx(np.sqrt(0.1825 / 5))
    assert root_mean_squared_error([[0.0, 1.0]], [[0.5, 1.0]]) == pytest.approx(np.sqrt(0.125))
    with pytest.raises(InputError, match="shape"):
        mean_absolute_error([0.1], [0.1, 0.2])


def test_only_significant_differences_count_in_the_starred_one() -> None:
    significant = np.zeros((5, 5), dtype=bool)
    significant[4, 3] = significant[3, 4] = True
    significant[0, 4] = significant[4, 0] = True  # not passed over
    assert system_rank_error(TRUTH, VALUE, significant) == 1
    assert system_rank_error(TRUTH, VALUE, np.zeros((5, 5), dtype=bool)) == 0
    assert system_rank_error(TRUTH, VALUE, np.ones((5, 5), dtype=bool)) == 4
    with pytest.raises(InputError, match="significant"):
        system_rank_error(TRUTH, VALUE, np.ones((4, 4), dtype=bool))


scores = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(scores)
def test_system_rank_error_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    truth = [t / 60 for t, _ in pairs]
    value = [v / 60 for _, v in pairs]
    shifts = [
        abs(rank(truth[i], truth) - rank(value[i], truth[:i] + truth[i + 1 :])) for i in range(len(pairs))
    ]
    assert system_rank_error(truth, value) == sum(shifts)
    assert overtaken_runs(truth, value).sum(axis=1).tolist() == shifts


def test_kendall_tau_b() -> None:
    # of ten pairs: concordant 7, discordant 2, one tied in truth, none in the estimates: 5/√(9·10)
    value = [0.6, 0.4, 0.5, 0.1, 0.45]
    assert kendall_tau_b(TRUTH, value) == pytest.approx(5 / np.sqrt(90))
    assert kendall_tau_b(TRUTH, VALUE) == pytest.approx(0)  # 4 and 4
    assert kendall_tau_b(TRUTH, TRUTH) == pytest.approx(1)
    assert np.isnan(kendall_tau_b(TRUTH, [0.2] * 5))


def test_tau_ap_is_its_definition() -> None:
    """In bagcdfe, of the runs above a, g, c, d, f and e 0, 2, 2, 3, 4 and 4 belong there."""
    truth, value = [7, 6, 5, 4, 3, 2, 1], [6, 7, 4, 3, 1, 2, 5]
    shares = [0, 2 / 2, 2 / 3, 3 / 4, 4 / 5, 4 / 6]
    assert tau_ap(truth, value) == pytest.approx(2 * np.mean(shares) - 1)
    assert tau_ap(truth, truth) == 1
    assert tau_ap(truth, truth[::-1]) == -1
    assert tau_ap([2, 1, 1], [3, 2, 1]) == pytest.approx(2 * np.mean([1, 3 / 4]) - 1)
    assert tau_ap([3, 2, 1], [2, 2, 1]) == pytest.approx(2 * np.mean([1, 0, 1]) - 1)
    assert np.isnan(tau_ap(truth, [1] * 7))


def test_rank_biased_overlap_is_that_of_another_program() -> None:
    """Values of rbo_ext of the package rbo 0.1.3, of abcdefg and bagcdfe."""
    truth, value = [7, 6, 5, 4, 3, 2, 1], [6, 7, 4, 3, 1, 2, 5]
    assert rank_biased_overlap(truth, value) == pytest.approx(0.8318115)
    assert rank_biased_overlap(truth, value, persistence=0.5) == pytest.approx(0.43385416666666665)
    assert rank_biased_overlap(truth, truth) == pytest.approx(1)
    assert rank_biased_overlap([2, 1], [1, 1], persistence=0.5) == pytest.approx((2 / 3) / 2 + 1 / 4 + 1 / 4)
    with pytest.raises(InputError, match="persistence"):
        rank_biased_overlap(truth, value, persistence=1)
