"""Lower bound, background, interpolated and smoothed precision, and their constants."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
import toys
from corrected import close, estimate, topics_of
from each import cases

from bayespool.corrections import (
    AsJudged,
    Background,
    Interpolated,
    Smoothed,
    fit_constants,
    fit_constants_to_pool,
)
from bayespool.errors import InputError
from bayespool.evidence import JudgmentCounts, judgment_counts, score_bounds
from bayespool.experiments import leave_out, load_example
from bayespool.measures import parse_measure


# The new run of the toy:        topic 1, a1 l? d? h1 m?     topic 2, v1 p1 z? x?     topic 3, e? f?
#     P@2                        B = ½, Δ = ½                B = 1, Δ = 0             B = 0, Δ = 1
#     P@5                        B = 2/5, Δ = 3/5            B = 2/5, Δ = 2/5         B = 0, Δ = 2/5
def test_values_of_the_toy() -> None:
    assert topics_of(AsJudged(), "P@2") == close(0.5, 1, 0)
    assert topics_of(AsJudged()) == close(0.4, 0.4, 0)
    assert topics_of(Background(), "P@2") == close(0.515, 1, 0.03)
    assert topics_of(Background()) == close(0.418, 0.412, 0.012)
    assert topics_of(Background(e=0.5)) == close(0.7, 0.6, 0.2)
    # ½ + 0.42·½·½/½; Δ = 0; Δ = 1, so E
    assert topics_of(Interpolated(), "P@2") == close(0.71, 1, 0.01)
    # 0.4 + 0.42·0.6·0.4/0.4; 0.4 + 0.42·0.4·0.4/0.6
    assert topics_of(Interpolated()) == close(0.652, 0.512, 0)
    assert estimate(Interpolated(), "P@2").value[0] == pytest.approx(1.72 / 3, abs=1e-12)
    # ½ + 0.91·½·½ + ¼·0.05; Δ = 0; 0.05
    assert topics_of(Smoothed(), "P@2") == close(0.74, 1, 0.05)
    # 0.4 + 0.91·0.6·0.4 + 0.36·0.05; 0.4 + 0.91·0.4·0.4 + 0.16·0.05; 0.16·0.05
    assert topics_of(Smoothed()) == close(0.6364, 0.5536, 0.008)


# Over ideal rankings T has the relevant documents that the run lacks at its first unjudged ranks.
#     AP@5                       B = (1 + 2/4)/4, T = 1      B = 2/3, T = 1           no relevant document
def test_measures_over_ideal_rankings() -> None:
    assert topics_of(AsJudged(), "AP@5") == close(3 / 8, 2 / 3, 0)
    assert topics_of(Background(e=0.5), "AP@5") == close(3 / 8 + 5 / 16, 5 / 6, 0)
    # 3/8 + C·(5/8)·(3/8)/(3/8); 2/3 + C·(1/3)·(2/3)/(2/3)
    assert topics_of(Interpolated(), "AP@5") == close(3 / 8 + 0.42 * 5 / 8, 2 / 3 + 0.42 / 3, 0)
    assert topics_of(Smoothed(), "AP@5") == close(
        3 / 8 + 0.91 * 5 / 8 * 3 / 8 + 0.05 * 25 / 64, 2 / 3 + 0.91 * 2 / 9 + 0.05 / 9, 0
    )
    # a1 c2 at the first two ranks, of c2 a1; v1 p1, all judged, of r2 p1
    ideal = 2 + 1 / np.log2(3)
    low, high = 1 / ideal, (1 + 2 / np.log2(3)) / ideal
    assert topics_of(Background(e=0.5), "nDCG@2") == close((low + high) / 2, (1 + 1 / np.log2(3)) / ideal, 0)
    judged = topics_of(Background(e=0.5), "nDCG(ideal='judged')@2")
    assert judged == topics_of(Background(e=0.5), "nDCG@2")


def test_constants_are_chances_of_the_highest_gain() -> None:
    # DCG@2: of two documents of relevance 2 it is 2 + 2/log2(3)
    highest = 2 + 2 / np.log2(3)
    assert topics_of(Background(e=0.5), "DCG@2") == close(1 + 1 / np.log2(3), 1 + 1 / np.log2(3), highest / 2)
    x, delta = 1 / highest, 2 / np.log2(3) / highest
    assert topics_of(Interpolated(), "DCG@2") == close(
        highest * (x + 0.42 * delta * x / (1 - delta)), 1 + 1 / np.log2(3), 0.01 * highest
    )
    assert topics_of(Smoothed(), "DCG@2") == close(
        highest * (x + 0.91 * delta * x + 0.05 * delta**2), 1 + 1 / np.log2(3), 0.05 * highest
    )


def test_ranks_beyond_the_end_of_a_run_are_no_documents() -> None:
    """RBP without a cutoff may gain there; a topic without unjudged documents keeps its value."""
    collection, run = toys.EDGE_CASES["everything judged in the pool"]()
    result = estimate(Background(e=1), "RBP(p=0.5)", run, collection)
    assert np.array_equal(result.per_topic, estimate(AsJudged(), "RBP(p=0.5)", run, collection).per_topic)


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


@cases(
    ("estimator", "c", "e", "values"),
    [
        # B = 0.2, 0.4, 0.1, 0 and Δ = 0.5, 0.2, 0.8, 1
        ("background", float("nan"), 0.1, [250, 420, 180, 100]),
        ("interpolated", 0.5, 0.02, [300, 450, 300, 20]),  # 0.2 + 0.5·0.5·0.2/0.5, 0.4 + 0.5·0.2·0.4/0.8, …
        ("smoothed", 0.5, 0.1, [275, 444, 204, 100]),  # 0.2 + 0.5·0.5·0.2 + 0.25·0.1, …
    ],
)
def test_known_constants_are_recovered(estimator: Any, c: float, e: float, values: list[int]) -> None:
    pooled = counts_of([200, 400, 100, 0], [500, 200, 800, 1000])
    found = fit_constants(estimator, [pooled, pooled], counts_of(values, [0, 0, 0, 0]))
    assert found.values == pytest.approx({"c": c, "e": e} if c == c else {"e": e}, abs=1e-12)
    assert found.rmse == pytest.approx(0, abs=1e-12)


def test_constants_of_several_pools() -> None:
    """Each pool weighs alike: E between 0.1 and 0.2, the residuals being equal."""
    pools = [counts_of([0, 0], [1000, 1000]), counts_of([100, 100], [500, 500])]
    found = fit_constants("background", pools, counts_of([200, 200], [0, 0]))
    # least squares of 0.2 = E·1 and 0.1 = E·0.5: both hold at E = 0.2
    assert found.values["e"] == pytest.approx(0.2)
    found = fit_constants("background", pools, counts_of([200, 400], [0, 0]))
    # 0.2 and 0.4 at Δ = 1, 0.1 and 0.3 at Δ = ½: E = (0.2 + 0.4 + 0.05 + 0.15)/(1 + 1 + ¼ + ¼)
    assert found.values["e"] == pytest.approx(0.32)
    errors = [0.2 - 0.32, 0.4 - 0.32, 0.1 - 0.16, 0.3 - 0.16]
    assert found.rmse == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_constants_stay_between_0_and_1() -> None:
    # B = 0.2, Δ = 0.2: 0.4 would need C = 0.2·0.8/(0.2·0.2) = 4
    found = fit_constants("interpolated", [counts_of([200], [200])], counts_of([400], [0]))
    assert found.values["c"] == pytest.approx(1, abs=1e-12)
    assert found.rmse == pytest.approx(0.4 - 0.25)


@cases("estimator", ["background", "interpolated", "smoothed"])
def test_fitted_constants_beat_a_grid(estimator: Literal["background", "interpolated", "smoothed"]) -> None:
    example, cutoffs = load_example(), [5, 20]
    runs = example.pooled_run_ids
    truth = judgment_counts(example, runs, cutoffs=cutoffs)
    tables = [judgment_counts(example.truncate_pool(depth), runs, cutoffs=cutoffs) for depth in (1, 3, 6)]
    lower, delta = (np.stack([getattr(t, name) for t in tables]) for name in ("lower", "residual"))

    def rmse_of(c: float, e: float) -> float:
        placed = {
            "background": Background(e=e),
            "interpolated": Interpolated(c=c, e=e),
            "smoothed": Smoothed(c=c, e=e),
        }
        found = placed[estimator].formula(lower, delta)
        return float(np.sqrt(np.mean(np.square(found - truth.lower))))

    found = fit_constants(estimator, tables, truth)
    c, e = (float(np.nan_to_num(found.values.get(name, 0))) for name in "ce")
    assert found.rmse == pytest.approx(rmse_of(c, e), abs=1e-12)
    grid = np.linspace(0, 1, 41)
    best = min((rmse_of(c, e), c, e) for c in (grid if estimator != "background" else grid[:1]) for e in grid)
    assert best[0] - 0.01 < found.rmse <= best[0] + 1e-12
    assert (c, e) == pytest.approx(best[1:], abs=0.05)


def test_constants_are_fitted_to_measures_that_end_at_1() -> None:
    example = load_example()
    for text in ("RBP(p=0.8)@10", "AP@10", "DCG@10"):
        shallow, truth = (
            score_bounds(c, example.pooled_run_ids, parse_measure(text))
            for c in (example.truncate_pool(3), example)
        )
        if text == "DCG@10":
            with pytest.raises(InputError, match="constants are fitted to measures from 0 to 1, and DCG@10"):
                fit_constants("smoothed", [shallow], truth)
        else:
            assert 0 <= fit_constants("smoothed", [shallow], truth).values["c"] <= 1


def test_alpha_weighs_interpolated_against_background() -> None:
    # topic 1 of P@5: B = 2/5, Δ = 3/5: X_I = 0.4 + 0.91·0.6 = 0.946, X_B = 0.4 + 0.6·0.05 = 0.43
    assert topics_of(Smoothed(alpha=0.25))[0] == pytest.approx(0.25 * 0.946 + 0.75 * 0.43)
    assert topics_of(Smoothed(alpha=1)) == topics_of(Interpolated(c=0.91, e=0.05))
    assert topics_of(Smoothed(alpha=0)) == close(*topics_of(Background(e=0.05)))
    # Δ = ½, 0, 1
    assert topics_of(Smoothed(alpha=0.25), "P@2") == close(0.25 * 0.955 + 0.75 * 0.525, 1, 0.05)


def test_constants_are_fitted_at_an_alpha() -> None:
    # C = 0.5, E = 0.1, α = ¼: ¼·0.3 + ¾·0.25, ¼·0.45 + ¾·0.42, ¼·0.3 + ¾·0.18 and 0.1 where nothing is judged
    truth = counts_of([2625, 4275, 2100, 1000], [0, 0, 0, 0], cutoff=10000)
    tenfold = counts_of([2000, 4000, 1000, 0], [5000, 2000, 8000, 10000], cutoff=10000)
    found = fit_constants("smoothed(alpha=0.25)", [tenfold], truth)
    assert found.values == pytest.approx({"c": 0.5, "e": 0.1})
    assert np.isnan(fit_constants(Smoothed(alpha=0), [tenfold], truth).values["c"])


@cases("measure", ["nDCG@10", "DCG@5"])
def test_constants_fitted_to_the_pool_are_those_of_least_error_when_left_out(measure: str) -> None:
    """The error of the fit is what leave-out measures, and no constants nearby have a smaller one."""
    example = load_example()
    best = fit_constants_to_pool("smoothed", example, measure)
    c, e = best.values["c"], best.values["e"]
    estimators = {
        "best": Smoothed(c=c, e=e),
        "less c": Smoothed(c=max(c - 0.05, 0), e=e),
        "more e": Smoothed(c=c, e=min(e + 0.05, 1)),
        "less e": Smoothed(c=c, e=max(e - 0.05, 0)),
    }
    summary = leave_out(example, measure, estimators=estimators).to_frame("summary")
    error = summary.set_index("estimator")["topic_rmse"]
    assert error.drop("best").min() >= error["best"] - 1e-12
    highest = {"DCG@5": 2 * (1 / np.log2(np.arange(2, 7))).sum()}.get(measure, 1)
    assert best.rmse * highest == pytest.approx(error["best"], abs=1e-9)


def test_constants_that_are_fitted_or_cannot_be_are_told() -> None:
    """What is given is not used where it is fitted, and is where no second organization is there."""
    fitted, plain = (
        estimate(Interpolated(fit="pool", **more), "P@10", "new-b", load_example()) for more in ({"c": 1}, {})
    )
    assert fitted.value.tolist() == plain.value.tolist()
    assert fitted.notes == (("constants are fitted to the pool, and c = 1 is not used",),)
    assert plain.notes == ((),)
    alone = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    fitted, plain = (
        estimate(Interpolated(c=0.3, **more), "P@10", "new-b", alone) for more in ({"fit": "pool"}, {})
    )
    np.testing.assert_array_equal(fitted.per_topic, plain.per_topic)
    assert fitted.notes == (("no organization is left to fit constants to: those given",),)
    with pytest.raises(InputError, match="no constants to fit for 'condensed-list'"):
        fit_constants_to_pool("condensed-list", load_example())
    with pytest.raises(InputError, match="counts of the same runs, topics and cutoffs"):
        fit_constants("background", [], counts_of([200], [500]))
