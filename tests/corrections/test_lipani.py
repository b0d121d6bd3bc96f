"""The anti-precision correction, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toys
from corrected import close, estimate
from each import cases
from hypothesis import given, strategies as st
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.corrections import AntiPrecision, AsJudged, anti_precision_indicators

TRIGGERS = st.sampled_from(["lambda", "precision", "anti-precision"])


# Anti-precision. From the composition effects worked in counts/test_composition.py: P@3 has ΔP = 0 and
# ΔP̄ = −1/36, P@2 ΔP = −1/24 and ΔP̄ = 0, P@1 ΔP = −1/12 and ΔP̄ = 1/12, P@5 nothing.
def test_anti_precision_of_the_toy() -> None:
    # s = 3/9, k̄ = 5/9, s̄ = 1/9 (the missing rank): λ = 5/9·(0·1/9 + 1/36·3/9) > 0
    result = estimate(AntiPrecision(), "P@3")
    assert result.value[0] == pytest.approx(1 / 3 + 5 / 9 / 36, abs=1e-12)
    assert result.per_topic[0].tolist() == close(1 / 3 + 2 / 3 / 36, 2 / 3 + 1 / 3 / 36, 2 / 3 / 36)


@cases(
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
    lower = estimate(AsJudged(), measure).value[0]
    assert (corrected > lower + 1e-9) == fires
    assert fires or corrected == lower


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


@given(toys.pooled_collections(), st.integers(1, 8), TRIGGERS)
def test_alpha_0_corrects_nothing(collection: Collection, cutoff: int, trigger: Any) -> None:
    (corrected,) = AntiPrecision(alpha=0, trigger=trigger).estimate(collection, measures=f"P@{cutoff}")
    (lower,) = AsJudged().estimate(collection, measures=f"P@{cutoff}")
    known = ~np.isnan(corrected.value)  # NaN where there is no pool
    assert np.array_equal(corrected.value[known], lower.value[known])


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


def test_a_run_left_uncorrected_says_why() -> None:
    assert estimate(AntiPrecision(), "P@3").notes == ("",)
    assert estimate(AntiPrecision(), "P@2").notes == ("uncorrected: λ ≤ 0",)
    assert estimate(AntiPrecision(trigger="precision"), "P@2").notes == ("uncorrected: ΔP ≤ 0",)
    assert estimate(AntiPrecision(trigger="anti-precision"), "P@2").notes == ("uncorrected: ΔP̄ ≥ 0",)
    collection = from_rankings(
        {"p": {"1": "axbc"}, "u": {"1": "bzyx"}},
        {"1": {"a": 0, "b": 1, "c": 0, "y": 0}},
        pooled_run_ids=("p",),
        pool_depth=1,
    )
    (row,) = anti_precision_indicators(collection, "u", "P@2").to_dict("records")
    # ΔP = ½, ΔP̄ = 0, s = k̄ = ½ and s̄ = 0 give λ = 0
    assert (row["delta_precision"], row["delta_k_bar"], row["lambda"], row["triggered"]) == (0.5, -0.5, 0, 0)
    fired = AntiPrecision(trigger="precision")
    assert fired.estimate(collection, "u", "P@2")[0].notes == ("uncorrected: Δk̄ ≤ 0",)
    (row,) = anti_precision_indicators(collection, "u", "P@2", correction=fired).to_dict("records")
    assert (row["triggered"], row["value"]) == (1, row["as_judged"])
    # everything judged: nothing to explain
    assert AntiPrecision().estimate(collection, "u", "P@1")[0].notes == ("",)
    assert "lambda" not in anti_precision_indicators(collection, "u", "AP@2")
