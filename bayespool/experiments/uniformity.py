"""Tests of uniformity: probability integral transforms, ranks, and a simultaneous test of exact size."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc, bdtrik, gammaln

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


def randomized_pit(
    draws: npt.NDArray[np.integer], observed: npt.NDArray[np.integer], rng: np.random.Generator
) -> FloatArray:
    """Randomized PIT P(draw < observed) + u·P(draw = observed), u uniform on (0, 1) (Czado et al. 2009).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, ...)
    observed : ndarray of int, shape (...)
    rng : numpy.random.Generator
        Generator of u.

    References
    ----------
    C. Czado, T. Gneiting and L. Held (2009). Predictive model assessment for count data. Biometrics 65,
    1254–1261.

    Examples
    --------
    >>> draws = np.repeat([[0], [1]], 50, axis=0)
    >>> bool(0.5 <= randomized_pit(draws, np.array([1]), np.random.default_rng(1))[0] <= 1)
    True
    """
    below, equal = (draws < observed).mean(axis=0), (draws == observed).mean(axis=0)
    pit: FloatArray = below + rng.random(observed.shape) * equal
    return pit


def randomized_rank(draws: FloatArray, true: float, rng: np.random.Generator) -> int:
    """Rank of a true value among draws, from 0 to their number, uniform among ties."""
    return int((draws < true).sum() + rng.integers((draws == true).sum() + 1))


def uniformity_p_value(ranks: IndexArray, n_values: int) -> float:
    """P-value of a test that integers are uniform on 0, …, n_values − 1 (Säilynoja, Bürkner & Vehtari 2022).

    The number of ranks up to each value is binomial. The statistic is the smallest two-sided probability of
    these counts over all values, with an exact distribution. It is sensitive to shifts and to spread.

    Parameters
    ----------
    ranks : ndarray of int, shape (simulation,)
    n_values : int
        At least 2.

    Returns
    -------
    float
        Probability of a statistic at most as large in uniform samples of this size.

    References
    ----------
    T. Säilynoja, P.-C. Bürkner and A. Vehtari (2022). Graphical test for discrete uniformity and its
    applications in goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32,
    32.

    Examples
    --------
    >>> uniformity_p_value(np.arange(200) % 20, 20)
    1.0
    >>> uniformity_p_value(np.zeros(200, dtype=int), 20) < 1e-10
    True
    """
    n = len(ranks)
    counts = np.cumsum(np.bincount(ranks, minlength=n_values))[:-1]
    grid = np.arange(1, n_values) / n_values
    statistic = float(_two_sided(counts, n, grid).min())
    if statistic >= 1:
        return 1.0
    # the factor makes statistics that differ by rounding count as equal
    lower, upper = _limits(n, n_values, statistic * (1 + 1e-9))
    return min(1.0, max(0.0, 1.0 - _inside(n, n_values, lower, upper)))


@cache
def ecdf_band(n: int, n_values: int, prob: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Simultaneous band of the empirical distribution function of n uniform ranks.

    Parameters
    ----------
    n : int
        Number of ranks.
    n_values : int
        Ranks are uniform on 0, …, n_values − 1.
    prob : float in (0, 1)
        Least probability of staying inside everywhere.

    Returns
    -------
    lower, upper : ndarray of float, shape (n_values − 1,)
        At the shares 1/n_values, …, (n_values − 1)/n_values.
    """
    low, high = 0.0, 1.0  # of the probability that each point may exclude
    for _ in range(40):
        middle = (low + high) / 2
        if _inside(n, n_values, *_limits(n, n_values, middle)) >= prob:
            low = middle
        else:
            high = middle
    lower, upper = _limits(n, n_values, low)
    return lower / n, upper / n


def bar_limits(n: int, n_bins: int, prob: float = 0.95) -> tuple[float, float]:
    """Equal-tailed limits of the height of one bar in a histogram of n independent uniform numbers.

    Examples
    --------
    >>> bar_limits(100, 10)
    (5.0, 16.0)
    """
    lower, upper = (float(np.ceil(bdtrik(tail, n, 1 / n_bins))) for tail in ((1 - prob) / 2, (1 + prob) / 2))
    return lower, upper


def holm(p_values: FloatArray) -> FloatArray:
    """P-values adjusted for their number by Holm's step-down procedure.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values, dtype=float)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return adjusted


def _two_sided(counts: npt.NDArray[np.integer], n: int, grid: FloatArray) -> FloatArray:
    """Twice the smaller tail of Binomial(n, grid) at counts."""
    below = bdtr(counts.astype(float), n, grid)
    above = np.where(counts > 0, bdtrc(np.maximum(counts - 1, 0).astype(float), n, grid), 1.0)
    smaller: FloatArray = 2 * np.minimum(below, above)
    return smaller


def _limits(n: int, n_values: int, excluded: float) -> tuple[IndexArray, IndexArray]:
    """Smallest and largest count at each value that is not as rare as ``excluded``, two-sided."""
    grid = np.arange(1, n_values) / n_values
    common = _two_sided(np.arange(n + 1)[:, None], n, grid[None, :]) > excluded
    return common.argmax(axis=0), n - common[::-1].argmax(axis=0)


def _inside(n: int, n_values: int, lower: IndexArray, upper: IndexArray) -> float:
    """Probability that the cumulative counts of n uniform ranks stay within limits at every value.

    Counts of the values are independent Poisson numbers given their sum, so that a convolution leads from
    value to value.
    """
    mean = n / n_values
    reach = np.arange(min(n, int(mean + 40 * np.sqrt(mean) + 40)) + 1)
    kernel = np.exp(reach * np.log(mean) - mean - gammaln(reach + 1))
    counts = np.arange(n + 1)
    state = np.zeros(n + 1)
    state[0] = 1.0
    for low, high in zip(lower, upper, strict=True):
        state = np.convolve(state, kernel)[: n + 1]
        state[(counts < low) | (counts > high)] = 0.0
    total = np.convolve(state, kernel)[n]
    return float(total / np.exp(n * np.log(n) - n - gammaln(n + 1)))
