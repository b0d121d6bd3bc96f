"""From drawn documents to amounts of a measure: added where it is a sum, else laid out in rankings."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import IntArray
from bayespool.measures import Additive, Measure
from bayespool.measures.base import DrawnRankings
from bayespool.posterior.drawing import add_gains

__all__ = ["CELLS", "complete_amounts", "in_threads"]

CELLS = 2**21
"""(draw, document) or (draw, rank) numbers held at a time."""

Levels = npt.NDArray[np.uint8]
Where = tuple[IntArray, IntArray, IntArray]


def complete_amounts(
    measure: Measure,
    part: npt.NDArray[Any],
    block: Levels,
    ranked: npt.NDArray[np.int16],
    where: Where,
    levels: tuple[int, ...],
) -> None:
    """Bring what drawn documents are into the amounts of a topic.

    Parameters
    ----------
    measure : Measure
    part : ndarray, shape (draw, run)
        Amounts of the rankings as they are judged; changed.
    block : ndarray of uint8, shape (draw, document)
        Rungs of the unknown documents.
    ranked : ndarray of int16, shape (run, rank)
        Relevance of the judged documents, as the measure reads it.
    where : tuple of ndarray of int32, each of shape (place,)
        Run, rank from 0 and document of each place with an unknown document.
    levels : tuple of int
        Relevance at each rung.
    """
    run, rank, unknown = where
    shallow = rank < measure.cutoff
    run, rank, unknown = run[shallow], rank[shallow], unknown[shallow]
    if not len(run):
        return
    ranked = ranked[:, : measure.cutoff]
    if isinstance(measure, Additive):
        _add(measure, part, block, run, rank, unknown, levels)
        return
    found = measure.of_draws(DrawnRankings(ranked, run, rank, unknown, block, levels))
    if found is not None:
        part[:] = found
    else:
        _lay_out(measure, part, block, ranked, run, rank, unknown, levels)


def _add(
    measure: Additive,
    part: npt.NDArray[Any],
    block: Levels,
    run: IntArray,
    rank: IntArray,
    unknown: IntArray,
    levels: tuple[int, ...],
) -> None:
    weight = np.asarray(measure.weights()[rank]).astype(part.dtype)
    gains = np.asarray(measure.gains(np.array(levels))).astype(part.dtype)
    added = np.zeros(part.shape, dtype=part.dtype)
    add_gains(block, gains, run, weight, unknown, added)
    part += added


def _lay_out(
    measure: Measure,
    part: npt.NDArray[Any],
    block: Levels,
    ranked: npt.NDArray[np.int16],
    run: IntArray,
    rank: IntArray,
    unknown: IntArray,
    levels: tuple[int, ...],
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
        n_threads = min(len(topics), len(affinity(0)) if affinity else os.cpu_count() or 1)
    if n_threads < 2:
        for topic in topics:
            work(topic)
        return
    work(topics[0])  # what is made at the first call is there for all
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, topics[1:]):
            pass
