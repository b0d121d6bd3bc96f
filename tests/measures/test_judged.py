"""The share of judged documents."""

from __future__ import annotations

import numpy as np

from bayespool.measures import Judged
from bayespool.measures.base import MISSING_RANK


def test_missing_ranks_do_not_count() -> None:
    levels = np.array([[0, -1, 2, MISSING_RANK], [MISSING_RANK] * 4, [-1, -1, -1, -1], [0, 0, 0, 0]])
    assert Judged(4).evaluate(levels).tolist() == [2 / 3, 0, 0, 1]
    assert Judged(2).evaluate(levels).tolist() == [1 / 2, 0, 0, 1]
