"""Shares of topics, and what a strategy chooses."""

from __future__ import annotations

import numpy as np
import pytest
import toys
from hypothesis import given
from hypothesis import strategies as st

from bayespool.errors import InputError
from bayespool.pooling import choose, equal_shares


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 200))
def test_shares_add_up_and_are_as_even_as_topics_allow(sizes: list[int], budget: int) -> None:
    n = np.array(sizes)
    shares = equal_shares(n, budget)
    assert shares.sum() == min(budget, n.sum())
    assert (shares <= n).all()
    short = shares < n
    assert not short.any() or shares.max() <= shares[short].min() + 1


def test_take_chooses_the_best_ranks() -> None:
    # topic 1: rank 1 a b h, rank 2 b a h k; topic 2: q p, then r v; topic 3: a b c
    chosen = choose(toys.toy_collection(), "take", 9)
    ids = [toys.toy_collection().doc_id(pair) for pair in chosen.pair]
    assert set(ids[:3]) == set("abh")
    assert set(ids[3:5]) == set("qp")
    assert ids[5] in "rv"
    assert set(ids[6:]) == set("abc")
    assert chosen.start.tolist() == [0, 3, 6, 9]


def test_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="a budget of 0 documents"):
        choose(toys.toy_collection(), "take", 0)
