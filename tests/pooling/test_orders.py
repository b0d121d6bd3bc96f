"""Orders of the strategies on rankings worked out by hand, and what holds for all of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import toys
from each import cases
from hypothesis import given, settings, strategies as st
from retrievals import order_of, some_rankings, topic_of, with_lots

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.pooling import STRATEGIES, FixedOrder, TopicRankings, parse_strategy
from bayespool.pooling.strategy import retrieved_by

every_strategy = cases("name", sorted(STRATEGIES))


@every_strategy
def test_a_smaller_budget_is_the_beginning_of_a_larger_one(name: str) -> None:
    collection = toys.toy_collection(scores=True)
    strategy = parse_strategy(name)
    for topic in retrieved_by(collection, np.flatnonzero(collection.pooled)):
        relevant = collection.relevance[topic.pair] > 0
        orders = [strategy.order(topic, relevant, n, np.random.default_rng(3)) for n in range(len(topic) + 1)]
        assert sorted(orders[-1].tolist()) == list(range(len(topic)))
        for n, order in enumerate(orders):
            assert order.tolist() == orders[-1][:n].tolist()


@every_strategy
def test_a_topic_without_documents_has_an_empty_order(name: str) -> None:
    nothing = TopicRankings(
        "1", np.empty(0, np.int32), np.full((2, 3), -1, np.int32), np.full((2, 3), np.nan), np.empty(0)
    )
    order = parse_strategy(name).order(nothing, np.empty(0, bool), 0, np.random.default_rng(1))
    assert order.tolist() == []


def test_a_ranking_with_a_gap_is_refused() -> None:
    document = np.array([[0, -1, 1], [1, 0, -1]], np.int32)
    with pytest.raises(InputError, match="topic 1: a ranking goes on after it has ended"):
        TopicRankings("1", np.array([3, 4], np.int32), document, None, np.array([0.1, 0.2]))


FIXED = sorted(name for name, entry in STRATEGIES.items() if issubclass(entry.make, FixedOrder))


@settings(max_examples=20)
@given(rankings=some_rankings(), data=st.data())
def test_the_order_of_runs_never_matters(rankings: dict[str, str], data: st.DataObject) -> None:
    topic = topic_of(rankings)
    runs = data.draw(st.permutations(range(len(rankings))))
    assert topic.score is not None
    shuffled = dataclasses.replace(topic, document=topic.document[runs], score=topic.score[runs])
    relevant, rng = np.zeros(len(topic), dtype=bool), np.random.default_rng(1)
    for name in FIXED:
        strategy = parse_strategy(f"{name}(p=0.5)" if name.startswith("rbp") else name)
        expected = strategy.order(topic, relevant, len(topic), rng).tolist()
        assert strategy.order(shuffled, relevant, len(topic), rng).tolist() == expected, name


def test_take_and_depth_go_by_best_rank_then_lot() -> None:
    topic = topic_of({"r1": "abc", "r2": "bda", "r3": "ec"})
    assert order_of("take", topic, "abcde") == "abecd"
    assert order_of("take", with_lots(topic, "edcba"), "abcde") == "ebadc"
    assert order_of("depth(k=1)", topic, "abcde") == "abecd"
    assert [parse_strategy(f"depth(k={k})").size(topic) for k in (1, 2, 9)] == [3, 5, 5]
    assert parse_strategy("take").size(topic) is None
    with pytest.raises(InputError, match="a depth of 0"):
        parse_strategy("depth(k=0)")


LEARNING = sorted(name for name, entry in STRATEGIES.items() if entry.make.is_adaptive)


@given(collection=toys.pooled_collections(), data=st.data())
def test_no_judgment_is_looked_at_but_of_what_is_judged(collection: Collection, data: st.DataObject) -> None:
    for topic in retrieved_by(collection, np.arange(len(collection.run_ids))):
        relevant = collection.relevance[topic.pair] > 0
        n = data.draw(st.integers(0, len(topic)))
        for name in LEARNING:
            strategy = parse_strategy(name)
            order = strategy.order(topic, relevant, n, np.random.default_rng(3))
            others = relevant.copy()
            others[np.setdiff1d(np.arange(len(topic)), order)] ^= True
            again = strategy.order(topic, others, n, np.random.default_rng(3))
            assert again.tolist() == order.tolist(), name
