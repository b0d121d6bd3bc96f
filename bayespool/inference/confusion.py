"""Posterior draws for level changes from one assessor to another (`bayespool.models.confusion`).

Where few documents are judged twice the mode is not the mean: it shrinks what is likely. So the mean moves to
where the Gaussian with the precision of the mode is nearest to the posterior (van Niekerk & Rue 2024).
Derivatives and modes are computed by the functions of the Laplace engine.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, logit

from bayespool.arrays import FloatArray, IndexArray, OrderArray
from bayespool.inference.arrow import Arrow, Layout
from bayespool.inference.cells import normal_nodes
from bayespool.inference.density import binomial_terms
from bayespool.inference.laplace import PosteriorMode, find_mode
from bayespool.models.confusion import INTERCEPT_SD, SCALES_SD, SLOPE_SD

_SCALES = ((0.2, 0.6, 1.2, 2.2), (0.1, 0.4, 1.0), (0.05, 0.2, 0.4), (0.2, 0.6, 1.2))  # of SCALES_SD
_LOWEST = 6.0  # log weight of a point below the best one, from which on its neighbors are left out
_MODE_TOLERANCE = 1e-8  # of twice a step's gain in log density
_MOST_STEPS, _SMALL_SHIFT = 50, 1e-3
_LEAST_CHANCE = 1e-12
_NODES, _WEIGHTS = normal_nodes(11)


@dataclass(frozen=True, eq=False)
class Features:
    """Covariates for the log odds of documents, grouped by prior, each of shape (document, feature).

    Attributes
    ----------
    free, of_run, of_organization : ndarray of float
        By the prior of the slopes: a stated one, that of runs and that of organizations.
    """

    free: FloatArray
    of_run: FloatArray
    of_organization: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """All features side by side, shape (document, feature)."""
        return np.hstack([self.free, self.of_run, self.of_organization])

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Number of features in each group."""
        return self.free.shape[1], self.of_run.shape[1], self.of_organization.shape[1]


@dataclass(frozen=True, eq=False)
class JudgedTwice:
    """Documents judged by two assessors, with topic, levels and features.

    Attributes
    ----------
    topic, first, second : ndarray of int, shape (document,)
        Topic, and position of the level by either assessor.
    features : Features
    n_topics, n_levels : int
        Topics, and levels of the first assessor.
    """

    topic: IndexArray
    first: IndexArray
    second: IndexArray
    features: Features
    n_topics: int
    n_levels: int


@dataclass(frozen=True, eq=False)
class ConfusionDraws:
    """Posterior draws of intercepts, slopes and topic effects for each threshold.

    Attributes
    ----------
    intercept : ndarray of float, shape (threshold, draw, level)
    slope : ndarray of float, shape (threshold, draw, feature)
    of_topic : ndarray of float, shape (threshold, draw, topic, 1 + level)
        Effects of topics, and of topics and levels.
    """

    intercept: FloatArray
    slope: FloatArray
    of_topic: FloatArray

    def log_odds(
        self,
        threshold: int,
        topic: int,
        level: IndexArray,
        features: FloatArray,
        draws: OrderArray,
        drawn: FloatArray | None = None,
    ) -> FloatArray:
        """Return log odds that documents on a topic reach a threshold, shape (draw, document).

        ``level`` has the shape (document,) or (draw, document), ``features`` (document, feature); ``drawn``
        is what the first feature has besides in each draw, shape (draw, document).
        """
        effects = self.of_topic[threshold, draws, topic]
        of_level = self.intercept[threshold, draws] + effects[:, :1] + effects[:, 1:]
        shape = len(draws), len(features)
        at = np.take_along_axis(of_level, np.broadcast_to(level, shape), axis=1)
        slope = self.slope[threshold, draws]
        log_odds = at + slope @ features.T
        return np.asarray(log_odds if drawn is None else log_odds + slope[:, :1] * drawn)


