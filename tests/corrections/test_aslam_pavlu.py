"""statAP: by hand, nearly unbiased over samples, of every kind of sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import toys
from each import cases
from published_sample import STAT_AP, write_sample

from bayespool import load_example, read_collection
from bayespool.collection import Collection
from bayespool.corrections import AsJudged, StatAP
from bayespool.pooling import StrategyPool
from bayespool.pooling.pools import with_strategy_pool

RANKINGS = {"a": {"1": "cdef"}, "u": {"1": "ycdef"}}


def sampled(judged: dict[str, int], strategy: str, budget: int) -> Collection:
    """Four documents of one run, a sample of which is asked for; y could not be sampled."""
    bare = toys.from_rankings(RANKINGS, {"1": judged}, pooled_run_ids=("a",), pool_depth=4)
    return bare.with_pool(bare.pooled, StrategyPool.of(bare, [0], strategy, budget))


def chosen_of(strategy: str, budget: int) -> list[str]:
    empty = sampled({"c": 1}, strategy, budget)
    return [empty.doc_id(pair) for pair in np.flatnonzero(empty.in_pool())]


def test_a_uniform_sample_and_another_judgment_by_hand() -> None:
    """Two of four are sampled and relevant: each counts 2, the pair 6. y is certain: it counts 1, a pair with
    it 2. So R is 5, and y stands at rank 1.
    """
    chosen = chosen_of("uniform", 2)
    first, second = sorted("ycdef".index(document) + 1 for document in chosen)
    collection = sampled(dict.fromkeys([*chosen, "y"], 1), "uniform", 2)
    (found,) = StatAP().estimate(collection, "u", "AP@5")
    expected = (1 + (2 + 2) / first + (2 + 2 + 6) / second) / 5
    assert found.per_topic[0, 0] == pytest.approx(expected, abs=1e-12)
    assert found.notes == ("",)


@pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
def test_values_on_prels_are_those_of_the_track(tmp_path: Path) -> None:
    _, prels, run = write_sample(tmp_path)
    (found,) = StatAP().estimate(read_collection(prels, run), "r", "AP@1000")
    assert found.per_topic[0] == pytest.approx(STAT_AP, abs=1e-11)


def test_strata_by_hand() -> None:
    """c and d (ranks 1 and 2) and e and f are a stratum each. One of each is judged: each counts 2, the pair
    of different strata 4, and R is 4.
    """
    strategy = "stratified(depths=(2,), rates=(1.0, 1.0))"
    chosen = chosen_of(strategy, 2)
    first, second = sorted("cdef".index(document) + 1 for document in chosen)
    assert first <= 2 < second
    (found,) = StatAP().estimate(sampled(dict.fromkeys(chosen, 1), strategy, 2), "a", "AP@4")
    assert found.per_topic[0, 0] == pytest.approx((2 / first + (2 + 4) / second) / 4, abs=1e-12)


@pytest.mark.slow
@cases("strategy", ["uniform", "stratified(depths=(3,), rates=(3.0, 1.0))"])
def test_nearly_unbiased_over_samples_of_the_example(strategy: str) -> None:
    """Means over 60 samples of three fifths of the pool."""
    example, runs = load_example(), ["east-1", "north-1", "south-1"]
    everything = with_strategy_pool(example, "uniform", int(example.in_pool().sum()))
    (all_judged,) = StatAP().estimate(everything, runs, "AP@10")
    (judged,) = AsJudged().estimate(example, runs, "AP@10")
    assert all_judged.value == pytest.approx(judged.value, abs=1e-12)
    samples = (with_strategy_pool(example, strategy, 700, random_seed=seed) for seed in range(60))
    found = [StatAP().estimate(sample, runs, "AP@10")[0].value for sample in samples]
    error = np.mean(found, axis=0) - all_judged.value
    assert np.abs(error).max() < 0.02
    assert np.std(found, axis=0).min() > 0.005
