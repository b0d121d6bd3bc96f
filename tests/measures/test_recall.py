"""Recall: what the ranking lacks counts, and bounds."""

from __future__ import annotations

import numpy as np

from bayespool.measures import Recall, Tally


def test_relevant_documents_that_the_ranking_lacks_count() -> None:
    tally = Tally(np.array([[2, 2], [0, 0]]), (1, 2))
    levels = np.array([[[1, 0, 2], [0, 0, 0]]])
    assert Recall(3).values(levels, tally).scores().tolist() == [[0.5, 0]]
    assert Recall(3, rel=2).values(levels, tally).scores().tolist() == [[0.5, 0]]
    assert Recall(1).values(levels, tally).scores().tolist() == [[0.25, 0]]
