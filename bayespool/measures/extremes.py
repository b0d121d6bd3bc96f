"""Sharp bounds over all completions for measures that are divided by an ideal ranking."""

from __future__ import annotations

import numpy as np

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray
from bayespool.measures.base import safe_ratio


def average_precision_extremes(
    relevant: BoolArray, opened: BoolArray, n_relevant: AnyArray, n_elsewhere: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on average precision, (run, topic), from masks of shape (run, topic, rank)."""
    least, most = np.zeros(relevant.shape[:2]), np.zeros(relevant.shape[:2])
    rank = np.arange(1, relevant.shape[2] + 1)
    for run in range(len(relevant)):  # one at a time, for memory
        hit, maybe = relevant[run], opened[run]
        n_above = np.cumsum(hit, axis=1)
        precisions = np.where(hit, n_above / rank, 0.0)
        # from the top down: all before a rank that may be relevant is
        gained = np.cumsum(hit | maybe, axis=1) / rank + _sums_below(np.where(hit, 1 / rank, 0.0))
        most[run] = _ratios(precisions, gained, maybe, n_relevant).max(axis=1)
        # from the bottom up: all after it is
        below = _sums_below(np.where(hit | maybe, 1 / rank, 0.0))[:, 1:]
        gained = (n_above + 1) / rank + np.pad(below, ((0, 0), (0, 1)))
        lost = n_relevant + n_elsewhere[run]
        least[run] = _ratios(precisions, gained[:, ::-1], maybe[:, ::-1], lost).min(axis=1)
    return least, most


def _sums_below(values: FloatArray) -> FloatArray:
    """Return the sums of values from each rank to the last, shape (topic, rank)."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1])


def _ratios(
    precisions: FloatArray, gained: FloatArray, opened: BoolArray, n_relevant: AnyArray
) -> FloatArray:
    """Return average precision as unjudged documents become relevant one by one, shape (topic, 1 + rank)."""
    judged = np.cumsum(np.pad(precisions, ((0, 0), (1, 0))), axis=1)[:, -1:]
    reached = np.cumsum(np.concatenate([judged, np.where(opened, gained, 0.0)], axis=1), axis=1)
    n_more = np.cumsum(np.pad(opened, ((0, 0), (1, 0))), axis=1)
    return safe_ratio(reached, n_relevant[:, None] + n_more)


def gain_extremes(
    gained: FloatArray,
    opened: BoolArray,
    discount: FloatArray,
    steps: FloatArray,
    at_least: AnyArray,
    n_elsewhere: AnyArray,
) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds on nDCG, two arrays of shape (run, topic)."""
    # Let m_k of the unjudged documents of the ranking reach level k, m_1 ≥ m_2 ≥ …. The value is (J + Σ δ_k
    # P(m_k)) / Σ δ_k D(N_k + m_k + e_k), where J is what judged documents gain (``gained``), δ_k the increase
    # in gain from the level below (``steps``), N_k the judged documents that reach level k (``at_least``),
    # and D sums of the first discounts, down to the cutoff. P sums the discounts of the first m unjudged
    # ranks (``opened``) for the greatest value (e_k = 0: nothing elsewhere is relevant), of the last m for
    # the least (e_k is all that is elsewhere). For a fixed λ the numerator less λ times the denominator is a
    # sum over k, optimized over nested m_k from the highest level down; λ is then the ratio reached, until
    # none is better (Dinkelbach 1967, On nonlinear fractional programming).
    least, most = np.zeros(gained.shape), np.zeros(gained.shape)
    best = np.concatenate([[0.0], np.cumsum(discount)])
    discounts = discount[: opened.shape[2]]
    for run in range(len(gained)):  # one at a time, for memory
        placed = _placed(opened[run, :, ::-1], discounts[::-1])
        reach = at_least + n_elsewhere[run][:, None]
        least[run] = extreme_ratio(gained[run], *placed, best, steps, reach, -1.0)
        placed = _placed(opened[run], discounts)
        most[run] = extreme_ratio(gained[run], *placed, best, steps, at_least, 1.0)
    return least, most


def _placed(opened: BoolArray, discount: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Return sums of the discounts of the first m unjudged ranks, (topic, m), and their number, (topic,)."""
    sums = np.cumsum(np.where(opened, discount, 0.0), axis=1)
    opened_first = np.argsort(~opened, axis=1, kind="stable")
    n_open = opened.sum(axis=1)
    most = int(n_open.max(initial=0))
    placed = np.take_along_axis(sums, opened_first, axis=1)[:, :most]
    return np.pad(placed, ((0, 0), (1, 0))), n_open


def extreme_ratio(
    gained: FloatArray,
    placed: FloatArray,
    n_open: IndexArray,
    best: FloatArray,
    steps: FloatArray,
    reach: AnyArray,
    sign: float,
) -> FloatArray:
    """Return the greatest (sign 1) or the least (−1) value on each topic, shape (topic,)."""
    cutoff, topic, more = len(best) - 1, np.arange(len(gained)), np.arange(placed.shape[1])
    ideal = np.zeros_like(gained)
    for step, n in zip(steps, reach.T, strict=True):
        ideal += step * best[np.minimum(n, cutoff)]
    ratio = safe_ratio(gained, ideal)
    if sign > 0 and steps.sum() > 0:  # one relevant document makes the ideal
        alone = (ideal <= 0) & (n_open > 0)
        ratio[alone] = np.maximum(placed[alone, 1], 0) / best[1] if alone.any() else 0.0
        ideal = np.where(alone, 1.0, ideal)
    is_better = ideal > 0
    while is_better.any():
        value, choices = np.zeros_like(placed), []
        for step, n in zip(steps[::-1], reach.T[::-1], strict=True):
            ideals = best[np.minimum(n[:, None] + more, cutoff)]
            here = sign * step * (placed - ratio[:, None] * ideals) + value
            value = np.maximum.accumulate(here, axis=1)
            is_new = here[:, 1:] > value[:, :-1]
            argument = np.pad(np.where(is_new, more[1:], 0), ((0, 0), (1, 0)))
            choices.append(np.maximum.accumulate(argument, axis=1))
        amount, ideal, m = gained.copy(), np.zeros_like(gained), n_open
        for step, n, choice in zip(steps, reach.T, choices[::-1], strict=True):
            m = choice[topic, m]
            amount += step * placed[topic, m]
            ideal += step * best[np.minimum(n + m, cutoff)]
        tried = safe_ratio(amount, ideal)
        is_better &= (ideal > 0) & (sign * (tried - ratio) > 1e-15)
        ratio = np.where(is_better, tried, ratio)
    return ratio
