"""Test and band for ranks that should be uniform (Säilynoja, Bürkner & Vehtari 2022), both exact.

T. Säilynoja, P.-C. Bürkner and A. Vehtari (2022). Graphical test for discrete uniformity and its applications
in goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32, 32.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln


def randomized_rank(draws: np.ndarray, true: float, rng: np.random.Generator) -> int:
    """Rank a true value among draws, from 0 to their number, uniformly among ties."""
    return int((draws < true).sum() + rng.integers((draws == true).sum() + 1))


def uniformity_p_value(ranks: np.ndarray, n_values: int) -> float:
    """Test that integers are uniform on 0, …, n_values − 1; sensitive to shifts and to spread.

    The number of ranks up to each value is binomial. The statistic is the smallest two-sided probability of
    these counts over all values, with an exact distribution.

    Examples
    --------
    >>> uniformity_p_value(np.arange(200) % 20, 20)
    1.0
    >>> uniformity_p_value(np.zeros(200, dtype=int), 20) < 1e-10
    True
    """
    n, grid = len(ranks), np.arange(1, n_values) / n_values
    counts = np.cumsum(np.bincount(ranks, minlength=n_values))[:-1]
    statistic = float(_two_sided(counts, n, grid).min())
    if statistic >= 1:
        return 1.0
    # the factor makes statistics that differ by rounding count as equal
    return float(np.clip(1.0 - _inside(n, n_values, *_limits(n, n_values, statistic * (1 + 1e-9))), 0, 1))


def ecdf_band(n: int, n_values: int, prob: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Compute the band that the distribution function of n uniform ranks stays in with a probability.

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


def _two_sided(counts: np.ndarray, n: int, grid: np.ndarray) -> np.ndarray:
    """Double the smaller tail of Binomial(n, grid) at counts."""
    below = bdtr(counts.astype(float), n, grid)
    above = np.where(counts > 0, bdtrc(np.maximum(counts - 1, 0).astype(float), n, grid), 1.0)
    return 2 * np.minimum(below, above)


def _limits(n: int, n_values: int, excluded: float) -> tuple[np.ndarray, np.ndarray]:
    """Find the smallest and largest count at each value that is not as rare as ``excluded``."""
    grid = np.arange(1, n_values) / n_values
    common = _two_sided(np.arange(n + 1)[:, None], n, grid[None, :]) > excluded
    return common.argmax(axis=0), n - common[::-1].argmax(axis=0)


def _inside(n: int, n_values: int, lower: np.ndarray, upper: np.ndarray) -> float:
    """Compute the probability that cumulative counts of n uniform ranks stay within limits at every value.

    Counts of the values are independent Poisson numbers given their sum: a convolution leads from value to
    value.
    """
    mean = n / n_values
    reach = np.arange(min(n, int(mean + 40 * np.sqrt(mean) + 40)) + 1)
    kernel = np.exp(reach * np.log(mean) - mean - gammaln(reach + 1))
    counts, state = np.arange(n + 1), np.zeros(n + 1)
    state[0] = 1.0
    for low, high in zip(lower, upper, strict=True):
        state = np.convolve(state, kernel)[: n + 1]
        state[(counts < low) | (counts > high)] = 0.0
    total = np.convolve(state, kernel)[n]
    return float(total / np.exp(n * np.log(n) - n - gammaln(n + 1)))
