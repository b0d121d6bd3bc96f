"""From log odds to relevance to amounts of a measure, in compiled loops and threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, LevelArray, Levels
from bayespool.compiled import compiled
from bayespool.measures import Additive, Measure
from bayespool.measures.base import DrawnRankings

_TABLE_END, _TABLE_STEPS_PER_LOGIT = 40.0, 16.0  # logits: the table is of chances from −40 to 40
_NO_REST: FloatArray = np.zeros((0, 0))


def chances(log_odds: FloatArray) -> FloatArray:
    """Convert log odds to probabilities of at least 1e-300."""
    return np.maximum(expit(log_odds), 1e-300)


def draw_relevance(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    rest: FloatArray = _NO_REST,
) -> Levels:
    """Draw whether each document is relevant, using document and draw keys, shape (draw, document)."""
    # ``rest``, of the same shape or empty, gets the uniform number over the chance where a document is
    # relevant, uniform again, for `promote_relevance`
    relevant = np.zeros(log_odds.shape, dtype=np.uint8)
    _draw(log_odds, keys, draws, _table(), _TABLE_END, _TABLE_STEPS_PER_LOGIT, relevant, rest)
    return relevant


@compiled
def promote_relevance(log_odds: FloatArray, threshold: int, rest: FloatArray, level: Levels) -> None:
    """Promote documents at a threshold to the next one with probabilities from log odds, in place."""
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            if level[i, j] == threshold:
                p = 1.0 / (1.0 + np.exp(-log_odds[i, j]))
                if rest[i, j] < p:
                    level[i, j] = threshold + 1
                    rest[i, j] /= p


@compiled
def count_levels(level: Levels, within: BoolArray, tally: IndexArray) -> None:
    """Add counts of documents within reach at each threshold to a tally (draw, threshold)."""
    for i in range(level.shape[0]):
        for j in range(level.shape[1]):
            if within[j] and level[i, j] > 0:
                tally[i, level[i, j] - 1] += 1


@compiled
def count_levels_by_run(level: Levels, run: IntArray, document: IntArray, tally: IndexArray) -> None:
    """Add counts of each run's documents at each threshold to a tally (draw, run, threshold)."""
    for i in range(level.shape[0]):
        for j in range(len(run)):
            threshold = level[i, document[j]]
            if threshold > 0:
                tally[i, run[j], threshold - 1] += 1


def tally_levels(
    level: Levels, n_levels: int, within: BoolArray, by_run: tuple[int, IntArray, IntArray] | None = None
) -> IndexArray:
    """Return numbers of documents at each threshold, shape (draw, run or 1, threshold).

    Documents ``within`` count for all runs; with ``by_run``, the number of runs and pairs of a run and a
    document, these count for their run, too.
    """
    common = np.zeros((len(level), n_levels), dtype=np.int64)
    count_levels(level, within, common)
    if by_run is None:
        return common[:, None]
    tally = np.repeat(common[:, None], by_run[0], axis=1)
    count_levels_by_run(level, *by_run[1:], tally)
    return tally


@cache
def _table() -> FloatArray:
    """Return the lookup table of probabilities on a grid of log odds."""
    return expit(
        np.arange(-_TABLE_END * _TABLE_STEPS_PER_LOGIT, _TABLE_END * _TABLE_STEPS_PER_LOGIT + 1)
        / _TABLE_STEPS_PER_LOGIT
    )


@compiled
def _draw(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    table: FloatArray,
    end: float,
    per_unit: float,
    relevant: Levels,
    rest: FloatArray,
) -> None:
    """Draw binary relevance into ``relevant`` and leftover uniform numbers into ``rest``."""
    last = len(table) - 2
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            z = keys[j] ^ draws[i]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
            u = np.float64(z >> np.uint64(11)) * 1.1102230246251565e-16
            x = log_odds[i, j]
            k = min(max(int((min(max(x, -end), end) + end) * per_unit), 0), last)
            sure = u < table[k] and x > -end
            if sure or ((u < table[k + 1] or x >= end) and u < 1.0 / (1.0 + np.exp(-x))):
                relevant[i, j] = 1
                if rest.size > 0:
                    rest[i, j] = u * (1.0 + np.exp(-x))


@compiled
def draw_levels(
    of_class: Levels,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    cumulative: FloatArray,
    level: Levels,
) -> None:
    """Draw a level for each document from the cumulative probabilities of its class, shape (class, level)."""
    last = cumulative.shape[1] - 1
    for i in range(of_class.shape[0]):
        for j in range(of_class.shape[1]):
            z = keys[j] ^ draws[i]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
            u = np.float64(z >> np.uint64(11)) * 1.1102230246251565e-16
            k = 0
            while k < last and u >= cumulative[of_class[i, j], k]:
                k += 1
            level[i, j] = k


@compiled
def add_effects(log_odds: FloatArray, effect: FloatArray, cells: FloatArray, run: IndexArray) -> None:
    """Add organization and organization × topic effects to log odds of shape (draw, document), in place."""
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            log_odds[i, j] += effect[i, run[j]] + cells[i, run[j]]


