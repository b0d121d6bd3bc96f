"""Shares of topics, and what a strategy chooses."""

from __future__ import annotations

import numpy as np
import pytest
import toys
from hypothesis import given, strategies as st
from retrievals import documents_of, some_rankings, topic_of

from bayespool.errors import InputError
from bayespool.pooling import Chosen, choose, equal_shares, parse_strategy
from bayespool.pooling.strategy import retrieved_by


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


def chosen_ids(chosen: Chosen) -> list[str]:
    """Documents chosen for each topic of the toy, as one text per topic."""
    ids = [toys.toy_collection().doc_id(pair) for pair in chosen.pair]
    return ["".join(sorted(ids[i:j])) for i, j in zip(chosen.start, chosen.start[1:], strict=False)]


# Strategies with a size of their own


def test_a_depth_needs_no_budget() -> None:
    collection = toys.toy_collection()
    chosen = choose(collection, "depth(k=3)")
    assert chosen.budget is None
    assert sorted(chosen.pair) == np.flatnonzero(collection.in_pool()).tolist()
    assert chosen_ids(choose(collection, "depth(k=1)")) == ["abh", "pq", "abc"]


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


# Shares by value


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


def test_a_global_budget_is_the_beginning_of_a_larger_one() -> None:
    collection = toys.toy_collection(scores=True)
    for name in ("take", "rrf", "combsum", "rbp-b"):
        before: set[int] = set()
        for budget in (1, 2, 3, 5, 8, 9, 13, 20, 24, 25, 26):
            chosen = choose(collection, name, budget, shares="global")
            assert len(chosen) == len(set(chosen.pair)) == min(budget, 25), (name, budget)
            assert before < set(chosen.pair.tolist()) or budget > 25, (name, budget)
            before = set(chosen.pair.tolist())


# What a strategy knows


def test_scores_are_handed_on_and_cut() -> None:
    collection = toys.toy_collection(scores=True)
    first, second, _ = retrieved_by(collection, collection.run_index(["s2", "n2"]), depth=3)
    assert np.array_equal(first.scores(), [[2, 1, np.nan], [3, 3, 2.5]], equal_nan=True)
    assert np.array_equal(second.scores(), [[np.nan] * 3, [4, 3, 2]], equal_nan=True)
    assert second.length.tolist() == [0, 3]


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
