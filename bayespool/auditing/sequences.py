"""Documents drawn one by one with known probabilities, and the interval that betting on them leaves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayespool.arrays import FloatArray, IndexArray
from bayespool.compiled import compiled
from bayespool.errors import renamed_attributes
from bayespool.randomness import key_of

BETS = np.array([0.25, 0.5, 0.75, 1.0])
"""Bet sizes as shares of the capital; each is given a quarter of the initial capital."""
FLOOR = 1.0
"""Constant added to the standard deviation of a document's worth, so that every document may be sampled."""
CONTROL = 0.5
"""Share of the model's between-document differences used to correct payoffs. The whole would make their
variance least, but their range wide, which is what limits bets on few judgments.
"""
CANDIDATES = 2001
"""Number of candidate values between the bounds; the interval keeps those not refuted."""
_LEVEL, _SLOPE, _NOISE = 0.2, 0.5, 0.15  # prior s. d. of the model's error, variance of a judgment around it
_LEAST_CHANCE = 0.01
_TINY = 1e-12
_MOST = 1e300  # capital


@renamed_attributes(chosen="documents")
class Walk(NamedTuple):
    """Documents sampled without replacement, and payoffs from their judgments.

    ``documents``: their positions, shape (step,). ``probability``: with which each was drawn, given those
    before, shape (step,). The others, of shape (judged step,), end where a judgment is missing. Given
    the steps before, the expectation of ``low`` is the sum of the lower contributions × worth, and it is
    never below ``least``; that of ``high`` is the sum of the upper ones, and it is never above ``most``.
    ``floor``, ``ceiling``: the two sums with no document that is still open worth anything in favor.
    """

    documents: IndexArray
    probability: FloatArray
    low: FloatArray
    least: FloatArray
    high: FloatArray
    most: FloatArray
    floor: FloatArray
    ceiling: FloatArray


def uniforms(random_seed: int, n: int) -> FloatArray:
    """Return reproducible uniform numbers in [0, 1), one per sampling step, shape (n,). A larger n only
    appends.
    """
    return np.array([(key_of(random_seed, "audit", step) >> 11) / 2**53 for step in range(n)])


def walk(
    low: FloatArray,
    high: FloatArray,
    chance: FloatArray,
    worth: FloatArray,
    n_known: IndexArray,
    uniform: FloatArray,
    size: FloatArray | None = None,
) -> Walk:
    """Sample documents, and compute payoffs from their judgments.

    Parameters
    ----------
    low, high : ndarray of float, shape (document,)
        Contribution of a document of worth 1 to the lower and the upper sum.
    chance : ndarray of float, shape (document,)
        Expected worth by the model.
    worth : ndarray of float, shape (document,)
        Worth from 0 to 1 by the judgment, NaN without one.
    known : ndarray of int, shape (step,)
        Number of steps whose judgments were known when each step was drawn: these decide its probabilities.
    uniform : ndarray of float, shape (step,)
        Numbers in [0, 1) that draw (`uniforms`).
    size : ndarray of float, shape (document,), optional
        How much a document matters for what is drawn. Default: the larger of its contributions, without sign.

    Notes
    -----
    A document is drawn with a probability q proportional to its size c × (√(m(1 − m)) + 1), where m
    is its chance, corrected in level and slope for what the judgments so far say of the model. The payoff of
    a step is S + Σ c p + c (y − p)/q: the sum of what is judged, of what is expected of the open documents,
    and the weighted residual of the drawn one; p is m moved half-way to its mean. The expectation is the sum
    over all documents whatever p is, as long as p and q do not depend on judgments to come (Shekhar et al.
    2023, §2).

    Examples
    --------
    >>> c = np.array([0.5, 0.25, 0.25])
    >>> drawn = walk(c, c, np.full(3, 0.5), np.array([1.0, 0.0, 1.0]), np.arange(3), uniforms(1, 3))
    >>> sorted(drawn.documents.tolist()), round(float(drawn.low[-1]), 6), drawn.floor[-1] == drawn.ceiling[-1]
    ([0, 1, 2], 0.75, np.True_)
    """
    n = min(len(n_known), len(low))
    size = np.maximum(np.abs(low), np.abs(high)) if size is None else size
    low, high, size, chance, worth = (
        np.ascontiguousarray(a, dtype=np.float64) for a in (low, high, size, chance, worth)
    )
    before = np.asarray(n_known[:n], dtype=np.int64)
    documents, payoffs, n_judged = _walk(low, high, size, chance, worth, uniform[:n], before)
    return Walk(documents, payoffs[0], *payoffs[1:, :n_judged])