@compiled
def fill_log_odds(
    log_odds: FloatArray,
    draws: IndexArray,
    member: IndexArray,
    component: int,
    source: IndexArray,
    order: FloatArray,
    chance: FloatArray,
    is_new: bool,
    run: IndexArray,
    intercept: FloatArray,
    beta: FloatArray,
    predictors: FloatArray,
    slope_below: FloatArray,
    below: FloatArray,
    effect: FloatArray,
    cells: FloatArray,
    slopes: FloatArray,
    organization: IndexArray,
) -> None:
    """Fill in log odds of a linear model for the draws and documents that use it, with all effects.

    Log odds have the shape (draw, document). A mixture's draw d uses its component ``member[d]`` with the
    draw ``source[d]`` of parameters, and a run is of a new kind in it if ``order[d]`` is below its
    probability.
    """
    # ``below`` is log rank below the pool, or empty. Sums are in the order of `document_log_odds`,
    # `add_effects` and `add_slopes`, and have the same last bit
    for i in range(log_odds.shape[0]):
        d = draws[i]
        if member[d] != component:
            continue
        s = source[d]
        for j in range(log_odds.shape[1]):
            r = run[j]
            if (order[d] < chance[r]) != is_new:
                continue
            x, total = intercept[s], 0.0
            for k in range(predictors.shape[1]):
                x += beta[s, k] * predictors[j, k]
            if len(below) > 0:
                x += slope_below[s] * below[j]
            x += effect[s, r] + cells[s, r]
            if slopes.shape[1] > 0:
                for k in range(slopes.shape[2]):
                    total += slopes[s, organization[r], k] * predictors[j, k]
                x += total
            log_odds[i, j] = x


@compiled
def add_shared_effects(
    log_odds: FloatArray, effect: FloatArray, start: IndexArray, place: IndexArray, weight: FloatArray
) -> None:
    """Add weighted sums of effects (draw, effect) to log odds of shape (draw, document), in place.

    Document j has the effects at ``place``, and their weights, from ``start[j]`` to ``start[j + 1]``.
    """
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            for k in range(start[j], start[j + 1]):
                log_odds[i, j] += weight[k] * effect[i, place[k]]


@compiled
def add_slopes(
    log_odds: FloatArray,
    slopes: FloatArray,
    source: IndexArray,
    organization: IndexArray,
    predictors: FloatArray,
) -> None:
    """Add slopes times predictors (document, predictor) to log odds of shape (draw, document), in place."""
    for i in range(log_odds.shape[0]):
        of_draw = slopes[source[i]]
        for j in range(log_odds.shape[1]):
            own, total = of_draw[organization[j]], 0.0
            for k in range(slopes.shape[2]):
                total += own[k] * predictors[j, k]
            log_odds[i, j] += total


@compiled
def add_gains(
    block: Levels, gains: AnyArray, run: IntArray, weight: AnyArray, unknown: IntArray, amount: AnyArray
) -> None:
    """Add weight × gain for each drawn document to unnormalized run scores of shape (draw, run), in place."""
    for i in range(block.shape[0]):
        for j in range(len(run)):
            amount[i, run[j]] += weight[j] * gains[block[i, unknown[j]]]


CELLS = 2**21
"""Largest number of array elements (draw, document) or (draw, rank) that a thread holds at once."""
Places = tuple[IntArray, IntArray, IntArray]
"""Run, rank (from 0) and document index for each retrieved document."""


def make_gain_adder(
    measure: Measure, ranked: LevelArray, places: Places, levels: tuple[int, ...]
) -> Callable[[AnyArray, Levels], None]:
    """Return a function that adds the gains of drawn documents to unnormalized run scores.

    It is called with unnormalized scores of shape (draw, run) and draws of shape (draw, document).

    Parameters
    ----------
    measure : Measure
    ranked : ndarray of int, shape (run, rank)
        Relevance of the judged documents.
    places : tuple of three ndarrays of int, shape (place,)
        Run, rank from 0 and document of each place with an unknown document.
    levels : tuple of int
        Relevance of a document that reaches none of the thresholds, the first, the second, …
    """
    shallow = places[1] < measure.cutoff
    run, rank, unknown = (x[shallow] for x in places)
    ranked = ranked[:, : measure.cutoff]
    if measure.describes_judgments or not len(run):
        return lambda amounts, block: None
    if isinstance(measure, Additive):
        weights, gains = np.asarray(measure.weights()[rank]), np.asarray(measure.gains(np.array(levels)))

        def add(amounts: AnyArray, block: Levels) -> None:
            added, kind = np.zeros(amounts.shape, dtype=amounts.dtype), amounts.dtype
            add_gains(block, gains.astype(kind), run, weights.astype(kind), unknown, added)
            amounts += added

        return add
    of_draws = measure.draw_evaluator(DrawnRankings(ranked, run, rank, unknown, levels))
    touched, drawn = np.unique(run), np.array(levels, dtype=ranked.dtype)
    step = max(1, CELLS // (len(touched) * ranked.shape[1]))

    def replace(amounts: AnyArray, block: Levels) -> None:
        if of_draws is not None:
            amounts[:] = of_draws(block)
            return
        for first in range(0, len(block), step):  # completed rankings, a block of draws at a time
            some = block[first : first + step]
            completed = np.repeat(ranked[touched][None], len(some), axis=0)
            completed[:, np.searchsorted(touched, run), rank] = drawn[some[:, unknown]]
            amounts[first : first + step, touched] = measure.amounts(completed)

    return replace
