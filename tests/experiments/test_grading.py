"""Grading of draws by truths: coverage, PITs and CRPS by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from bayespool.errors import InputError
from bayespool.experiments import (
    central_share,
    covered,
    crps,
    randomized_pit,
)
from bayespool.experiments.grading import interval_columns, interval_summary
from bayespool.measures import Estimates, Values, parse_measure


def test_pit_of_what_was_drawn_is_uniform_over_its_step() -> None:
    draws = np.repeat([0, 1, 2, 3], [10, 20, 30, 40])[:, None]
    steps = {-1: (0, 0), 0: (0, 0.1), 1: (0.1, 0.3), 2: (0.3, 0.6), 3: (0.6, 1), 4: (1, 1)}
    for value, (low, high) in steps.items():
        many = np.full(2000, value)
        pit = randomized_pit(np.repeat(draws, 2000, axis=1), many, np.random.default_rng(1))
        assert pit.min() >= low
        assert pit.max() <= high
        assert pit.mean() == pytest.approx((low + high) / 2, abs=0.01)


def test_crps_is_the_integral_over_thresholds() -> None:
    """Σ over thresholds of (share of draws up to it − [truth up to it])², for integers."""
    rng = np.random.default_rng(5)
    draws, truth = rng.integers(0, 9, size=(40, 6)), rng.integers(-2, 12, size=6)
    thresholds = np.arange(-5, 20)[:, None, None]
    distance = (draws <= thresholds).mean(axis=1) - (truth <= thresholds[:, 0])
    np.testing.assert_allclose(crps(draws, truth), (distance**2).sum(axis=0), atol=1e-12)
    # one draw: the absolute error
    np.testing.assert_array_equal(crps(draws[:1], truth), np.abs(draws[0] - truth))
    with pytest.raises(InputError, match="no draws"):
        crps(draws[:0], truth)


def test_coverage_counts_the_ends() -> None:
    draws = np.repeat(np.arange(10, 20), 10)[:, None]  # 10 % at each of 10 … 19
    inside = [bool(covered(draws, np.array([truth]), 0.8)[0]) for truth in range(9, 21)]
    assert inside == [False, False, *[True] * 8, False, False]


def test_central_share_by_hand() -> None:
    points = [0.024, 0.025, 0.5, 0.975, np.nan]
    assert central_share(points, points, 0.95) == 0.75
    assert central_share([0.0, 0.7, 0.0], [0.5, 0.8, 1.0], 0.5) == pytest.approx((0.5 + 0.5 + 0.5) / 3)
    assert np.isnan(central_share([np.nan], [np.nan], 0.5))
    with pytest.raises(InputError, match="prob"):
        central_share([0.5], [0.5], 1.0)


MEASURE = parse_measure("P@10")
RUNS = ("a", "b", "c")


def of_draws(totals: list[list[int]] | None) -> Estimates:
    """Draws of the relevant documents of each run on the one topic, shape (draw, run)."""
    values = np.zeros((3, 1)) if totals is None else np.array(totals).mean(axis=0)[:, None] / 10
    return Estimates(
        method="known",
        measure=MEASURE,
        run_ids=RUNS,
        query_ids=("1",),
        per_topic=values,
        value=values[:, 0],
        fingerprint="0",
        draws=None if totals is None else Values(np.array(totals)[:, :, None], 10),
    )


def columns(totals: list[list[int]] | None, truth: list[int], open_: list[bool]) -> pd.DataFrame:
    values = Values(np.array(truth)[:, None], 10)
    found = interval_columns(of_draws(totals), values, np.array(open_), ci_prob=0.95, seed=1)
    return pd.DataFrame(found)


# a is 1 to 5, b always 4, c 1 or 3; c has nothing unjudged
DRAWS = [[1, 4, 1], [2, 4, 3], [3, 4, 1], [4, 4, 3], [5, 4, 1]]


def test_columns_by_hand() -> None:
    rows = columns(DRAWS, [3, 5, 3], [True, True, False])
    assert rows["lower"].tolist() == [0.1, 0.4, 0.1]
    assert rows["upper"].tolist() == [0.5, 0.4, 0.3]
    assert (rows["ci_prob"] == 0.95).all()
    assert rows["covered_95"].tolist() == [True, False, None]
    assert rows["pit_lower"].tolist()[:2] == [0.4, 1]
    assert rows["pit_upper"].tolist()[:2] == [0.6, 1]
    assert 0.4 <= rows["pit"][0] <= 0.6
    assert rows[["pit", "pit_lower", "pit_upper"]].isna().loc[2].all()
    # mean distance to the truth, less half the mean difference of two draws: 6/5 − 40/50, 1 − 0
    assert rows["crps"].tolist()[:2] == pytest.approx([(6 / 5 - 40 / 50) / 10, 0.1])


def test_means_and_standard_errors_have_the_denominator_of_the_scores() -> None:
    truth, none_closed = Values(np.array([[3], [5], [3]]), 10), np.ones(3, dtype=bool)
    point = dataclasses.replace(of_draws(None), std=np.array([0.1, 0.2, 0.3]))
    for found, name, expected in (
        (of_draws(DRAWS), "upper", [0.5, 0.2, 0.3]),
        (point, "std", [0.1, 0.1, 0.3]),
    ):
        half = interval_columns(found, truth, none_closed, ci_prob=0.95, seed=1, n_topics=np.array([1, 2, 1]))
        assert half[name].tolist() == expected


def test_summary_is_over_runs_with_something_unjudged() -> None:
    rows = columns(DRAWS, [3, 5, 3], [True, True, False])
    summary = interval_summary(rows, pd.Series([True, True, False]))
    assert summary["n_open"] == 2
    assert summary["coverage_95"] == 0.5
    assert summary["pit_95"] == 0.5
    assert summary["width"] == pytest.approx(0.2)
    assert summary["crps"] == pytest.approx(rows["crps"].mean())
