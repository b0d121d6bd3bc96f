"""Verdicts on the drift of a judge are rarely wrong, and a fall of κ by .1 is found, at small scale."""

from __future__ import annotations

import os

import numpy as np
import pytest

from research.checks.drift import NULLS, POWER, ask_streams, is_wrong

N = max(20, round(60 * float(os.environ.get("BAYESPOOL_SLOW_SCALE", "1"))))


@pytest.mark.parametrize(
    "what", ["the same", "the same, asked twice, noise 10 %", "judge changes, not the system"]
)
def test_verdicts_are_rarely_wrong(what: str) -> None:
    found = ask_streams(NULLS[what], N, 300, 30)
    assert is_wrong(NULLS[what], found).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / N)


@pytest.mark.parametrize("what", ["κ falls by .1, 0% otherwise", "κ falls by .1, 5% otherwise"])
def test_a_fall_is_found(what: str) -> None:
    found = ask_streams(POWER[what], N, 300, 1)
    assert np.isfinite(found["judge"]).mean() >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / N)
