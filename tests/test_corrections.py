"""Each correction worked by hand on the toy, its identities, and the grid of edge cases."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
import pytest
import pytrec_eval
import toys
from hypothesis import given
from hypothesis import strategies as st
from toys import (
    COMMON,
    EDGE_CASES,
    EDGE_MEASURES,
    FULLY_JUDGED,
    WITHOUT_A_POOL,
    from_rankings,
    toy_collection,
)

from bayespool.collection import Collection
from bayespool.corrections import (
    AntiPrecision,
    Background,
    CondensedList,
    Interpolated,
    LowerBound,
    Smoothed,
    SystemsAdjustment,
    TopicsAdjustment,
    fit_constants,
)
from bayespool.corrections.base import PointCorrection
from bayespool.corrections.ravana_moffat import background, interpolated, smoothed
from bayespool.counts import JudgmentCounts, judgment_counts
from bayespool.errors import InputError
from bayespool.estimates import Estimates, Estimator
from bayespool.measures import Precision
from bayespool.simulation import load_example

POINT_CORRECTIONS: tuple[PointCorrection, ...] = (
    LowerBound(),
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
)
by_correction = pytest.mark.parametrize("correction", POINT_CORRECTIONS, ids=repr)


def estimate(
    correction: PointCorrection, measure: str = "P@5", run_id: str = "u", collection: Collection | None = None
) -> Estimates:
    (result,) = correction.estimate(collection or toy_collection(), run_id, measure)
    return result


def topics_of(correction: PointCorrection, measure: str = "P@5", run_id: str = "u") -> list[float]:
    return estimate(correction, measure, run_id).per_topic[0].tolist()


def close(*expected: float) -> Any:
    return pytest.approx(list(expected), abs=1e-12)


# The new run of the toy:        topic 1, a1 l? d? h1 m?     topic 2, v1 p1 z? x?     topic 3, e? f?
#     P@2                        B = ½, Δ = ½                B = 1, Δ = 0             B = 0, Δ = 1
#     P@5                        B = 2/5, Δ = 3/5            B = 2/5, Δ = 2/5         B = 0, Δ = 2/5


def test_lower_bound_of_the_toy() -> None:
    assert topics_of(LowerBound(), "P@2") == close(0.5, 1, 0)
    assert topics_of(LowerBound()) == close(0.4, 0.4, 0)
    assert estimate(LowerBound()).value[0] == pytest.approx(4 / 15, abs=1e-12)


def test_lower_bound_is_trec_evals() -> None:
    runs = toys.RUNS
    qrels = {q: {d: r for d, r in judged.items() if r >= 0} for q, judged in toys.JUDGMENTS.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"P.1,2,3,5"})
    for run_id, topics in runs.items():
        result = evaluator.evaluate(topics)
        for cutoff in (1, 2, 3, 5):
            expected = [result[q][f"P_{cutoff}"] if q in result else 0 for q in ("1", "2", "3")]
            assert topics_of(LowerBound(), f"P@{cutoff}", run_id) == close(*expected)


def test_background_of_the_toy() -> None:
    assert topics_of(Background(), "P@2") == close(0.515, 1, 0.03)
    assert topics_of(Background()) == close(0.418, 0.412, 0.012)
    assert topics_of(Background(e=0.5)) == close(0.7, 0.6, 0.2)
    assert estimate(Background(), "P@2").value[0] == pytest.approx(0.515, abs=1e-12)


def test_interpolated_of_the_toy() -> None:
    # ½ + 0.42·½·½/½; Δ = 0; Δ = 1, so E
    assert topics_of(Interpolated(), "P@2") == close(0.71, 1, 0.01)
    # 0.4 + 0.42·0.6·0.4/0.4; 0.4 + 0.42·0.4·0.4/0.6
    assert topics_of(Interpolated()) == close(0.652, 0.512, 0)
    assert estimate(Interpolated(), "P@2").value[0] == pytest.approx(1.72 / 3, abs=1e-12)


def test_smoothed_of_the_toy() -> None:
    # ½ + 0.91·½·½ + ¼·0.05; Δ = 0; 0.05
    assert topics_of(Smoothed(), "P@2") == close(0.74, 1, 0.05)
    # 0.4 + 0.91·0.6·0.4 + 0.36·0.05; 0.4 + 0.91·0.4·0.4 + 0.16·0.05; 0.16·0.05
    assert topics_of(Smoothed()) == close(0.6364, 0.5536, 0.008)


def test_condensed_list_of_the_toy() -> None:
    assert topics_of(CondensedList(), "P@2") == close(1, 1, 0)  # a1 h1, v1 p1
    assert topics_of(CondensedList()) == close(0.4, 0.4, 0)
    assert topics_of(CondensedList(), "P@3", "s1") == close(2 / 3, 1 / 3, 0)


TRIGGERS = st.sampled_from(["lambda", "precision", "anti-precision"])

# Ravana & Moffat

SHARES = st.floats(0, 1)


def lower_and_residual(share: float, judged: float) -> tuple[np.ndarray, np.ndarray]:
    """B and Δ of a run of which so much is judged, and such a share of that relevant."""
    return np.array(share * judged), np.array(1 - judged)


@given(SHARES, SHARES, SHARES, SHARES)
def test_smoothed_mixes_interpolated_and_background(c: float, e: float, share: float, judged: float) -> None:
    b, delta = lower_and_residual(share, judged)
    if delta == 1:
        b = np.array(0.0)
        assert interpolated(b, delta, c, e) == e
        assert background(b, delta, e) == pytest.approx(e)
    x_i, x_b = interpolated(b, delta, c, e), background(b, delta, e)
    assert smoothed(b, delta, c, e) == pytest.approx((1 - delta) * x_i + delta * x_b, abs=1e-12)


@given(SHARES, SHARES, SHARES, SHARES)
def test_values_lie_between_the_bounds(c: float, e: float, share: float, judged: float) -> None:
    b, delta = lower_and_residual(share, judged)
    for value in (interpolated(b, delta, c, e), background(b, delta, e), smoothed(b, delta, c, e)):
        assert b - 1e-12 <= value <= b + delta + 1e-12


@given(SHARES, SHARES)
def test_nothing_judged_is_the_background(c: float, e: float) -> None:
    nothing, all_of_it = np.zeros(1), np.ones(1)
    assert interpolated(nothing, all_of_it, c, e) == [e]
    assert smoothed(nothing, all_of_it, c, e) == [e]
    assert background(nothing, all_of_it, e) == [e]


@given(SHARES, SHARES, SHARES)
def test_everything_judged_is_the_lower_bound(b: float, c: float, e: float) -> None:
    lower, nothing = np.array([b]), np.zeros(1)
    for value in (interpolated(lower, nothing, c, e), background(lower, nothing, e)):
        assert value == [b]
    assert smoothed(lower, nothing, c, e) == [b]


def test_interpolated_with_c_1_is_the_precision_of_what_is_judged() -> None:
    value = interpolated(np.array([0.3]), np.array([0.4]), 1, 0.01)
    assert value == pytest.approx(0.3 / 0.6)


@pytest.mark.parametrize("settings", [{"e": -0.1}, {"e": 1.1}, {"c": 2}, {"c": float("nan")}])
def test_constants_are_shares(settings: dict[str, float]) -> None:
    for correction in (Interpolated, Smoothed):
        with pytest.raises(InputError, match="is not between 0 and 1"):
            correction(**settings)
    if "e" in settings:
        with pytest.raises(InputError, match="constant e = "):
            Background(**settings)


# Constants


def counts_of(n_relevant: list[int], n_unjudged: list[int], cutoff: int = 1000) -> JudgmentCounts:
    """Counts of one run on as many topics."""
    relevant, unjudged = (np.array(n, dtype=np.int32)[None, :, None] for n in (n_relevant, n_unjudged))
    return JudgmentCounts(
        run_ids=("r",),
        query_ids=tuple(str(t) for t in range(len(n_relevant))),
        cutoffs=(cutoff,),
        n_relevant=relevant,
        n_nonrelevant=cutoff - relevant - unjudged,
        n_unjudged=unjudged,
        n_missing=np.zeros_like(relevant),
    )


@pytest.mark.parametrize(
    ("method", "c", "e", "values"),
    [
        # B = 0.2, 0.4, 0.1, 0 and Δ = 0.5, 0.2, 0.8, 1
        ("background", float("nan"), 0.1, [250, 420, 180, 100]),
        ("interpolated", 0.5, 0.02, [300, 450, 300, 20]),  # 0.2 + 0.5·0.5·0.2/0.5, 0.4 + 0.5·0.2·0.4/0.8, …
        ("smoothed", 0.5, 0.1, [275, 444, 204, 100]),  # 0.2 + 0.5·0.5·0.2 + 0.25·0.1, …
    ],
)
def test_known_constants_are_recovered(method: Any, c: float, e: float, values: list[int]) -> None:
    pooled = counts_of([200, 400, 100, 0], [500, 200, 800, 1000])
    found = fit_constants(method, [pooled, pooled], counts_of(values, [0, 0, 0, 0]))
    assert (found.c, found.e) == pytest.approx((c, e), abs=1e-12, nan_ok=True)
    assert found.rmse == pytest.approx(0, abs=1e-12)


def test_constants_of_several_pools() -> None:
    """Each pool weighs alike: E between 0.1 and 0.2, the residuals being equal."""
    pools = [counts_of([0, 0], [1000, 1000]), counts_of([100, 100], [500, 500])]
    found = fit_constants("background", pools, counts_of([200, 200], [0, 0]))
    # least squares of 0.2 = E·1 and 0.1 = E·0.5: both hold at E = 0.2
    assert found.e == pytest.approx(0.2)
    found = fit_constants("background", pools, counts_of([200, 400], [0, 0]))
    # 0.2 and 0.4 at Δ = 1, 0.1 and 0.3 at Δ = ½: E = (0.2 + 0.4 + 0.05 + 0.15)/(1 + 1 + ¼ + ¼)
    assert found.e == pytest.approx(0.32)
    errors = [0.2 - 0.32, 0.4 - 0.32, 0.1 - 0.16, 0.3 - 0.16]
    assert found.rmse == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_constants_stay_between_0_and_1() -> None:
    # B = 0.2, Δ = 0.2: 0.4 would need C = 0.2·0.8/(0.2·0.2) = 4
    found = fit_constants("interpolated", [counts_of([200], [200])], counts_of([400], [0]))
    assert found.c == pytest.approx(1, abs=1e-12)
    assert found.rmse == pytest.approx(0.4 - 0.25)


def test_constant_that_the_data_do_not_touch_is_nan() -> None:
    found = fit_constants("interpolated", [counts_of([200], [500])], counts_of([300], [0]))
    assert found.c == pytest.approx(0.5)
    assert np.isnan(found.e)
    nothing = counts_of([200, 100], [0, 0])
    for method in ("background", "interpolated", "smoothed"):
        found = fit_constants(method, [nothing], nothing)
        assert np.isnan([found.c, found.e]).all()
        assert found.rmse == 0


def rmse_of(method: str, tables: list[JudgmentCounts], truth: JudgmentCounts, c: float, e: float) -> float:
    function = {"interpolated": interpolated, "smoothed": smoothed}.get(method)
    errors = [
        (background(t.lower, t.residual, e) if function is None else function(t.lower, t.residual, c, e))
        - truth.lower
        for t in tables
    ]
    return float(np.sqrt(np.mean(np.square(errors))))


@pytest.mark.parametrize("method", ["background", "interpolated", "smoothed"])
@pytest.mark.parametrize("cutoffs", [[10], [5, 20]])
def test_fitted_constants_beat_a_grid(
    method: Literal["background", "interpolated", "smoothed"], cutoffs: list[int]
) -> None:
    example = load_example()
    runs = example.pooled_run_ids
    truth = judgment_counts(example, runs, cutoffs=cutoffs)
    tables = [judgment_counts(example.truncate_pool(depth), runs, cutoffs=cutoffs) for depth in (1, 3, 6)]
    found = fit_constants(method, tables, truth)
    c, e = np.nan_to_num(found.c), np.nan_to_num(found.e)
    assert found.rmse == pytest.approx(rmse_of(method, tables, truth, c, e), abs=1e-12)
    grid = np.linspace(0, 1, 41)
    grid_c = grid if method != "background" else grid[:1]
    best = min((rmse_of(method, tables, truth, c, e), c, e) for c in grid_c for e in grid)
    assert best[0] - 0.01 < found.rmse <= best[0] + 1e-12
    assert abs(c - best[1]) <= 0.05
    assert abs(e - best[2]) <= 0.05


def test_constants_need_counts_that_match() -> None:
    counts = counts_of([200, 100], [500, 500])
    with pytest.raises(InputError, match="counts of the same runs, topics and cutoffs"):
        fit_constants("background", [], counts)
    others = [
        dataclasses.replace(counts, run_ids=("s",)),
        dataclasses.replace(counts, query_ids=("8", "9")),
        counts_of([20, 10], [50, 50], cutoff=100),
        counts_of([200], [500]),
    ]
    for other in others:
        with pytest.raises(InputError, match="counts of the same runs, topics and cutoffs"):
            fit_constants("background", [counts, other], counts)
    with pytest.raises(InputError, match="no constants to fit for 'condensed'"):
        fit_constants("condensed", [counts], counts)  # type: ignore[arg-type]


# Systems adjustment: relevant documents that each pooled run alone contributed and that u (a l d, v p z, e f
# within depth 3) does not have. Runs held out: n1 c, n2 f; without the substitute also s1 v. Organizations
# held out: n1 c, r; n2 f c, r; s1 h; s2 h; without the substitute also n1 p, n2 p, s1 v. 4 runs, 3 topics.


@pytest.mark.parametrize(
    ("settings", "n_lost"),
    [
        ({}, 2),
        ({"substitute": False}, 3),
        ({"by": "organization"}, 7),
        ({"by": "organization", "substitute": False}, 10),
    ],
)
def test_systems_adjustment_of_the_toy(settings: dict[str, Any], n_lost: int) -> None:
    result = estimate(SystemsAdjustment(**settings))
    adjustment = n_lost / 5 / 12
    assert result.value[0] == pytest.approx(4 / 15 + adjustment, abs=1e-12)
    residual = judgment_counts(toy_collection(), "u", cutoffs=5).residual[0, :, 0]
    shared = residual * adjustment * 3 / residual.sum()  # the topics share it in proportion to their Δ
    assert result.per_topic[0].tolist() == close(*(np.array([0.4, 0.4, 0]) + shared))


def test_systems_adjustment_of_a_pooled_run_leaves_itself_out() -> None:
    # held out one at a time with s1 in the pool: n1 c, n2 f, s2 nothing relevant; 3 runs, 3 topics
    assert estimate(SystemsAdjustment(), run_id="s1").value[0] == pytest.approx(4 / 15 + 2 / 5 / 9, abs=1e-12)


def test_systems_adjustment_beyond_the_residual() -> None:
    # n1 is fully judged at P@3; n2 alone has f and s1 alone has v there
    within = estimate(SystemsAdjustment(), "P@3", "n1")
    assert within.value[0] == pytest.approx(4 / 9, abs=1e-12)
    assert within.per_topic[0].tolist() == close(2 / 3, 2 / 3, 0)
    to_the_letter = estimate(SystemsAdjustment(within_bounds=False), "P@3", "n1")
    assert to_the_letter.value[0] == pytest.approx(4 / 9 + 2 / 3 / 9, abs=1e-12)


def test_systems_adjustment_is_cut_to_the_upper_bound() -> None:
    """The pooled runs lose a half each on average, of which the new run has room for a quarter."""
    collection = from_rankings(
        {"p": {"1": "ab", "2": "cd"}, "q": {"1": "ef", "2": "gh"}, "u": {"1": "ae", "2": "cz"}},
        {"1": dict.fromkeys("abef", 1), "2": {"c": 1, "d": 0, "g": 0, "h": 0}},
        pooled_run_ids=("p", "q"),
        pool_depth=2,
    )
    # lost with u in the pool: p b, q f, 2 of 4 · 2 places; B = (1 + ½)/2 and T = 1
    assert estimate(SystemsAdjustment(), "P@2", collection=collection).value[0] == pytest.approx(1)
    loose = SystemsAdjustment(within_bounds=False, substitute=False)
    # without u: p a b c, q e f, 5 of 8
    assert estimate(loose, "P@2", collection=collection).value[0] == pytest.approx(0.75 + 5 / 8)


def test_systems_adjustment_needs_another_pooled_run() -> None:
    result = estimate(SystemsAdjustment(), collection=toy_collection(pooled_run_ids=(), pool_depth=0))
    assert np.isnan(result.value[0])
    assert result.notes == ("needs a pooled run",)
    alone = toy_collection(pooled_run_ids=("n1",))
    assert np.isnan(estimate(SystemsAdjustment(), "P@5", "n1", alone).value[0])
    assert estimate(SystemsAdjustment(), "P@3", "n1", alone).value[0] == pytest.approx(4 / 9)  # Δ = 0
    assert not np.isnan(estimate(SystemsAdjustment(), "P@5", "n2", alone).value[0])


# Topics adjustment. With u judged on topics 1 and 2 its P@5 there is 4/5 (a l h m) and 3/5 (v p x); without
# what it alone contributed 2/5 (a h) and 2/5 (v p). Mean difference 3/10, variance 1/50; N = 3, n = 2.

COMMON_TOPICS = TopicsAdjustment(common_query_ids=("1", "2"))


def test_topics_adjustment_of_the_toy() -> None:
    result = estimate(COMMON_TOPICS, collection=toy_collection(more=COMMON))
    assert result.per_topic[0].tolist() == close(4 / 5, 3 / 5, 3 / 10)
    # the mean unpooled score (2/5 + 2/5 + 0)/3 and 3/10
    assert result.value[0] == pytest.approx(4 / 15 + 3 / 10, abs=1e-12)
    assert result.std is not None
    assert result.std[0] == pytest.approx(np.sqrt(1 / 3 * (1 / 50) / 2), abs=1e-12)
    assert result.notes == ("",)
    assert result.draws is None


def test_topics_adjustment_of_several_runs_and_measures() -> None:
    collection = toy_collection(more=COMMON)
    results = COMMON_TOPICS.estimate(collection, ["n1", "u"], ["P@5", "P@2"])
    # n1 alone contributed c: (1/5 + 0)/2, topics 2/5, 2/5, 0
    # and nothing of the other topic is unjudged, so that there is nothing to adjust
    assert results[0].value[0] == pytest.approx(4 / 15, abs=1e-12)
    assert results[0].value[1] == pytest.approx(17 / 30, abs=1e-12)
    # P@2: u has a l, of which l was its own; v p
    assert results[1].value[1] == pytest.approx((1 + 1 + 1 / 4) / 3, abs=1e-12)


def test_topics_adjustment_with_one_common_topic_has_no_standard_error() -> None:
    result = estimate(TopicsAdjustment(common_query_ids=("1",)), collection=toy_collection(more=COMMON))
    assert result.std is not None
    assert np.isnan(result.std[0])
    assert "equation 6" in result.notes[0]


def test_topics_adjustment_says_when_it_rests_on_nothing() -> None:
    """Nothing of u's was its own on the common topics: a = 0 is not above its standard error."""
    collection = toy_collection(more={"1": {"l": 0, "d": 0, "m": 0}, "2": {"z": 0, "x": 0}})
    result = estimate(COMMON_TOPICS, collection=collection)
    assert result.value[0] == pytest.approx(4 / 15, abs=1e-12)
    assert "equation 6" in result.notes[0]


