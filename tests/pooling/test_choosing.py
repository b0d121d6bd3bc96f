"""Shares of topics, and what a strategy chooses."""

from __future__ import annotations

import numpy as np
import pytest
import toys
from hypothesis import given, strategies as st
from retrievals import documents_of, some_rankings, topic_of

from bayespool.errors import InputError
from bayespool.pooling import Chosen, choose, equal_shares, parse_strategy


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 200))
def test_shares_add_up_and_are_as_even_as_topics_allow(sizes: list[int], budget: int) -> None:
    n = np.array(sizes)
    shares = equal_shares(n, budget)
    assert shares.sum() == min(budget, n.sum())
    assert (shares <= n).all()
    short = shares < n
    assert not short.any() or shares.max() <= shares[short].min() + 1


def chosen_ids(chosen: Chosen) -> list[str]:
    """Documents chosen for each topic of the toy, as one text per topic."""
    ids = [toys.toy_collection().doc_id(pair) for pair in chosen.pair]
    return ["".join(sorted(ids[i:j])) for i, j in zip(chosen.start, chosen.start[1:], strict=False)]


def test_of_a_size_and_a_budget_the_smaller_rules() -> None:
    collection = toys.toy_collection()
    assert len(choose(collection, "depth(k=1)", 100)) == 8
    assert np.diff(choose(collection, "depth(k=1)", 7).start).tolist() == [3, 2, 2]
    # two documents of topic 2 are within the depth, so that others get the rest
    assert np.diff(choose(collection, "depth(k=1)", 8).start).tolist() == [3, 2, 3]
    assert np.diff(choose(collection, "take", 8).start).tolist() == [3, 3, 2]


def test_what_nothing_can_be_chosen_by_is_refused() -> None:
    for name, budget, shares, message in (
        ("take", None, "equal", "'take' does not say how much to judge; give a budget"),
        ("take", 0, "equal", "a budget of 0 documents"),
        ("combsum", 5, "equal", "needs the scores of the runs"),
        *(
            (n, 5, "global", f"the values of '{n}' say nothing across")
            for n in ("borda", "condorcet", "rbp-c")
        ),
    ):
        with pytest.raises(InputError, match=message):
            choose(toys.toy_collection(), name, budget, shares=shares)  # type: ignore[arg-type]
    assert parse_strategy("combsum").needs_scores
    assert len(choose(toys.toy_collection(scores=True), "combsum", 5)) == 5


def test_global_shares_go_to_the_largest_values() -> None:
    collection = toys.toy_collection()
    chosen = choose(collection, "take", 8, shares="global")
    assert chosen_ids(chosen) == ["abh", "pq", "abc"]  # all of first rank, and no other
    assert len(choose(collection, "take", 9, shares="global")) == 9
    assert len(choose(collection, "take", 1000, shares="global")) == 11 + 9 + 5  # all there are
    assert chosen_ids(choose(collection, "depth(k=1)", shares="global")) == ["abh", "pq", "abc"]
    assert chosen_ids(choose(collection, "depth(k=1)", 9, shares="global")) == ["abh", "pq", "abc"]


def test_global_shares_by_a_sum_of_weights() -> None:
    # topic 1: a 20, b 13, h 12; topic 2: q 18, p 13; topic 3: a 22, c 14, b 12, all in sixteenths
    assert chosen_ids(choose(toys.toy_collection(), "rbp-a(p=0.5)", 4, shares="global")) == ["a", "q", "ac"]
    assert chosen_ids(choose(toys.toy_collection(), "rbp-a(p=0.5)", 6, shares="global")) == ["ab", "pq", "ac"]


@given(some_rankings())
def test_best_ranks_and_totals_are_those_of_the_rankings(rankings: dict[str, str]) -> None:
    topic = topic_of(rankings)
    ranks = [[r.index(d) + 1 for r in rankings.values() if d in r] for d in documents_of(rankings)]
    assert topic.best_rank.tolist() == [min(of_document) for of_document in ranks]
    weight = np.arange(1.0, topic.document.shape[1] + 1)
    assert topic.total(weight).tolist() == [sum(of_document) for of_document in ranks]
    assert sorted(topic.by_best_rank, key=lambda d: (topic.best_rank[d], topic.lot[d])) == list(
        topic.by_best_rank
    )
