"""Bandits on runs worked out by hand, and against the same rules written plainly."""

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
from bayespool.pooling import EpsilonGreedy, MaxMean, Thompson, Ucb1Tuned, parse_strategy
from bayespool.pooling.bandits import Bandit
from bayespool.pooling.strategy import retrieved_by


def orders(strategy: Bandit, rankings: dict[str, str], relevant: str) -> set[str]:
    """Every order that ties and chance lead to."""
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
