"""What all point corrections have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import toys
from corrected import LABELS, close, estimate, topics_of, with_any_labels, with_labels
from each import cases
from hypothesis import given, strategies as st
from toys import COMMON, EDGE_CASES, EDGE_MEASURES, WITHOUT_A_POOL, toy_collection

from bayespool.collection import Collection, Judge
from bayespool.corrections import (
    AntiPrecision,
    AsJudged,
    Background,
    CondensedList,
    ConformalRiskControl,
    FroebeBootstrap,
    HorvitzThompson,
    InferredAP,
    Interpolated,
    JudgeFilled,
    JudgeRates,
    LuMoffatCulpepper,
    Precise,
    PredictionPowered,
    Smoothed,
    SystemsAdjustment,
    TopicsAdjustment,
)
from bayespool.corrections.base import NO_SAMPLE, Corrected, PointCorrection, to_integer_amounts
from bayespool.corrections.labels import NO_JUDGE
from bayespool.errors import InputError
from bayespool.evidence import Bounds, judgment_counts, score_bounds
from bayespool.experiments import load_example
from bayespool.measures import MEASURES, Measure, parse_measure, parse_measures

POINT_CORRECTIONS: tuple[PointCorrection, ...] = (
    AsJudged(), Background(), Interpolated(), Smoothed(), CondensedList(), HorvitzThompson(), InferredAP(),
    JudgeFilled(), JudgeRates(), PredictionPowered(), LuMoffatCulpepper(),
    LuMoffatCulpepper(shape="linear", loss="b"), TopicsAdjustment(common_query_ids=("1",)),
    SystemsAdjustment(), SystemsAdjustment(by="organization", substitute=False),
    AntiPrecision(), AntiPrecision(trigger="precision"), AntiPrecision(trigger="anti-precision", alpha=0.5),
    FroebeBootstrap(n_bootstraps=10),
    FroebeBootstrap(n_bootstraps=10, distribution="run-and-pool", loss="asymmetric"),
)  # fmt: skip
# What these say of samples and of labels is tested with them; the collections here have neither.
LACKING: dict[type, str] = dict.fromkeys((HorvitzThompson, InferredAP), NO_SAMPLE) | dict.fromkeys(
    (JudgeFilled, JudgeRates, PredictionPowered), NO_JUDGE
)
NEED_MORE = tuple(LACKING)
NEED_A_POOL = (SystemsAdjustment, TopicsAdjustment, AntiPrecision, FroebeBootstrap, LuMoffatCulpepper)
by_correction = cases("correction", POINT_CORRECTIONS)


def corrections_of(collection: Collection) -> Iterator[PointCorrection]:
    for correction in POINT_CORRECTIONS:
        if isinstance(correction, TopicsAdjustment):
            yield TopicsAdjustment(common_query_ids=collection.query_ids[:1])
        else:
            yield correction


@given(toys.pooled_collections(), st.integers(1, 8))
def test_value_lies_between_the_bounds(collection: Collection, cutoff: int) -> None:
    counts = judgment_counts(collection, cutoffs=cutoff)
    for correction in corrections_of(collection):
        (result,) = correction.estimate(collection, measures=f"P@{cutoff}")
        known = ~np.isnan(result.value)
        assert (result.value >= counts.lower[:, :, 0].mean(axis=1) - 1e-12)[known].all(), correction
        assert (result.value <= counts.upper[:, :, 0].mean(axis=1) + 1e-12)[known].all(), correction


@by_correction
def test_estimands_coincide_above_the_pool_depth_and_others_are_refused(correction: PointCorrection) -> None:
    collection = toy_collection(more=COMMON)
    pooled = dataclasses.replace(correction, estimand="pooled")
    complete, again = (c.estimate(collection, measures=["P@1", "P@3"]) for c in (correction, pooled))
    for one, other in zip(complete, again, strict=True):
        assert np.array_equal(one.value, other.value, equal_nan=True)
    with pytest.raises(InputError, match="no estimand 'some'"):
        estimate(dataclasses.replace(correction, estimand="some"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the pooled estimand needs a pool depth"):
        estimate(pooled, collection=toy_collection(pooled_run_ids=(), pool_depth=0))


def test_pooled_estimand_has_nothing_to_correct_below_the_pool() -> None:
    # n1 has a1 b0 c2 | d? e?, q0 p1 r2 | s? t?, a0 b0 c0
    for correction in (Background(estimand="pooled"), Smoothed(estimand="pooled")):
        assert topics_of(correction, "P@5", "n1") == close(0.4, 0.4, 0)
    # u: of l d m and z x, m and x are below
    assert topics_of(Background(e=0.5, estimand="pooled")) == close(0.4 + 0.2, 0.4 + 0.1, 0.2)


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
            assert result.notes == (("needs a pooled run" if lacking else LACKING[type(correction)],),)
            continue
        needs_a_pool = isinstance(correction, NEED_A_POOL)
        if needs_a_pool and case in WITHOUT_A_POOL and counts.n_unjudged.any():
            assert np.isnan(result.value).all(), result.measure
            assert result.notes == (("needs a pooled run",),)
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


@cache
def judged_or_not(is_judged: bool) -> Collection:
    """The example, or with all unjudged documents judged nonrelevant."""
    example = load_example()
    judged = np.maximum(example.relevance, np.int16(0))
    return dataclasses.replace(example, relevance=judged) if is_judged else example


@cache
def bounds_on_the_example(measure: Measure, is_judged: bool = False) -> Bounds:
    return score_bounds(judged_or_not(is_judged), ["new-a", "new-b"], measure)


@by_correction
def test_every_measure_has_a_value_or_a_note(correction: PointCorrection) -> None:
    assert len(FAMILIES) >= 11
    if isinstance(correction, TopicsAdjustment):
        correction = dataclasses.replace(correction, common_query_ids=load_example().query_ids[:5])
    results = correction.estimate(load_example(), ["new-a", "new-b"], EVERY_MEASURE)
    for result, measure in zip(results, parse_measures(EVERY_MEASURE), strict=True):
        assert result.measure == measure
        if np.isnan(result.value).any():
            assert np.isnan(result.per_topic).all()
            lacking = LACKING.get(type(correction), "defined for ")
            assert all(note.startswith(lacking) for (note,) in result.notes)
            is_no_sum = isinstance(correction, LuMoffatCulpepper) and not measure.has_gains
            assert isinstance(correction, (AntiPrecision, *NEED_MORE)) or not measure.rises or is_no_sum
            continue
        assert np.isfinite(result.per_topic).all()
        np.testing.assert_allclose(result.per_topic.mean(axis=1), result.value, atol=1e-12)
        found = bounds_on_the_example(measure)
        if measure.describes_judgments:
            assert np.array_equal(result.value, found.low.means())
        highest = np.maximum(found.upper, found.most.scores())
        is_ratio = "ideal" in dir(measure) or measure.name == "ContextPrecision"
        if isinstance(correction, FroebeBootstrap | CondensedList) and is_ratio:
            continue  # they may be beyond
        assert (result.per_topic >= np.minimum(found.lower, found.least.scores()) - 1e-9).all(), measure
        assert (result.per_topic <= highest + 1e-9).all(), measure
    # and where all is judged the value that it has
    for result in correction.estimate(judged_or_not(True), ["new-a", "new-b"], EVERY_MEASURE):
        if np.isnan(result.value).all():
            assert result.notes[0][0].startswith(LACKING.get(type(correction), "defined for "))
            continue
        found = bounds_on_the_example(result.measure, True)
        assert not found.n_unjudged.any()
        assert np.array_equal(result.value, found.low.means()), result.measure


def test_what_a_left_out_run_hides_does_not_matter() -> None:
    """Other judgments of the documents that it alone contributed change no estimate; labels do."""
    example, measures = with_any_labels(load_example()), ["P@10", "nDCG@10", "AP@10"]
    run = example.pooled_run_ids[0]
    gone = example.relevance != example.unpool(run).relevance
    turned = np.where(gone, (example.relevance + 1) % 3, example.relevance).astype(np.int16)
    relabeled = Judge("any", np.where(gone, 2 - example.judges[0].label, example.judges[0].label))
    left, other, third = (
        whole.unpool(run)
        for whole in (
            example,
            dataclasses.replace(example, relevance=turned),
            dataclasses.replace(example, judges=(relabeled,)),
        )
    )
    for correction in corrections_of(left):
        estimates = (correction.estimate(c, run, measures) for c in (left, other))
        for one, two in zip(*estimates, strict=True):
            assert np.array_equal(one.per_topic, two.per_topic, equal_nan=True), (correction, one.measure)
    filled, by_others = (estimate(JudgeFilled(), "P@10", run, c).per_topic for c in (left, third))
    assert not np.array_equal(filled, by_others)


SETTINGS = (
    (FroebeBootstrap, {"distribution": "poisson"}, "distribution cannot be 'poisson'"),
    (FroebeBootstrap, {"loss": "mae"}, "loss cannot be 'mae'"),
    (FroebeBootstrap, {"n_bootstraps": 0}, "n_bootstraps cannot be 0; at least 1 and at most 1,000,000"),
    (FroebeBootstrap, {"n_bootstraps": 10**10}, "n_bootstraps cannot be 10000000000"),
    (FroebeBootstrap, {"quantile": 101}, "quantile cannot be 101; at least 0 and at most 100"),
    (FroebeBootstrap, {"quantile": 2.5}, "quantile cannot be 2.5; a whole number"),
    (FroebeBootstrap, {"overestimates": float("nan")}, "overestimates cannot be nan; at least 0"),
    (LuMoffatCulpepper, {"shape": "poisson"}, "shape cannot be 'poisson'"),
    (LuMoffatCulpepper, {"loss": "c"}, "loss cannot be 'c'"),
    (LuMoffatCulpepper, {"persistence": 1.0}, "persistence cannot be 1.0; above 0 and below 1"),
    (PredictionPowered, {"sample": "pooled"}, "sample cannot be 'pooled'"),
    (PredictionPowered, {"n_draws": 0}, "n_draws cannot be 0; at least 1 and at most 1,000,000"),
    (Precise, {"sample": "runs"}, "sample cannot be 'runs'"),
    (Precise, {"n_draws": 0}, "n_draws cannot be 0"),
    (ConformalRiskControl, {"sample": "pooled"}, "sample cannot be 'pooled'"),
    (ConformalRiskControl, {"n_draws": 0}, "n_draws cannot be 0"),
    (AntiPrecision, {"alpha": 2}, "alpha cannot be 2; at least 0 and at most 1"),
    (AntiPrecision, {"trigger": "x"}, "trigger cannot be 'x'"),
    (SystemsAdjustment, {"by": "team"}, "cannot hold out by 'team'; organization or run"),
    *(
        (c, {x: y}, f"constant {x} cannot be {y}; at least 0 and at most 1")
        for c in (Interpolated, Smoothed)
        for x, y in (("e", -0.1), ("e", 1.1), ("c", 2), ("c", float("nan")))
    ),
    (Background, {"e": 1.1}, "constant e cannot be 1.1"),
    (Smoothed, {"alpha": 2}, "alpha cannot be 2"),
    (Interpolated, {"fit": "all"}, "fit cannot be 'all'"),
    *(
        (TopicsAdjustment, {"common_query_ids": ids}, "are not among the topics of the qrels")
        for ids in (("9",), ("1", "9"), ())
    ),
)


@cases(("correction", "settings", "message"), SETTINGS)
def test_settings_are_checked(correction: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate(correction(**settings))


def test_sums_of_gains_alone_have_predictions_put_right() -> None:
    for correction in (PredictionPowered(), Precise(), ConformalRiskControl()):
        for result in correction.estimate(with_labels(LABELS), "u", ["AP@5", "RR@5", "Success@5", "ERR@5"]):
            assert result.notes == (("defined for sums of gains",),), (correction, result.measure)


def test_rounded_amounts_stay_in_range() -> None:
    """Sums on both sides of a half may round to −1 or 11 of ten."""
    values = np.array([[0.45 - 1e-13, 1.0 + 2e-13], [0.45 + 1e-13, -2e-13]])
    assert to_integer_amounts(values, parse_measure("P@10")).tolist() == [[4, 10], [5, 0]]
    assert to_integer_amounts(values, parse_measure("RR@10")).tolist() == values.tolist()


def test_a_correction_of_ones_own_that_returns_an_array_is_named() -> None:
    class Own(PointCorrection):
        name = "own"

        def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
            return bounds.lower  # type: ignore[return-value]

    with pytest.raises(
        InputError, match=r"of estimator 'own' does not return a Corrected, .* type ndarray; wrap"
    ):
        Own().estimate(toy_collection(), ["u"], "P@3")
