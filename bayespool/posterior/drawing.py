"""From log odds to relevance to amounts of a measure, in compiled loops and threads."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.arrays import FloatArray, IntArray, Levels
from bayespool.compiled import compiled
from bayespool.measures import Additive, Measure
from bayespool.measures.base import DrawnRankings

_TABLE_END, _TABLE_STEPS_PER_LOGIT = 40.0, 16.0  # logits: the table is of chances from −40 to 40
_NO_REST: FloatArray = np.zeros((0, 0))


def chances(log_odds: FloatArray) -> FloatArray:
    """Chances of log odds, at least 1e-300."""
    return np.maximum(expit(log_odds), 1e-300)


def relevances(
    log_odds: FloatArray,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    rest: FloatArray = _NO_REST,
) -> Levels:
    """Whether each document is relevant in each draw, by its key and the draw's, shape (draw, document)."""
    # ``rest``, of the same shape or empty, gets the uniform number over the chance where a document is
    # relevant, uniform again, for `climb`
    relevant = np.zeros(log_odds.shape, dtype=np.uint8)
    _draw(log_odds, keys, draws, _table(), _TABLE_END, _TABLE_STEPS_PER_LOGIT, relevant, rest)
    return relevant


@compiled
def climb(log_odds: FloatArray, rung: int, rest: FloatArray, level: Levels) -> None:
    """Move documents at a rung, shape (draw, document), up where their number is below the chance."""
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            if level[i, j] == rung:
                p = 1.0 / (1.0 + np.exp(-log_odds[i, j]))
                if rest[i, j] < p:
                    level[i, j] = rung + 1
                    rest[i, j] /= p


@compiled
def count_levels(level: Levels, within: npt.NDArray[np.bool_], tally: npt.NDArray[np.int64]) -> None:
    """Add numbers of documents within reach at each rung above 0 to a tally of shape (draw, rung)."""
    for i in range(level.shape[0]):
        for j in range(level.shape[1]):
            if within[j] and level[i, j] > 0:
                tally[i, level[i, j] - 1] += 1


@compiled
def count_levels_by_run(
    level: Levels,
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
def draw_levels(
    of_class: Levels,
    keys: npt.NDArray[np.uint64],
    draws: npt.NDArray[np.uint64],
    cumulative: FloatArray,
    level: Levels,
) -> None:
    """Draw a level for each document by the cumulative chances of its class, shape (class, level)."""
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
def add_effects(
    log_odds: FloatArray, effect: FloatArray, cells: FloatArray, run: npt.NDArray[np.int64]
) -> None:
    """Add effects of runs' organizations, in all and on the topic, to log odds of shape (draw, document)."""
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            log_odds[i, j] += effect[i, run[j]] + cells[i, run[j]]


@compiled
def add_gains(
    block: Levels,
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


CELLS = 2**21
"""Numbers (draw, document) or (draw, rank) that a thread holds at a time."""
MAX_THREADS = 8
"""Each thread holds some 50 MB."""

Where = tuple[IntArray, IntArray, IntArray]


def completing(
    measure: Measure, ranked: npt.NDArray[np.int16], where: Where, levels: tuple[int, ...]
) -> Callable[[npt.NDArray[Any], Levels], None]:
    """A function that adds drawn documents, shape (draw, document), to amounts, shape (draw, run)."""
    # ``ranked`` is the relevance of judged documents, shape (run, rank), ``where`` run, rank from 0 and
    # document of each place with an unknown document, shape (place,), ``levels`` the relevance at each rung
    shallow = where[1] < measure.cutoff
    run, rank, unknown = (x[shallow] for x in where)
    ranked = ranked[:, : measure.cutoff]
    if measure.describes_judgments or not len(run):
        return lambda part, block: None
    if isinstance(measure, Additive):
        return partial(_add, measure, run, rank, unknown, levels)
    of_draws = measure.draw_evaluator(DrawnRankings(ranked, run, rank, unknown, levels))
    if of_draws is None:
        return partial(_lay_out, measure, ranked, run, rank, unknown, levels)

    def replace(part: npt.NDArray[Any], block: Levels) -> None:
        part[:] = of_draws(block)

    return replace


def _add(
    measure: Additive,
    run: IntArray,
    rank: IntArray,
    unknown: IntArray,
    levels: tuple[int, ...],
    part: npt.NDArray[Any],
    block: Levels,
) -> None:
    """Add the gains of drawn documents to amounts of shape (draw, run)."""
    weight = np.asarray(measure.weights()[rank]).astype(part.dtype)
    gains = np.asarray(measure.gains(np.array(levels))).astype(part.dtype)
    added = np.zeros(part.shape, dtype=part.dtype)
    add_gains(block, gains, run, weight, unknown, added)
    part += added


def _lay_out(
    measure: Measure,
    ranked: npt.NDArray[np.int16],
    run: IntArray,
    rank: IntArray,
    unknown: IntArray,
    levels: tuple[int, ...],
    part: npt.NDArray[Any],
    block: Levels,
) -> None:
    """Evaluate completed rankings into amounts of shape (draw, run), a block of draws at a time."""
    touched = np.unique(run)
    row = np.searchsorted(touched, run)
    drawn = np.array(levels, dtype=ranked.dtype)
    step = max(1, CELLS // (len(touched) * ranked.shape[1]))
    for first in range(0, len(block), step):
        some = block[first : first + step]
        completed = np.repeat(ranked[touched][None], len(some), axis=0)
        completed[:, row, rank] = drawn[some[:, unknown]]
        part[first : first + step, touched] = measure.amounts(completed)


def in_threads(work: Callable[[int], None], topics: Sequence[int]) -> None:
    """Do the work of each topic in one thread per processor, or in one within a worker of an experiment."""
    n_threads = 1  # the loops are compiled and release the GIL
    if multiprocessing.parent_process() is None:
        affinity = getattr(os, "sched_getaffinity", None)
        n_processors = len(affinity(0)) if affinity else os.cpu_count() or 1
        n_threads = min(len(topics), n_processors, MAX_THREADS)
    if n_threads < 2:
        for topic in topics:
            work(topic)
        return
    work(topics[0])  # fills caches before the threads start
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, topics[1:]):
            pass
