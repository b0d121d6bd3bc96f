"""Effects of columns: known ones are found at small scale."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from research.checks.effects import compare_documents, compare_types, recover, recover_slope

SCALE = float(os.environ.get("BAYESPOOL_SLOW_SCALE", "1"))


@pytest.mark.parametrize("one", [recover, recover_slope])
def test_a_known_effect_is_found(one: object) -> None:
    """A difference of types, and a slope of a column of documents."""
    assert callable(one)
    n = max(10, round(50 * SCALE))
    found = pd.DataFrame([one(seed, None) for seed in range(1, n + 1)])
    assert found.holds.mean() > 0.95 - 3 * np.sqrt(0.95 * 0.05 / n)
    assert abs(found.off.mean()) < 4 * found.off.std() / np.sqrt(n)


def test_types_that_say_nothing_cost_little() -> None:
    n = max(5, round(30 * SCALE))
    rows = pd.DataFrame([row for seed in range(1, n + 1) for row in compare_types(seed)])
    errors = rows.groupby("model").error.mean()
    assert errors["ratio + (1 | type)"] < 1.1 * errors["ratio"]


def test_documents_that_say_nothing_cost_little_and_others_help() -> None:
    n = max(5, round(30 * SCALE))
    rows = pd.DataFrame([row for seed in range(1, n + 1) for row in compare_documents(seed)])
    errors = rows.groupby(["column", "model"]).error.mean()
    without = errors["0 deviations", "rankings"]
    assert errors["0 deviations", "rankings + signal"] < 1.1 * without
    assert errors["2 deviations", "rankings + signal"] < 0.95 * without
