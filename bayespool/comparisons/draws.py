"""Differences and ranks of runs over joint draws, on these topics or in the population of topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError
from bayespool.measures import equal_tailed_interval

Scope = Literal["these-topics", "population"]

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]

_DECIMALS = 12
_MAX_CELLS_HELD = 1 << 23  # numbers


@dataclass(frozen=True, eq=False)
class DrawComparison:
    """Pairs of runs over draws; the row's run against the column's.

    Attributes
    ----------
    n_draws : int
    difference : ndarray of float, shape (run, run)
        Mean of the row's value minus the column's.
    lower, upper : ndarray of float, shape (run, run)
        Ends of the equal-tailed interval of the difference.
    n_greater : ndarray of int64, shape (run, run)
        Draws in which the row's value is greater.
    n_equal : ndarray of int64, shape (run, run)
        Draws in which they are equal; ``n_greater + n_greater.T + n_equal`` is ``n_draws`` off the diagonal.
    n_equivalent : ndarray of int64, shape (run, run)
        Draws in which they differ by no more than the region of practical equivalence, equal ones included.
    prob_rank : ndarray of float, shape (run, rank)
        As `rank_probabilities`.
    """

    n_draws: int
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_greater: CountArray
    n_equal: CountArray
    n_equivalent: CountArray
    prob_rank: FloatArray

    @property
    def prob_greater(self) -> FloatArray:
        """Share of draws in which the row's value is greater, shape (run, run)."""
        return self.n_greater / self.n_draws

    @property
    def prob_equal(self) -> FloatArray:
        """Share of draws with equal values, shape (run, run); adds up to 1 with both orders, to the bit."""
        return 1 - (self.prob_greater + self.prob_greater.T)

    @property
    def prob_equivalent(self) -> FloatArray:
        """Share of draws with practically equal values, shape (run, run)."""
        return self.n_equivalent / self.n_draws

    @property
    def expected_rank(self) -> FloatArray:
        """Mean rank, 1 the best, shape (run,)."""
        return self.prob_rank @ np.arange(1, len(self.prob_rank) + 1)


