"""Hedge on runs worked out by hand, and against its formulas on dense matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
import toys
from hypothesis import given, strategies as st

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.pooling import Hedge, TopicRankings, parse_strategy
from bayespool.pooling.strategy import retrieved_by

RNG = np.random.default_rng(0)


def test_the_run_that_is_right_is_followed() -> None:
    # At first a and e are worth the same, and the lot decides. All of r2 is relevant: it is read to its end.
    collection = toys.from_rankings(
        {"r1": {"1": "abcd"}, "r2": {"1": "efgh"}},
        {"1": {document: int(document in "efgh") for document in "abcdefgh"}},
    )
    firsts = set()
    for seed in range(20):
        (topic,) = retrieved_by(collection, np.arange(2), random_seed=seed)
        order = Hedge().order(topic, collection.relevance[topic.pair] > 0, 8, RNG)
        first = "a" if topic.lot[0] < topic.lot[4] else "e"
        firsts.add(first)
        expected = "aefghbcd" if first == "a" else "efghabcd"
        assert "".join("abcdefgh"[d] for d in order) == expected
    assert firsts == {"a", "e"}


def gains(topic: TopicRankings) -> np.ndarray:
    """Gain of each run from each document, shape (run, document)."""
    n = len(topic)
    gain = np.zeros((len(topic.document), n))
    for r, run in enumerate(topic.document):
        length = int((run >= 0).sum())
        left = [math.log(i) for i in range(length + 1, n + 1)]
        for d in range(n):
            rank = int(topic.rank[r, d])
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


def test_a_discount_that_is_none_is_refused() -> None:
    for beta in ("0.0", "1.0"):
        with pytest.raises(InputError):
            parse_strategy(f"hedge(beta={beta})")