def test_topics_adjustment_with_all_topics_in_common_is_the_full_score() -> None:
    everything = toy_collection(more={**COMMON, "3": {"e": 1, "f": 0}})
    result = estimate(TopicsAdjustment(common_query_ids=("1", "2", "3")), collection=everything)
    assert result.value[0] == pytest.approx((4 + 3 + 1) / 15, abs=1e-12)
    assert result.std is not None
    assert result.std[0] == 0
    assert result.notes == ("",)


def test_topics_adjustment_beyond_the_residual() -> None:
    """Topic 1 says 2/5, and topic 2 has nothing unjudged."""
    collection = toy_collection(more=COMMON)
    one = ("1",)
    loose = estimate(TopicsAdjustment(common_query_ids=one, within_bounds=False), collection=collection)
    assert loose.per_topic[0].tolist() == close(4 / 5, 3 / 5 + 2 / 5, 2 / 5)
    within = estimate(TopicsAdjustment(common_query_ids=one), collection=collection)
    assert within.value[0] == pytest.approx((4 + 3 + 2) / 15, abs=1e-12)  # T


@pytest.mark.parametrize("common", [("9",), ("1", "9"), ()])
def test_common_topics_are_topics(common: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="are not among the topics of the qrels"):
        estimate(TopicsAdjustment(common_query_ids=common))


