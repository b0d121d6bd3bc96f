"""The condensed list."""

from __future__ import annotations

from corrected import close, topics_of

from bayespool.corrections import CondensedList


def test_condensed_list_of_the_toy() -> None:
    assert topics_of(CondensedList(), "P@2") == close(1, 1, 0)  # a1 h1, v1 p1
    assert topics_of(CondensedList()) == close(0.4, 0.4, 0)
    assert topics_of(CondensedList(), "P@3", "s1") == close(2 / 3, 1 / 3, 0)