@compiled
def _walk(
    low: FloatArray,
    high: FloatArray,
    size: FloatArray,
    chance: FloatArray,
    worth: FloatArray,
    uniform: FloatArray,
    n_known: IndexArray,
) -> tuple[IndexArray, FloatArray, int]:
    n, n_steps = len(low), len(n_known)
    documents, payoffs = np.zeros(n_steps, dtype=np.int64), np.zeros((7, n_steps))
    total, center = 0.0, 0.0
    for i in range(n):
        total += size[i]
        center += size[i] * chance[i]
    center /= total
    # Bayesian regression of residuals on (1, center − chance), with the coefficients after each judgment
    a, b, d = _NOISE / _LEVEL**2, 0.0, _NOISE / _SLOPE**2
    right0, right1 = 0.0, 0.0
    level, slope = np.zeros(n_steps + 1), np.zeros(n_steps + 1)
    is_open, odds = np.ones(n, dtype=np.bool_), np.zeros(n)
    judged_low, judged_high, n_judged = 0.0, 0.0, 0
    for t in range(n_steps):
        l0, l1, total = level[n_known[t]], slope[n_known[t]], 0.0
        for i in range(n):
            if is_open[i]:
                m = min(max(chance[i] + l0 + l1 * (center - chance[i]), _LEAST_CHANCE), 1 - _LEAST_CHANCE)
                odds[i] = size[i] * (np.sqrt(m * (1 - m)) + FLOOR)
                total += odds[i]
        mark, below, k = uniform[t] * total, 0.0, -1
        for i in range(n):
            if is_open[i]:
                if below <= mark:
                    k = i
                below += odds[i]
        documents[t], payoffs[0, t] = k, odds[k] / total
        if n_judged == t and not np.isnan(worth[k]):
            l0, l1 = level[t], slope[t]
            middle = (1 - CONTROL) * min(max(center + l0, 0.0), 1.0)
            open_low, open_high, least, most = 0.0, 0.0, 0.0, 0.0
            floor, ceiling, resid_low, resid_high = 0.0, 0.0, 0.0, 0.0
            for i in range(n):
                if is_open[i]:
                    m = min(max(chance[i] + l0 + l1 * (center - chance[i]), _LEAST_CHANCE), 1 - _LEAST_CHANCE)
                    p, q = middle + CONTROL * m, odds[i] / total
                    open_low += low[i] * p
                    open_high += high[i] * p
                    least = min(least, -low[i] * p / q, low[i] * (1 - p) / q)
                    most = max(most, -high[i] * p / q, high[i] * (1 - p) / q)
                    if i == k:
                        resid_low = low[i] * (worth[k] - p) / q
                        resid_high = high[i] * (worth[k] - p) / q
                    else:
                        floor += min(low[i], 0.0)
                        ceiling += max(high[i], 0.0)
            payoffs[1, t] = judged_low + open_low + resid_low
            payoffs[2, t] = judged_low + open_low + least
            payoffs[3, t] = judged_high + open_high + resid_high
            payoffs[4, t] = judged_high + open_high + most
            judged_low += low[k] * worth[k]
            judged_high += high[k] * worth[k]
            payoffs[5, t], payoffs[6, t] = judged_low + floor, judged_high + ceiling
            x, residual = center - chance[k], worth[k] - chance[k]
            a += 1.0
            b += x
            d += x * x
            right0 += residual
            right1 += residual * x
            det = a * d - b * b
            level[t + 1], slope[t + 1] = (d * right0 - b * right1) / det, (a * right1 - b * right0) / det
            n_judged = t + 1
        is_open[k] = False
    return documents, payoffs, n_judged


