"""Means of groups and differences of systems: their intervals contain the hidden truth, at small scale."""

from __future__ import annotations

import os

import numpy as np

from research.checks.groups_and_systems import coverage

SCALE = float(os.environ.get("BAYESPOOL_SLOW_SCALE", "1"))


def test_intervals_hold_the_hidden_truth() -> None:
    n = max(4, round(60 * SCALE))
    rows = coverage(n).reset_index().groupby("scope")
    held = rows.apply(lambda each: np.average(each["holds"], weights=each["n"]), include_groups=False)
    assert held["population"] >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / (2 * n))
    assert held["these-topics"] >= 0.93 - 3 * np.sqrt(0.95 * 0.05 / (2 * n))
