"""The anti-precision correction, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from corrected import close, estimate
from each import cases
from toys import from_rankings

from bayespool.corrections import AntiPrecision, anti_precision_indicators


def test_anti_precision_by_trigger_and_by_hand() -> None:
    for pooled, own, judged, depth, values in (
        # p composed with u: a1 b1 c4 x4, so that the first two are a0 b1 where they were a0 x?: ΔP = ½ and
        # ΔP̄ = 0; two triggers fire and one does not, with Δk̄ = −½: nothing to add
        ("axbc", "bzyx", {"a": 0, "b": 1, "c": 0, "y": 0}, 1, (0.5, 0.5, 0.5)),
        # a1 x3 c4 b4, so that a1 x? stand where a1 b0 stood: ΔP = 0, ΔP̄ = −½, Δk̄ = ½. s = ½, s̄ = 0, k̄ = ½:
        # λ = ½·(0·0 + ½·½) = 1/8, and k̄·½ is added, if λ or ΔP̄ say so
        ("abxc", "azxb", {"a": 1, "b": 0, "c": 0}, 2, (0.75, 0.5, 0.75)),
        # R1 x? where a0 b0 stood: ΔP = ½, ΔP̄ = −1, Δk̄ = ½. s = ½, s̄ = 0, k̄ = ½
        ("abRx", "Rxab", {"a": 0, "b": 0, "R": 1}, 3, (0.75, 0.75, 0.75)),
    ):
        rankings = {"p": {"1": pooled}, "u": {"1": own}}
        collection = from_rankings(rankings, {"1": judged}, pooled_run_ids=("p",), pool_depth=depth)
        for trigger, value in zip(("lambda", "precision", "anti-precision"), values, strict=True):
            correction = AntiPrecision(trigger=trigger)  # type: ignore[arg-type]
            found = estimate(correction, "P@2", collection=collection).value[0]
            assert found == pytest.approx(value, abs=1e-12), (pooled, trigger)


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


# ΔP, ΔP̄, Δk̄, k̄, λ and the trigger of the toy's new run, worked as above; the formula is Table 1's.
@cases(
    ("measure", "expected"),
    [
        ("P@3", (0, -1 / 36, 1 / 36, 5 / 9, 5 / 9 / 36 / 3, 1)),
        ("P@2", (-1 / 24, 0, 1 / 24, 1 / 2, 0, 0)),
        ("P@5", (0, 0, 0, 7 / 15, 0, 0)),
    ],
)
def test_indicators_of_the_toy(measure: str, expected: tuple[float, ...]) -> None:
    indicators = estimate(AntiPrecision(), measure).indicators
    assert [float(values[0]) for values in indicators.values()] == close(*expected)


# u has x? and R1 and no third document. p composed with u is a0 x? b0 where a0 b0 c0 stood, whatever u is
# divided by: ΔP = 0, ΔP̄ = −⅓, Δk̄ = ⅓.
@cases(
    ("denominator", "k_bar", "lambda_", "value"),
    [
        # s = ⅓, and s̄ = ⅓ is the missing rank: λ = ⅓·(⅓·⅓)
        ("padded", 1 / 3, 1 / 27, 1 / 3 + 1 / 9),
        # s = ⅓, s̄ = 0: the missing rank is in k̄ = ⅔, λ = ⅔·(⅓·⅓)
        ("cutoff", 2 / 3, 2 / 27, 1 / 3 + 2 / 9),
        # of two documents: s = ½, s̄ = 0, k̄ = ½, λ = ½·(⅓·½)
        ("retrieved", 1 / 2, 1 / 12, 1 / 2 + 1 / 6),
    ],
)
def test_denominators_of_a_short_run(denominator: Any, k_bar: float, lambda_: float, value: float) -> None:
    collection = from_rankings(
        {"p": {"1": "abcRx"}, "u": {"1": "xR"}},
        {"1": {"a": 0, "b": 0, "c": 0, "R": 1}},
        pooled_run_ids=("p",),
        pool_depth=3,
    )
    correction = AntiPrecision(denominator=denominator)
    estimates = estimate(correction, "P@3", "u", collection)
    known = {name: values[0] for name, values in estimates.indicators.items()}
    assert [known["delta_precision"], known["delta_anti_precision"]] == close(0, -1 / 3)
    assert [known["k_bar"], known["lambda"], estimates.value[0]] == close(k_bar, lambda_, value)
    frame = anti_precision_indicators(collection, "u", "P@3", correction=correction)
    assert frame["as_judged"][0] == pytest.approx(1 / 2 if denominator == "retrieved" else 1 / 3)