# Anti-precision. From the composition effects worked in test_counts: P@3 has ΔP = 0 and ΔP̄ = −1/36, P@2
# ΔP = −1/24 and ΔP̄ = 0, P@1 ΔP = −1/12 and ΔP̄ = 1/12, P@5 nothing.


def test_anti_precision_of_the_toy() -> None:
    # s = 3/9, k̄ = 5/9, s̄ = 1/9 (the missing rank): λ = 5/9·(0·1/9 + 1/36·3/9) > 0
    result = estimate(AntiPrecision(), "P@3")
    assert result.value[0] == pytest.approx(1 / 3 + 5 / 9 / 36, abs=1e-12)
    assert result.per_topic[0].tolist() == close(1 / 3 + 2 / 3 / 36, 2 / 3 + 1 / 3 / 36, 2 / 3 / 36)


@pytest.mark.parametrize(
    ("trigger", "measure", "fires"),
    [
        ("lambda", "P@3", True),
        ("precision", "P@3", False),  # ΔP = 0
        ("anti-precision", "P@3", True),  # ΔP̄ < 0
        ("lambda", "P@2", False),  # s̄ = 0: λ = ½·(−1/24·0 − 0·½)
        ("precision", "P@2", False),
        ("anti-precision", "P@2", False),
        ("lambda", "P@1", False),
        ("lambda", "P@5", False),
        ("anti-precision", "P@5", False),
    ],
)
def test_triggers_of_anti_precision(trigger: Any, measure: str, fires: bool) -> None:
    corrected = estimate(AntiPrecision(trigger=trigger), measure).value[0]
    lower = estimate(LowerBound(), measure).value[0]
    assert (corrected > lower + 1e-9) == fires
    assert fires or corrected == lower


