"""Bandits, move-to-front and hedge on runs worked out by hand, and against the same rules written plainly."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import toys
from each import cases
from hypothesis import given, strategies as st
from trec_files import refused

from bayespool.collection import Collection
from bayespool.pooling import (
    EpsilonGreedy,
    Hedge,
    MaxMean,
    MoveToFront,
    Strategy,
    Thompson,
    TopicRankings,
    Ucb1Tuned,
    parse_strategy,
)
from bayespool.pooling.bandits import Bandit
from bayespool.pooling.strategy import retrieved_by


def orders(strategy: Strategy, rankings: dict[str, str], relevant: str) -> set[str]:
    """Every order that ties and probability lead to."""
    every = sorted(set("".join(rankings.values())))
    collection = toys.from_rankings(
        {run: {"1": documents} for run, documents in rankings.items()},
        {"1": {document: int(document in relevant) for document in every}},
    )
    (topic,) = retrieved_by(collection, np.arange(len(rankings)))
    is_relevant = collection.relevance[topic.pair] > 0
    return {
        "".join(every[d] for d in strategy.order(topic, is_relevant, len(topic), np.random.default_rng(seed)))
        for seed in range(100)
    }


def test_orders_by_hand() -> None:
    for strategy, rankings, relevant, expected in (
        # r1 first: a ⅔, b ½, then r1 and r2 are equal. r2 first: x ⅓, a, b, c, and y past the known a.
        (MaxMean(counts="drawn"), {"r1": "abc", "r2": "xay"}, "a", "abcxy abxcy xabcy"),
        # a raises both runs to ⅔, whichever brings it; b and x lower them to ½
        (MaxMean(), {"r1": "abc", "r2": "xay"}, "a", "abxcy abxyc axbcy axbyc xabcy xabyc"),
        # after c the mean of r1 is ⅔, still above the ½ of a run that nothing was drawn from
        (EpsilonGreedy(epsilon=0.0), {"r1": "abcd", "r2": "xyz"}, "ab", "abcdxyz xabcdyz"),
        (EpsilonGreedy(epsilon=1.0), {"r1": "ab", "r2": "x"}, "a", "abx axb xab"),
        (EpsilonGreedy(epsilon=0.0), {"r1": "ab", "r2": "x"}, "a", "abx xab"),
        # both once; r1 1.42 against 0.42: b; r1 0.5 + 0.37 against 0.52: c
        (Ucb1Tuned(), {"r1": "abc", "r2": "xyz"}, "a", "axbcyz xabcyz"),
    ):
        assert orders(strategy, rankings, relevant) == set(expected.split()), strategy


Value = Callable[[int, int, int, np.random.Generator], float]


def plain_order(
    runs: list[list[int]], relevant: list[bool], n: int, rng: np.random.Generator, value: Value, whole: bool
) -> list[int]:
    """The first n documents, counts taken anew at each step; value of hits, misses and draws in all."""
    order: list[int] = []
    drawn: list[list[int]] = [[] for _ in runs]
    while len(order) < n:
        values: dict[int, float] = {}
        arm = -1
        n_equal = 0
        for r, run in enumerate(runs):
            if len(drawn[r]) < len(run):
                counted = [d for d in order if d in run] if whole else drawn[r]
                hits = sum(relevant[d] for d in counted)
                values[r] = value(hits, len(counted) - hits, sum(map(len, drawn)), rng)
                if arm < 0 or values[r] > values[arm]:
                    arm, n_equal = r, 1
                elif values[r] == values[arm]:
                    n_equal += 1
                    arm = r if rng.random() * n_equal < 1 else arm
        drawn[arm].append(runs[arm][len(drawn[arm])])
        if drawn[arm][-1] not in order:
            order.append(drawn[arm][-1])
    return order


def upper_bound(hits: int, misses: int, n: int, rng: np.random.Generator) -> float:
    m = hits + misses
    if m == 0:
        return math.inf
    x = hits / m
    return x + math.sqrt(math.log(n) / m * min(1 / 4, x - x * x + math.sqrt(2 * math.log(n) / m)))


PLAIN: list[tuple[Bandit, Value, bool]] = [
    (MaxMean(), lambda h, m, n, rng: (1 + h) / (2 + h + m), True),
    (MaxMean(counts="drawn"), lambda h, m, n, rng: (1 + h) / (2 + h + m), False),
    (Thompson(), lambda h, m, n, rng: rng.beta(1 + h, 1 + m), True),
    (Thompson(counts="drawn"), lambda h, m, n, rng: rng.beta(1 + h, 1 + m), False),
    (Ucb1Tuned(), upper_bound, False),
]


@cases(("strategy", "value", "whole"), PLAIN)
@given(collection=toys.pooled_collections(), seed=st.integers(0, 9))
def test_orders_are_those_of_the_plain_rule(
    strategy: Bandit, value: Value, whole: bool, collection: Collection, seed: int
) -> None:
    for topic in retrieved_by(collection, np.arange(len(collection.run_ids))):
        relevant = collection.relevance[topic.pair] > 0
        runs = [[int(d) for d in run if d >= 0] for run in topic.document]
        expected = plain_order(runs, relevant.tolist(), len(topic), np.random.default_rng(seed), value, whole)
        order = strategy.order(topic, relevant, len(topic), np.random.default_rng(seed))
        assert order.tolist() == expected


def test_falling_epsilon_is_that_of_the_plain_rule() -> None:
    """How often the second draw of two runs leaves the better one: half of ε, which is c · 2 / (d² · 2)."""
    collection = toys.from_rankings({"r1": {"1": "ab"}, "r2": {"1": "xy"}}, {"1": dict.fromkeys("abxy", 1)})
    (topic,) = retrieved_by(collection, np.arange(2))
    strategy, left, n_seeds = EpsilonGreedy(c=0.3, d=1.0), 0, 3000
    for seed in range(n_seeds):
        first, second = strategy.order(topic, np.ones(4, dtype=bool), 2, np.random.default_rng(seed)).tolist()
        left += (first < 2) != (second < 2)
    assert left / n_seeds == pytest.approx(0.15, abs=4 * math.sqrt(0.15 * 0.85 / n_seeds))


def test_settings_that_are_none_are_refused() -> None:
    for text in ("epsilon-greedy(epsilon=1.5)", "epsilon-greedy(c=0.0)", "max-mean(counts='x')"):
        refused(parse_strategy, text)
    for beta in ("0.0", "1.0"):
        refused(parse_strategy, f"hedge(beta={beta})")


def test_a_run_is_read_until_it_misses_then_the_one_with_fewest_misses() -> None:
    # a and y are relevant. From r1: a, stay, b misses; r2 has missed less: x; both missed once.
    found = orders(MoveToFront(), {"r1": "abc", "r2": "xyz"}, "ay")
    assert found == {"abxcyz", "abxyzc", "xabcyz", "xabyzc"}


def test_a_known_document_counts_as_a_miss_of_the_run_it_is_read_from() -> None:
    # p misses in r1 and is then read in r2, so that r3 and r4, where a relevant one leads, go before r2's q.
    # r1 "p", r2 "pq", r3 "ax": after the first p any run without a miss goes next; q is never before a.
    found = orders(MoveToFront(), {"r1": "p", "r2": "pq", "r3": "axy"}, "a")
    assert {order.index("a") < order.index("q") for order in found} == {True}
    assert {order[0] for order in found} == {"p", "a"}


RNG = np.random.default_rng(0)


def test_the_run_that_is_right_is_followed() -> None:
    # At first a and e are worth the same, and the lot decides. All of r2 is relevant: it is read to its end.
    collection = toys.from_rankings(
        {"r1": {"1": "abcd"}, "r2": {"1": "efgh"}}, {"1": dict.fromkeys("abcd", 0) | dict.fromkeys("efgh", 1)}
    )
    found = set()
    for seed in range(20):
        (topic,) = retrieved_by(collection, np.arange(2), random_seed=seed)
        order = Hedge().order(topic, collection.relevance[topic.pair] > 0, 8, RNG)
        found.add((topic.lot[0] < topic.lot[4], "".join("abcdefgh"[d] for d in order)))
    assert found == {(True, "aefghbcd"), (False, "efghabcd")}


def gains(topic: TopicRankings) -> np.ndarray:
    """Gain of each run from each document, shape (run, document)."""
    n, gain = len(topic), np.zeros((len(topic.document), len(topic)))
    for r, d in np.ndindex(gain.shape):
        length, rank = int((topic.document[r] >= 0).sum()), int(topic.rank[r, d])
        left = [math.log(i) for i in range(length + 1, n + 1)]
        gain[r, d] = math.log(n) - (math.log(rank) if rank else sum(left) / len(left))
    return gain


@given(collection=toys.pooled_collections(), beta=st.sampled_from([0.1, 0.5, 0.9]), seed=st.integers(0, 9))
def test_each_step_takes_the_largest_weighted_gain(collection: Collection, beta: float, seed: int) -> None:
    for topic in retrieved_by(collection, np.arange(len(collection.run_ids)), random_seed=seed):
        relevant = collection.relevance[topic.pair] > 0
        order = Hedge(beta=beta).order(topic, relevant, len(topic), RNG).tolist()
        gain = gains(topic)
        loss = np.zeros(len(gain))
        left = list(range(len(topic)))
        for document in order:
            weight = beta**loss / (beta**loss).sum()
            value = weight @ gain
            equal = [d for d in left if value[d] > max(value[left]) - 1e-9]
            assert document == min(equal, key=lambda d: (topic.best_rank[d], topic.lot[d]))
            loss += 0.5 * gain[:, document] * (-1 if relevant[document] else 1)
            left.remove(document)
