"""Success is anything relevant to the cutoff."""

from __future__ import annotations

import numpy as np

from bayespool.measures import Success


def test_anything_relevant_in_the_top_n_is_a_success() -> None:
    levels = np.array([[0, 0, 1, 2], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    assert Success(3).evaluate(levels).tolist() == [1, 1, 0, 0]
    assert Success(4, rel=2).evaluate(levels).tolist() == [1, 0, 1, 0]
    assert Success(3).evaluate(levels[:, :0]).tolist() == [0, 0, 0, 0]