def test_anti_precision_when_relevant_documents_come_up() -> None:
    """Two triggers fire and one does not, with ΔP > 0 and ΔP̄ > 0 at the cost of what is unjudged."""
    collection = from_rankings(
        {"p": {"1": "axbc"}, "u": {"1": "bzyx"}},
        {"1": {"a": 0, "b": 1, "c": 0, "y": 0}},
        pooled_run_ids=("p",),
        pool_depth=1,
    )
    # p composed with u: a1 b1 c4 x4, so that the first two are a0 b1 where they were a0 x?: ΔP = ½, ΔP̄ = 0
    for trigger, value in (("lambda", 0.5), ("precision", 0.5), ("anti-precision", 0.5)):
        result = estimate(AntiPrecision(trigger=trigger), "P@2", collection=collection)  # type: ignore[arg-type]
        assert result.value[0] == value  # Δk̄ = −½: nothing to add


def test_anti_precision_adds_the_share_of_unjudged_documents_that_came_up() -> None:
    """Half of what stands in the top two becomes unjudged: k̄·½ is added, if λ or ΔP̄ say so."""
    collection = from_rankings(
        {"p": {"1": "abxc"}, "u": {"1": "azxb"}},
        {"1": {"a": 1, "b": 0, "c": 0}},
        pooled_run_ids=("p",),
        pool_depth=2,
    )
    # p composed with u: a1 x3 c4 b4, so that a1 x? stand where a1 b0 stood: ΔP = 0, ΔP̄ = −½, Δk̄ = ½.
    # s = ½, s̄ = 0, k̄ = ½: λ = ½·(0·0 + ½·½) = 1/8
    for trigger, value in (("lambda", 0.75), ("precision", 0.5), ("anti-precision", 0.75)):
        result = estimate(AntiPrecision(trigger=trigger), "P@2", collection=collection)  # type: ignore[arg-type]
        assert result.value[0] == pytest.approx(value, abs=1e-12)


