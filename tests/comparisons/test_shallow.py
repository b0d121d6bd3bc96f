"""Judgment sets that a shallower pool would have had."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import toy_collection

from bayespool.comparisons import judgment_ranks, judgment_subset
from bayespool.comparisons.reversing import unpooled_copies
from bayespool.errors import InputError
from bayespool.experiments import load_example

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


def test_judgments_are_tagged_with_their_smallest_rank_in_a_pooled_run() -> None:
    toy = toy_collection()
    ranks = judgment_ranks(toy)
    found = {(toy.query_ids[toy.pair_topic[p]], toy.doc_id(int(p))): int(ranks[p]) for p in range(len(ranks))}
    by_hand = {"a": 1, "b": 1, "c": 3, "f": 3, "h": 1, "i": 3, "k": 2, "j": 5, "d": 4, "g": 5}
    assert {doc: found["1", doc] for doc in by_hand} == by_hand
    assert found["1", "m"] == np.iinfo(np.int32).max  # only the new run has it
    assert [found["2", doc] for doc in "qprvwx"] == [1, 1, 2, 2, 3, 5]


def test_a_judgment_set_is_a_prefix_by_rank() -> None:
    toy = toy_collection(more={"1": {"m": 1}})  # judged, and no pooled run explains it
    ranks = judgment_ranks(toy)
    judged = toy.relevance >= 0
    for n in range(1, judged.sum() + 3):
        subset = judgment_subset(toy, n, random_seed=n)
        kept = subset.relevance >= 0
        assert kept.sum() == min(n, judged.sum())
        np.testing.assert_array_equal(subset.relevance[kept], toy.relevance[kept])
        if n < judged.sum():
            assert ranks[kept].max() <= ranks[judged & ~kept].min()
            assert subset.pool_depth == min(ranks[kept].max(), toy.pool_depth)
        assert subset.pooled_run_ids == toy.pooled_run_ids
    assert judgment_subset(toy, 10**6) is toy


@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(0, 5))
def test_judgment_sets_of_one_seed_are_nested(n: int, m: int, seed: int) -> None:
    few, many = (judgment_subset(load_example(), k, random_seed=seed) for k in sorted((n, m)))
    assert not ((few.relevance >= 0) & (many.relevance < 0)).any()


def test_judgments_have_no_order_without_a_pool() -> None:
    with pytest.raises(InputError, match="no run was pooled"):
        judgment_subset(toy_collection(pooled_run_ids=(), pool_depth=0), 5)
    with pytest.raises(InputError, match="too few judgments: 0"):
        judgment_subset(toy_collection(), 0)


def test_copies_of_pooled_runs_are_not_pooled() -> None:
    example = load_example()
    copied, names = unpooled_copies(example, ["new-a", "north-1", "lake-2"])
    assert names == ("new-a", "north-1 (scored)", "lake-2 (scored)")
    assert copied.run_ids[:-2] == example.run_ids
    assert copied.pooled_run_ids == example.pooled_run_ids
    index, of = copied.run_index(names[1:]), example.run_index(["north-1", "lake-2"])
    np.testing.assert_array_equal(copied.document[index], example.document[of])
    np.testing.assert_array_equal(copied.organization[index], example.organization[of])
    assert unpooled_copies(example, ("new-a", "new-b")) == (example, ("new-a", "new-b"))
    assert unpooled_copies(copied, ["north-1"])[1] == ("north-1 (scored)'",)
