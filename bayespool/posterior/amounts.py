"""From drawn documents to amounts of a measure: added where it is a sum, else laid out in rankings."""

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
"""(draw, document) or (draw, rank) numbers that a thread holds at a time."""
MOST_THREADS = 8
"""However many processors there are: each holds some 50 MB."""

Levels = npt.NDArray[np.uint8]
Where = tuple[IntArray, IntArray, IntArray]


def completing(
    measure: Measure, ranked: npt.NDArray[np.int16], where: Where, levels: tuple[int, ...]
) -> Callable[[npt.NDArray[Any], Levels], None]:
    """A function that brings what drawn documents are into the amounts of a topic.

    Parameters
    ----------
    measure : Measure
    ranked : ndarray of int16, shape (run, rank)
        Relevance of the judged documents, as the measure reads it.
    where : tuple of ndarray of int32, each of shape (place,)
        Run, rank from 0 and document of each place with an unknown document.
    levels : tuple of int
        Relevance at each rung.

    Returns
    -------
    callable
        (amounts of the rankings as they are judged, shape (draw, run), which it changes; rungs of the unknown
        documents, ndarray of uint8, shape (draw, document)).
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
    """Do the work of each topic, in as many threads as there are processors: the loops are compiled and do
    not hold each other up. A worker of an experiment, beside which others work, takes one.
    """
    n_threads = 1
    if multiprocessing.parent_process() is None:
        affinity = getattr(os, "sched_getaffinity", None)
        n_processors = len(affinity(0)) if affinity else os.cpu_count() or 1
        n_threads = min(len(topics), n_processors, MOST_THREADS)
    if n_threads < 2:
        for topic in topics:
            work(topic)
        return
    work(topics[0])  # what is made at the first call is there for all
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, topics[1:]):
            pass
