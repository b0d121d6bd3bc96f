"""The loops of a completion: log odds with effects, relevances from them, and what relevances add up to."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.compiled import compiled

__all__ = [
    "add_effects",
    "add_gains",
    "add_moments",
    "chances",
    "climb",
    "come_so_far",
    "count_levels",
    "relevances",
]

FloatArray = npt.NDArray[np.float64]

_END, _PER_UNIT = 40.0, 16.0  # logits between which chances stand in a table


def chances(log_odds: FloatArray) -> FloatArray:
    """Chances of log odds, never quite 0."""
    p: FloatArray = np.maximum(expit(log_odds), 1e-300)
    return p


def relevances(
    log_odds: FloatArray, keys: npt.NDArray[np.uint64], draws: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint8]:
    """Whether each document is relevant in each draw, shape (draw, document): a uniform number made from the
    document's key and the draw's is below its chance.
    """
    relevant = np.zeros(log_odds.shape, dtype=np.uint8)
    _draw(log_odds, keys, draws, _table(), _END, _PER_UNIT, relevant)
    return relevant


def climb(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    rung: int,
    reached: FloatArray,
    level: npt.NDArray[np.uint8],
) -> None:
    """Documents at a rung go on to the next: the uniform number that took them there is below the chance of
    having come so far times that of the next rung.

    Parameters
    ----------
    log_odds : ndarray of float, shape (draw, document)
        Of the next rung, for a document that is at this one.
    keys, draws : ndarray of uint64
        Of documents and draws.
    rung : int
    reached : ndarray of float, shape (draw, document)
        Chance of having come as far as a document did; changed.
    level : ndarray of uint8, shape (draw, document)
        Rung that each document is at; changed.
    """
    _climb(log_odds, keys, draws, rung, reached, level)


@compiled
def _climb(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    rung: int,
    reached: FloatArray,
    level: npt.NDArray[np.uint8],
) -> None:
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            if level[i, j] != rung:
                continue
            z = keys[j] ^ draws[i]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
            u = np.float64(z >> np.uint64(11)) * 1.1102230246251565e-16
            reached[i, j] *= 1.0 / (1.0 + np.exp(-log_odds[i, j]))
            if u < reached[i, j]:
                level[i, j] = rung + 1


@compiled
def come_so_far(log_odds: FloatArray, level: npt.NDArray[np.uint8], reached: FloatArray) -> None:
    """Put the chance of the first rung where a document is at it."""
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            if level[i, j] > 0:
                reached[i, j] = 1.0 / (1.0 + np.exp(-log_odds[i, j]))


@compiled
def count_levels(
    level: npt.NDArray[np.uint8], within: npt.NDArray[np.bool_], tally: npt.NDArray[np.int64]
) -> None:
    """Add to a tally of shape (draw, rung) how many of the documents within reach are at each rung above the
    ground in each draw.
    """
    for i in range(level.shape[0]):
        for j in range(level.shape[1]):
            if within[j] and level[i, j] > 0:
                tally[i, level[i, j] - 1] += 1


@cache
def _table() -> FloatArray:
    table: FloatArray = expit(np.arange(-_END * _PER_UNIT, _END * _PER_UNIT + 1) / _PER_UNIT)
    return table


@compiled
def _draw(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    table: FloatArray,
    end: float,
    per_unit: float,
    relevant: npt.NDArray[np.uint8],
) -> None:
    """The table tells most numbers apart, so that few chances are worked out."""
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


@compiled
def add_effects(
    log_odds: FloatArray,
    effect: FloatArray,
    cells: FloatArray,
    run: npt.NDArray[np.int64],
    shift: FloatArray,
) -> None:
    """Add to log odds of shape (draw, document) the effects of the documents' runs: of their organizations,
    then, moved by ``shift`` so that chances keep their means, of organization × topic. ``shift`` is a table
    from −25 to 25 by twentieths; an empty one moves nothing.
    """
    last = len(shift) - 1
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            x = log_odds[i, j] + effect[i, run[j]]
            if last > 0:
                position = min(max((x + 25.0) * 20.0, 0.0), float(last))
                k = min(int(position), last - 1)
                rest = position - k
                x += shift[k] * (1 - rest) + shift[k + 1] * rest + cells[i, run[j]]
            log_odds[i, j] = x


@compiled
def add_gains(
    block: npt.NDArray[np.uint8],
    gains: npt.NDArray[Any],
    run: npt.NDArray[np.int32],
    weight: npt.NDArray[Any],
    unknown: npt.NDArray[np.int32],
    amount: npt.NDArray[Any],
) -> None:
    """Add weight × gain of each place to the amount of its run; amounts have the shape (draw, run)."""
    for i in range(block.shape[0]):
        for j in range(len(run)):
            amount[i, run[j]] += weight[j] * gains[block[i, unknown[j]]]


@compiled
def add_moments(
    intercept: FloatArray,
    slopes: FloatArray,
    topics: FloatArray,
    effect: FloatArray,
    cells: FloatArray,
    shift: FloatArray,
    predictors: FloatArray,
    topic: npt.NDArray[np.int64],
    cell: npt.NDArray[np.int64],
    run: npt.NDArray[np.int64],
    n_hidden: npt.NDArray[np.int64],
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """Add to the means and variances of runs, of shape (draw, run), those of binomial counts in rows.

    Log odds are intercept + slopes · predictors + topic + effect (draw, row), then moved as in `add_effects`,
    with cells of shape (draw, cell).
    """
    last = len(shift) - 1
    for i in range(len(intercept)):
        for j in range(len(topic)):
            x = intercept[i] + topics[i, topic[j]] + effect[i, j]
            for k in range(predictors.shape[1]):
                x += slopes[i, k] * predictors[j, k]
            if last > 0:
                position = min(max((x + 25.0) * 20.0, 0.0), float(last))
                k = min(int(position), last - 1)
                rest = position - k
                x += shift[k] * (1 - rest) + shift[k + 1] * rest + cells[i, cell[j]]
            p = 1.0 / (1.0 + np.exp(-x))
            expected = n_hidden[j] * p
            mean[i, run[j]] += expected
            variance[i, run[j]] += expected * (1.0 - p)
