"""Compiled loops of a completion: log odds with effects, draws of relevance, and sums of gains."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.compiled import compiled

FloatArray = npt.NDArray[np.float64]

_TABLE_END, _TABLE_STEPS_PER_LOGIT = 40.0, 16.0  # logits: the table is of chances from −40 to 40
_NO_REST: FloatArray = np.zeros((0, 0))


def chances(log_odds: FloatArray) -> FloatArray:
    """Chances of log odds, at least 1e-300."""
    p: FloatArray = np.maximum(expit(log_odds), 1e-300)
    return p


def relevances(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    rest: FloatArray = _NO_REST,
) -> npt.NDArray[np.uint8]:
    """Whether each document is relevant in each draw, shape (draw, document): whether a uniform number from
    the document's key and the draw's is below its chance.

    ``rest``, of the same shape or empty, gets the number over the chance where a document is relevant,
    uniform again, for `climb`.
    """
    relevant = np.zeros(log_odds.shape, dtype=np.uint8)
    _draw(log_odds, keys, draws, _table(), _TABLE_END, _TABLE_STEPS_PER_LOGIT, relevant, rest)
    return relevant


@compiled
def climb(log_odds: FloatArray, rung: int, rest: FloatArray, level: npt.NDArray[np.uint8]) -> None:
    """Move documents at a rung up where the rest of their uniform number is below the chance.

    ``log_odds``, ``rest`` and ``level``, the rung of each document, have the shape (draw, document); the
    latter two are changed.
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
    """Add numbers of documents within reach at each rung above 0 to a tally of shape (draw, rung)."""
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
    """Add numbers of each run's documents at each rung above 0 to a tally of shape (draw, run, rung)."""
    for i in range(level.shape[0]):
        for j in range(len(run)):
            rung = level[i, document[j]]
            if rung > 0:
                tally[i, run[j], rung - 1] += 1


@cache
def _table() -> FloatArray:
    """Chances of the log odds of the table."""
    table: FloatArray = expit(
        np.arange(-_TABLE_END * _TABLE_STEPS_PER_LOGIT, _TABLE_END * _TABLE_STEPS_PER_LOGIT + 1)
        / _TABLE_STEPS_PER_LOGIT
    )
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
    """Fill ``relevant`` and ``rest``; the table decides most documents without computing their chances."""
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
    """Add effects of runs' organizations, and of organization × topic, to log odds of shape (draw,
    document).
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
