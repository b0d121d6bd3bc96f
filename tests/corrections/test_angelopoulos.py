"""Prediction-powered inference: by hand, by a slow reference, and where its assumption holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corrected import LABELS, close, estimate, sampled, with_labels
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from bayespool.corrections import PredictionPowered
from bayespool.corrections.angelopoulos import within_room

# The rectifier


# Room


@given(
    arrays.arrays(float, (3, 4), elements=st.floats(-3, 3)),
    arrays.arrays(float, 4, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0])),
)
def test_sums_are_cut_to_the_room_and_topics_stay_inside(added: Any, room: Any) -> None:
    kept = within_room(added, room)
    assert (kept >= 0).all()
    assert (kept <= room).all()
    np.testing.assert_allclose(kept.sum(axis=1), np.clip(added.sum(axis=1), 0, room.sum()), atol=1e-9)
    inside = np.clip(added, 0, room)
    fits = (added == inside).all(axis=1)
    np.testing.assert_allclose(kept[fits], added[fits], atol=1e-12)


def test_a_sum_is_kept_by_one_factor_or_one_share() -> None:
    room = np.array([1.0, 1.0])
    assert within_room(np.array([0.5, -0.1]), room).tolist() == pytest.approx([0.4, 0])
    assert within_room(np.array([1.5, 0.0]), room).tolist() == [1.0, 0.5]
    assert within_room(np.array([1e-320, 0.0]), room).tolist() == [1e-320, 0.0]  # its inverse is infinite


# By hand: u has a1 l? d? h1 m? | v1 p1 z? x? | e? f?; labels l2 d0 m1 | z2 | e0.
# Of judged documents that are not hidden 2 is said of a1 j0, 0 of q0 and topic 3's a0, nothing of its c0:
# predictions are 1/2 with the label 2, 0 with 0, and 1/5 with 1 or none.
PREDICTED = np.array([0.5] * 4 + [0.0] * 4 + [0.2] * 4)
HIDDEN = np.array([1.0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0])  # c r p b | f i k w | h v b d
HIDDEN_LEVELS = np.array([2.0, 2, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0])


def by_hand(gain: np.ndarray, predicted: np.ndarray = PREDICTED) -> tuple[float, float, float]:
    """λ, the mean error and the variance of errors."""
    scale = np.cov(gain, predicted)[0, 1] / predicted.var(ddof=1)
    left = gain - scale * predicted
    return scale, left.mean(), left.var(ddof=1)


def test_predictions_are_put_right_by_hidden_documents() -> None:
    scale, mean, variance = by_hand(HIDDEN)
    assert 0.9 < scale < 1
    found = estimate(PredictionPowered(), "P@5", collection=with_labels(LABELS))
    assert found.per_topic[0].tolist() == close(
        (2 + 0.7 * scale + 3 * mean) / 5, (2 + 0.7 * scale + 2 * mean) / 5, (0.2 * scale + 2 * mean) / 5
    )
    # seven documents, of a fifth each, over three topics
    assert found.std == pytest.approx(np.sqrt(variance * (49 / 12 + 7)) / 5 / 3)
    assert found.notes == (
        "its interval takes hidden documents for a random sample of documents like the unjudged ones",
    )


def test_gains_are_weighted_as_their_ranks() -> None:
    predicted = np.array([0.5] * 4 + [0.0] * 4 + [0.2] * 4)
    scale, _, _ = by_hand(HIDDEN_LEVELS, predicted)
    assert scale > 1  # and is cut
    left = HIDDEN_LEVELS - predicted
    mean, variance = left.mean(), left.var(ddof=1)
    found = estimate(PredictionPowered(), "DCG@3", collection=with_labels(LABELS))
    log3 = np.log2(3)
    assert found.per_topic[0].tolist() == close(
        1 + (0.5 + mean) / log3 + mean / 2, 1 + 1 / log3 + (0.5 + mean) / 2, mean + (0.2 + mean) / log3
    )
    weights = np.array([1 / log3, 1 / 2, 1 / 2, 1, 1 / log3])
    assert found.std == pytest.approx(np.sqrt(variance * (weights.sum() ** 2 / 12 + (weights**2).sum())) / 3)
    ideal = 2 + 1 / log3 + 1 / 2
    over = estimate(PredictionPowered(), "nDCG(ideal='judged')@3", collection=with_labels(LABELS))
    assert over.per_topic[0].tolist() == close(
        found.per_topic[0, 0] / ideal, found.per_topic[0, 1] / ideal, 0
    )


def test_the_papers_estimate_is_the_mean_of_predictions_put_right() -> None:
    """θ̂ = λ f̄ + mean of (Y − λf) over the sample, with f̄ over all positions: n1 at rank 5, all on topic 1
    and 2 but d e and s t judged."""
    collection = with_labels({**LABELS, "1": {**LABELS["1"], "d": 2, "e": 0}, "2": {**LABELS["2"], "s": 2}})
    found = estimate(PredictionPowered(sample="judged"), "P@5", "n1", collection)
    # a1 b0 c2 d? e? | q0 p1 r2 s? t? | a0 b0 c0, and two ranks that n1 does not fill
    gain = np.array([1.0, 0, 1, 0, 1, 1, 0, 0, 0])
    predicted = np.array([0.5, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.2, 0.2])  # a b c | q p r | a b c
    unjudged = np.array([0.5, 0, 0.5, 0.2])
    scale = min(np.cov(gain, predicted)[0, 1] / predicted.var(ddof=1), 1)
    everything = np.concatenate([predicted, unjudged])
    theta = scale * everything.mean() + (gain - scale * predicted).mean()
    assert found.value[0] == pytest.approx(theta * 13 / 15)
    # and the variance of a sample of 9 out of 13 without replacement, (1 − n/M) s²/n
    variance = (gain - scale * predicted).var(ddof=1)
    assert found.std == pytest.approx(np.sqrt((1 - 9 / 13) * variance / 9) * 13 / 15)


# Draws


@pytest.mark.slow
def test_its_intervals_hold_where_its_assumption_does() -> None:
    rng = np.random.default_rng(12)
    hits = {0.5: 0, 0.95: 0}
    for _ in range(120):
        collection, truth = sampled(rng)
        found = estimate(PredictionPowered(n_draws=400), "P@10", "u", collection)
        for level in hits:
            lower, upper = found.interval(level)
            hits[level] += bool(lower[0] - 1e-12 <= truth <= upper[0] + 1e-12)
    assert 0.89 * 120 <= hits[0.95] <= 0.99 * 120
    assert 0.37 * 120 <= hits[0.5] <= 0.66 * 120


# Edges and settings