def test_anti_precision_when_relevant_and_unjudged_documents_come_up() -> None:
    collection = from_rankings(
        {"p": {"1": "abRx"}, "u": {"1": "Rxab"}},
        {"1": {"a": 0, "b": 0, "R": 1}},
        pooled_run_ids=("p",),
        pool_depth=3,
    )
    # p composed with u has R1 x? where a0 b0 stood: ΔP = ½, ΔP̄ = −1, Δk̄ = ½. s = ½, s̄ = 0, k̄ = ½
    for trigger in ("lambda", "precision", "anti-precision"):
        result = estimate(AntiPrecision(trigger=trigger), "P@2", collection=collection)  # type: ignore[arg-type]
        assert result.value[0] == pytest.approx(0.5 + 0.5 * 0.5, abs=1e-12)


def test_anti_precision_weighs_by_what_is_judged() -> None:
    """ΔP and ΔP̄ both negative: λ depends on how much of the run is judged nonrelevant."""
    collection = from_rankings(
        {"p": {"1": "Raxy"}, "u": {"1": "SxyaR"}, "v": {"1": "aSxyR"}},
        {"1": {"R": 1, "a": 0, "S": 1}},
        pooled_run_ids=("p",),
        pool_depth=2,
    )
    # p composed with u has x? y? where R1 a0 stood: ΔP = −½, ΔP̄ = −½, Δk̄ = 1. s = ½, s̄ = 0, k̄ = ½, so that
    # λ = ½·(−½·0 + ½·½) > 0
    assert estimate(AntiPrecision(), "P@2", "u", collection).value[0] == pytest.approx(0.5 + 0.5)
    # p composed with v has a0 x? y? where R1 a0 x? stood: ΔP = −⅓, ΔP̄ = 0, Δk̄ = ⅓. s = s̄ = k̄ = ⅓, so that
    # λ = ⅓·(−⅓·⅓ − 0·⅓) < 0
    assert estimate(AntiPrecision(), "P@3", "v", collection).value[0] == pytest.approx(1 / 3)


