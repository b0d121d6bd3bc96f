"""What all point corrections have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
import toys
from corrected import close, estimate, topics_of
from each import cases
from hypothesis import given, strategies as st
from toys import COMMON, EDGE_CASES, EDGE_MEASURES, FULLY_JUDGED, WITHOUT_A_POOL, toy_collection

from bayespool.collection import Collection
from bayespool.corrections import (
    AntiPrecision,
    AsJudged,
    Background,
    CondensedList,
    FroebeBootstrap,
    HorvitzThompson,
    InferredAP,
    Interpolated,
    JudgeFilled,
    JudgeRates,
    LuMoffatCulpepper,
    PredictionPowered,
    Smoothed,
    SystemsAdjustment,
    TopicsAdjustment,
)
from bayespool.corrections.base import NO_SAMPLE, Corrected, PointCorrection, as_amounts
from bayespool.corrections.labels import NO_JUDGE
from bayespool.errors import InputError
from bayespool.evidence import Bounds, judgment_counts, score_bounds
from bayespool.experiments import load_example
from bayespool.measures import MEASURES, Estimator, Measure, Precision, parse_measure, parse_measures

POINT_CORRECTIONS: tuple[PointCorrection, ...] = (
    AsJudged(),
    Background(),
    Interpolated(),
    Smoothed(),
    SystemsAdjustment(),
    SystemsAdjustment(by="organization", substitute=False),
    TopicsAdjustment(common_query_ids=("1",)),
    AntiPrecision(),
    AntiPrecision(trigger="precision"),
    AntiPrecision(trigger="anti-precision", alpha=0.5),
    CondensedList(),
    FroebeBootstrap(n_bootstraps=10),
    FroebeBootstrap(n_bootstraps=10, distribution="run-and-pool", loss="asymmetric"),
    LuMoffatCulpepper(),
    LuMoffatCulpepper(shape="linear", loss="b"),
    HorvitzThompson(),
    InferredAP(),
    JudgeFilled(),
    JudgeRates(),
    PredictionPowered(),
)
# What these say of samples and of labels is tested with them; the collections here have neither.
LACKING: dict[type, str] = {
    HorvitzThompson: NO_SAMPLE,
    InferredAP: NO_SAMPLE,
    JudgeFilled: NO_JUDGE,
    JudgeRates: NO_JUDGE,
    PredictionPowered: NO_JUDGE,
}
NEED_MORE = tuple(LACKING)
NEED_A_POOL = (SystemsAdjustment, TopicsAdjustment, AntiPrecision, FroebeBootstrap, LuMoffatCulpepper)
by_correction = cases("correction", POINT_CORRECTIONS)


# What all have in common


@by_correction
def test_correction_is_an_estimator_without_an_interval(correction: PointCorrection) -> None:
    assert isinstance(correction, Estimator)
    collection = toy_collection()
    (result,) = correction.estimate(collection, ["u", "n1"], "P@5")
    assert result.method == correction.name
    assert result.measure == Precision(5)
    assert result.run_ids == ("u", "n1")
    assert result.query_ids == ("1", "2", "3")
    assert result.fingerprint == collection.fingerprint
    assert result.draws is None
    assert np.isnan(result.interval()).all()
    assert np.allclose(result.per_topic.mean(axis=1), result.value, atol=1e-12, equal_nan=True)
    assert np.isnan(result.value).all() == isinstance(correction, NEED_MORE)


@by_correction
def test_many_measures_and_runs_equal_one_at_a_time(correction: PointCorrection) -> None:
    collection = toy_collection(more=COMMON)
    measures = ["P@5", "P(rel=2)@3", "P@1", "P(rel=2)@5"]
    together = correction.estimate(collection, measures=measures)
    assert [str(result.measure) for result in together] == measures
    for result in together:
        for r, run_id in enumerate(collection.run_ids):
            (alone,) = correction.estimate(collection, run_id, result.measure)
            assert np.allclose(alone.per_topic[0], result.per_topic[r], atol=1e-15, equal_nan=True)
            assert alone.notes == result.notes[r : r + 1]


def corrections_of(collection: Collection) -> Iterator[PointCorrection]:
    for correction in POINT_CORRECTIONS:
        if isinstance(correction, TopicsAdjustment):
            yield TopicsAdjustment(common_query_ids=collection.query_ids[:1])
        else:
            yield correction


# Of these two all corrections see the same collections: to draw one costs more than to correct it.


@given(toys.pooled_collections(), st.integers(1, 8), st.integers(1, 2))
def test_fully_judged_run_has_trec_evals_value(collection: Collection, cutoff: int, rel: int) -> None:
    judged = dataclasses.replace(
        collection, relevance=np.where(collection.relevance < 0, np.int16(2), collection.relevance)
    )
    counts = judgment_counts(judged, cutoffs=cutoff, rel=rel)
    assert not counts.residual.any()
    for correction in corrections_of(judged):
        (result,) = correction.estimate(judged, measures=Precision(cutoff, rel))
        if isinstance(correction, NEED_MORE):
            assert np.isnan(result.value).all(), correction
            continue
        exact = counts.lower[:, :, 0].mean(axis=1)
        assert np.allclose(result.value, exact, rtol=0, atol=1e-12), correction


@given(toys.pooled_collections(), st.integers(1, 8))
def test_value_lies_between_the_bounds(collection: Collection, cutoff: int) -> None:
    counts = judgment_counts(collection, cutoffs=cutoff)
    for correction in corrections_of(collection):
        (result,) = correction.estimate(collection, measures=f"P@{cutoff}")
        known = ~np.isnan(result.value)
        assert (result.value >= counts.lower[:, :, 0].mean(axis=1) - 1e-12)[known].all(), correction
        assert (result.value <= counts.upper[:, :, 0].mean(axis=1) + 1e-12)[known].all(), correction


@by_correction
def test_estimands_coincide_above_the_pool_depth(correction: PointCorrection) -> None:
    collection = toy_collection(more=COMMON)
    pooled = dataclasses.replace(correction, estimand="pooled")
    for measure in ("P@1", "P@3"):
        for run_id in collection.run_ids:
            complete = estimate(correction, measure, run_id, collection)
            again = estimate(pooled, measure, run_id, collection)
            assert np.array_equal(again.value, complete.value, equal_nan=True)


def test_pooled_estimand_has_nothing_to_correct_below_the_pool() -> None:
    # n1 has a1 b0 c2 | d? e?, q0 p1 r2 | s? t?, a0 b0 c0
    for correction in (Background(estimand="pooled"), Smoothed(estimand="pooled")):
        assert topics_of(correction, "P@5", "n1") == close(0.4, 0.4, 0)
    # u: of l d m and z x, m and x are below
    assert topics_of(Background(e=0.5, estimand="pooled")) == close(0.4 + 0.2, 0.4 + 0.1, 0.2)


@by_correction
def test_unknown_estimands_are_refused(correction: PointCorrection) -> None:
    with pytest.raises(InputError, match="no estimand 'some'; known: complete, pooled"):
        estimate(dataclasses.replace(correction, estimand="some"))  # type: ignore[arg-type]
    bare = toy_collection(pooled_run_ids=(), pool_depth=0)
    with pytest.raises(InputError, match="the pooled estimand needs a pool depth"):
        estimate(dataclasses.replace(correction, estimand="pooled"), collection=bare)


# The grid of edge cases


@by_correction
@cases("case", EDGE_CASES)
def test_edge_case(case: str, correction: PointCorrection) -> None:
    collection, run_id = EDGE_CASES[case]()
    for result in correction.estimate(collection, run_id, EDGE_MEASURES):
        counts = judgment_counts(collection, run_id, cutoffs=result.measure.cutoff, rel=result.measure.rel)
        lower, upper = counts.lower[0, :, 0], counts.upper[0, :, 0]
        if isinstance(correction, NEED_MORE):
            assert np.isnan(result.per_topic).all()
            lacking = correction.needs_pool and case in WITHOUT_A_POOL and counts.n_unjudged.any()
            assert result.notes == ("needs a pooled run" if lacking else LACKING[type(correction)],)
            continue
        needs_a_pool = isinstance(correction, NEED_A_POOL)
        if needs_a_pool and case in WITHOUT_A_POOL and counts.n_unjudged.any():
            assert np.isnan(result.value).all(), result.measure
            assert result.notes == ("needs a pooled run",)
            continue
        value = result.value[0]
        assert np.isfinite(result.per_topic).all(), result.measure
        assert lower.mean() - 1e-12 <= value <= upper.mean() + 1e-12, result.measure
        assert result.per_topic[0].mean() == pytest.approx(value, abs=1e-12)
        assert (result.per_topic[0] >= lower - 1e-12).all(), result.measure
        assert (result.per_topic[0] <= upper + 1e-12).all(), result.measure
        if isinstance(correction, AsJudged) or not counts.n_unjudged.any():  # trec_eval's value, to the bit
            n_ranks = result.measure.cutoff * len(collection.query_ids)
            assert value == counts.n_relevant.sum() / n_ranks, result.measure


@cases("case", EDGE_CASES)
def test_edge_cases_are_what_they_are_called(case: str) -> None:
    collection, run_id = EDGE_CASES[case]()
    assert len(EDGE_CASES) == 13
    counts = judgment_counts(collection, run_id, cutoffs=[1, 3, 5, 10])
    row = collection.run_ids.index(run_id)
    residual = counts.residual[0]
    assert residual.any() != (case in FULLY_JUDGED)
    assert (collection.pooled.sum() - collection.pooled[row] == 0) == (case in WITHOUT_A_POOL)
    facts = {
        "nothing judged": (residual == 1).all(),
        "everything judged": collection.length[row].min() >= 10,
        "everything judged in the pool": bool(collection.pooled[row]),
        "run too short": (collection.length[row] == 2).all() and residual[:, 0].tolist() == [0, 1],
        "one document": (collection.length[row] == 1).all(),
        "ties": toys.ranking(collection, run_id, "1") == list("zydcba"),
        "no relevant document on a topic": not any(
            relevance > 0 for relevance in toys.judgments(collection)["1"].values()
        ),
        "missing topic": collection.length[row].tolist() == [5, 0],
        "cutoff deeper than the run": collection.length[row].max() == 4,
        "cutoff deeper than the pool": not residual[:, :2].any() and residual[:, 2:].all(),
        "shared with an organization": collection.organizations[collection.organization[row]] == "x",
        "no pool": collection.pool_depth == 0,
        "only pooled run": collection.pooled_run_ids == (run_id,),
    }
    assert facts[case]


def test_nothing_judged_by_every_correction() -> None:
    """B = 0 and Δ = 1 on both topics."""
    collection, run_id = EDGE_CASES["nothing judged"]()
    values = {
        c.name: estimate(c, "P@5", run_id, collection).value[0]
        for c in (AsJudged(), Background(), Interpolated(), Smoothed(), AntiPrecision(), CondensedList())
    }
    assert values == {
        "as-judged": 0,
        "background": pytest.approx(0.03),
        "interpolated": pytest.approx(0.01),
        "smoothed": pytest.approx(0.05),
        "anti-precision": 0,
        "condensed-list": 0,
    }


def test_missing_topic_counts_as_zero() -> None:
    collection, run_id = EDGE_CASES["missing topic"]()
    for correction in (
        AsJudged(),
        Background(),
        Interpolated(),
        Smoothed(),
        AntiPrecision(),
        CondensedList(),
    ):
        result = estimate(correction, "P@5", run_id, collection)
        assert result.per_topic[0, 1] == 0
        assert result.value[0] == pytest.approx(result.per_topic[0, 0] / 2)


# Every family of measures

FAMILIES = tuple(
    f"{name}@10" for name, family in MEASURES.items() if family.__module__.startswith("bayespool.")
)
EVERY_MEASURE = (
    *FAMILIES,
    "RBP(p=0.8)",
    "AP(ideal='judged')@5",
    "AP@20",
    "nDCG(dcg='exp-log2')@3",
    "nDCG(ideal='judged',rel=2)@20",
    "DCG(gains={1:2,2:10})@5",
    "R(rel=2)@5",
    "ERR(max_rel=2)@5",
)


def on_the_example(correction: PointCorrection) -> PointCorrection:
    if isinstance(correction, TopicsAdjustment):
        return dataclasses.replace(correction, common_query_ids=load_example().query_ids[:5])
    return correction


@cache
def bounds_on_the_example(measure: Measure) -> Bounds:
    return score_bounds(load_example(), ["new-a", "new-b"], measure)


@cache
def fully_judged_example() -> Collection:
    example = load_example()
    return dataclasses.replace(example, relevance=np.maximum(example.relevance, np.int16(0)))


@cache
def bounds_of_the_judged(measure: Measure) -> Bounds:
    return score_bounds(fully_judged_example(), ["new-a", "north-1"], measure)


@by_correction
def test_every_measure_has_a_value_or_a_note(correction: PointCorrection) -> None:
    assert len(FAMILIES) >= 11
    example = load_example()
    results = on_the_example(correction).estimate(example, ["new-a", "new-b"], EVERY_MEASURE)
    for result, measure in zip(results, parse_measures(EVERY_MEASURE), strict=True):
        assert result.measure == measure
        if np.isnan(result.value).any():
            assert np.isnan(result.per_topic).all()
            lacking = LACKING.get(type(correction), "defined for ")
            assert all(note.startswith(lacking) for note in result.notes)
            is_no_sum = isinstance(correction, LuMoffatCulpepper) and measure.name == "INST"
            assert isinstance(correction, (AntiPrecision, *NEED_MORE)) or not measure.rises or is_no_sum
            continue
        assert np.isfinite(result.per_topic).all()
        np.testing.assert_allclose(result.per_topic.mean(axis=1), result.value, atol=1e-12)
        found = bounds_on_the_example(measure)
        if measure.of_judgments:
            assert np.array_equal(result.value, found.low.means())
        highest = np.maximum(found.upper, found.most.scores())
        if isinstance(correction, FroebeBootstrap | CondensedList) and "ideal" in dir(measure):
            continue  # they may be beyond
        assert (result.per_topic >= np.minimum(found.lower, found.least.scores()) - 1e-9).all(), measure
        assert (result.per_topic <= highest + 1e-9).all(), measure


@by_correction
def test_fully_judged_run_keeps_the_value_of_every_measure(correction: PointCorrection) -> None:
    judged = fully_judged_example()
    for result in on_the_example(correction).estimate(judged, ["new-a", "north-1"], EVERY_MEASURE):
        if np.isnan(result.value).all():
            lacking = LACKING.get(type(correction), "defined for ")
            assert result.notes[0].startswith(lacking)
            continue
        found = bounds_of_the_judged(result.measure)
        assert not found.n_unjudged.any()
        assert np.array_equal(result.value, found.low.means()), result.measure


@by_correction
def test_what_a_left_out_run_hides_does_not_matter(correction: PointCorrection) -> None:
    """Other judgments of the documents that it alone contributed change no estimate."""
    example = load_example()
    run = example.pooled_run_ids[0]
    gone = example.relevance != example.unpool(run).relevance
    assert gone.any()
    relevance = np.where(gone, (example.relevance + 1) % 3, example.relevance).astype(np.int16)
    other = dataclasses.replace(example, relevance=relevance)
    for one, two in zip(
        *(
            on_the_example(correction).estimate(whole.unpool(run), run, ["P@10", "nDCG@10", "AP@10", "RR@10"])
            for whole in (example, other)
        ),
        strict=True,
    ):
        assert np.array_equal(one.per_topic, two.per_topic, equal_nan=True)


def test_rounded_amounts_stay_in_range() -> None:
    """Sums on both sides of a half may round to −1 or 11 of ten."""
    values = np.array([[0.45 - 1e-13, 1.0 + 2e-13], [0.45 + 1e-13, -2e-13]])
    assert as_amounts(values, parse_measure("P@10")).tolist() == [[4, 10], [5, 0]]
    assert as_amounts(values, parse_measure("RR@10")).tolist() == values.tolist()


def test_a_correction_of_ones_own_that_returns_an_array_is_named() -> None:
    class Own(PointCorrection):
        name = "own"

        def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
            return bounds.lower  # type: ignore[return-value]

    with pytest.raises(
        InputError, match=r"of estimator 'own' does not return a Corrected, .* type ndarray; wrap"
    ):
        Own().estimate(toy_collection(), ["u"], "P@3")
