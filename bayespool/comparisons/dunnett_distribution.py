"""Distribution of Dunnett's test: the largest of several t statistics against one baseline.

References
----------
C. W. Dunnett (1955). A multiple comparison procedure for comparing several treatments with a control.
Journal of the American Statistical Association 50(272).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray

_NORMAL = np.linspace(-9, 9, 91)
_MAX_T = 1e6


def dunnett_sf(t: npt.ArrayLike, n_differences: int, degrees: int) -> FloatArray:
    r"""Return the chance that the largest of several t statistics against one baseline is at least ``t``.

    Parameters
    ----------
    t : array_like of float
        0 or more.
    n_differences : int
        Number of runs beside the baseline.
    degrees : int
        Degrees of freedom of the error that all differences share.

    Notes
    -----
    Any two differences correlate by 1/2, because both have the baseline. With :math:`z` the baseline's error
    and :math:`s^2` a :math:`\chi^2_\nu / \nu`, the chance that all :math:`k` statistics are below :math:`t`
    is the mean of :math:`(\Phi(z + \sqrt 2 t s) - \Phi(z - \sqrt 2 t s))^k`. Both integrals are sums over
    even grids, of :math:`z` and of :math:`\log s`.

    Examples
    --------
    >>> dunnett_sf([2.23, 2.57], 1, 10).round(3), dunnett_sf([2.57], 2, 10).round(3)  # 1: the t test
    (array([0.05 , 0.028]), array([0.05]))
    """
    from scipy.special import ndtr

    log_s = np.linspace(-36 / degrees - 6 / np.sqrt(degrees), 1 + 6 / np.sqrt(degrees), 251)
    log_weight = degrees * (log_s - np.expm1(2 * log_s) / 2)
    weight = np.outer(np.exp(log_weight - log_weight.max()), np.exp(-(_NORMAL**2) / 2))
    weight /= weight.sum()
    statistics = np.asarray(t, dtype=np.float64)
    chances = []
    for reach in np.sqrt(2) * statistics.ravel():
        half = reach * np.exp(log_s)[:, None]
        below = ndtr(_NORMAL + half) - ndtr(_NORMAL - half)
        chances.append((weight * (1 - below**n_differences)).sum())
    return np.reshape(chances, statistics.shape)


@lru_cache(maxsize=256)
def dunnett_critical(level: float, n_differences: int, degrees: int) -> float:
    """Return the least t statistic that is significant in Dunnett's test."""
    from scipy.optimize import brentq

    return float(brentq(lambda t: float(dunnett_sf(t, n_differences, degrees)) - level, 0, _MAX_T, xtol=1e-9))