@given(toys.pooled_collections(), st.integers(1, 8), TRIGGERS)
def test_alpha_0_corrects_nothing(collection: Collection, cutoff: int, trigger: Any) -> None:
    (corrected,) = AntiPrecision(alpha=0, trigger=trigger).estimate(collection, measures=f"P@{cutoff}")
    (lower,) = LowerBound().estimate(collection, measures=f"P@{cutoff}")
    known = ~np.isnan(corrected.value)  # NaN where there is no pool
    assert np.array_equal(corrected.value[known], lower.value[known])


def test_anti_precision_settings_are_checked() -> None:
    with pytest.raises(InputError, match="alpha 2 is not between 0 and 1"):
        estimate(AntiPrecision(alpha=2))
    with pytest.raises(InputError, match="no trigger 'x'"):
        AntiPrecision(trigger="x")  # type: ignore[arg-type]


def test_holding_out_is_by_run_or_organization() -> None:
    with pytest.raises(InputError, match="cannot hold out by 'team'; organization or run"):
        estimate(SystemsAdjustment(by="team"))  # type: ignore[arg-type]


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
    assert np.allclose(result.per_topic.mean(axis=1), result.value, atol=1e-12)


@by_correction
def test_many_measures_and_runs_equal_one_at_a_time(correction: PointCorrection) -> None:
    collection = toy_collection(more=COMMON)
    measures = ["P@5", "P(rel=2)@3", "P@1", "P(rel=2)@5"]
    together = correction.estimate(collection, measures=measures)
    assert [str(result.measure) for result in together] == measures
    for result in together:
        for r, run_id in enumerate(collection.run_ids):
            (alone,) = correction.estimate(collection, run_id, result.measure)
            assert np.allclose(alone.per_topic[0], result.per_topic[r], atol=1e-15)
            assert alone.notes == result.notes[r : r + 1]


