"""Sharp bounds over all completions for measures that are divided by an ideal ranking."""

from __future__ import annotations

import numpy as np

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray
from bayespool.compiled import compiled


def average_precision_extremes(
    relevant: BoolArray, opened: BoolArray, n_relevant: AnyArray, n_elsewhere: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on average precision, (run, topic), from masks of shape (run, topic, rank)."""
    least, most = np.zeros(relevant.shape[:2]), np.zeros(relevant.shape[:2])
    total, elsewhere = n_relevant.astype(np.float64), n_elsewhere.astype(np.float64)
    _average_precision(relevant, opened, total, elsewhere, least, most)
    return least, most


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
    counts, elsewhere = at_least.astype(np.int64), n_elsewhere.astype(np.int64)
    nowhere = np.zeros_like(elsewhere)
    _gain(gained, opened, discount, best, steps, counts, elsewhere, 0, least)
    _gain(gained, opened, discount, best, steps, counts, nowhere, 1, most)
    return least, most


@compiled
def _average_precision(
    relevant: BoolArray,
    opened: BoolArray,
    total: FloatArray,
    elsewhere: FloatArray,
    least: FloatArray,
    most: FloatArray,
) -> None:
    n_runs, n_topics, n_ranks = relevant.shape
    after = np.zeros(n_ranks + 1)  # Σ 1/i over relevant documents after a rank
    for r in range(n_runs):
        for t in range(n_topics):
            precisions = 0.0
            n_before = 0
            for i in range(n_ranks):
                if relevant[r, t, i]:
                    n_before += 1
                    precisions += n_before / (i + 1)
            n_ranked = n_before
            for i in range(n_ranks - 1, -1, -1):
                after[i] = after[i + 1] + (1.0 / (i + 1) if relevant[r, t, i] else 0.0)
            low = precisions / (total[t] + elsewhere[r, t]) if total[t] + elsewhere[r, t] > 0 else 0.0
            high = precisions / total[t] if total[t] > 0 else 0.0
            # from the top down: all before a rank that may be relevant is
            n_before, added, reached = 0, 0.0, precisions
            for i in range(n_ranks):
                if relevant[r, t, i]:
                    n_before += 1
                elif opened[r, t, i]:
                    added += 1
                    reached += (n_before + added) / (i + 1) + after[i]
                    high = max(high, reached / (total[t] + added))
            # from the bottom up: all after it is
            n_before, added, reached, below = n_ranked, 0.0, precisions, 0.0
            for i in range(n_ranks - 1, -1, -1):
                if relevant[r, t, i]:
                    n_before -= 1
                    below += 1.0 / (i + 1)
                elif opened[r, t, i]:
                    added += 1
                    reached += (n_before + 1) / (i + 1) + below
                    below += 1.0 / (i + 1)
                    low = min(low, reached / (total[t] + added + elsewhere[r, t]))
            least[r, t] = low
            most[r, t] = high


@compiled
def _gain(
    gained: FloatArray,
    opened: BoolArray,
    discount: FloatArray,
    best: FloatArray,
    steps: FloatArray,
    at_least: IndexArray,
    elsewhere: IndexArray,
    upward: int,
    bound: FloatArray,
) -> None:
    n_runs, n_topics, n_ranks = opened.shape
    n_levels, cutoff = len(steps), len(best) - 1
    sign = 1.0 if upward else -1.0
    placed = np.zeros(n_ranks + 1)
    value = np.zeros((n_levels + 1, n_ranks + 1))  # from a level up, with at most m documents
    chosen = np.zeros((n_levels, n_ranks + 1), dtype=np.int64)
    for r in range(n_runs):
        for t in range(n_topics):
            n_open = 0
            for j in range(n_ranks):
                i = j if upward else n_ranks - 1 - j
                if opened[r, t, i]:
                    placed[n_open + 1] = placed[n_open] + discount[i]
                    n_open += 1
            ideal, top = 0.0, 0.0
            for k in range(n_levels):
                ideal += steps[k] * best[min(at_least[t, k] + elsewhere[r, t], cutoff)]
                top += steps[k]
            if ideal > 0:
                ratio = gained[r, t] / ideal
            elif upward and n_open > 0 and top > 0:
                ratio = placed[1] / best[1]  # one relevant document makes the ideal
            else:
                continue  # nothing is relevant, or nothing need be: 0
            better = True
            while better:
                for k in range(n_levels - 1, -1, -1):
                    most, argument = -np.inf, 0
                    for m in range(n_open + 1):
                        count = min(at_least[t, k] + elsewhere[r, t] + m, cutoff)
                        here = sign * steps[k] * (placed[m] - ratio * best[count]) + value[k + 1, m]
                        if here > most:
                            most, argument = here, m
                        value[k, m] = most
                        chosen[k, m] = argument
                amount, ideal, m = gained[r, t], 0.0, n_open
                for k in range(n_levels):
                    m = chosen[k, m]
                    amount += steps[k] * placed[m]
                    ideal += steps[k] * best[min(at_least[t, k] + elsewhere[r, t] + m, cutoff)]
                better = ideal > 0 and sign * (amount / ideal - ratio) > 1e-15
                if better:
                    ratio = amount / ideal
            bound[r, t] = ratio
