"""A test of significance in every draw."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from precisions import known_draws

from bayespool.comparisons import adjust_p_values, significant_draws
from bayespool.comparisons.significance import p_values

N_DRAWS = 10


@cache
def one_by_one(test: Any, control: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draws, and in how many of them each run is significantly better than each other one."""
    draws = known_draws(N_DRAWS, n_runs=6, seed=5)
    expected = np.zeros((6, 6), dtype=int)
    for one in draws:
        p = adjust_p_values(p_values(one / 10, test), control)
        difference = np.subtract.outer(one.sum(axis=1), one.sum(axis=1))
        expected += (p <= 0.05) & (difference > 0)
    return draws, expected


CONTROLS: tuple[tuple[Any, Any], ...] = (
    *(("paired-t", control) for control in ("none", "holm", "benjamini-hochberg")),
    ("tukey-hsd", "none"),
)


@pytest.mark.parametrize("cells", [1 << 21, 100])
def test_significant_draws_are_those_of_the_test_in_each_draw(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayespool.comparisons.significance._MAX_CELLS_OF_DRAWS", cells)
    for test, control in CONTROLS:
        draws, expected = one_by_one(test, control)
        found = significant_draws(draws, test=test, level=0.05, control=control)
        np.testing.assert_array_equal(found.n_greater, expected, err_msg=control)
        assert 0 < expected.sum() < N_DRAWS * 15, "the draws decide nothing"
        assert expected[0, 1] == 0


def test_reversal_risk_counts_draws_that_do_not_bear_the_claim_out() -> None:
    up, down = [[9, 9, 8, 9], [1, 2, 0, 1]], [[1, 2, 0, 1], [9, 9, 8, 9]]
    same = [[5, 4, 5, 6], [5, 4, 5, 6]]
    found = significant_draws(np.array([up] * 7 + [same] * 2 + [down]))
    assert found.prob_significant[0, 1] == 0.8  # seven one way, one the other
    risk = found.reversal_risk(np.array([[False, True], [False, False]]))
    assert risk[0, 1] == risk[1, 0] == pytest.approx(0.3)
    assert np.isnan(found.reversal_risk(np.zeros((2, 2), dtype=bool))).all()
