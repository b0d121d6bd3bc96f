"""The loops of a completion: log odds with effects, relevances from them, and what relevances add up to."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.compiled import compiled

FloatArray = npt.NDArray[np.float64]

_END, _PER_UNIT = 40.0, 16.0  # logits between which chances stand in a table
_NO_REST: FloatArray = np.zeros((0, 0))


def chances(log_odds: FloatArray) -> FloatArray:
    """Chances of log odds, never quite 0."""
    p: FloatArray = np.maximum(expit(log_odds), 1e-300)
    return p


def relevances(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    rest: FloatArray = _NO_REST,
) -> npt.NDArray[np.uint8]:
    """Whether each document is relevant in each draw, shape (draw, document): a uniform number made from the
    document's key and the draw's is below its chance.

    ``rest``, of the same shape, is filled where a document is relevant: the number over the chance, which is
    uniform again and decides whether it is more than relevant (`climb`).
    """
    relevant = np.zeros(log_odds.shape, dtype=np.uint8)
    _draw(log_odds, keys, draws, _table(), _END, _PER_UNIT, relevant, rest)
    return relevant


@compiled
def climb(log_odds: FloatArray, rung: int, rest: FloatArray, level: npt.NDArray[np.uint8]) -> None:
    """Documents at a rung go on to the next where what is left of their uniform number is below the chance.

    Log odds, the rest and the rung that each document is at have the shape (draw, document); the latter two
    are changed.
    """
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            if level[i, j] == rung:
                p = 1.0 / (1.0 + np.exp(-log_odds[i, j]))
                if rest[i, j] < p:
                    level[i, j] = rung + 1
                    rest[i, j] /= p


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


@compiled
def count_levels_by_run(
    level: npt.NDArray[np.uint8],
    run: npt.NDArray[np.int32],
    document: npt.NDArray[np.int32],
    tally: npt.NDArray[np.int64],
) -> None:
    """Add to a tally of shape (draw, run, rung) how many of each run's documents are at each rung above the
    ground in each draw; ``run`` and ``document`` say which documents a run has.
    """
    for i in range(level.shape[0]):
        for j in range(len(run)):
            rung = level[i, document[j]]
            if rung > 0:
                tally[i, run[j], rung - 1] += 1


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
    rest: FloatArray,
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
                if rest.size > 0:
                    rest[i, j] = u * (1.0 + np.exp(-x))


@compiled
def add_effects(
    log_odds: FloatArray, effect: FloatArray, cells: FloatArray, run: npt.NDArray[np.int64]
) -> None:
    """Add to log odds of shape (draw, document) the effects of the documents' runs: of their organizations,
    and of organization × topic.
    """
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            log_odds[i, j] += effect[i, run[j]] + cells[i, run[j]]


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
