"""What a pool of several depths is to those who ask it."""

from __future__ import annotations

import numpy as np
import pytest
import toys
from depths import DEEP, collection_of
from toys import toy_collection

from bayespool.collection import Collection
from bayespool.collection.pools import DepthPool
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.evidence.bounds import unjudged_documents
from bayespool.experiments import leave_out
from bayespool.experiments.resampling import whole_pool
from bayespool.pooling import discover_pool


# What a pool of several depths is to those who ask it
def uneven_toy() -> Collection:
    return toy_collection().with_pool(toy_collection().pooled, DepthPool(3, (1, 2, 3, 3, 2)))


def test_pooled_estimand_goes_to_each_runs_own_depth() -> None:
    """Topic 1: d and e of n1 at 4 and 5, l, d and m of u at 2, 3 and 5 are unjudged."""
    even, uneven = toy_collection(), uneven_toy()
    counts = [
        judgment_counts(c, ["n1", "u"], cutoffs=5, estimand=estimand).n_unjudged[:, 0, 0].tolist()
        for c, estimand in ((even, "complete"), (even, "pooled"), (uneven, "complete"), (uneven, "pooled"))
    ]
    assert counts == [[2, 3], [0, 2], [2, 3], [0, 1]]
    run, topic, rank, pair = unjudged_documents(uneven, ["n1", "u"], cutoff=5, estimand="pooled")
    told = [
        (int(r), int(t), int(k), uneven.doc_id(p)) for r, t, k, p in zip(run, topic, rank, pair, strict=True)
    ]
    assert told == [(1, 0, 2, "l"), (1, 2, 1, "e"), (1, 2, 2, "f")]


def test_random_pools_go_down_to_the_shallowest_run() -> None:
    uneven = collection_of({**DEEP, "x": 4, "y": 4})
    uneven = discover_pool(uneven)
    whole = whole_pool(uneven, "pooled", None)
    assert whole.depth_of(np.arange(5)).tolist() == [4] * 5
    assert (whole.relevance >= 0).sum() == 5 * 4 * 10  # runs, ranks, topics
    with pytest.raises(InputError, match="pool depth 5 is not between 1 and 4"):
        whole_pool(uneven, "pooled", 5)
    everyone = whole_pool(uneven, "all", None)
    assert everyone.depth_of(np.arange(5)).tolist() == [10] * 5
    assert (everyone.relevance >= 0).sum() == 5 * 10 * 10


def test_truth_of_runs_of_several_depths() -> None:
    """r2 went to rank 2 and brought b, r1 did not: with r1 back alone nobody has judged its second document.

    The common depth is 2, so that a rule that looks at it alone would take b as r1's own.
    """
    collection = toys.from_rankings(
        {"r1": {"1": "ab"}, "r2": {"1": "cb"}, "s": {"1": "dz"}},
        {"1": {"a": 1, "b": 1, "c": 0, "d": 0, "z": 0}},
        {"r1": "r", "r2": "r", "s": "s"},
        pooled_run_ids=("r1", "r2", "s"),
        pool_depth={"r1": 1, "r2": 2, "s": 2},
    )
    for truth, expected in (("repooled", [0.5, 0.5, 0.0]), ("full", [1.0, 0.5, 0.0])):
        frame = leave_out(collection, "P@2", estimators="as-judged", truth=truth).to_frame()
        assert dict(zip(frame["run_id"], frame["truth"], strict=True)) == dict(
            zip(("r1", "r2", "s"), expected, strict=True)
        )
