"""Scores on topics like these: two parts of the variance, the t interval, and the bootstrap."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from precisions import pairs, precisions
from scipy import stats

from bayespool.comparisons import paired_t
from bayespool.errors import InputError
from bayespool.measures import Estimates, Values, parse_measure
from bayespool.measures.populations import estimate_population, population_draws

SCORES = np.rint(10 * precisions(3, 25, 11)).astype(np.int32)  # of 3 runs on 25 topics


def estimates_of(draws: np.ndarray) -> Estimates:
    """Estimates of P@10 with draws of the number of relevant documents, shape (draw, run, topic)."""
    values = Values(draws, 10)
    return Estimates(
        estimator="known",
        measure=parse_measure("P@10"),
        run_ids=tuple(f"run-{r}" for r in range(draws.shape[1])),
        query_ids=tuple(map(str, range(draws.shape[2]))),
        per_topic=values.on_topics(),
        value=values.expected(),
        fingerprint="0",
        draws=values,
    )


def test_the_parts_of_the_variance_by_hand() -> None:
    draws = np.array([[[2, 4]], [[6, 8]]], dtype=np.int32)  # means .3 and .7, s² of .02 in both draws
    there = estimate_population(estimates_of(draws))
    np.testing.assert_allclose((there.unjudged_part, there.topic_part), ([0.04], [0.01]))
    np.testing.assert_allclose(there.unjudged_share, [0.8])
    assert (there.lower >= 0).all()
    assert (there.upper <= 1).all()


def test_without_draws_runs_share_the_resampled_topics() -> None:
    twins = np.stack([SCORES[0], SCORES[0] + 0, 10 - SCORES[0]])
    points = dataclasses.replace(estimates_of(twins[None]), draws=None)
    there = estimate_population(points, 0.9)
    assert not there.has_draws
    assert np.isnan(there.unjudged_share).all()
    assert (there.lower[0], there.upper[0]) == (there.lower[1], there.upper[1])
    np.testing.assert_allclose(there.lower[2], 1 - there.upper[0])
    ends = stats.bootstrap((SCORES[0] / 10,), np.mean, confidence_level=0.9, method="percentile", rng=3)
    np.testing.assert_allclose((there.lower[0], there.upper[0]), ends.confidence_interval, atol=0.01)


def test_one_topic_is_refused() -> None:
    with pytest.raises(InputError, match="one topic says nothing"):
        estimate_population(dataclasses.replace(estimates_of(SCORES[None, :, :1]), draws=None))


def test_population_means_are_those_of_the_t_distribution_where_nothing_is_unjudged() -> None:
    scores = np.rint(10 * precisions(4, 25, 11)).astype(int)
    means = population_draws(np.repeat(scores[None], 40_000, axis=0), random_seed=3)
    p = paired_t(scores)
    for a, b in pairs(4):
        difference = scores[a] - scores[b]
        drawn = means[:, a] - means[:, b]
        half = p[a, b] / 2 if difference.mean() > 0 else 1 - p[a, b] / 2
        assert (drawn <= 0).mean() == pytest.approx(half, abs=4 * 0.5 / np.sqrt(40_000))
        expected = stats.t.interval(0.9, 24, difference.mean(), stats.sem(difference))
        spread = expected[1] - expected[0]
        np.testing.assert_allclose(np.quantile(drawn, [0.05, 0.95]), expected, atol=0.02 * spread)
    # a difference of differences is the difference of the two: one population for all pairs
    np.testing.assert_allclose(
        (means[:, 0] - means[:, 1]) + (means[:, 1] - means[:, 2]), means[:, 0] - means[:, 2]
    )