def population_draws(draws: npt.NDArray[Any], *, random_seed: int = 1) -> FloatArray:
    """Draw the runs' means over the population that the topics are a sample of.

    Parameters
    ----------
    draws : ndarray, shape (draw, run, topic)
        Scores, or numbers of relevant documents, of completed judgments; two topics or more.
    random_seed : int

    Returns
    -------
    ndarray of float, shape (draw, run)
        On the scale of ``draws``.

    Notes
    -----
    In each draw the per-topic difference of two runs is taken as normal with unknown mean and variance,
    under the reference prior p(μ, σ) ∝ 1/σ: its mean is then d̄ + t·s/√T with t of T − 1 degrees of freedom,
    the Bayesian counterpart of the paired t test. All runs of a draw share the standard normal z_t of each
    topic and the χ² of T − 1 degrees of freedom in

        μ_r = x̄_r + Σ_t z_t·(x_rt − x̄_r) / √(T·χ²),

    whose difference for any two runs is exactly such a draw, so that differences are consistent and runs can
    be ranked. Runs with equal scores on all topics have equal means. Where nothing is unjudged the chance
    that a run's mean is not the greater one is half the p-value of the two-sided paired t test in favor of
    it.

    Examples
    --------
    >>> scores = np.repeat(np.array([[[6, 5, 8, 7], [5, 5, 7, 4]]]), 20_000, axis=0)
    >>> mean = population_draws(scores)
    >>> round(float((mean[:, 0] <= mean[:, 1]).mean()), 2)  # t = 1.987: p = 0.141, one half of it 0.07
    0.07
    """
    n_draws, n_runs, n_topics = draws.shape
    if n_topics < 2:
        raise InputError("one topic says nothing about a population of topics")
    rng = np.random.default_rng(random_seed)
    scale = 1 / np.sqrt(n_topics * rng.chisquare(n_topics - 1, size=n_draws))
    means = np.empty((n_draws, n_runs))
    step = max(1, _MAX_CELLS_HELD // (n_runs * n_topics))
    for start in range(0, n_draws, step):
        part = slice(start, min(start + step, n_draws))
        scores = draws[part].astype(np.float64)
        mean = scores.mean(axis=2)
        z = rng.normal(size=(len(scores), n_topics, 1)) * scale[part, None, None]
        means[part] = mean + ((scores - mean[:, :, None]) @ z)[:, :, 0]
    return means


def compare_draws(
    values: npt.NDArray[Any], *, ci_prob: float, rope: float = 0.0, unit: float = 1.0
) -> DrawComparison:
    """Compare all pairs of runs over joint draws of their values.

    Parameters
    ----------
    values : ndarray of int or float, shape (draw, run)
        Totals over topics (`bayespool.measures.values.Values.totals`), or `population_draws`.
    ci_prob : float in (0, 1)
        Probability of the intervals.
    rope : float, default 0
        Largest difference that is practically none, in units of the measure.
    unit : float, default 1
        Divisor that turns a value into one of the measure: cutoff × topics for totals.

    Returns
    -------
    DrawComparison
        On the diagonal: no difference, equal in all draws.

    Examples
    --------
    >>> two = compare_draws(np.array([[3, 2], [2, 2], [4, 1], [1, 2]]), ci_prob=0.5, unit=10)
    >>> float(two.difference[0, 1]), int(two.n_greater[0, 1]), int(two.n_equal[0, 1])
    (0.075, 2, 1)
    """
    if rope < 0:
        raise InputError(f"a region of practical equivalence cannot reach to {rope}")
    n_draws, n_runs = values.shape
    first, second = np.triu_indices(n_runs, 1)
    shape = (n_runs, n_runs)
    mean, lower, upper = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    n_greater = np.zeros(shape, dtype=np.int64)
    n_equal, n_equivalent = np.full(shape, n_draws, np.int64), np.full(shape, n_draws, np.int64)
    step = max(1, _MAX_CELLS_HELD // n_draws)
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        difference = values[:, a] - values[:, b]
        if difference.dtype.kind == "f":
            difference = np.round(difference, _DECIMALS)
        n_greater[a, b], n_greater[b, a] = (difference > 0).sum(axis=0), (difference < 0).sum(axis=0)
        n_equal[a, b] = n_equal[b, a] = (difference == 0).sum(axis=0)
        # a difference of whole amounts is a multiple of 1/unit, and the region is meant to hold its ends
        near = np.abs(difference) <= rope * unit * (1 + 1e-12)
        n_equivalent[a, b] = n_equivalent[b, a] = near.sum(axis=0)
        mean[a, b] = difference.mean(axis=0) / unit
        low, high = equal_tailed_interval(difference, ci_prob)
        lower[a, b], upper[a, b] = low / unit, high / unit
        mean[b, a], lower[b, a], upper[b, a] = -mean[a, b], -upper[a, b], -lower[a, b]
    return DrawComparison(
        n_draws=n_draws,
        difference=mean,
        lower=lower,
        upper=upper,
        n_greater=n_greater,
        n_equal=n_equal,
        n_equivalent=n_equivalent,
        prob_rank=rank_probabilities(values),
    )


def rank_probabilities(values: npt.NDArray[Any]) -> FloatArray:
    """Chance of each rank for each run, 1 the best.

    Parameters
    ----------
    values : ndarray, shape (draw, run)

    Returns
    -------
    ndarray of float, shape (run, rank)
        Runs that tie in a draw share the ranks they cover equally; rows and columns sum to 1.

    Examples
    --------
    >>> rank_probabilities(np.array([[3, 2, 2], [3, 3, 1]]))
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.25, 0.75]])
    """
    n_draws, n_runs = values.shape
    ordered = np.sort(values, axis=1)
    n_below = np.stack([np.searchsorted(row, v, side="left") for row, v in zip(ordered, values, strict=True)])
    n_reach = np.stack(
        [np.searchsorted(row, v, side="right") for row, v in zip(ordered, values, strict=True)]
    )
    share = 1 / (n_reach - n_below)
    steps = np.zeros((n_runs, n_runs + 1))
    run = np.broadcast_to(np.arange(n_runs), values.shape)
    np.add.at(steps, (run, n_runs - n_reach), share)
    np.add.at(steps, (run, n_runs - n_below), -share)
    chance: FloatArray = np.cumsum(steps, axis=1)[:, :-1] / n_draws
    return chance.clip(min=0)
