"""Expected reciprocal rank by hand."""

from __future__ import annotations

import numpy as np
import pytest
from trec_files import refused

from bayespool.measures import ERR, parse_measure


def test_values_by_hand() -> None:
    levels = np.array([[1, 0, 2, 4]], dtype=np.int16)
    stop = [1 / 16, 0, 3 / 16, 15 / 16]
    expected = stop[0] + (1 - stop[0]) * stop[2] / 3 + (1 - stop[0]) * (1 - stop[2]) * stop[3] / 4
    assert ERR(4).evaluate(levels) == pytest.approx(expected, abs=1e-15)
    assert ERR(3, rel=2).evaluate(levels) == pytest.approx(stop[2] / 3, abs=1e-15)
    assert ERR(1, max_rel=1).evaluate(levels) == pytest.approx(1 / 2)


def test_highest_relevance_out_of_range_is_refused() -> None:
    for text in ("ERR(max_rel=0)@5", "ERR(max_rel=1.5)@5", "ERR(max_rel=40000)@5"):
        assert "max_rel" in str(refused(parse_measure, text)), text
