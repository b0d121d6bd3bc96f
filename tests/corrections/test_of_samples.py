"""Corrections of pools that are samples: by hand, other software's values, unbiased over seeds, refusals."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
import toys
from corrected import INF_AP, INF_NDCG, STAT_AP, close, estimate, write_sample
from each import cases
from real import read_real
from wide import wide

from bayespool import build_collection, leave_out, load_example, read_collection, score
from bayespool.collection import Collection
from bayespool.corrections import AsJudged, HorvitzThompson, InferredAP, InferredNDCG, StatAP
from bayespool.corrections.base import NO_SAMPLE
from bayespool.pooling import PoolPlan, StrategyPool, describe_pool, discover_pool
from bayespool.pooling.pools import with_strategy_pool
from bayespool.pooling.sampling import infer_ap, sampled_states
from bayespool.reading import qrels_from_frame

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
STRATEGIES = ["uniform", "stratified(depths=(3,), rates=(3.0, 1.0))"]
# Two topics of four documents each that a and b retrieve; u is new, and y and z nobody else has.
RANKINGS = {"a": {"1": "cdef", "2": "cdef"}, "b": {"1": "fedc", "2": "fedc"}, "u": {"1": "cydz", "2": "fe"}}


def sampled(judged: dict[str, dict[str, int]]) -> Collection:
    """The toy with a pool of a uniform sample of half its documents, whatever is judged."""
    bare = toys.from_rankings(RANKINGS, judged, pooled_run_ids=("a", "b"), pool_depth=4)
    return bare.with_pool(bare.pooled, StrategyPool.of(bare, np.flatnonzero(bare.pooled), "uniform", 4))


def judged_sample() -> tuple[Collection, set[str], set[str]]:
    """All documents of the sample relevant, and no other judged; and which these are by topic."""
    empty = sampled({"1": {"c": 1}, "2": {"c": 1}})
    first, second = (
        {empty.doc_id(pair) for pair in np.flatnonzero(empty.in_pool() & (empty.pair_topic == topic))}
        for topic in (0, 1)
    )
    return sampled({"1": dict.fromkeys(first, 1), "2": dict.fromkeys(second, 1)}), first, second


def one_topic(strategy: str, *others: str) -> tuple[Collection, list[str]]:
    """Four documents of one run, of which two are sampled, and relevant; y, which u has, could not be."""

    def of(judged: dict[str, int]) -> Collection:
        rankings = {"a": {"1": "cdef"}, "u": {"1": "ycdef"}}
        bare = toys.from_rankings(rankings, {"1": judged}, pooled_run_ids=("a",), pool_depth=4)
        return bare.with_pool(bare.pooled, StrategyPool.of(bare, [0], strategy, 2))

    empty = of({"c": 1})
    chosen = [empty.doc_id(pair) for pair in np.flatnonzero(empty.in_pool())]
    return of(dict.fromkeys([*chosen, *others], 1)), chosen


def whole(collection: Collection) -> Collection:
    """A sample of all documents."""
    return with_strategy_pool(collection, "uniform", int(collection.in_pool().sum()))


def test_each_document_of_a_sample_of_half_counts_twice() -> None:
    collection, first, second = judged_sample()
    assert (len(first), len(second)) == (2, 2)
    inclusion = collection.pool.inclusion(collection, np.array([0, 1]))
    assert np.array_equal(inclusion, np.where(collection.judged, 0.5, np.nan), equal_nan=True)
    free = HorvitzThompson(within_bounds=False)
    (of_all,) = free.estimate(collection, None, "P@4")
    of_u = [2 * len(first & set("cd")) / 4, 2 * len(second & set("fe")) / 4]
    assert of_all.per_topic.tolist() == [close(1, 1), close(1, 1), close(*of_u)]
    (weighted,) = free.estimate(collection, "a", "DCG@4")
    discount = dict(zip("cdef", 1 / np.log2([2, 3, 4, 5]), strict=True))
    expected = (2 * sum(discount[d] for d in judged) for judged in (first, second))
    assert weighted.per_topic[0].tolist() == close(*expected)


def test_a_judgment_that_is_not_of_the_sample_counts_once() -> None:
    _, first, second = judged_sample()
    judged = {"1": dict.fromkeys([*first, min(set("cdef") - first)], 1), "2": dict.fromkeys(second, 1)}
    found = estimate(HorvitzThompson(within_bounds=False), "P@4", "a", sampled(judged))
    assert found.per_topic[0].tolist() == close(5 / 4, 1)
    # T is 1 on both topics, and 1/4 too much: 3/4 + 1/2 + (1/2 + 1/2) · 3/4
    kept = estimate(HorvitzThompson(), "P@4", "a", sampled(judged))
    assert kept.per_topic[0].tolist() == close(3 / 4 + 3 / 8, 1 / 2 + 3 / 8)
    assert kept.notes == (("cut to the upper bound", "judgments that are not of the sample: 1"),)


@pytest.mark.slow
@cases("strategy", STRATEGIES)
def test_unbiased_over_samples_of_the_example(strategy: str) -> None:
    """Means over 120 samples of two fifths of the pool, of runs whose top could all be sampled; statAP, whose
    pairs have probabilities of their own, is nearly so.
    """
    example, runs = load_example(), ["east-1", "north-1", "south-1"]
    measures = ["P@10", "RBP(p=0.8)@10", "DCG@10", "AntiP@10"]
    truth = [one.value for one in HorvitzThompson().estimate(whole(example), runs, measures)]
    (all_judged,), (judged,) = (
        StatAP().estimate(whole(example), runs, "AP@10"),
        AsJudged().estimate(example, runs, "AP@10"),
    )
    assert all_judged.value == pytest.approx(judged.value, abs=1e-12)
    values, of_stat_ap = [], []
    for seed in range(1000, 1120):
        collection = with_strategy_pool(example, PoolPlan.of(strategy, 500, random_seed=seed))
        found = HorvitzThompson(within_bounds=False).estimate(collection, runs, measures)
        values.append([one.value for one in found])
        assert all(one.notes == ((),) * 3 for one in found)
        of_stat_ap.append(StatAP().estimate(collection, runs, "AP@10")[0].value)
    error = np.std(values, axis=0) / np.sqrt(120)
    assert (np.abs(np.mean(values, axis=0) - truth) < 4 * error).all()
    assert (error > 0).all()
    assert np.abs(np.mean(of_stat_ap, axis=0) - all_judged.value).max() < 0.03
    assert np.std(of_stat_ap, axis=0).min() > 0.005


def test_leaving_out_asks_it_by_name_alone() -> None:
    """``"all"`` has it not; named on a depth pool it is NaN with a note, on a sample a number."""
    asked = ["as-judged", "horvitz-thompson"]
    frame = leave_out(load_example(), "P@10", estimators=asked).to_frame().set_index("estimator")
    assert frame.loc["horvitz-thompson", "value"].isna().all()
    assert frame.loc["as-judged", "value"].notna().all()
    sample = with_strategy_pool(load_example(), "uniform", 900)
    assert leave_out(sample, "P@10", estimators=asked).to_frame()["value"].notna().all()


def test_a_uniform_sample_and_another_judgment_by_hand() -> None:
    """Two of four are sampled and relevant: each counts 2, the pair 6. y is certain: it counts 1, a pair with
    it 2. So R is 5, and y stands at rank 1.
    """
    collection, chosen = one_topic("uniform", "y")
    first, second = sorted("ycdef".index(document) + 1 for document in chosen)
    found = estimate(StatAP(), "AP@5", "u", collection)
    assert found.value[0] == pytest.approx((1 + (2 + 2) / first + (2 + 2 + 6) / second) / 5, abs=1e-12)
    assert found.notes == ((),)


def test_strata_by_hand() -> None:
    """c and d (ranks 1 and 2) and e and f are a stratum each. One of each is judged: each counts 2, the pair
    of different strata 4, and R is 4.
    """
    collection, chosen = one_topic("stratified(depths=(2,), rates=(1.0, 1.0))")
    first, second = sorted("cdef".index(document) + 1 for document in chosen)
    assert first <= 2 < second
    found = estimate(StatAP(), "AP@4", "a", collection)
    assert found.value[0] == pytest.approx((2 / first + (2 + 4) / second) / 4, abs=1e-12)


def test_values_are_those_of_the_track_and_of_sample_eval(tmp_path: Path) -> None:
    qrels, prels, run = write_sample(tmp_path)
    of_prels = estimate(StatAP(), "AP@1000", "r", read_collection(prels, run))
    assert of_prels.per_topic[0] == pytest.approx(STAT_AP, abs=1e-11)
    collection = read_collection(qrels, run)
    ap, ndcg = (
        estimate(c, f"{m}@1000", "r", collection) for c, m in ((InferredAP(), "AP"), (InferredNDCG(), "nDCG"))
    )
    assert ap.per_topic[0] == pytest.approx(INF_AP, abs=1e-11)
    assert ndcg.per_topic[0] == pytest.approx(INF_NDCG, abs=1e-11)
    assert ndcg.notes == (("documents that could not be sampled count as not relevant: 9",),)


def test_at_a_cutoff_by_hand(tmp_path: Path) -> None:
    """Of the run's top 3 a (2) is of a stratum judged in full, and b (1) and c of one of which a half is: it
    counts twice, and so do the two of the ideal ranking, 2 1 1.
    """
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1 2\n1 0 b 2 1\n1 0 c 2 -1\n")
    collection = build_collection({"r": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}}, path)
    gained, ideal = 2 + 2 * 1 / np.log2(3), 2 + 1 / np.log2(3) + 1 / 2
    assert estimate(InferredNDCG(), "nDCG@3", "r", collection).value[0] == pytest.approx(gained / ideal)
    weighted = estimate(HorvitzThompson(within_bounds=False), "P@3", "r", collection)
    assert weighted.value[0] == pytest.approx((1 + 2) / 3, abs=1e-12)


def test_listed_documents_left_out_by_lot_are_trec_evals_sample() -> None:
    rng = np.random.default_rng(3)
    run = {q: {f"d{i:02d}": float(-i) for i in range(25)} for q in ("1", "2", "3")}
    qrels = {q: {f"d{i:02d}": int(rng.integers(-1, 2)) for i in range(0, 40, 2)} for q in run}
    found = estimate(InferredAP(), "AP@1000", "r", read_collection(qrels, {"r": run}, negative="sampled"))
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"}).evaluate(run)
    assert found.per_topic[0].tolist() == pytest.approx([expected[q]["infAP"] for q in run], abs=1e-12)
    assert np.isnan(estimate(InferredAP(), "AP@9", "r", read_collection(qrels, {"r": run})).value).all()


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
        relevant = sample.pair_topic[sample.relevance > 0]
        expected = infer_ap(state, np.bincount(relevant, minlength=len(sample.query_ids)))
        assert found.per_topic == pytest.approx(expected, abs=1e-12)
        assert abs((found.value - true).mean()) < most
    assert np.corrcoef(found.value, true)[0, 1] > 0.98


def test_other_judgments_are_a_stratum_of_their_own() -> None:
    """y counts once, each of the sample twice. Above the first of these are y and documents of which nothing
    is known, which are taken for a third relevant; above the second all that is known is relevant.
    """
    collection, chosen = one_topic("uniform", "y")
    first, second = sorted("ycdef".index(document) + 1 for document in chosen)
    at_first, at_second = (1 + 1 + (first - 2) / 3) / first, (1 + 1 + (second - 2)) / second
    found = estimate(InferredAP(), "AP@5", "u", collection)
    assert found.value[0] == pytest.approx((1 + 2 * at_first + 2 * at_second) / 5, abs=1e-4)


def test_refused_where_there_is_nothing_to_infer_from() -> None:
    example, inferred, only = load_example(), InferredAP(), "defined for AP over completed judgments"
    active = with_strategy_pool(example, "active-sampling", 500)
    sample = with_strategy_pool(example, "uniform", 500)
    other = StrategyPool.of(sample, np.flatnonzero(sample.pooled), "uniform(budget=500, random_seed=2)")
    misfit = sample.with_pool(sample.pooled, other)
    for correction, collection, measure, note in (
        (inferred, example, "AP@10", NO_SAMPLE),
        (inferred, active, "AP@10", "defined for uniform and stratified samples"),
        (inferred, sample, "AP(ideal='judged')@10", only),
        (inferred, misfit, "AP@10", "the sample is not as stated: documents of the sample without a judgm"),
        (StatAP(), example, "AP@10", NO_SAMPLE),
        (StatAP(), active, "P@10", only),
        (HorvitzThompson(), example, "P@10", NO_SAMPLE),
        (HorvitzThompson(), sample, "nDCG@10", "defined for sums of gains that no ideal ranking divides"),
    ):
        found = estimate(correction, measure, "new-a", collection)
        assert np.isnan(found.value).all(), note
        assert found.notes[0][0].startswith(note)
    assert np.isfinite(estimate(inferred, "AP@10", "new-a", sample).value).all()
    assert estimate(inferred, "AP@10", "new-b", sample).notes == (
        ("documents that could not be sampled count as not relevant: 44",),
    )


# --- samples over all topics together, and strata of which nothing was drawn --------------------------------

TOGETHER = {
    "1": {"a": 1, "b": -1, "c": -1, "d": 0},
    "2": {"a": -1, "b": -1, "c": -1, "d": -1},
    "3": {"a": 1, "b": -1, "c": -1, "d": -1},
}
TOP_TWO = {q: {d: -float(i) for i, d in enumerate("abcd")} for q in TOGETHER}


def test_a_topic_of_which_nothing_was_drawn_is_no_zero() -> None:
    """3 of 12 were drawn over all topics: each relevant one stands for four. By topic nothing stands for the
    second, unless nothing of it is open in the run.
    """
    together = read_collection(TOGETHER, {"r": TOP_TWO}, negative="sampled-together")
    assert describe_pool(together).evidence == "the published sample"
    exact = HorvitzThompson(within_bounds=False)
    assert estimate(exact, "P@2", "r", together).per_topic[0].tolist() == pytest.approx([2, 0, 2])
    assert estimate(exact, "P@2", "r", together).value[0] == pytest.approx(4 / 3)
    by_topic = read_collection(TOGETHER, {"r": TOP_TWO}, negative="sampled")
    found = estimate(exact, "P@2", "r", by_topic)
    assert found.per_topic[0].tolist() == pytest.approx([1, np.nan, 2], nan_ok=True)
    assert np.isnan(found.value[0])
    assert "1 topic has unjudged documents in strata from which none was drawn; for" in found.notes[0][0]
    alone = "topics on which a single judged document stands for a stratum of the run's: "
    assert f"{alone}1" in "; ".join(found.notes[0])  # the third
    assert estimate(exact, "P@2", "r", together).notes == ((),)
    assert together.fingerprint != by_topic.fingerprint
    assert "3 of 12 documents judged, sampled over all topics at once, the others" in together.scope_notes[0]
    judged = by_topic.add_judgments(qrels_from_frame({"2": {"a": 1, "b": 0}}))
    assert estimate(exact, "P@2", "r", judged).per_topic[0].tolist() == pytest.approx([1, 0.5, 2])


def test_neither_is_it_for_average_precision_and_ndcg() -> None:
    for negative in ("sampled", "sampled-together"):
        collection = read_collection(TOGETHER, {"r": TOP_TWO}, negative=negative)
        for estimator, measure in ((InferredAP(), "AP@4"), (InferredNDCG(), "nDCG@4"), (StatAP(), "AP@4")):
            found = estimate(estimator, measure, "r", collection)
            assert np.isnan(found.per_topic[0]).tolist() == [False, True, False], (negative, measure)
            assert found.notes[0][0].startswith("no value: topics of which nothing was drawn: 1")


def test_weights_of_a_sample_over_all_topics_are_unbiased() -> None:
    """The mean over all samples of 4 of 8 documents is the truth; statAP counts pairs as they are drawn."""
    truth = {"1": {"a": 1, "b": 0, "c": 1, "d": 1}, "2": {"a": 0, "b": 1, "c": 0, "d": 0}}
    pairs, sums = [(q, d) for q in truth for d in truth[q]], []
    run = {q: TOP_TWO["1"] for q in truth}
    for drawn in itertools.combinations(pairs, 4):
        qrels = {q: {d: truth[q][d] if (q, d) in drawn else -1 for d in truth[q]} for q in truth}
        if any(level > 0 for of_topic in qrels.values() for level in of_topic.values()):
            collection = read_collection(qrels, {"r": run}, negative="sampled-together")
            sums.append(
                float(estimate(HorvitzThompson(within_bounds=False), "P@3", "r", collection).value[0])
            )
    n_samples = math.comb(8, 4)
    assert sum(sums) / n_samples == pytest.approx((2 / 3 + 1 / 3) / 2)
