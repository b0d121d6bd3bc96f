"""Sums over samples: by hand, unbiased over seeds, within bounds, and refused without a sample."""

from __future__ import annotations

import numpy as np
import pytest
import toys
from corrected import close, estimate
from each import cases

from bayespool import leave_out, load_example
from bayespool.collection import Collection
from bayespool.corrections import HorvitzThompson
from bayespool.pooling import StrategyPool
from bayespool.pooling.pools import with_strategy_pool

# Two topics of four documents each that a and b retrieve; u is new, and y and z nobody else has.
RANKINGS = {"a": {"1": "cdef", "2": "cdef"}, "b": {"1": "fedc", "2": "fedc"}, "u": {"1": "cydz", "2": "fe"}}


def sampled(judged: dict[str, dict[str, int]], **more: object) -> Collection:
    """The toy with a pool of a uniform sample of half its documents, whatever is judged."""
    bare = toys.from_rankings(RANKINGS, judged, pooled_run_ids=("a", "b"), pool_depth=4)
    pooled = np.flatnonzero(bare.pooled)
    return bare.with_pool(bare.pooled, StrategyPool.of(bare, pooled, "uniform", 4))


def chosen_of(collection: Collection) -> list[set[str]]:
    """The sample by topic."""
    inside = collection.in_pool()
    return [
        {collection.doc_id(pair) for pair in np.flatnonzero(inside & (collection.pair_topic == topic))}
        for topic in range(len(collection.query_ids))
    ]


def judged_sample() -> Collection:
    """All documents of the sample relevant, and no other judged."""
    first, second = chosen_of(sampled({"1": {"c": 1}, "2": {"c": 1}}))
    return sampled({"1": dict.fromkeys(first, 1), "2": dict.fromkeys(second, 1)})


def test_each_document_of_a_sample_of_half_counts_twice() -> None:
    collection = judged_sample()
    first, second = chosen_of(collection)
    assert (len(first), len(second)) == (2, 2)
    inclusion = collection.pool.inclusion(collection, np.array([0, 1]))
    assert np.array_equal(inclusion, np.where(collection.judged, 0.5, np.nan), equal_nan=True)
    free = HorvitzThompson(within_bounds=False)
    (of_all,) = free.estimate(collection, None, "P@4")
    of_u = [2 * len(first & set("cd")) / 4, 2 * len(second & set("fe")) / 4]
    assert of_all.per_topic.tolist() == [close(1, 1), close(1, 1), close(*of_u)]
    (weighted,) = free.estimate(collection, "a", "DCG@4")
    discount = dict(zip("cdef", 1 / np.log2([2, 3, 4, 5]), strict=True))
    assert weighted.per_topic[0].tolist() == close(
        *(2 * sum(discount[d] for d in judged) for judged in (first, second))
    )


def test_a_judgment_that_is_not_of_the_sample_counts_once() -> None:
    first, second = chosen_of(judged_sample())
    other = next(iter(set("cdef") - first))
    judged = {"1": dict.fromkeys([*first, other], 1), "2": dict.fromkeys(second, 1)}
    found = estimate(HorvitzThompson(within_bounds=False), "P@4", "a", sampled(judged))
    assert found.per_topic[0].tolist() == close(5 / 4, 1)
    # T is 1 on both topics, and 1/4 too much: 3/4 + 1/2 + (1/2 + 1/2) · 3/4
    kept = estimate(HorvitzThompson(), "P@4", "a", sampled(judged))
    assert kept.value[0] == pytest.approx(1, abs=1e-12)
    assert kept.per_topic[0].tolist() == close(3 / 4 + 3 / 8, 1 / 2 + 3 / 8)
    assert kept.notes == ("cut to the upper bound; judgments that are not of the sample: 1",)


def test_what_could_not_be_sampled_is_told() -> None:
    collection = judged_sample()
    assert estimate(HorvitzThompson(), "P@4", "a", collection).notes == ("",)
    # y and z, on the first topic
    found = estimate(HorvitzThompson(), "P@4", "u", collection)
    assert found.notes == ("documents that could not be sampled count as not relevant: 2",)
    assert estimate(HorvitzThompson(), "P@1", "u", collection).notes == ("",)


@pytest.mark.slow
@cases("strategy", ["uniform", "stratified(depths=(3,), rates=(3.0, 1.0))"])
def test_unbiased_over_samples_of_the_example(strategy: str) -> None:
    """Means over 120 samples of two fifths of the pool, of runs whose top could all be sampled."""
    example = load_example()
    runs = ["east-1", "north-1", "south-1"]
    measures = ["P@10", "RBP(p=0.8)@10", "DCG@10", "AntiP@10"]
    truth = [estimate.value for estimate in HorvitzThompson().estimate(whole(example), runs, measures)]
    values = []
    for seed in range(1000, 1120):
        collection = with_strategy_pool(example, strategy, 500, random_seed=seed)
        found = HorvitzThompson(within_bounds=False).estimate(collection, runs, measures)
        values.append([estimate.value for estimate in found])
        assert all(estimate.notes == ("",) * 3 for estimate in found)
    error = np.std(values, axis=0) / np.sqrt(120)
    assert (np.abs(np.mean(values, axis=0) - truth) < 4 * error).all()
    assert (error > 0).all()


def whole(collection: Collection) -> Collection:
    """A sample of all documents."""
    return with_strategy_pool(collection, "uniform", int(collection.in_pool().sum()))


def test_leaving_out_asks_it_by_name_alone() -> None:
    """``"all"`` has it not; named on a depth pool it is NaN with a note, on a sample a number."""
    left = leave_out(load_example(), "P@10", estimators=["as-judged", "horvitz-thompson"])
    frame = left.to_frame().set_index("estimator")
    assert frame.loc["horvitz-thompson", "value"].isna().all()
    assert frame.loc["as-judged", "value"].notna().all()
    sample = with_strategy_pool(load_example(), "uniform", 900)
    again = leave_out(sample, "P@10", estimators=["as-judged", "horvitz-thompson"]).to_frame()
    assert again["value"].notna().all()