@by_correction
@given(toys.pooled_collections(), st.integers(1, 8), st.integers(1, 2))
def test_fully_judged_run_has_trec_evals_value(
    correction: PointCorrection, collection: Collection, cutoff: int, rel: int
) -> None:
    judged = dataclasses.replace(
        collection, relevance=np.where(collection.relevance < 0, np.int16(2), collection.relevance)
    )
    if isinstance(correction, TopicsAdjustment):
        correction = TopicsAdjustment(common_query_ids=collection.query_ids[:1])
    (result,) = correction.estimate(judged, measures=Precision(cutoff, rel))
    counts = judgment_counts(judged, cutoffs=cutoff, rel=rel)
    assert not counts.residual.any()
    assert np.allclose(result.value, counts.lower[:, :, 0].mean(axis=1), rtol=0, atol=1e-12)


@by_correction
@given(toys.pooled_collections(), st.integers(1, 8))
def test_value_lies_between_the_bounds(
    correction: PointCorrection, collection: Collection, cutoff: int
) -> None:
    if isinstance(correction, TopicsAdjustment):
        correction = TopicsAdjustment(common_query_ids=collection.query_ids[:1])
    (result,) = correction.estimate(collection, measures=f"P@{cutoff}")
    counts = judgment_counts(collection, cutoffs=cutoff)
    known = ~np.isnan(result.value)
    assert (result.value >= counts.lower[:, :, 0].mean(axis=1) - 1e-12)[known].all()
    assert (result.value <= counts.upper[:, :, 0].mean(axis=1) + 1e-12)[known].all()


