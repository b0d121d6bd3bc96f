"""Amounts of a measure from drawn documents: added where it is a sum, else from completed rankings."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import IntArray
from bayespool.measures import Additive, Measure
from bayespool.measures.base import DrawnRankings
from bayespool.posterior.drawing import add_gains

CELLS = 2**21
"""Numbers (draw, document) or (draw, rank) that a thread holds at a time."""
MAX_THREADS = 8
"""Each thread holds some 50 MB."""

Levels = npt.NDArray[np.uint8]
Where = tuple[IntArray, IntArray, IntArray]


def completing(
    measure: Measure, ranked: npt.NDArray[np.int16], where: Where, levels: tuple[int, ...]
) -> Callable[[npt.NDArray[Any], Levels], None]:
    """A function that adds drawn documents to the amounts of a topic.

    ``ranked`` is the relevance of judged documents, shape (run, rank), ``where`` run, rank from 0 and
    document of each place with an unknown document, shape (place,), ``levels`` the relevance at each rung.
    The function takes amounts of the judged rankings, shape (draw, run), which it changes, and rungs of the
    unknown documents, shape (draw, document).
    """
    shallow = where[1] < measure.cutoff
    run, rank, unknown = (x[shallow] for x in where)
    ranked = ranked[:, : measure.cutoff]
    if measure.of_judgments or not len(run):
        return lambda part, block: None
    if isinstance(measure, Additive):
        return partial(_add, measure, run, rank, unknown, levels)
    of_draws = measure.of_draws(DrawnRankings(ranked, run, rank, unknown, levels))
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
