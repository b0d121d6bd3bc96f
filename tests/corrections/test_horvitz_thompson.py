"""Sums over samples: by hand, unbiased over seeds, within bounds, and refused without a sample."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import toys
from corrected import close, estimate
from each import cases
from real import read_real

from bayespool import leave_out, load_example
from bayespool.collection import UNJUDGED, Collection
from bayespool.collection.own import OwnJudgments
from bayespool.corrections import HorvitzThompson
from bayespool.corrections.base import NO_SAMPLE
from bayespool.evidence import score_bounds
from bayespool.pooling import StrategyPool, discover_pool
from bayespool.pooling.pools import with_strategy_pool

# Two topics of four documents each that a and b retrieve; u is new, and y and z nobody else has.
RANKINGS = {
    "a": {"1": "cdef", "2": "cdef"},
    "b": {"1": "fedc", "2": "fedc"},
    "u": {"1": "cydz", "2": "fe"},
}


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


def test_a_fully_judged_run_keeps_its_value() -> None:
    example = with_strategy_pool(load_example(), "uniform", 500)
    judged = dataclasses.replace(
        example,
        relevance=np.maximum(example.relevance, np.int16(0)),
        own=OwnJudgments(np.where(example.judged, np.int16(-1), np.int16(0)), ~example.judged),
    )
    for measure in ("P@10", "AntiP@10", "DCG@10"):
        (found,) = HorvitzThompson().estimate(judged, ["new-a", "north-1"], measure)
        low = score_bounds(judged, ["new-a", "north-1"], found.measure).low.means()
        assert found.value == pytest.approx(low, abs=1e-15)


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


@pytest.mark.slow
def test_nearly_unbiased_over_samples_of_trec8(collections: Path) -> None:
    """P@10 of every run, from one in twenty documents of the depth-100 pool."""
    trec8 = discover_pool(read_real(collections / "trec8-adhoc"), max_holes=0)
    runs = trec8.pooled_run_ids
    budget = int(trec8.in_pool().sum()) // 20
    (all_judged,) = HorvitzThompson().estimate(whole(trec8), runs, "P@10")
    found = []
    for seed in range(12):
        sample = with_strategy_pool(trec8, "uniform", budget, random_seed=seed)
        assert int(sample.judged.sum()) - int((trec8.judged & ~trec8.in_pool()).sum()) == budget
        found.append(HorvitzThompson().estimate(sample, runs, "P@10")[0].value)
    error = np.array(found).mean(axis=1) - all_judged.value.mean()
    assert abs(error.mean()) < 3 * error.std(ddof=1) / np.sqrt(12)
    assert abs(error.mean()) < 0.03
    assert all_judged.value.mean() > 0.3


def test_a_pool_without_chances_is_refused() -> None:
    example = load_example()
    for collection in (example, with_strategy_pool(example, "take", 500)):
        (found,) = HorvitzThompson().estimate(collection, ["new-a", "north-1"], "P@10")
        assert np.isnan(found.value).all()
        assert found.notes == (NO_SAMPLE, NO_SAMPLE)
    sample = with_strategy_pool(example, "active-sampling", 500)
    p10, ap, ndcg = HorvitzThompson().estimate(sample, "new-a", ["P@10", "AP@10", "nDCG@10"])
    assert np.isfinite(p10.value).all()
    for refused in (ap, ndcg):
        assert np.isnan(refused.value).all()
        assert refused.notes == ("defined for sums of gains that no ideal ranking divides",)


def test_a_sample_that_is_not_as_stated_has_no_value() -> None:
    """Of 400 documents 4 may be unjudged, or judged besides, and are told of; 5 may not."""
    made = with_strategy_pool(load_example(), "uniform", 400, random_seed=3)
    pooled = np.flatnonzero(made.pooled)
    inside, candidates = made.in_pool(), made.pool.candidates(made, pooled)  # type: ignore[attr-defined]

    def found(n_lost: int, n_more: int) -> tuple[float, str]:
        relevance = made.relevance.copy()
        relevance[np.flatnonzero(inside)[:n_lost]] = UNJUDGED
        relevance[np.flatnonzero(candidates & ~inside)[:n_more]] = 0
        (of_run,) = HorvitzThompson().estimate(
            dataclasses.replace(made, relevance=relevance), "north-1", "P@10"
        )
        return float(of_run.value[0]), of_run.notes[0]

    whole_sample, note = found(0, 0)
    assert note == ""
    value, note = found(0, 4)
    assert note == "judgments that are not of the sample: 4"
    assert value == pytest.approx(whole_sample, abs=1e-12)  # none is relevant
    value, note = found(4, 0)
    assert note == "documents of the sample without a judgment: 4 of 400"
    assert 0 < value <= whole_sample
    for lost, more in ((5, 0), (0, 5), (400, 0)):
        value, note = found(lost, more)
        assert np.isnan(value)
        assert note.startswith("the sample is not as stated: ")
    stated = made.with_pool(made.pooled, StrategyPool.of(made, pooled, "uniform", 300, run_depth=10))
    (other,) = HorvitzThompson().estimate(stated, ["new-a", "north-1"], "P@10")
    assert np.isnan(other.value).all()


def test_leaving_out_asks_it_by_name_alone() -> None:
    """``"all"`` has it not; named on a depth pool it is NaN with a note, on a sample a number."""
    left = leave_out(load_example(), "P@10", estimators=["as-judged", "horvitz-thompson"])
    frame = left.to_frame().set_index("estimator")
    assert frame.loc["horvitz-thompson", "value"].isna().all()
    assert frame.loc["as-judged", "value"].notna().all()
    sample = with_strategy_pool(load_example(), "uniform", 900)
    again = leave_out(sample, "P@10", estimators=["as-judged", "horvitz-thompson"]).to_frame()
    assert again["value"].notna().all()
