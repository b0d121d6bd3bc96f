"""Posterior of how levels change from one assessor to another."""

from __future__ import annotations

import numpy as np
import pytest
from each import cases
from scipy import stats
from scipy.special import expit

from bayespool.inference.confusion import _SCALES, Features, JudgedTwice, _ThresholdDensity, draw_confusion
from bayespool.inference.laplace import find_mode

N_TOPICS = 12


def judged_twice(n: int, rng: np.random.Generator, *, spread: float = 0.7, n_levels: int = 2) -> JudgedTwice:
    """Documents with log odds −2 + 1.5·level + 0.8·feature + an effect of the topic to reach a threshold."""
    topic, first = rng.integers(N_TOPICS, size=n), rng.integers(n_levels, size=n)
    features = Features(rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), np.eye(3)[rng.integers(3, size=n)])
    of_topic = rng.normal(scale=spread, size=N_TOPICS)
    second = np.zeros(n, dtype=np.int64)
    for threshold in range(1, n_levels):
        log_odds = -2 + 1.5 * first + 0.8 * features.free[:, 0] + of_topic[topic]
        second += (second == threshold - 1) & (rng.random(n) < expit(log_odds))
    return JudgedTwice(topic, first, second, features, N_TOPICS, n_levels)


@cases("threshold", [1, 2])
def test_the_mode_is_where_the_density_is_flat_and_the_curvature_is_its_own(threshold: int) -> None:
    twice = judged_twice(300, np.random.default_rng(1), n_levels=3)
    prior, scales = np.array([[8.0, 2, 1], [3, 4, 2], [1, 2, 3]]), (0.6, 0.4, 0.2, 0.9)
    density = _ThresholdDensity(twice, prior, threshold)
    peak = find_mode(density, np.log(scales), np.zeros(density.layout.size), 1e-8)
    mode, factor = peak.x, peak.gaussian
    there = twice.second >= threshold - 1
    design = np.zeros((int(there.sum()), density.layout.size))
    at = np.arange(len(design))
    topic, first = twice.topic[there], twice.first[there]
    design[at, first] = 1
    design[:, 3:10] = twice.features.matrix[there]
    design[at, 10 + topic * 4] = 1
    design[at, 10 + topic * 4 + 1 + first] = 1
    reached = twice.second[there] >= threshold
    chance = expit(design @ mode)
    of_prior = expit(mode[:3])
    n, n_reached = prior[:, threshold - 1 :].sum(axis=1), prior[:, threshold:].sum(axis=1)
    precision = density._precision(np.log(scales))
    assert precision[3:10] == pytest.approx([1, 1, 0.2**-2, 0.2**-2, *[0.9**-2] * 3])
    gradient = design.T @ (reached - chance) - precision * mode
    gradient[:3] += n_reached - n * of_prior
    assert np.abs(gradient).max() < 1e-4
    curvature = design.T @ (design * (chance * (1 - chance))[:, None]) + np.diag(precision)
    curvature[:3, :3] += np.diag(n * of_prior * (1 - of_prior))
    right = np.random.default_rng(2).normal(size=len(mode))
    assert factor.solve(right) == pytest.approx(np.linalg.solve(curvature, right), rel=1e-3, abs=1e-4)


def test_the_mean_is_that_of_the_posterior() -> None:
    """Against weighted draws of an intercept and effects of a topic and its level, of 7 in 8 documents."""
    topic, first, second = np.zeros(8, np.int64), np.zeros(8, np.int64), np.array([0] + [1] * 7)
    twice = JudgedTwice(topic, first, second, Features(*np.zeros((3, 8, 1))), 1, 1)
    density = _ThresholdDensity(twice, np.array([[0.5, 0.5]]), 1)
    scales = np.log((1.2, 0.4, 0.2, 0.6))
    peak = find_mode(density, scales, np.zeros(density.layout.size), 1e-8)
    x = np.random.default_rng(1).normal(size=(400_000, 3)) * (10, 1.2, 0.4)
    log_odds = x.sum(axis=1)
    log_weight = 7 * log_odds - 8 * np.logaddexp(0, log_odds) + 0.5 * x[:, 0] - np.logaddexp(0, x[:, 0])
    weight = np.exp(log_weight - log_weight.max())
    known = float((weight * log_odds).sum() / weight.sum())
    of_mode, of_mean = (float(y[[0, 4, 5]].sum()) for y in (peak.x, density.mean(scales, peak)))
    assert of_mode < known - 0.3
    assert of_mean == pytest.approx(known, abs=0.08)


def test_what_a_feature_has_in_each_draw_counts_with_its_slope() -> None:
    twice = judged_twice(200, np.random.default_rng(6))
    drawn, draws = draw_confusion(twice, np.full((2, 2), 0.5), 5, np.random.default_rng(1)), np.arange(5)
    level, features = twice.first[:4], twice.features.matrix[:4]
    more = np.arange(20.0).reshape(5, 4)
    plain = drawn.log_odds(0, 1, level, features, draws)
    assert drawn.log_odds(0, 1, level, features, draws, more) - plain == pytest.approx(
        drawn.slope[0, :, :1] * more
    )


def test_without_documents_the_prior_is_left() -> None:
    none = np.zeros(0, dtype=np.int64)
    twice = JudgedTwice(none, none, none, Features(*np.zeros((3, 0, 1))), 3, 2)
    drawn = draw_confusion(twice, np.array([[90.0, 10.0], [30.0, 70.0]]), 2000, np.random.default_rng(1))
    chance = expit(drawn.intercept[0])
    assert chance.mean(axis=0) == pytest.approx([0.1, 0.7], abs=0.01)
    assert chance.std(axis=0) == pytest.approx(stats.beta([10, 70], [90, 30]).std(), rel=0.1)
    assert not drawn.slope.any()
    assert not drawn.of_topic.any()


@pytest.mark.slow
def test_chances_lie_in_their_intervals() -> None:
    """A topic's chance for a document at its level, over collections; scales of the simulation are drawn from
    the points."""
    held = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        scale = rng.choice(_SCALES[0])
        of_topic = rng.normal(scale=scale, size=N_TOPICS)
        topic, first = rng.integers(N_TOPICS, size=200), rng.integers(2, size=200)
        log_odds = -1 + 2.0 * first + of_topic[topic]
        second = (rng.random(200) < expit(log_odds)).astype(np.int64)
        twice = JudgedTwice(topic, first, second, Features(*rng.normal(size=(3, 200, 1))), N_TOPICS, 2)
        drawn = draw_confusion(twice, np.full((2, 2), 0.5), 300, rng)
        for t in range(3):
            odds = drawn.log_odds(0, t, np.array([1]), np.zeros((1, 3)), np.arange(300))[:, 0]
            low, high = np.quantile(odds, [0.025, 0.975])
            held.append(low <= 1 + of_topic[t] <= high)
    assert 0.92 <= np.mean(held) <= 0.985
