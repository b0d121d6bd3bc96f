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
    root_mean_squared_error,
    system_rank_error,
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