def draw_confusion(
    twice: JudgedTwice, prior: FloatArray, n_draws: int, rng: np.random.Generator
) -> ConfusionDraws:
    """Draw parameters from their posterior, using Laplace's approximation on a grid of scales.

    Parameters
    ----------
    twice : JudgedTwice
    prior : ndarray of float, shape (level, level of the second assessor)
        Documents of the prior by level of the first assessor and of the second.
    n_draws : int
    rng : numpy.random.Generator

    Notes
    -----
    Without documents judged twice all documents of a level have the same chances, those of the prior.

    Examples
    --------
    >>> level = np.repeat([0, 0, 1, 1], [900, 100, 200, 800])
    >>> again = np.repeat([0, 1, 0, 1], [900, 100, 200, 800])
    >>> features = Features(*np.zeros((3, 2000, 1)))
    >>> twice = JudgedTwice(np.arange(2000) % 10, level, again, features, 10, 2)
    >>> drawn = draw_confusion(twice, np.full((2, 2), 0.5), 500, np.random.default_rng(1))
    >>> expit(drawn.intercept[0].mean(axis=0)).round(1).tolist()
    [0.1, 0.8]
    """
    if not len(twice.first):
        return _draw_stated(twice, prior, n_draws, rng)
    thresholds = [_draw_threshold(twice, prior, k, n_draws, rng) for k in range(1, prior.shape[1])]
    n_levels, n_global = twice.n_levels, twice.n_levels + sum(twice.features.numbers)
    drawn = np.stack(thresholds)
    of_topic = drawn[:, :, n_global:].reshape(len(thresholds), n_draws, twice.n_topics, 1 + n_levels)
    return ConfusionDraws(drawn[:, :, :n_levels], drawn[:, :, n_levels:n_global], of_topic)


def _draw_stated(
    twice: JudgedTwice, prior: FloatArray, n_draws: int, rng: np.random.Generator
) -> ConfusionDraws:
    """Return draws based on the prior's pseudo-documents alone, with zero slopes and effects."""
    n_thresholds, n_levels = prior.shape[1] - 1, twice.n_levels
    chance = np.empty((n_thresholds, n_draws, n_levels))
    for k in range(n_thresholds):
        chance[k] = rng.beta(prior[:, k + 1 :].sum(axis=1), prior[:, k], size=(n_draws, n_levels))
    return ConfusionDraws(
        logit(np.clip(chance, _LEAST_CHANCE, 1 - _LEAST_CHANCE)),
        np.zeros((n_thresholds, n_draws, sum(twice.features.numbers))),
        np.zeros((n_thresholds, n_draws, twice.n_topics, 1 + n_levels)),
    )


