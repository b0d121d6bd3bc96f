"""Draws of three runs on one topic beside truths, graded by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from bayespool.experiments.grading import interval_columns, interval_summary
from bayespool.measures import Estimates, Values, parse_measure

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
