"""Documents drawn with known probabilities, and what their judgments prove of the differences of runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from bayespool.arrays import BoolArray, FloatArray, IndexArray
from bayespool.auditing.urns import Urn
from bayespool.compiled import compiled
from bayespool.randomness import key_of
from bayespool.tables.formatting import interval
from bayespool.tables.table import Column

ROUNDING = 1e-9
URN_COLUMNS = ("low", "high", "chance", "spread", "shared")
"""Names of the urn's arrays stored as columns in its table."""
URN_NUMBERS = ("base_low", "base_high", "least", "most", "mean", "std")
"""Names of the urn's scalars, which its table does not include."""
COLUMNS = {
    "step": Column("step", "count", "Place in the order in which documents are drawn."),
    "known": Column("known", "count", "Number of judgments that were known when the document was drawn."),
    "probability": Column(
        "prob\xad\nability", "chance", "With which it was drawn, given those before it.", 4
    ),
    "relevance": Column("relevance", "count", "Relevance; -1 where nobody has judged it."),
    "is_judged": Column(
        "judged", "flag", "Whether it and all drawn before it are judged, so that it counts."
    ),
    "estimate": Column("estimate", "score", "By design: posterior means with weighted residuals."),
    "lower": Column("from", "score", "Lower end of the guaranteed interval."),
    "upper": Column("to", "score", "Upper end of the guaranteed interval."),
    "posterior": Column("posterior", "score", "Posterior mean of the value, given the judgments so far."),
    "posterior_lower": Column("posterior\nfrom", "score", "Lower end of the posterior's interval."),
    "posterior_upper": Column("posterior\nto", "score", "Upper end of the posterior's interval."),
    "evidence": Column(
        "e-value",
        "size",
        "E-value against the posterior so far; one that is right reaches 100 in about one of 40 audits.",
    ),
    "other": Column("against", "text", "The run that the leader is compared with."),
    "low": Column("adds\nat least", "difference", "To a sum below the value, if of worth 1.", 6),
    "high": Column("adds\nat most", "difference", "To a sum above the value, if of worth 1.", 6),
    "chance": Column("probability of\nrelevance", "chance", "Expected worth by the posterior.", 4),
    "skipped": Column("went on\nwithout", "flag", "Whether the audit went on without its judgment."),
    "spread": Column("s. d.", "chance", "Standard deviation of its worth in the posterior.", 4),
    "shared": Column(
        "shared", "difference", "Change of the probability with what all documents have in common.", 4
    ),
}
"""Columns of the tables of documents drawn and of documents drawn from."""
_OF_DIFFERENCES = ("lower", "upper", "posterior", "posterior_lower", "posterior_upper")
DIFFERENCES = COLUMNS | {
    **{name: replace(COLUMNS[name], kind="difference") for name in _OF_DIFFERENCES},
    "leader": Column("leader", "text", "The best run by the posterior before any judgment."),
    "difference": Column("difference", "difference", "Design-based estimate of the leader less the other."),
    "p_better": Column("p: leader\nbetter", "p-value", "That it is no better, times the number of others."),
    "p_worse": Column("p: leader\nworse", "p-value", "That it is no worse, times the number of others."),
    "leader_is": Column("leader\nis", "text", "What is guaranteed: better, worse, equal or open."),
}
"""Columns of the table of a leader's differences."""


REFUTING = 100.0
"""Evidence from which the posterior is called refuted. One that is right reaches it in one of 40 audits."""
_RIVALS = ((1.0, -2.0), (1.0, -1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 0.0), (-1.0, 0.0))
"""Slopes and shifts of rival models' log odds: all less or more, all alike, turned round."""
_LEAST_CHANCE = 1e-3


class PosteriorForecast(NamedTuple):
    """Posterior of the value after each judgment, and the evidence against it; each of shape (step,)."""

    mean: FloatArray
    std: FloatArray
    evidence: FloatArray


