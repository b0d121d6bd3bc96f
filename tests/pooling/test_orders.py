"""Orders of the strategies on rankings worked out by hand, and what holds for all of them."""

from __future__ import annotations

import numpy as np
import pytest
import toys
from hypothesis import given
from hypothesis import strategies as st

from bayespool.collection import Collection
from bayespool.pooling import STRATEGIES, parse_strategy, retrieved_by

every_strategy = pytest.mark.parametrize("name", sorted(STRATEGIES))


@every_strategy
def test_a_smaller_budget_is_the_beginning_of_a_larger_one(name: str) -> None:
    collection = toys.toy_collection()
    strategy = parse_strategy(name)
    for topic in retrieved_by(collection, np.flatnonzero(collection.pooled)):
        relevant = collection.relevance[topic.pair] > 0
        orders = [strategy.order(topic, relevant, n, np.random.default_rng(3)) for n in range(len(topic) + 1)]
        assert sorted(orders[-1].tolist()) == list(range(len(topic)))
        for n, order in enumerate(orders):
            assert order.tolist() == orders[-1][:n].tolist()


@every_strategy
@given(collection=toys.pooled_collections(), data=st.data())
def test_no_judgment_is_looked_at_but_of_what_is_judged(
    name: str, collection: Collection, data: st.DataObject
) -> None:
    strategy = parse_strategy(name)
    for topic in retrieved_by(collection, np.arange(len(collection.run_ids))):
        relevant = collection.relevance[topic.pair] > 0
        n = data.draw(st.integers(0, len(topic)))
        order = strategy.order(topic, relevant, n, np.random.default_rng(3))
        others = relevant.copy()
        others[np.setdiff1d(np.arange(len(topic)), order)] ^= True
        assert strategy.order(topic, others, n, np.random.default_rng(3)).tolist() == order.tolist()