def _draw_threshold(
    twice: JudgedTwice, prior: FloatArray, threshold: int, n_draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draw one threshold's parameters from documents that reach the threshold below, (draw, parameter)."""
    density = _ThresholdDensity(twice, prior, threshold)
    peaks = _best_first_peaks(density)
    heights = np.array([mode.log_marginal for _, mode in peaks])
    weight = np.exp(heights - heights.max())
    chosen = rng.choice(len(peaks), size=n_draws, p=weight / weight.sum())
    drawn = np.empty((n_draws, density.layout.size))
    for point in np.unique(chosen):
        (rows,) = np.nonzero(chosen == point)
        log_scales, mode = peaks[point]
        drawn[rows] = density.mean(log_scales, mode) + mode.gaussian.draw(len(rows), rng)
    return drawn


def _best_first_peaks(density: _ThresholdDensity) -> list[tuple[FloatArray, PosteriorMode]]:
    """Find log scales of notable weight and their modes, by best-first search from the middle of the grid."""
    peaks: dict[tuple[int, ...], tuple[FloatArray, PosteriorMode]] = {}
    middle = tuple(len(values) // 2 for values in _SCALES)
    pending = [(-math.inf, middle)]  # negative height of a neighbor, and the point
    near, best = {middle: np.zeros(density.layout.size)}, -math.inf
    while pending and -pending[0][0] > best - _LOWEST:
        _, point = heapq.heappop(pending)
        log_scales = np.log([values[i] for values, i in zip(_SCALES, point, strict=True)])
        mode = find_mode(density, log_scales, near[point], _MODE_TOLERANCE)
        peaks[point], best = (log_scales, mode), max(best, mode.log_marginal)
        for axis, step in itertools.product(range(len(_SCALES)), (-1, 1)):
            beside = (*point[:axis], point[axis] + step, *point[axis + 1 :])
            if 0 <= beside[axis] < len(_SCALES[axis]) and beside not in near:
                near[beside] = mode.x
                heapq.heappush(pending, (-mode.log_marginal, beside))
    return [peaks[point] for point in sorted(peaks)]


class _ThresholdDensity:
    """Log density of one threshold's parameters: intercepts and slopes, then effects for each topic.

    It is a `ConditionalDensity`.
    """

    sums: tuple[slice, ...] = ()
    is_concave = True

    def __init__(self, twice: JudgedTwice, prior: FloatArray, threshold: int) -> None:
        # documents of the prior come first, without features and effects
        there, levels = np.flatnonzero(twice.second >= threshold - 1), np.arange(twice.n_levels)
        self.n_levels, self.numbers = twice.n_levels, twice.features.numbers
        self.n = np.append(prior[:, threshold - 1 :].sum(axis=1), np.ones(len(there)))
        self.reached = np.append(prior[:, threshold:].sum(axis=1), twice.second[there] >= threshold)
        self.topic = np.append(0 * levels, twice.topic[there])
        one_hot = np.eye(twice.n_levels)[np.append(levels, twice.first[there])]
        features = np.vstack([np.zeros((len(levels), sum(self.numbers))), twice.features.matrix[there]])
        self.design = np.hstack([one_hot, features])
        self.local = np.hstack([np.ones((len(self.n), 1)), one_hot])
        self.local[levels] = 0
        self.layout = Layout(self.design.shape[1], twice.n_topics, self.local.shape[1])
        rows = np.arange(len(self.n))
        self._topics = csr_array((np.ones(len(rows)), (self.topic, rows)), (twice.n_topics, len(rows)))

    def expand(
        self, x: FloatArray, theta: FloatArray, *, expected: bool = False
    ) -> tuple[float, FloatArray, Arrow]:
        """Return the log density, its gradient and its negative Hessian, which is the expected one.

        ``theta`` are the log scales, which count alike, as if their points were even.
        """
        precision, outer, at = self._precision(theta), self.layout.zeros(), self.layout
        value, score, information = binomial_terms(self._log_odds(x), self.reached, self.n)
        value += float((theta - 0.5 * (np.exp(theta) / SCALES_SD) ** 2).sum())
        value += 0.5 * float((np.log(precision) - precision * x**2).sum())
        gradient = self._gradient(score) - precision * x
        weighted = information[:, None] * np.hstack([self.design, self.local])
        outer[: at.n_global, : at.n_global] = self.design.T @ weighted[:, : at.n_global]
        for k, column in enumerate(self.local.T):
            outer[at.n_global + k :: at.width] = self._topics @ (column[:, None] * weighted)
        every = np.arange(at.size)
        outer[every, at.places(every)] += precision
        return value, gradient, Arrow(at, outer)

    def mean(self, theta: FloatArray, mode: PosteriorMode) -> FloatArray:
        """Return the mean of the Gaussian with a mode's precision that best fits the posterior."""
        precision, x, rate, last = self._precision(theta), mode.x, 1.0, math.inf
        off = np.sqrt(self._variances(mode.gaussian.covariance()))[:, None] * _NODES
        for _ in range(_MOST_STEPS):
            score = self.reached - self.n * (expit(self._log_odds(x)[:, None] + off) @ _WEIGHTS)
            step = mode.gaussian.solve(self._gradient(score) - precision * x)
            size = float(np.abs(step).max())
            if size > last:
                rate /= 2  # the density is steeper here than at the mode
            x, last = x + rate * step, size
            if size < _SMALL_SHIFT:
                break
        return x

    def _gradient(self, score: FloatArray) -> FloatArray:
        """Return the gradient of the log likelihood, given its derivatives in the log odds."""
        of_topics = np.asarray(self._topics @ (self.local * score[:, None]))
        return np.append(self.design.T @ score, of_topics)

    def _log_odds(self, x: FloatArray) -> FloatArray:
        effects = x[self.layout.n_global :].reshape(self.layout.n_groups, -1)[self.topic]
        return np.asarray(self.design @ x[: self.layout.n_global] + (self.local * effects).sum(axis=1))

    def _variances(self, covariance: FloatArray) -> FloatArray:
        """Return the variances of the documents' log odds, given an arrow of covariances."""
        at = self.layout
        variance = ((self.design @ covariance[: at.n_global, : at.n_global]) * self.design).sum(axis=1)
        both = np.hstack([2 * self.design, self.local])
        for k, column in enumerate(self.local.T):
            of_topic = covariance[at.n_global + k :: at.width][self.topic]
            variance += column * (of_topic * both).sum(axis=1)
        return np.asarray(variance)

    def _precision(self, theta: FloatArray) -> FloatArray:
        """Return the prior precision of each parameter."""
        topic, topic_level, run, organization = np.exp(theta).tolist()
        n_free, n_runs, n_organizations = self.numbers
        sd = [INTERCEPT_SD] * self.n_levels + [SLOPE_SD] * n_free
        sd += [run] * n_runs + [organization] * n_organizations
        sd += ([topic] + [topic_level] * self.n_levels) * self.layout.n_groups
        return np.array(sd) ** -2.0
