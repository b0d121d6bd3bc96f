"""Announced chances graded by what came."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.comparisons import brier_score, calibration_table


def test_calibration_by_hand() -> None:
    table = calibration_table([0.0, 0.05, 0.3, 0.3, 0.35, 0.95, 1.0], [0, 0, 1, 0, 1, 1, 0])
    assert table["n"].tolist() == [2, 0, 0, 3, 0, 0, 0, 0, 0, 2]
    assert table["announced"].tolist()[3] == pytest.approx((0.3 + 0.3 + 0.35) / 3)
    assert table["happened"].tolist()[3] == pytest.approx(2 / 3)
    assert np.isnan(table["happened"][1])
    assert brier_score([0.0, 0.5, 1.0], [0, 1, 0]) == pytest.approx((0 + 0.25 + 1) / 3)
    assert np.isnan(brier_score([], []))
