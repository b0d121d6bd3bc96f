"""Conformal risk control: by hand, by a slow reference, and where its assumption holds."""

from __future__ import annotations

import numpy as np
import pytest
from corrected import LABELS, close, estimate, sampled, with_labels
from each import cases
from hypothesis import given, strategies as st
from toys import from_rankings

from bayespool.corrections import ConformalRiskControl
from bayespool.corrections.oosterhuis import Calibration, critical_shifts, moved_gains, shift_at

SHIFTS = np.linspace(-1, 1, 2001)

# Distributions moved


def test_mass_is_cut_off_one_end_and_the_rest_scaled() -> None:
    """Eq. 16–19: (.7, .3) without .2 of the lower level is (.5, .3)/.8, of the higher (.7, .1)/.8."""
    binary = moved_gains(np.array([[0.7, 0.3]]), np.array([0.0, 1.0]), np.array([-1, -0.2, 0, 0.2, 0.7, 1]))
    assert binary[0].tolist() == close(0, 0.125, 0.3, 0.375, 1, 1)
    graded = moved_gains(np.array([[0.5, 0.3, 0.2]]), np.array([0.0, 1, 3]), np.array([-0.3, 0, 0.6]))
    assert graded[0].tolist() == close(0.2 / 0.7, 0.9, (0.2 * 1 + 0.2 * 3) / 0.4)
    sure = moved_gains(np.array([[1.0, 0.0]]), np.array([0.0, 1.0]), np.array([-1, 0, 0.9, 1]))
    assert sure[0].tolist() == [0, 0, 0, 1]


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda rates: sum(rates) > 0.01))
def test_the_expected_gain_rises_with_the_shift(rates: list[float]) -> None:
    moved = moved_gains(np.array([rates]) / sum(rates), np.array([0.0, 1, 3]), SHIFTS[::20])[0]
    assert (np.diff(moved) >= -1e-9).all()
    assert moved[[0, -1]].tolist() == [0, 3]


# Calibration


def test_shifts_are_those_of_the_condition() -> None:
    """Equation 24, looked up on the grid."""
    rng = np.random.default_rng(3)
    moved = moved_gains(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([0.0, 1.0]), SHIFTS)
    sets = Calibration(rng.integers(0, 9, (60, 2)).astype(float), np.zeros(60))
    sets = sets._replace(value=rng.binomial(sets.weight.astype(int), [0.2, 0.6]).sum(axis=1).astype(float))
    foretold = sets.weight @ moved
    critical = critical_shifts(sets, moved)
    for alpha in (0.05, 0.1, 0.32, 0.5):
        least = (alpha - (1 - alpha) / 60) / 2
        too_high = (foretold > sets.value[:, None] + 1e-12).mean(axis=0) < least
        too_low = (foretold < sets.value[:, None] - 1e-12).mean(axis=0) < least
        found = shift_at(critical, np.array([alpha / 2, 1 - alpha / 2]), len(SHIFTS))
        assert found.tolist() == [np.flatnonzero(too_high).max(), np.flatnonzero(too_low).min()]


@cases(("n_sets", "has_interval"), [(10, False), (19, False), (20, True), (1000, True)])
def test_fewer_than_20_sets_leave_no_interval_of_95_per_cent(n_sets: int, has_interval: bool) -> None:
    critical = critical_shifts(
        Calibration(np.ones((n_sets, 1)), np.full(n_sets, 0.5)), np.linspace(0, 1, 2001)[None]
    )
    found = shift_at(critical, np.array([0.025, 0.975]), 2001)
    assert found.tolist() == ([1000, 1000] if has_interval else [0, 2000])


# By hand: a label 2 is (1/2, 1/2), 0 is (1, 0), 1 and none are (4/5, 1/5): see test_angelopoulos.
# The hidden documents of n1 are four of label 2 and one without, three of them relevant: 2.2/(1 − λ) = 3; of
# n2 four are, with one of label 0: λ = .45; of s1 two of three without a label: λ = .7; of s2 one of two: .6.


def test_the_estimate_is_where_the_bounds_of_level_0_meet() -> None:
    found = estimate(ConformalRiskControl(sample="runs"), "P@5", collection=with_labels(LABELS))
    # of .2667, .45, .6 and .7 the middles are .45 and .6: labels 2 and none are 1/1.1 and .2/.55, 1 and 1/2
    of_two, of_none = (1 / 1.1 + 1) / 2, (0.2 / 0.55 + 0.5) / 2
    added = (of_two + of_none) / 5
    assert found.per_topic[0].tolist() == close(2 / 5 + added, 2 / 5 + added, of_none / 5)
    assert found.notes == ("its interval takes runs held out for a random sample of runs like this one",)
    lower, upper = found.interval(0.95)  # four sets are too few
    assert (lower[0], upper[0]) == close(4 / 15, 11 / 15)
    lower, upper = found.interval(0.5)  # (.5 − .5/4)/2 = .1875: no set may be missed, λ from .2667 to .7
    weight, rounding = 0.5 + 0.5 + 0.2 * 3, 1.01 / 15
    assert lower[0] == pytest.approx((4 + weight / (1 - 0.4 / 1.5)) / 15, abs=rounding)
    assert upper[0] == pytest.approx((4 + 2 + 3 * 0.2 / 0.3) / 15, abs=rounding)


def test_a_fully_judged_run_has_an_interval_of_no_width() -> None:
    (found,) = ConformalRiskControl(n_draws=200).estimate(with_labels(LABELS), ["s2", "u"], "P@2")
    lower, upper = found.interval()
    assert lower[0] == found.value[0] == upper[0] == 1 / 2 / 3
    assert lower[1] < upper[1]


def test_without_a_set_there_is_no_value() -> None:
    collection = from_rankings(
        {"x": {"1": "ab"}, "y": {"1": "ab"}, "u": {"1": "cd"}},
        {"1": {"a": 1, "b": 0}},
        {"x": "x", "y": "y", "u": "u"},
        pooled_run_ids=("x", "y"),
        pool_depth=2,
    )
    labeled = with_labels({"1": {"a": 1, "b": 0, "c": 1, "d": 0}}, collection)
    notes = {"judged": "needs judged documents in the top n"}
    for sample in ("hidden", "judged", "runs"):
        found = estimate(ConformalRiskControl(sample=sample), "P@2", "u", labeled)  # type: ignore[arg-type]
        assert np.isnan(found.value[0])
        assert found.notes == (notes.get(sample, "needs documents that one organization alone contributed"),)


@pytest.mark.slow
def test_its_intervals_hold_where_its_assumption_does() -> None:
    """Topics drawn again do not know what a calibration of other topics would give: a little too narrow."""
    rng = np.random.default_rng(13)
    hits = 0
    for _ in range(200):
        collection, truth = sampled(rng, 20)
        lower, upper = estimate(ConformalRiskControl(n_draws=400), "P@10", "u", collection).interval(0.95)
        hits += bool(lower[0] - 1e-12 <= truth <= upper[0] + 1e-12)
    assert 0.85 * 200 <= hits <= 0.99 * 200
