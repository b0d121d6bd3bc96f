"""Inferred average precision of collections whose pool is a sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
import toys
from real import read_real
from wide import wide

from bayespool import load_example, read_collection, score
from bayespool.collection import Collection
from bayespool.corrections import InferredAP
from bayespool.corrections.base import NO_SAMPLE
from bayespool.pooling import StrategyPool, discover_pool
from bayespool.pooling.pools import with_strategy_pool
from bayespool.pooling.sampled import infer_ap, sampled_states


def n_relevant(collection: Collection) -> np.ndarray:
    return np.bincount(collection.pair_topic[collection.relevance > 0], minlength=len(collection.query_ids))


@pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
def test_listed_documents_left_out_by_lot_are_trec_evals_sample() -> None:
    rng = np.random.default_rng(3)
    run = {q: {f"d{i:02d}": float(-i) for i in range(25)} for q in ("1", "2", "3")}
    qrels = {q: {f"d{i:02d}": int(rng.integers(-1, 2)) for i in range(0, 40, 2)} for q in run}
    collection = read_collection(qrels, {"r": run}, negative="sampled")
    (found,) = InferredAP().estimate(collection, "r", "AP@1000")
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"}).evaluate(run)
    assert found.per_topic[0].tolist() == pytest.approx([expected[q]["infAP"] for q in run], abs=1e-12)
    assert np.isnan(InferredAP().estimate(read_collection(qrels, {"r": run}), "r", "AP@9")[0].value).all()


@pytest.mark.slow
def test_infap_of_trec8_is_infer_aps(collections: Path) -> None:
    trec8 = discover_pool(read_real(collections / "trec8-adhoc"), max_holes=0)
    only = trec8.without_judgments(~trec8.in_pool())
    runs = only.pooled_run_ids
    true = wide(score(only, runs, "AP@1000", estimators="as-judged"))["as_judged"].to_numpy()
    for share, most in ((1, 1e-6), (5, 0.02)):
        sample = with_strategy_pool(only, "uniform", int(only.in_pool().sum()) // share)
        (found,) = InferredAP().estimate(sample, runs, "AP@1000")
        candidates = sample.pool.candidates(sample, np.flatnonzero(sample.pooled))
        top = sample.document[sample.run_index(runs)]
        state = sampled_states(top, sample.relevance > 0, sample.judged, candidates)
        assert found.per_topic == pytest.approx(infer_ap(state, n_relevant(sample)), abs=1e-12)
        assert abs((found.value - true).mean()) < most
    assert np.corrcoef(found.value, true)[0, 1] > 0.98


def test_other_judgments_are_a_stratum_of_their_own() -> None:
    """Two of four documents are sampled and relevant. A fifth, which could not be, is relevant as well."""
    rankings = {"a": {"1": "cdef"}, "u": {"1": "ycdef"}}

    def sampled(judged: dict[str, int]) -> Collection:
        bare = toys.from_rankings(rankings, {"1": judged}, pooled_run_ids=("a",), pool_depth=4)
        return bare.with_pool(bare.pooled, StrategyPool.of(bare, [0], "uniform", 2))

    empty = sampled({"c": 1})
    chosen = [empty.doc_id(pair) for pair in np.flatnonzero(empty.in_pool())]
    collection = sampled(dict.fromkeys([*chosen, "y"], 1))
    first, second = sorted("ycdef".index(document) + 1 for document in chosen)
    # y counts once, each of the sample twice. Above the first of these are y and documents of which nothing
    # is known, which are taken for a third relevant; above the second all that is known is relevant.
    at_first, at_second = (1 + 1 + (first - 2) / 3) / first, (1 + 1 + (second - 2)) / second
    (found,) = InferredAP().estimate(collection, "u", "AP@5")
    assert found.per_topic[0, 0] == pytest.approx((1 + 2 * at_first + 2 * at_second) / 5, abs=1e-4)


def test_refused_where_there_is_nothing_to_infer_from() -> None:
    example = load_example()
    (found,) = InferredAP().estimate(example, ["new-a"], "AP@10")
    assert np.isnan(found.value).all()
    assert found.notes == (NO_SAMPLE,)
    active = with_strategy_pool(example, "active-sampling", 500)
    assert InferredAP().estimate(active, ["new-a"], "AP@10")[0].notes == (
        "defined for uniform and stratified samples",
    )
    sample = with_strategy_pool(example, "uniform", 500)
    kinds = InferredAP().estimate(sample, ["new-a"], ["AP@10", "P@10", "AP(ideal='judged')@10"])
    assert [np.isnan(kind.value).item() for kind in kinds] == [False, True, True]
    assert kinds[2].notes == ("defined for AP over completed judgments",)
    other = sample.with_pool(
        sample.pooled, StrategyPool.of(sample, np.flatnonzero(sample.pooled), "uniform", 500, random_seed=2)
    )
    (misfit,) = InferredAP().estimate(other, ["new-a"], "AP@10")
    assert np.isnan(misfit.value).all()
    assert misfit.notes[0].startswith("the sample is not as stated: documents of the sample without a judgm")
    (noted,) = InferredAP().estimate(sample, ["new-b"], "AP@10")
    assert noted.notes == ("documents that could not be sampled count as not relevant: 44",)
