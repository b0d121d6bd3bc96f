"""Move-to-front on runs worked out by hand."""

from __future__ import annotations

import numpy as np
import toys

from bayespool.pooling import MoveToFront
from bayespool.pooling.strategy import retrieved_by


def orders(rankings: dict[str, str], relevant: str) -> set[str]:
    """Every order that ties lead to."""
    every = sorted(set("".join(rankings.values())))
    collection = toys.from_rankings(
        {run: {"1": documents} for run, documents in rankings.items()},
        {"1": {document: int(document in relevant) for document in every}},
    )
    (topic,) = retrieved_by(collection, np.arange(len(rankings)))
    is_relevant = collection.relevance[topic.pair] > 0
    return {
        "".join(
            every[d] for d in MoveToFront().order(topic, is_relevant, len(topic), np.random.default_rng(seed))
        )
        for seed in range(60)
    }


def test_a_run_is_read_until_it_misses_then_the_one_with_fewest_misses() -> None:
    # a and y are relevant. From r1: a, stay, b misses; r2 has missed less: x; both missed once.
    found = orders({"r1": "abc", "r2": "xyz"}, "ay")
    assert found == {"abxcyz", "abxyzc", "xabcyz", "xabyzc"}


def test_a_known_document_counts_as_a_miss_of_the_run_it_is_read_from() -> None:
    # p misses in r1 and is then read in r2, so that r3 and r4, where a relevant one leads, go before r2's q.
    # r1 "p", r2 "pq", r3 "ax": after the first p any run without a miss goes next; q is never before a.
    found = orders({"r1": "p", "r2": "pq", "r3": "axy"}, "a")
    assert {order.index("a") < order.index("q") for order in found} == {True}
    assert {order[0] for order in found} == {"p", "a"}
