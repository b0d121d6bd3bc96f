"""Totals, means and intervals of amounts, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from trec_files import refused

from bayespool.measures import Values, equal_tailed_interval

# Relevant documents of two runs among the first 10 of four topics; then five draws of one run on two topics.
COUNTS = np.array([[3, 4, 0, 10], [1, 1, 1, 2]], dtype=np.int32)
DRAWS = np.array([[[4, 6]], [[0, 1]], [[2, 2]], [[3, 0]], [[9, 8]]], dtype=np.int32)


def test_counts_by_hand() -> None:
    values = Values(COUNTS, 10)
    assert values.is_exact
    assert values.scores().tolist() == [[0.3, 0.4, 0.0, 1.0], [0.1, 0.1, 0.1, 0.2]]
    assert values.totals().tolist() == [17, 5]
    assert values.totals().dtype == np.int64
    assert values.per_mean() == 40
    assert values.means().tolist() == [17 / 40, 5 / 40]
    assert Values(np.array([[0.5, 1 / 3]])).on_grid().tolist() == [[2**19, 349525.0]]  # 2²⁰/3 is 349525.33


def test_draws_by_hand() -> None:
    values = Values(DRAWS, 10)
    assert values.totals().tolist() == [[10], [1], [4], [3], [17]]
    assert values.means().tolist() == [[0.5], [0.05], [0.2], [0.15], [0.85]]
    assert values.share_at(np.array([0.2])).tolist() == [0.2]
    assert values.expected().tolist() == [7 / 20]
    # the totals are 3, −6, −3, −4 and 10 from their mean, 7: squares sum to 170, a fifth of it is 34
    assert values.std().tolist() == [np.sqrt(34) / 20]
    assert values.on_topics().tolist() == [[3.6 / 10, 3.4 / 10]]


def test_intervals_by_hand() -> None:
    """Of five draws, a tail of a fifth leaves one out on either side."""
    values = Values(DRAWS, 10)
    low, high = values.interval(0.6)
    assert (low.tolist(), high.tolist()) == ([3 / 20], [10 / 20])
    low, high = values.topic_interval(0.6)
    assert (low.tolist(), high.tolist()) == ([[0.2, 0.1]], [[0.4, 0.6]])
    low, high = values.interval()  # at 95 % no draw is left out
    assert (low.tolist(), high.tolist()) == ([1 / 20], [17 / 20])


def test_means_over_some_topics() -> None:
    """Amounts on the topics that a run's mean is not over are 0."""
    values = Values(np.array([[3, 0, 0, 5], [1, 1, 1, 1]], dtype=np.int32), 10)
    assert values.means(2).tolist() == [8 / 20, 4 / 20]
    assert values.means(np.array([2, 4])).tolist() == [8 / 20, 4 / 40]
    assert values.per_mean(np.array([2, 4])).tolist() == [20, 40]


def test_sums_of_floats_are_rounded() -> None:
    """0.1 + 0.2 + 0.3 is one number in every order, though not in floats."""
    one, other = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]
    assert one[0] + one[1] + one[2] != other[0] + other[1] + other[2]  # `sum` makes up for it since 3.12
    values = Values(np.array([one, other]))
    assert not values.is_exact
    assert values.totals().tolist() == [0.6, 0.6]
    assert values.means().tolist() == [0.6 / 3, 0.6 / 3]
    kept = 0.1 + 1e-11  # eleven decimals
    assert Values(np.array([[kept, 0.0]])).totals().tolist() == [kept]


def test_amounts_units_and_probabilities_that_are_none() -> None:
    axes, kinds = ([[1, 2]], np.array([1, 2]), np.array(3)), (True, "a", 1j)
    for amount in (*axes, *(np.array([[value]]) for value in kinds)):
        said = str(refused(Values, amount))
        assert "amounts are not an array of numbers by run and topic" in said, amount
    for unit in (0, -1, 2.5):
        assert f"unit {unit} is not a whole number" in str(refused(Values, COUNTS, unit))
    for ci_prob in (0.0, 1.0, -0.5, 95, float("nan")):
        for call in (lambda p: equal_tailed_interval(np.arange(10), p), Values(DRAWS, 10).interval):
            assert "; above 0 and below 1" in str(refused(call, ci_prob)), ci_prob


def test_tails_are_of_whole_draws() -> None:
    for n_draws, ci_prob, ends in (
        (1, 0.95, (0, 0)),
        (39, 0.95, (0, 38)),  # 0.975 of a draw
        (40, 0.95, (1, 38)),
        (100, 0.9, (5, 94)),  # (1 − 0.9) / 2 · 100 is less than 5 in floats
        (10, 0.01, (4, 5)),
    ):
        shuffled = np.random.default_rng(1).permutation(n_draws)
        assert tuple(map(int, equal_tailed_interval(shuffled, ci_prob))) == ends, n_draws


def test_intervals_of_many_topics_are_found_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(1).integers(0, 100, (50, 3, 7))
    monkeypatch.setattr("bayespool.measures.values._MOST_SORTED", 200)
    low, high = equal_tailed_interval(drawn, 0.9)
    assert low.shape == high.shape == (3, 7)
    assert [low[1, 4], high[1, 4]] == np.sort(drawn[:, 1, 4])[[2, 47]].tolist()


@given(st.lists(st.integers(0, 10), min_size=1, max_size=80), st.floats(0.01, 0.99))
def test_interval_holds_at_least_its_share(drawn: list[int], ci_prob: float) -> None:
    draws = np.array(drawn)
    low, high = equal_tailed_interval(draws, ci_prob)
    assert {int(low), int(high)} <= set(drawn)
    assert np.mean((draws >= low) & (draws <= high)) >= ci_prob - 1e-9
    assert max(np.mean(draws < low), np.mean(draws > high)) <= (1 - ci_prob) / 2 + 1e-9
