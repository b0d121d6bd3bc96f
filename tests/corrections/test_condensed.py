"""The condensed list."""

from __future__ import annotations

import numpy as np
from corrected import close, topics_of

from bayespool.corrections import CondensedList


def test_condensed_list_of_the_toy() -> None:
    # s1: a h i b j, all judged; q0 v1 w0 p1 x? y?, of which v moves nowhere; c a d e?
    assert topics_of(CondensedList(), "P@2") == close(1, 1, 0)  # a1 h1, v1 p1
    assert topics_of(CondensedList()) == close(0.4, 0.4, 0)
    assert topics_of(CondensedList(), "P@3", "s1") == close(2 / 3, 1 / 3, 0)
    assert topics_of(CondensedList(), "RR@5", "s1") == close(1, 1 / 2, 0)
    assert topics_of(CondensedList(), "DCG@2") == close(1 + 1 / np.log2(3), 1 + 1 / np.log2(3), 0)
    assert topics_of(CondensedList(), "Judged@5") == close(2 / 5, 2 / 4, 0)  # nothing to condense


def test_condensed_list_of_measures_over_ideal_rankings() -> None:
    # u without its unjudged documents: a1 h1 of a1 c2 f1 h1, v1 p1 of p1 v1 r2, and nothing
    assert topics_of(CondensedList(), "AP@5") == close(2 / 4, 2 / 3, 0)
    assert topics_of(CondensedList(), "R@1") == close(1 / 4, 1 / 3, 0)
    two = 1 + 1 / np.log2(3)
    ideal = 2 + 1 / np.log2(3)
    assert topics_of(CondensedList(), "nDCG@2") == close(two / ideal, two / ideal, 0)
    assert topics_of(CondensedList(), "nDCG@5") == close(
        two / (ideal + 1 / 2 + 1 / np.log2(5)), two / (ideal + 1 / 2), 0
    )
