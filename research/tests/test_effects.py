"""Effects of columns: known ones are found at small scale."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd

from research.checks.effects import compare, recover

SCALE = float(os.environ.get("BAYESPOOL_SLOW_SCALE", "1"))


def test_a_known_difference_of_types_is_found() -> None:
    n = max(10, round(50 * SCALE))
    found = pd.DataFrame([recover(seed, None) for seed in range(1, n + 1)])
    assert found.holds.mean() > 0.95 - 3 * np.sqrt(0.95 * 0.05 / n)
    assert abs(found.off.mean()) < 4 * found.off.std() / np.sqrt(n)


def test_types_that_say_nothing_cost_little() -> None:
    n = max(5, round(30 * SCALE))
    rows = pd.DataFrame([row for seed in range(1, n + 1) for row in compare(seed)])
    errors = rows.groupby("model").error.mean()
    assert errors["ratio + (1 | type)"] < 1.1 * errors["ratio"]