def foretell(urn: Urn, documents: IndexArray, worth: FloatArray) -> PosteriorForecast:
    """Update the posterior forecast of the value after each judgment.

    Parameters
    ----------
    urn : Urn
    documents : ndarray of int, shape (step,)
        Judged documents, in the order in which they were drawn.
    worth : ndarray of float, shape (step,)
        Their worth.

    Notes
    -----
    The expected worth of a document is its probability + ``shared`` × F, where F, standard normal at first,
    is what all documents have in common (the effects of the run, the slopes), and is learned as under normal
    variables. The evidence is the mean over six rivals of how much more likely they made the judgments than
    the posterior did. If F is all that documents have in common, and its linear update exact, this is a
    martingale that starts at 1 and has expectation 1 while the posterior is right, so that it ever reaches
    100 with a probability of at most 1/100. Real posteriors reach it more often (``docs/judge-more.md``).
    """
    contribution = (urn.low + urn.high) / 2
    noise = np.maximum(urn.spread**2 - urn.shared**2, 1e-6)
    open_mean = float(contribution @ urn.chance)
    open_shared = float(contribution @ urn.shared)
    open_noise = float(contribution**2 @ noise)
    base = (urn.base_low + urn.base_high) / 2
    std = float(np.sqrt(open_shared**2 + open_noise)) or 1.0
    gap = urn.mean - base - open_mean  # to the linear value; it shrinks with the spread
    center = _log_odds(float(np.average(urn.chance, weights=np.abs(contribution) + 1e-300)))
    slopes, shifts = np.array(_RIVALS).T
    precision, pull, log_evidence = 1.0, 0.0, np.zeros(len(_RIVALS))
    values = np.zeros((3, len(documents)))
    for step, (i, y) in enumerate(zip(documents.tolist(), worth.tolist(), strict=True)):
        if np.isnan(y):  # nobody could judge it: it stays open
            values[:, step] = values[:, step - 1] if step else (urn.mean, urn.std, 1.0)
            continue
        chance = urn.chance[i] + urn.shared[i] * pull / precision
        log_odds = _log_odds(chance)
        chance = 1 / (1 + np.exp(-log_odds))
        rival = 1 / (1 + np.exp(-(center + slopes * (log_odds - center) + shifts)))
        log_evidence += np.log(rival / chance * y + (1 - rival) / (1 - chance) * (1 - y))
        precision += urn.shared[i] ** 2 / noise[i]
        pull += urn.shared[i] * (y - urn.chance[i]) / noise[i]
        base += contribution[i] * y
        open_mean -= contribution[i] * urn.chance[i]
        open_shared -= contribution[i] * urn.shared[i]
        open_noise = max(open_noise - contribution[i] ** 2 * noise[i], 0.0)
        share_left = float(np.sqrt(open_shared**2 / precision + open_noise)) / std
        values[0, step] = base + open_mean + open_shared * pull / precision + gap * share_left
        values[1, step] = urn.std * share_left
        values[2, step] = np.exp(log_evidence).mean()
    return PosteriorForecast(*values)


def _log_odds(chance: float) -> float:
    chance = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return float(np.log(chance / (1 - chance)))


BETS = np.array([0.25, 0.5, 0.75, 1.0])
"""Bet sizes as shares of the capital; each is given a quarter of the initial capital."""
FLOOR = 1.0
"""Constant added to the standard deviation of a document's worth, so that every document may be sampled."""
CONTROL = 0.5
"""Share of the model's differences of documents in payoffs; all of it would make their range too wide."""
CANDIDATES = 2001
"""Number of candidate values between the bounds; the interval keeps those not refuted."""
_LEVEL, _SLOPE, _NOISE = 0.2, 0.5, 0.15  # prior s. d. of the model's error, variance of a judgment around it
_LEAST_WALK_CHANCE = 0.01
_TINY = 1e-12
_MOST = 1e300  # capital


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
    """Return uniform numbers in [0, 1), one per sampling step, shape (n,); a larger n only appends."""
    return np.array([(key_of(random_seed, "audit", step) >> 11) / 2**53 for step in range(n)])


