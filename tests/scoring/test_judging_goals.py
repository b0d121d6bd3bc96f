"""Goals: chances of a wrong order, what is open now, what is expected to be left of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

from bayespool.errors import InputError
from bayespool.measures import Values
from bayespool.options import options_of
from bayespool.scoring import JudgeNextSettings
from bayespool.scoring.judging_influence import Goal, Target, chance_of_wrong_order, find_target

positive = st.floats(1e-6, 100)


def wrong(mean: float, variance: float, left: float) -> float:
    """`chance_of_wrong_order` of one difference."""
    return float(chance_of_wrong_order(np.array([mean]), np.array([variance]), np.array([left]))[0])


def test_closed_cases() -> None:
    assert wrong(1, 1, 1) == pytest.approx(norm.cdf(-1))
    assert wrong(-3, 4, 4) == pytest.approx(norm.cdf(-1.5))
    assert wrong(0, 5, 5) == pytest.approx(0.5)
    assert wrong(0, 1, 0.5) == pytest.approx(0.25)  # a correlation of √½: arctan(1)/π
    assert wrong(0, 1, 0.01) == pytest.approx(np.arctan(np.sqrt(0.01 / 0.99)) / np.pi)
    assert wrong(1, 1, 0) == wrong(0, 1, 0) == wrong(1, 0, 0) == wrong(0, 0, 0) == 0


@given(st.floats(-5, 5), positive, st.floats(0, 1), st.floats(0, 1))
def test_less_left_is_less_wrong(mean: float, variance: float, one: float, other: float) -> None:
    less, more = sorted((one * variance, other * variance))
    low, high = wrong(mean, variance, less), wrong(mean, variance, more)
    assert 0 <= low <= high + 1e-12 <= wrong(mean, variance, variance) + 2e-12 <= 0.5 + 3e-12


DRAWS = Values(  # of three runs on one topic
    np.array([[[4], [3], [0]], [[4], [5], [0]], [[4], [2], [0]], [[4], [4], [0]]], dtype=np.int32), 10
)


def test_intervals() -> None:
    target = find_target("interval", ("a", "b", "c"), DRAWS, 0.95)
    assert target.contrasts.tolist() == np.eye(3).tolist()
    assert target.mean == pytest.approx([0.4, 0.35, 0])
    assert target.now == pytest.approx([0, 0.3, 0])
    assert target.names == ("a", "b", "c")
    assert target.total(target.now) == pytest.approx(0.1)  # the mean
    assert target.total(target.now, until=0.2) == pytest.approx(0.3)  # the widest
    assert target.total(np.zeros(0)) == 0
    assert target.criterion() == "mean width of the intervals"
    assert target.criterion(until=0.2) == "widest interval"
    # a quarter of the variance is half of the width; of c no document says anything
    left = target.left_open(np.array([1.0, 8.0, 0.0]), np.array([1.0, 2.0, 0.0]))
    assert left == pytest.approx([0, 0.15, 0])


def test_orders() -> None:
    target = find_target("ranking", ("a", "b", "c"), DRAWS, 0.95)
    assert target.names == ("a − b", "a − c", "b − c")
    assert target.contrasts.tolist() == [[1, -1, 0], [1, 0, -1], [0, 1, -1]]
    assert target.mean == pytest.approx([0.05, 0.4, 0.35])
    assert target.now == pytest.approx([0.25 + 0.125, 0, 0])  # b is ahead once, and once they are equal
    assert target.total(target.now) == target.total(target.now, until=0.1) == pytest.approx(0.125)
    assert target.criterion() == target.criterion(until=0.1) == "mean chance of a wrong order"
    pair = Values(DRAWS.amount[:, :2], 10)
    assert find_target("comparison", ("a", "b"), pair, 0.95).now == pytest.approx([0.375])


def test_an_order_is_as_wrong_as_the_draws_say_and_falls_as_normal_ones_do() -> None:
    target = Target("comparison", np.array([[1.0, -1.0]]), np.array([0.5]), np.array([0.3]), ("a − b",))
    one, quarter = np.ones(1), np.full(1, 0.25)
    expected = 0.3 * wrong(0.5, 1, 0.25) / wrong(0.5, 1, 1)
    assert target.left_open(one, quarter) == pytest.approx([expected])
    assert target.left_open(one, one) == pytest.approx([0.3])
    assert target.left_open(one, 0 * one).tolist() == [0]


def test_two_runs_that_are_the_same_in_all_draws_are_in_no_wrong_order() -> None:
    same = Values(np.repeat(DRAWS.amount[:, 1:2], 2, axis=1), 10)
    assert find_target("comparison", ("b", "copy"), same, 0.95).now.tolist() == [0]


def test_narrow_intervals_are_worth_nothing_until_all_are_narrow() -> None:
    target = Target("interval", np.eye(2), np.zeros(2), np.array([0.1, 0.3]), ("a", "b"))
    before = np.array([1.0, 9.0])
    assert target.worth(before, before, None) == pytest.approx([0.1, 0.3 / 9])
    assert target.worth(before, before, 0.2) == pytest.approx([0, 0.3 / 9])
    left = np.array([1.0, 3.0])  # b is .17 wide now
    assert target.worth(before, left, 0.2) == pytest.approx([0.1, 0.3 / np.sqrt(3) / 3])


def test_refused() -> None:
    assert options_of(JudgeNextSettings)["goal"][0].type == Goal
    alone = Values(DRAWS.amount[:, :1], 10)
    for goal, names, values, words in (
        ("precision", "abc", DRAWS, "interval, comparison, ranking"),
        ("comparison", "abc", DRAWS, "a comparison of 3 runs"),
        ("comparison", "a", alone, "a comparison of one run"),
        ("ranking", "a", alone, "a ranking of one run"),
    ):
        with pytest.raises(InputError, match=words):
            find_target(goal, tuple(names), values, 0.95)
