"""Posterior draws for level changes from one assessor to another (`bayespool.models.confusion`).

Where few documents are judged twice the mode is not the mean: it shrinks what is likely. So the mean moves to
where the Gaussian with the precision of the mode is nearest to the posterior (van Niekerk & Rue 2024).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from bayespool.arrays import AnyArray, FloatArray, IndexArray, OrderArray
from bayespool.inference.arrow import Arrow, Factor, Layout
from bayespool.inference.cells import normal_nodes
from bayespool.models.confusion import INTERCEPT_SD, SCALES_SD, SLOPE_SD

_SCALES = ((0.2, 0.6, 1.2, 2.2), (0.1, 0.4, 1.0), (0.05, 0.2, 0.4), (0.2, 0.6, 1.2))  # of SCALES_SD
_LOWEST = 6.0  # log weight of a point below the best one, from which on its neighbors are left out
_MOST_STEPS, _SMALL_STEP, _LONG_STEP = 50, 1e-4, 3.0
_SMALL_SHIFT = 1e-3
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

    def at(self, rows: AnyArray) -> Features:
        """Return the features of the selected documents."""
        return Features(self.free[rows], self.of_run[rows], self.of_organization[rows])

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


class Peak(NamedTuple):
    """Gaussian at the posterior mode for given scales, and the log of its integral times the prior."""

    scales: tuple[float, ...]
    mode: FloatArray
    factor: Factor
    height: float


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
    heights = np.array([peak.height for peak in peaks])
    weight = np.exp(heights - heights.max())
    chosen = rng.choice(len(peaks), size=n_draws, p=weight / weight.sum())
    drawn = np.empty((n_draws, density.layout.size))
    for point in np.unique(chosen):
        (rows,) = np.nonzero(chosen == point)
        drawn[rows] = density.mean(peaks[point]) + peaks[point].factor.draw(len(rows), rng)
    return drawn


def _best_first_peaks(density: _ThresholdDensity) -> list[Peak]:
    """Find the peaks at all scales with notable weight, by best-first search from the middle of the grid."""
    peaks: dict[tuple[int, ...], Peak] = {}
    middle = tuple(len(values) // 2 for values in _SCALES)
    pending = [(-math.inf, middle)]  # negative height of a neighbor, and the point
    near, best = {middle: np.zeros(density.layout.size)}, -math.inf
    while pending and -pending[0][0] > best - _LOWEST:
        _, point = heapq.heappop(pending)
        scales = tuple(values[i] for values, i in zip(_SCALES, point, strict=True))
        peaks[point] = peak = density.peak(scales, near[point])
        best = max(best, peak.height)
        for axis, step in itertools.product(range(len(_SCALES)), (-1, 1)):
            beside = (*point[:axis], point[axis] + step, *point[axis + 1 :])
            if 0 <= beside[axis] < len(_SCALES[axis]) and beside not in near:
                near[beside] = peak.mode
                heapq.heappush(pending, (-peak.height, beside))
    return [peaks[point] for point in sorted(peaks)]


class _ThresholdDensity:
    """Log density of one threshold's parameters: intercepts and slopes, then effects for each topic."""

    def __init__(self, twice: JudgedTwice, prior: FloatArray, threshold: int) -> None:
        self.n_levels = twice.n_levels
        there = np.flatnonzero(twice.second >= threshold - 1)
        cell = twice.topic[there] * twice.n_levels + twice.first[there]
        order = np.argsort(cell, kind="stable")
        there, cell = there[order], cell[order]
        self.reached = (twice.second[there] >= threshold).astype(float)
        level, self.topic = twice.first[there], twice.topic[there]
        one_hot = np.eye(twice.n_levels)[level]
        self.design = np.hstack([one_hot, twice.features.at(there).matrix])
        self.local = np.hstack([np.ones((len(there), 1)), one_hot])
        self.numbers = twice.features.numbers
        n_global = self.design.shape[1]
        self.layout = Layout(n_global, twice.n_topics, 1 + twice.n_levels)
        self.cells, self.starts = np.unique(cell, return_index=True)
        self.of_topic = n_global + self.topic * self.layout.width
        self.of_level = self.of_topic + 1 + level
        self.prior_n = prior[:, threshold - 1 :].sum(axis=1)
        self.prior_reached = prior[:, threshold:].sum(axis=1)

    def peak(self, scales: tuple[float, ...], start: FloatArray) -> Peak:
        """Return the Gaussian at the mode for given scales, starting the search at ``start``."""
        precision, x, levels = self._precision(scales), start, slice(0, self.n_levels)
        for _ in range(_MOST_STEPS):
            chance, of_prior = expit(self._log_odds(x)), expit(x[levels])
            gradient = self._gradient(x, precision, chance, of_prior)
            curvature = self._curvature(chance * (1 - chance), precision)
            curvature[levels, levels] += np.diag(self.prior_n * of_prior * (1 - of_prior))
            factor = Arrow(self.layout, curvature).factor(())
            step = factor.solve(gradient)
            size = float(np.abs(step).max())
            x = x + step * min(1.0, _LONG_STEP / max(size, _SMALL_STEP))
            if size < _SMALL_STEP:
                break
        log_odds = self._log_odds(x)
        height = float((self.reached * log_odds - np.logaddexp(0, log_odds)).sum())
        height += float((self.prior_reached * x[levels] - self.prior_n * np.logaddexp(0, x[levels])).sum())
        height += 0.5 * float((np.log(precision) - precision * x**2).sum() - factor.log_determinant)
        spread = np.array(scales)  # points count alike, as if they were even in the logs
        height += float((np.log(spread) - 0.5 * (spread / SCALES_SD) ** 2).sum())
        return Peak(scales, x, factor, height)

    def mean(self, peak: Peak) -> FloatArray:
        """Return the mean of the Gaussian with a peak's precision that best fits the posterior."""
        precision, x = self._precision(peak.scales), peak.mode
        rate, last = 1.0, math.inf
        off, of_levels = (np.sqrt(variance)[:, None] * _NODES for variance in self._variances(peak.factor))
        for _ in range(_MOST_STEPS):
            chance = expit(self._log_odds(x)[:, None] + off) @ _WEIGHTS
            of_prior = expit(x[: self.n_levels, None] + of_levels) @ _WEIGHTS
            step = peak.factor.solve(self._gradient(x, precision, chance, of_prior))
            size = float(np.abs(step).max())
            if size > last:
                rate /= 2  # the density is steeper here than at the mode
            x, last = x + rate * step, size
            if size < _SMALL_SHIFT:
                break
        return x

    def _gradient(
        self, x: FloatArray, precision: FloatArray, chance: FloatArray, of_prior: FloatArray
    ) -> FloatArray:
        """Return the gradient of the log density, given the probabilities for documents and prior."""
        gradient, levels = -precision * x, slice(0, self.n_levels)
        gradient[: self.layout.n_global] += self.design.T @ (self.reached - chance)
        gradient[levels] += self.prior_reached - self.prior_n * of_prior
        for place in (self.of_topic, self.of_level):
            gradient += np.bincount(place, self.reached - chance, self.layout.size)
        return gradient

    def _variances(self, factor: Factor) -> tuple[FloatArray, FloatArray]:
        """Return variances of the documents' log odds and of the intercepts."""
        starts = np.searchsorted(self.topic, np.arange(self.layout.n_groups + 1))
        of_documents = factor.variances(self.design, self.local, starts)
        of_levels = factor.variances(
            np.eye(self.n_levels, self.layout.n_global), self.local[:0], np.zeros_like(starts)
        )
        return of_documents, of_levels

    def _precision(self, scales: Sequence[float]) -> FloatArray:
        """Return the prior precision of each parameter."""
        topic, topic_level, run, organization = scales
        n_free, n_runs, n_organizations = self.numbers
        sd = [INTERCEPT_SD] * self.n_levels + [SLOPE_SD] * n_free
        sd += [run] * n_runs + [organization] * n_organizations
        sd += ([topic] + [topic_level] * self.n_levels) * self.layout.n_groups
        return np.array(sd) ** -2.0

    def _log_odds(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.design @ x[: self.layout.n_global] + x[self.of_topic] + x[self.of_level])

    def _curvature(self, weight: FloatArray, precision: FloatArray) -> FloatArray:
        """Return the negative Hessian in the form of `Layout.zeros`, from document weights."""
        at, outer = self.layout, self.layout.zeros()
        weighted = self.design * weight[:, None]
        outer[: at.n_global, : at.n_global] = self.design.T @ weighted
        if len(self.starts):
            rows = np.hstack([weighted, weight[:, None]])
            of_cell = np.add.reduceat(rows, self.starts, axis=0)
            topic, level = np.divmod(self.cells, self.n_levels)
            own = at.n_global + topic * at.width
            np.add.at(outer[:, : at.n_global], own, of_cell[:, :-1])
            outer[own + 1 + level, : at.n_global] += of_cell[:, :-1]
            np.add.at(outer, (own, at.n_global), of_cell[:, -1])
            outer[own, at.n_global + 1 + level] += of_cell[:, -1]
            outer[own + 1 + level, at.n_global] += of_cell[:, -1]
            outer[own + 1 + level, at.n_global + 1 + level] += of_cell[:, -1]
        globals_ = np.arange(at.n_global)
        outer[globals_, globals_] += precision[: at.n_global]
        local = np.arange(at.n_global, at.size)
        outer[local, at.n_global + (local - at.n_global) % at.width] += precision[at.n_global :]
        return outer