def walk(
    low: FloatArray,
    high: FloatArray,
    chance: FloatArray,
    worth: FloatArray,
    n_known: IndexArray,
    uniform: FloatArray,
    size: FloatArray | None = None,
    skipped: BoolArray | None = None,
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
    skipped : ndarray of bool, shape (document,), optional
        Documents without whose judgment the audit went on, on which no probability depends. A missing one is
        what is worse for each end: as capital rises with it, the interval contains that of any judgment.

    Notes
    -----
    A document is drawn with a probability q proportional to its size c × (√(m(1 − m)) + 1), where m
    is its probability, corrected in level and slope for what the judgments so far say of the model. The
    payoff of a step is S + Σ c p + c (y − p)/q: the sum of what is judged, of what is expected of the open
    documents, and the weighted residual of the drawn one; p is m moved half-way to its mean. The expectation
    is the sum over all documents whatever p is, as long as p and q do not depend on judgments to come
    (Shekhar et al. 2023, §2).

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
    passed = np.zeros(len(low), dtype=np.bool_) if skipped is None else np.asarray(skipped, dtype=np.bool_)
    missing = passed & np.isnan(worth)
    for_low, for_high = (np.where(missing, worst, worth) for worst in (low < 0, high > 0))
    documents, payoffs, n_judged = _walk(low, high, size, chance, for_low, uniform[:n], before, passed)
    if missing.any():
        other = _walk(low, high, size, chance, for_high, uniform[:n], before, passed)[1]
        payoffs[[3, 4, 6]] = other[[3, 4, 6]]
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
    skipped: BoolArray,
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
                m = min(
                    max(chance[i] + l0 + l1 * (center - chance[i]), _LEAST_WALK_CHANCE),
                    1 - _LEAST_WALK_CHANCE,
                )
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
                    m = min(
                        max(chance[i] + l0 + l1 * (center - chance[i]), _LEAST_WALK_CHANCE),
                        1 - _LEAST_WALK_CHANCE,
                    )
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
            if not skipped[k]:
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
    """Return ends of a confidence sequence after each judged step, which hold at all at once, (step,) each.

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
    """Return the largest candidate refuted by each step, or the first, and capital against the last."""
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


@dataclass(frozen=True, eq=False, repr=False)
class Guarantees:
    """Guarantees from an audit's judgments for one of its differences, or for the value of its run.

    The fields are those of `bayespool.Audit`.
    """

    urns: tuple[Urn, ...]
    run_ids: tuple[str, ...]
    measure: str
    relevance: IndexArray
    n_known: IndexArray
    random_seed: int
    ci_prob: float
    until: float | None
    details: dict[str, Any]
    index: int = 0
    skipped: BoolArray | None = None  # without whose judgment the audit went on, shape (document,)

    def __len__(self) -> int:
        return len(self.n_known)

    @property
    def urn(self) -> Urn:
        """Urn for the difference."""
        return self.urns[self.index]

    @property
    def compared(self) -> tuple[str, ...]:
        """Id of the run, or of both runs of the difference, the first less the second."""
        return (self.run_ids[0], *self.run_ids[self.index + 1 : self.index + 2])

    @property
    def name(self) -> str:
        """Name of the run, or of the difference between two runs."""
        return " − ".join(self.compared)

    @cached_property
    def differences(self) -> tuple[Self, ...]:
        """Audits of the single differences, each between the first run and another run.

        All draw the same documents: by the sum of what they add to the differences, without sign.
        """
        indexes = range(len(self.urns))
        return tuple(self if i == self.index else replace(self, index=i) for i in indexes)

    @property
    def interval_ci_prob(self) -> float:
        """Simultaneous coverage probability for this difference's intervals, Bonferroni-adjusted."""
        n = len(self.urns)
        return self.ci_prob if n == 1 else 1 - (1 - self.ci_prob) / n

    @cached_property
    def worth(self) -> FloatArray:
        """Worth of each document, NaN if unjudged, shape (document,)."""
        by_relevance = np.append(self.urn.worth, np.nan)
        return np.asarray(by_relevance[np.minimum(self.relevance, len(self.urn.worth) - 1)])

    @cached_property
    def walked(self) -> Walk:
        """Sampled documents in order, with the payoffs from judged ones."""
        u, uniform = self.urn, uniforms(self.random_seed, len(self))
        size = np.sum([np.maximum(np.abs(urn.low), np.abs(urn.high)) for urn in self.urns], axis=0)
        return walk(u.low, u.high, u.chance, self.worth, self.n_known, uniform, size, self.skipped)

    @property
    def n_judged(self) -> int:
        """Number of sampling steps before the first document that waits for a judgment."""
        return len(self.walked.low)

    @cached_property
    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the guaranteed interval after each judged step, each of shape (judged step,)."""
        u = self.urn
        return confidence_sequence(
            self.walked, u.least, u.most, u.base_low, u.base_high, self.interval_ci_prob
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Current guaranteed interval (before any judgment: the bounds for the value)."""
        if not self.n_judged:
            return self.urn.least, self.urn.most
        low, high = self.intervals
        return float(low[-1]), float(high[-1])

    @property
    def width(self) -> float:
        """Width of the guaranteed `interval`."""
        return self.interval[1] - self.interval[0]

    @property
    def verdict(self) -> str:
        """Guarantee for the first run: ``better``, ``worse``, ``equal`` or ``open``."""
        low, high = self.interval
        if low > 0 or high < 0:
            return "better" if low > 0 else "worse"
        return "equal" if high - low <= ROUNDING else "open"

    @cached_property
    def estimates(self) -> FloatArray:
        """Design-based estimate after each judged step, clipped to the interval, shape (judged step,).

        A mean of posterior means corrected by weighted residuals, in which a step with n documents still open
        weighs 1/n².
        """
        u, n = self.urn, self.n_judged
        payoff = (u.base_low + self.walked.low + u.base_high + self.walked.high) / 2
        weight = 1.0 / np.arange(len(u), len(u) - n, -1.0) ** 2
        return np.asarray(np.clip(np.cumsum(weight * payoff) / np.cumsum(weight), *self.intervals))

    @cached_property
    def forecast(self) -> PosteriorForecast:
        """Posterior forecast after each judged step."""
        documents = self.walked.documents[: self.n_judged]
        return foretell(self.urn, documents, self.worth[documents])

    @property
    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        """Bounds for the value after 0, 1, … judged steps, each of shape (judged step + 1,)."""
        u, w = self.urn, self.walked
        least = np.append(u.least, np.maximum(u.base_low + w.floor, u.least))
        return least, np.append(u.most, np.minimum(u.base_high + w.ceiling, u.most))

    def posterior_ends(self) -> tuple[FloatArray, FloatArray]:
        """Return ends of the posterior interval after 0, 1, … judged steps; at first those of `score`."""
        from scipy.special import ndtri

        u, half = self.urn, ndtri((1 + self.interval_ci_prob) / 2) * self.urn.std  # without ends of draws
        ends = self.details.get("posterior_intervals") or [(u.mean - half, u.mean + half)] * len(self.urns)
        mean = np.append(u.mean, self.forecast.mean)
        left = np.append(u.std, self.forecast.std) / (u.std or 1.0)
        lower, upper = (np.clip(mean + (e - u.mean) * left, *self._bounds) for e in ends[self.index])
        return lower, upper

    @property
    def p_values(self) -> tuple[float, float]:
        """Anytime-valid p-values for the value being at most 0 and at least 0, adjusted for all differences.

        Bonferroni's: times the number of differences. They are 0 where what is judged leaves no such value.
        """
        u, w, (least, most) = self.urn, self.walked, self._bounds
        against_less = capital(w.low, w.least, -u.base_low).max(initial=1.0)
        against_more = capital(-w.high, -w.most, u.base_high).max(initial=1.0)
        not_better = 0.0 if least[-1] > ROUNDING else float(1 / against_less)
        not_worse = 0.0 if most[-1] < -ROUNDING else float(1 / against_more)
        return min(len(self.urns) * not_better, 1.0), min(len(self.urns) * not_worse, 1.0)

    def interval_text(self) -> str:
        """Return `interval` formatted as text."""
        return interval(*self.interval, signed=len(self.compared) == 2)

    def steps_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per sampled document and the guarantee after its judgment."""
        u, w, steps = self.urn, self.walked, np.arange(len(self)) + 1
        lower, upper = self.posterior_ends()
        after = (self.estimates, *self.intervals, self.forecast.mean, lower[1:], upper[1:])
        names = ("estimate", "lower", "upper", "posterior", "posterior_lower", "posterior_upper", "evidence")
        judged = pd.DataFrame(dict(zip(names, (*after, self.forecast.evidence), strict=True)))
        drawn = pd.DataFrame(
            {
                "step": steps,
                "query_id": [u.query_ids[i] for i in w.documents],
                "doc_id": [u.doc_ids[i] for i in w.documents],
                "known": self.n_known,
                "probability": w.probability,
                "relevance": self.relevance[w.documents],
                "is_judged": steps <= self.n_judged,
            }
        )
        return drawn.join(judged).assign(ci_prob=self.interval_ci_prob)

    def difference_frame(self) -> pd.DataFrame:
        """Return a data frame of one row with the current guarantee for a leader's difference."""
        last: Any = self.steps_frame().iloc[self.n_judged - 1] if self.n_judged else {}
        row = {
            "leader": self.run_ids[0],
            "other": self.compared[1],
            "difference": last.get("estimate", np.nan),
            "lower": self.interval[0],
            "upper": self.interval[1],
            "posterior": last.get("posterior", self.urn.mean),
            "posterior_lower": last.get("posterior_lower", np.nan),
            "posterior_upper": last.get("posterior_upper", np.nan),
            "p_better": self.p_values[0],
            "p_worse": self.p_values[1],
            "evidence": float(self.forecast.evidence.max(initial=1.0)),
            "leader_is": self.verdict,
            "ci_prob": self.ci_prob,
        }
        return pd.DataFrame([row])

    def documents_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per document in the urn."""
        names = ("query_id", "doc_id", *URN_COLUMNS)
        values = (self.urn.query_ids, self.urn.doc_ids, *(getattr(self.urn, name) for name in URN_COLUMNS))
        documents = pd.DataFrame(dict(zip(names, values, strict=True))).assign(relevance=self.relevance)
        return documents if self.skipped is None else documents.assign(skipped=self.skipped)