@by_correction
def test_estimands_coincide_above_the_pool_depth(correction: PointCorrection) -> None:
    collection = toy_collection(more=COMMON)
    pooled = dataclasses.replace(correction, estimand="pooled")
    for measure in ("P@1", "P@3"):
        for run_id in collection.run_ids:
            complete = estimate(correction, measure, run_id, collection)
            assert np.array_equal(estimate(pooled, measure, run_id, collection).value, complete.value)


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
@pytest.mark.parametrize("case", EDGE_CASES)
def test_edge_case(case: str, correction: PointCorrection) -> None:
    collection, run_id = EDGE_CASES[case]()
    for result in correction.estimate(collection, run_id, EDGE_MEASURES):
        counts = judgment_counts(collection, run_id, cutoffs=result.measure.cutoff, rel=result.measure.rel)
        lower, upper = counts.lower[0, :, 0], counts.upper[0, :, 0]
        needs_a_pool = isinstance(correction, SystemsAdjustment | TopicsAdjustment | AntiPrecision)
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
        if isinstance(correction, LowerBound) or not counts.n_unjudged.any():  # trec_eval's value, to the bit
            n_ranks = result.measure.cutoff * len(collection.query_ids)
            assert value == counts.n_relevant.sum() / n_ranks, result.measure


@pytest.mark.parametrize("case", EDGE_CASES)
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
        for c in (LowerBound(), Background(), Interpolated(), Smoothed(), AntiPrecision(), CondensedList())
    }
    assert values == {
        "lower-bound": 0,
        "background": pytest.approx(0.03),
        "interpolated": pytest.approx(0.01),
        "smoothed": pytest.approx(0.05),
        "anti-precision": 0,
        "condensed-list": 0,
    }


def test_missing_topic_counts_as_zero() -> None:
    collection, run_id = EDGE_CASES["missing topic"]()
    for correction in (
        LowerBound(),
        Background(),
        Interpolated(),
        Smoothed(),
        AntiPrecision(),
        CondensedList(),
    ):
        result = estimate(correction, "P@5", run_id, collection)
        assert result.per_topic[0, 1] == 0
        assert result.value[0] == pytest.approx(result.per_topic[0, 0] / 2)