def confidence_sequence(
    walked: Walk, least: float, most: float, base_low: float, base_high: float, ci_prob: float
) -> tuple[FloatArray, FloatArray]:
    """Return ends of a confidence sequence after each judged step, each of shape (step,). They hold at all
    steps at once.

    Parameters
    ----------
    walked : Walk
    least, most : float
        Bounds of the value before anything is drawn.
    base_low, base_high : float
        Value to which the lower and the upper sum are added.
    ci_prob : float
        Probability that no interval misses the value, whatever the model.

    Notes
    -----
    Who believes that the value is θ lets us bet on payoffs: capital that starts at 1 and is multiplied by
    1 − b + b (z − least)/(θ − least) has expectation 1 at every step if θ is the value, and no more if the
    value is less. By Ville's inequality it ever reaches 2/α with a probability of at most α/2; values at
    which it does are refuted (Waudby-Smith & Ramdas 2024, §4). The shares b of `BETS` get a quarter of the
    capital each (a portfolio, as in Orabona & Jun 2024). Capital falls with θ, so that what is left is an
    interval. Values between two of the `CANDIDATES` go with the one outside. The upper end is the same with
    signs turned.

    Examples
    --------
    >>> c, worth = np.full(200, 0.005), np.repeat([0.0, 1.0], 100)
    >>> walked = walk(c, c, np.full(200, 0.5), worth, np.arange(200), uniforms(1, 200))
    >>> low, high = confidence_sequence(walked, 0.0, 1.0, 0.0, 0.0, 0.95)
    >>> bool((low <= 0.5).all() and (high >= 0.5).all()), [round(float(e[-1]), 6) for e in (low, high)]
    (True, [0.5, 0.5])
    """
    refuting = 2 / (1 - ci_prob)
    candidates = np.linspace(least - base_low, most - base_low, CANDIDATES)
    low = base_low + _bet(walked.low, walked.least, candidates, BETS, refuting)[0]
    candidates = np.linspace(base_high - most, base_high - least, CANDIDATES)
    high = base_high - _bet(-walked.high, -walked.most, candidates, BETS, refuting)[0]
    low = np.maximum(low, base_low + walked.floor) - _TINY  # which rounding could have added
    high = np.minimum(high, base_high + walked.ceiling) + _TINY
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high)
    low, high = np.clip(low, least, most), np.clip(high, least, most)
    return low, high


def capital(z: FloatArray, least: FloatArray, value: float) -> FloatArray:
    """Return the capital after each step from betting against values up to ``value``, shape (step,).

    One over its maximum so far is a p-value at any time.
    """
    return _bet(z, least, np.array([value]), BETS, np.inf)[1]


@compiled
def _bet(
    z: FloatArray, least: FloatArray, candidates: FloatArray, bets: FloatArray, refuting: float
) -> tuple[FloatArray, FloatArray]:
    """Return the largest candidate refuted by each step and the capital against the last candidate. Each of
    shape (step,); the first candidate before any is refuted.
    """
    ends, capitals = np.zeros(len(z)), np.zeros(len(z))
    first, n_bets = 0, len(bets)
    capital = np.ones((len(candidates), n_bets))
    for t in range(len(z)):
        refuted = first
        for g in range(first, len(candidates)):
            x, total = (z[t] - least[t]) / max(candidates[g] - least[t], _TINY), 0.0
            for k in range(n_bets):
                capital[g, k] = min(capital[g, k] * (1 - bets[k] + bets[k] * x), _MOST)
                total += capital[g, k]
            if total >= refuting * n_bets:
                refuted = g
            capitals[t] = total / n_bets
        first = refuted
        ends[t] = candidates[first]
    return ends, capitals
