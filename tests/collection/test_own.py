"""Runs that leave the pool, and which of them are scored."""

from __future__ import annotations

import numpy as np
from small import small

from bayespool.collection.own import find_targets


def test_a_named_run_outside_the_pool_is_scored_without_the_others_of_its_organization() -> None:
    collection = small()
    outside = np.array(collection.run_ids) == "north-1"
    collection = collection.with_pool(collection.pooled & ~outside, collection.pool)
    assert find_targets(collection, "north-1", unpool="north")[1] == ("north-1",)
    assert find_targets(collection, "north-2", unpool="north")[1] == ("north-2",)
    everything = set(find_targets(collection, None, unpool="north")[1]) - set(collection.given_run_ids)
    assert everything == {run for run in collection.run_ids if run.startswith("north-")}
