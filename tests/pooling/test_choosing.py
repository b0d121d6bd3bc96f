"""Shares of topics, orders and what holds for all of them, where topics end, who contributed what."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import toys
from each import cases
from hypothesis import given, settings, strategies as st
from retrievals import documents_of, order_of, some_rankings, topic_of, with_lots
from toys import toy_collection

from bayespool import compare_budgets, load_example
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.pooling import (
    STRATEGIES,
    FixedOrder,
    Membership,
    PoolSelection,
    TopicRankings,
    choose,
    equal_shares,
    estimated_recall,
    parse_stopping_rule,
    parse_strategy,
    stops_at,
)
from bayespool.pooling.strategy import retrieved_by
from bayespool.scoring import DocumentsToJudge


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 200))
def test_shares_add_up_and_are_as_even_as_topics_allow(sizes: list[int], budget: int) -> None:
    n = np.array(sizes)
    shares = equal_shares(n, budget)
    assert shares.sum() == min(budget, n.sum())
    assert (shares <= n).all()
    short = shares < n
    assert not short.any() or shares.max() <= shares[short].min() + 1


def chosen_ids(chosen: PoolSelection) -> list[str]:
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
        ("take", 0, "equal", "budget cannot be 0; at least 1"),
        ("combsum", 5, "equal", "needs the scores of the runs"),
        ("borda", 5, "global", "values of 'borda' are not comparable across"),
        ("condorcet", 5, "global", "values of 'condorcet' are not comparable across"),
        ("rbp-c", 5, "global", "values of 'rbp-c' are not comparable across"),
    ):
        with pytest.raises(InputError, match=message):
            choose(toys.toy_collection(), name, budget, shares=shares)  # type: ignore[arg-type]
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


def pairs_of(documents: str, topic: int) -> list[int]:
    collection = toy_collection()
    on_topic = np.flatnonzero(collection.pair_topic == topic)
    return [int(p) for p in on_topic if collection.doc_id(int(p)) in documents]


def test_contributions_by_hand() -> None:
    # of a b f on topic 1 and q v on topic 2, down to rank 3: n1 has a b q, n2 a b f q, s1 a q v, s2 none
    collection = toy_collection()
    pooled = np.zeros(len(collection.relevance), dtype=bool)
    pooled[pairs_of("abf", 0) + pairs_of("qv", 1)] = True
    index = collection.run_index(["n1", "n2", "s1", "s2"])
    runs = Membership.of(collection, index, ["n1", "n2", "s1", "s2"], 3).contributions(collection, pooled)
    assert runs.n_documents.tolist() == [3, 4, 3, 0]
    assert runs.n_alone.tolist() == [0, 1, 1, 0]  # f and v
    assert runs.n_of_topic.tolist() == [3, 2, 0]
    names = ["north", "north", "south", "south"]
    of_two = Membership.of(collection, index, names, 3).contributions(collection, pooled)
    assert of_two.names == ("north", "south")
    assert of_two.n_runs.tolist() == [2, 2]
    assert of_two.n_documents.tolist() == [4, 3]
    assert of_two.n_alone.tolist() == [2, 1]  # b f and v


every_strategy = cases("name", sorted(STRATEGIES))


@every_strategy
def test_a_smaller_budget_is_the_beginning_of_a_larger_one(name: str) -> None:
    collection, strategy = toys.toy_collection(scores=True), parse_strategy(name)
    for topic in retrieved_by(collection, np.flatnonzero(collection.pooled)):
        relevant = collection.relevance[topic.pair] > 0
        orders = [strategy.order(topic, relevant, n, np.random.default_rng(3)) for n in range(len(topic) + 1)]
        assert sorted(orders[-1].tolist()) == list(range(len(topic)))
        for n, order in enumerate(orders):
            assert order.tolist() == orders[-1][:n].tolist()
    nothing = np.full((2, 3), -1, np.int32), np.full((2, 3), np.nan)
    topic = TopicRankings("1", np.empty(0, np.int32), *nothing, np.empty(0))
    assert strategy.order(topic, np.empty(0, bool), 0, np.random.default_rng(1)).tolist() == []


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
    with pytest.raises(InputError, match="depth: k cannot be 0"):
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


RELEVANCE = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1], dtype=np.int16)


def test_a_rule_stops_where_it_says() -> None:
    for text, expected in (
        ("nonrelevant(n=2)", 6),
        ("nonrelevant(n=4)", 11),
        ("nonrelevant(n=5)", 12),  # never: all are judged
        ("yield(share=0.5, window=4)", 8),  # of the last four 3 2 2 2, then 1
        ("yield(share=0.5, window=3)", 6),  # 2 2 2 1
        ("yield(share=0.1, window=13)", 12),
        # found 1 2 3 3 3 4 4 4 …, and of the last two 1 1 2 1 0: 3 + 0 expected at the sixth
        ("recall(target=0.9, window=2)", 6),
        # of the last four, with 8 to 4 left: 3/9, 3/6.5, 3/6, 4/6.5, 4/5
        ("recall(target=0.6, window=4)", 7),
        ("recall(target=0.8, window=4)", 8),
    ):
        assert stops_at(parse_stopping_rule(text), RELEVANCE, 12) == expected, text


def test_a_rule_knows_what_is_judged_and_what_counts_as_relevant() -> None:
    rule = parse_stopping_rule("nonrelevant(n=2)")
    for levels, most, rel, expected in (
        ([1, 0, -1, 0, 0], 9, 1, 5),
        ([1, 0, 0, -1, 0], 9, 1, 3),
        ([], 9, 1, 0),
        ([2, 1, 1, 2], 4, 1, 4),
        ([2, 1, 1, 2], 4, 2, 3),
    ):
        assert stops_at(rule, np.array(levels, dtype=np.int16), most, rel=rel) == expected, levels


def test_estimated_recall_is_what_is_found_of_that_and_what_is_expected() -> None:
    found = estimated_recall(RELEVANCE > 0, 20, window=4)
    assert np.isnan(found[:3]).all()
    assert found[3:5].tolist() == pytest.approx([3 / (3 + 16 * 3 / 4), 3 / (3 + 15 / 2)])
    assert found[10] == 1  # nothing relevant among the last four
    assert np.isnan(estimated_recall(RELEVANCE < 0, 20, window=4)).all()
    assert estimated_recall(RELEVANCE > 0, 12, window=4)[-1] == 1  # nothing is left


def test_what_is_no_rule_is_refused() -> None:
    for text, message in (
        ("knee", "no stopping rule 'knee'; known: nonrelevant, recall, yield"),
        ("nonrelevant(n=0)", "n cannot be 0; at least 1"),
        ("recall(target=1.5)", "target cannot be 1.5; above 0 and at most 1"),
        ("yield(share=0)", "share cannot be 0"),
    ):
        with pytest.raises(InputError, match=message):
            parse_stopping_rule(text)


def test_a_list_says_where_topics_ended() -> None:
    example = load_example()
    chosen = choose(example, "take", 900, depth=10, stop="recall(target=0.5)")
    documents = DocumentsToJudge(example, chosen)
    assert documents.notes() == ("topics end by recall(target=0.5, window=50); the budget was 900",)
    topics = documents.to_frame("topics").set_index("query_id")
    pair = chosen.pair[: chosen.start[1]]
    assert topics.loc["701", "n_documents"] == len(pair)
    assert topics.loc["701", "n_relevant"] == (example.relevance[pair] > 0).sum()
    assert topics["n_documents"].sum() == len(chosen)
    plain = DocumentsToJudge(example, choose(example, "take", 100))
    assert "topics" not in [table.name for table in plain.tables()]


def test_a_sample_has_no_stopping_rule() -> None:
    with pytest.raises(InputError, match="is a random sample; a stopping rule would bias it"):
        choose(load_example(), "uniform", 100, stop="nonrelevant")
    with pytest.raises(InputError, match="estimators need to know the pool"):
        compare_budgets(
            load_example(), "P@10", strategies="take", stop="nonrelevant", estimators="background"
        )


def test_budgets_are_what_is_judged_at_most() -> None:
    example = load_example()
    asked = {"strategies": "take", "budgets": [200, 600]}
    plain, ended = (
        compare_budgets(example, "P@10", **asked, **more).to_frame("pools")["n_documents"].tolist()
        for more in ({}, {"stop": "nonrelevant(n=5)"})
    )
    assert plain == [200, 600]
    chosen = choose(example, "take", 600, depth=10, stop="nonrelevant(n=5)")
    assert ended[1] == len(chosen) < 600
    assert ended[0] <= 200
