"""Predictions put right by a sample: prediction-powered inference, PRECISE, conformal risk control: by hand,
against slow references, and where their assumption holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corrected import LABELS, close, estimate, sampled, with_any_labels, with_labels
from each import cases
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from toys import from_rankings, toy_collection

from bayespool import load_example
from bayespool.corrections import ConformalRiskControl, Precise, PredictionPowered
from bayespool.corrections.base import PointCorrection, clip_to_bounds
from bayespool.corrections.oosterhuis import Calibration, critical_shifts, moved_gains, shift_at

SHIFTS = np.linspace(-1, 1, 2001)

# By hand: u has a1 l? d? h1 m? | v1 p1 z? x? | e? f?; labels l2 d0 m1 | z2 | e0.
# Of judged documents that are not hidden 2 is said of a1 j0, 0 of q0 and topic 3's a0, nothing of its c0:
# predictions are 1/2 with the label 2, 0 with 0, and 1/5 with 1 or none.
PREDICTED = np.array([0.5] * 4 + [0.0] * 4 + [0.2] * 4)
HIDDEN = np.array([1.0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0])  # c r p b | f i k w | h v b d
HIDDEN_LEVELS = np.array([2.0, 2, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0])


def by_hand(gain: Any, predicted: Any) -> tuple[float, float, float]:
    """λ of the least variance, not above 1, the mean error and the variance of errors."""
    scale = min(np.cov(gain, predicted)[0, 1] / np.var(predicted, ddof=1), 1)
    left = np.asarray(gain) - scale * np.asarray(predicted)
    return scale, left.mean(), left.var(ddof=1)


@given(
    arrays.arrays(float, (3, 4), elements=st.floats(-3, 3)),
    arrays.arrays(float, 4, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0])),
)
def test_sums_are_cut_to_the_room_and_topics_stay_inside(added: Any, room: Any) -> None:
    kept = clip_to_bounds(added, room)
    assert (kept >= 0).all()
    assert (kept <= room).all()
    np.testing.assert_allclose(kept.sum(axis=1), np.clip(added.sum(axis=1), 0, room.sum()), atol=1e-9)
    fits = (added == np.clip(added, 0, room)).all(axis=1)
    np.testing.assert_allclose(kept[fits], added[fits], atol=1e-12)


def test_a_sum_is_kept_by_one_factor_or_one_share() -> None:
    room = np.array([1.0, 1.0])
    assert clip_to_bounds(np.array([0.5, -0.1]), room).tolist() == pytest.approx([0.4, 0])
    assert clip_to_bounds(np.array([1.5, 0.0]), room).tolist() == [1.0, 0.5]
    assert clip_to_bounds(np.array([1e-320, 0.0]), room).tolist() == [1e-320, 0.0]  # its inverse is infinite


def test_predictions_are_put_right_by_hidden_documents() -> None:
    scale, mean, variance = by_hand(HIDDEN, PREDICTED)
    assert 0.9 < scale < 1
    found = estimate(PredictionPowered(), "P@5", collection=with_labels(LABELS))
    assert found.per_topic[0].tolist() == close(
        (2 + 0.7 * scale + 3 * mean) / 5, (2 + 0.7 * scale + 2 * mean) / 5, (0.2 * scale + 2 * mean) / 5
    )
    # seven documents, of a fifth each, over three topics
    assert found.std == pytest.approx(np.sqrt(variance * (49 / 12 + 7)) / 5 / 3)
    assert found.notes[0][0].startswith(
        "its interval takes hidden documents for a random sample of documents like"
    )


def test_gains_are_weighted_as_their_ranks() -> None:
    scale, mean, variance = by_hand(HIDDEN_LEVELS, PREDICTED)
    assert scale == 1  # being cut
    found = estimate(PredictionPowered(), "DCG@3", collection=with_labels(LABELS))
    log3 = np.log2(3)
    assert found.per_topic[0].tolist() == close(
        1 + (0.5 + mean) / log3 + mean / 2, 1 + 1 / log3 + (0.5 + mean) / 2, mean + (0.2 + mean) / log3
    )
    weights = np.array([1 / log3, 1 / 2, 1 / 2, 1, 1 / log3])
    assert found.std == pytest.approx(np.sqrt(variance * (weights.sum() ** 2 / 12 + (weights**2).sum())) / 3)
    over = estimate(PredictionPowered(), "nDCG(ideal='judged')@3", collection=with_labels(LABELS))
    assert over.per_topic[0, :2].tolist() == close(*(found.per_topic[0, :2] / (2 + 1 / log3 + 1 / 2)))


def test_the_papers_estimate_is_the_mean_of_predictions_put_right() -> None:
    """θ̂ = λ f̄ + mean of (Y − λf) over the sample, with f̄ over all positions: n1 at rank 5, all on topic 1
    and 2 but d e and s t judged.
    """
    collection = with_labels({**LABELS, "1": {**LABELS["1"], "d": 2, "e": 0}, "2": {**LABELS["2"], "s": 2}})
    found = estimate(PredictionPowered(sample="judged"), "P@5", "n1", collection)
    # a1 b0 c2 d? e? | q0 p1 r2 s? t? | a0 b0 c0, and two ranks that n1 does not fill
    gain = np.array([1.0, 0, 1, 0, 1, 1, 0, 0, 0])
    predicted = np.array([0.5, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.2, 0.2])  # a b c | q p r | a b c
    scale, mean, variance = by_hand(gain, predicted)
    theta = scale * np.append(predicted, [0.5, 0, 0.5, 0.2]).mean() + mean
    assert found.value[0] == pytest.approx(theta * 13 / 15)
    # and the variance of a sample of 9 out of 13 without replacement, (1 − n/M) s²/n
    assert found.std == pytest.approx(np.sqrt((1 - 9 / 13) * variance / 9) * 13 / 15)


# Hidden documents of the runs by topic, of a fifth each: n1 b c, n2 b f c, s1 h i, s2 h k | n1 p r, n2 p r,
# s1 v w | n1 b, n2 b, s1 d, s2 d.


def test_topics_of_runs_held_out_put_the_predictions_right() -> None:
    found = estimate(Precise(), "P@5", collection=with_labels(LABELS))
    value = np.array([1, 2, 1, 1, 2, 2, 1, 0, 0, 0, 0]) / 5
    foretold = np.array([1, 1, 0.2, 0.2, 1, 1, 0.2, 0.2, 0.2, 0.2, 0.2]) / 5
    scale, mean, variance = by_hand(value, foretold)
    others = np.array([0.7, 0.7, 0.2]) / 5  # l d m | z x | e f
    assert found.value[0] == pytest.approx(4 / 15 + scale * others.mean() + mean)
    assert found.std == pytest.approx(np.sqrt(variance * (9 / 11 + 3)) / 3)
    assert found.notes[0][0].startswith("its interval takes topics of held-out runs for a random sample of")


def test_topics_that_are_judged_are_the_sample_of_the_paper() -> None:
    """n1 with d and e judged: a1 b0 c2 d1 e1, q0 p1 r2 s? t?, and a0 b0 c0, ranks 4 and 5 empty."""
    collection = with_labels(LABELS, toy_collection(more={"1": {"d": 1, "e": 1}}))
    found = estimate(Precise(sample="judged"), "P@5", "n1", collection)
    # of the judged documents that are not hidden 0 is said of q0 d1 and topic 3's a0, nothing of c0 e1
    none, zero, two = 3 / 7, 1 / 3, 1 / 2
    scale, mean, variance = by_hand([4 / 5, 0], [(3 * two + zero + none) / 5, (zero + 2 * none) / 5])
    other = scale * (zero + 2 * two + 2 * none) / 5 + mean
    assert found.per_topic[0].tolist() == close(4 / 5, other, 0)
    assert found.std == pytest.approx(np.sqrt(variance * (1 / 2 + 1)) / 3)


@cases("correction", [Precise(n_draws=20_000), PredictionPowered(n_draws=20_000)])
def test_draws_have_the_mean_and_the_spread_that_is_stated(correction: PointCorrection) -> None:
    found = estimate(correction, "DCG@10", "new-b", with_any_labels(load_example()))
    assert found.draws is not None
    assert found.std is not None
    means = found.draws.means()[:, 0]
    assert means.std() == pytest.approx(found.std[0], rel=0.03)
    assert means.mean() == pytest.approx(found.value[0], abs=0.1 * found.std[0])


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


def test_shifts_are_those_of_the_condition() -> None:
    """Equation 24, looked up on the grid."""
    rng = np.random.default_rng(3)
    moved = moved_gains(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([0.0, 1.0]), SHIFTS)
    weight = rng.integers(0, 9, (60, 2)).astype(float)
    value = rng.binomial(weight.astype(int), [0.2, 0.6]).sum(axis=1).astype(float)
    foretold, critical = weight @ moved, critical_shifts(Calibration(weight, value), moved)
    for alpha in (0.05, 0.1, 0.32, 0.5):
        least = (alpha - (1 - alpha) / 60) / 2
        too_high = (foretold > value[:, None] + 1e-12).mean(axis=0) < least
        too_low = (foretold < value[:, None] - 1e-12).mean(axis=0) < least
        found = shift_at(critical, np.array([alpha / 2, 1 - alpha / 2]), len(SHIFTS))
        assert found.tolist() == [np.flatnonzero(too_high).max(), np.flatnonzero(too_low).min()]


@cases(("n_sets", "has_interval"), [(19, False), (20, True), (1000, True)])
def test_fewer_than_20_sets_leave_no_interval_of_95_per_cent(n_sets: int, has_interval: bool) -> None:
    sets = Calibration(np.ones((n_sets, 1)), np.full(n_sets, 0.5))
    found = shift_at(critical_shifts(sets, np.linspace(0, 1, 2001)[None]), np.array([0.025, 0.975]), 2001)
    assert found.tolist() == ([1000, 1000] if has_interval else [0, 2000])


def test_the_estimate_is_where_the_bounds_of_level_0_meet() -> None:
    """A label 2 is (1/2, 1/2), 0 is (1, 0), 1 and none are (4/5, 1/5). The hidden documents of n1 are four of
    label 2 and one without, three of them relevant: 2.2/(1 − λ) = 3; of n2 four are, with one of label 0: λ =
    .45; of s1 two of three without a label: λ = .7; of s2 one of two: .6.
    """
    found = estimate(ConformalRiskControl(sample="runs"), "P@5", collection=with_labels(LABELS))
    # of .2667, .45, .6 and .7 the middles are .45 and .6: labels 2 and none are 1/1.1 and .2/.55, 1 and 1/2
    of_two, of_none = (1 / 1.1 + 1) / 2, (0.2 / 0.55 + 0.5) / 2
    added = (of_two + of_none) / 5
    assert found.per_topic[0].tolist() == close(2 / 5 + added, 2 / 5 + added, of_none / 5)
    lower, upper = found.interval(0.95)  # four sets are too few
    assert (lower[0], upper[0]) == close(4 / 15, 11 / 15)
    lower, upper = found.interval(0.5)  # (.5 − .5/4)/2 = .1875: no set may be missed, λ from .2667 to .7
    weight, rounding = 0.5 + 0.5 + 0.2 * 3, 1.01 / 15
    assert lower[0] == pytest.approx((4 + weight / (1 - 0.4 / 1.5)) / 15, abs=rounding)
    assert upper[0] == pytest.approx((4 + 2 + 3 * 0.2 / 0.3) / 15, abs=rounding)


@cases("correction", [ConformalRiskControl(n_draws=200), PredictionPowered(n_draws=20)])
def test_a_fully_judged_run_has_an_interval_of_no_width(correction: PointCorrection) -> None:
    (found,) = correction.estimate(with_labels(LABELS), ["s2", "u"], "P@2")
    lower, upper = found.interval()
    assert lower[0] == found.value[0] == upper[0] == 1 / 2 / 3
    assert lower[1] < upper[1]


def test_without_a_sample_there_is_no_value() -> None:
    bare = from_rankings(
        {"x": {"1": "ab"}, "y": {"1": "ab"}, "u": {"1": "cd"}},
        {"1": {"a": 1, "b": 0}},
        {"x": "x", "y": "y", "u": "u"},
        pooled_run_ids=("x", "y"),
        pool_depth=2,
    )
    collection = with_labels({"1": {"a": 1, "b": 0, "c": 1, "d": 0}}, bare)
    nothing_hidden = "needs documents that one organization alone contributed"
    for correction, note in (
        (ConformalRiskControl(sample="hidden"), nothing_hidden),
        (ConformalRiskControl(sample="judged"), "needs judged documents in the top n"),
        (ConformalRiskControl(sample="runs"), nothing_hidden),
        (PredictionPowered(sample="judged"), "needs two judged documents to learn from"),
        (Precise(sample="judged"), "needs two topics judged down to the cutoff"),
    ):
        found = estimate(correction, "P@2", "u", collection)
        assert np.isnan(found.value[0])
        assert found.notes == ((note,),)
        assert found.draws is None


@pytest.mark.slow
@cases(
    ("correction", "least"),
    [
        (PredictionPowered(n_draws=400), 0.89),
        (Precise(n_draws=400), 0.89),
        (ConformalRiskControl(n_draws=400), 0.85),
    ],
)
def test_intervals_hold_where_their_assumption_does(correction: PointCorrection, least: float) -> None:
    """Topics drawn again do not know what a calibration of other topics would give: the last is a little too
    narrow.
    """
    rng, hits = np.random.default_rng(12), {0.5: 0, 0.95: 0}
    for _ in range(120):
        collection, truth = sampled(rng, 20)
        found = estimate(correction, "P@10", "u", collection)
        for level in hits:
            lower, upper = found.interval(level)
            hits[level] += bool(lower[0] - 1e-12 <= truth <= upper[0] + 1e-12)
    assert least * 120 <= hits[0.95] <= 0.99 * 120
    assert 0.37 * 120 <= hits[0.5] <= 0.66 * 120
