"""Reciprocal rank is that of the first relevant document."""

from __future__ import annotations

import numpy as np

from bayespool.measures import ReciprocalRank


def test_the_first_relevant_document_counts() -> None:
    levels = np.array([[0, 0, 1, 2], [1, 1, 1, 1], [0, 0, 0, 2], [0, 0, 0, 0]])
    assert ReciprocalRank(3).evaluate(levels).tolist() == [1 / 3, 1, 0, 0]
    assert ReciprocalRank(4, rel=2).evaluate(levels).tolist() == [1 / 4, 0, 1 / 4, 0]
    assert ReciprocalRank(3).evaluate(levels[:, :0]).tolist() == [0, 0, 0, 0]
