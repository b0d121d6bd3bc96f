"""Errors of estimated run scores: MAE, bias, RMSE, system rank error, Kendall's τ, τ_AP and RBO.

Equal scores must be equal floats, as they are if each is one division of two integers.

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.

A. Lipani, M. Lupu and A. Hanbury (2015). Splitting water: precision and anti-precision to reduce pool bias.
SIGIR 2015, 103–112.

W. Webber, A. Moffat and J. Zobel (2010). A similarity measure for indefinite rankings. ACM Transactions on
Information Systems 28(4).

E. Yilmaz, J. A. Aslam and S. Robertson (2008). A new rank correlation coefficient for information retrieval.
SIGIR 2008, 587–594.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray
from bayespool.errors import InputError


def mean_absolute_error(truth: npt.ArrayLike, value: npt.ArrayLike) -> float:
    """Return the mean of ``|estimate − truth|`` over all entries (MAE), NaN if an estimate is NaN.

    Examples
    --------
    >>> round(mean_absolute_error([0.5, 0.25], [0.25, 0.375]), 4)
    0.1875
    """
    return float(np.abs(_error(truth, value)).mean())


def mean_error(truth: npt.ArrayLike, value: npt.ArrayLike) -> float:
    """Return the mean of estimate − truth (bias), negative if estimates are too low on average.

    Examples
    --------
    >>> mean_error([0.5, 0.25], [0.25, 0.375])
    -0.0625
    """
    return float(_error(truth, value).mean())


def root_mean_squared_error(truth: npt.ArrayLike, value: npt.ArrayLike) -> float:
    """Return the root mean squared error (RMSE) over all entries, shape (run,) or (run, topic).

    Examples
    --------
    >>> root_mean_squared_error([0.5, 0.5], [0.5, 1.0]) ** 2
    0.12500000000000003
    """
    return float(np.sqrt((_error(truth, value) ** 2).mean()))


def overtaken_runs(truth: npt.ArrayLike, value: npt.ArrayLike) -> BoolArray:
    """Return which other runs each run passes if its estimate replaces its true score, shape (run, run).

    Runs are ranked by true score; only the one run's score is replaced.

    Run u passes v upwards if truth of u < truth of v ≤ estimate of u, and downwards if estimate of u < truth
    of v ≤ truth of u.

    Parameters
    ----------
    truth, value : array_like of float, shape (run,)

    Returns
    -------
    ndarray of bool, shape (run, run)
        ``[u, v]``: u passes v.

    Examples
    --------
    The second run's estimate overtakes the first; the third run's estimate reaches it, which suffices:

    >>> overtaken_runs([0.5, 0.3, 0.4], [0.5, 0.6, 0.5]).astype(int)
    array([[0, 0, 0],
           [1, 0, 1],
           [1, 0, 0]])
    """
    true, estimate = _pair(truth, value)
    u, e, v = true[:, None], estimate[:, None], true[None, :]
    passed: BoolArray = ((u < v) & (v <= e)) | ((e < v) & (v <= u))
    np.fill_diagonal(passed, False)
    return passed


def system_rank_error(
    truth: npt.ArrayLike, value: npt.ArrayLike, significant: BoolArray | None = None
) -> float:
    """Return the number of ranks that runs move if each estimate replaces its true score (SRE or SRE*).

    The estimate is ranked among the true scores of the other runs, and moves are summed over runs. With
    ``significant`` the result is SRE*.

    The sum over runs u of ``|rank(t_u among t) − rank(e_u among t_v, v ≠ u)|`` with rank(x) = 1 + the number
    of scores above x, which is the number of runs passed over. Equal true scores share a rank and never
    differ significantly.

    Parameters
    ----------
    truth, value : array_like of float, shape (run,)
    significant : ndarray of bool, shape (run, run), optional
        Whether two runs differ significantly in the truth. Only passing such a run then counts (Lipani et al.
        2015, §5.1).

    Returns
    -------
    float
        A whole number, NaN where an estimate is NaN. SRE* is at most SRE.

    Examples
    --------
    >>> system_rank_error([0.5, 0.3, 0.4], [0.5, 0.6, 0.5])
    3.0
    """
    if np.isnan(np.asarray(value, dtype=float)).any():
        return float("nan")
    passed = overtaken_runs(truth, value)
    if significant is not None:
        if significant.shape != passed.shape:
            raise InputError(f"significant has the shape {significant.shape}, not {passed.shape}")
        passed &= significant
    return float(passed.sum())


def kendall_tau_b(truth: npt.ArrayLike, value: npt.ArrayLike) -> float:
    """Return Kendall's τ_b between true and estimated scores, NaN if it is undefined.

    It is undefined if either has fewer than two distinct scores, or an estimate is NaN.

    Examples
    --------
    >>> round(kendall_tau_b([0.5, 0.3, 0.4, 0.4], [0.5, 0.6, 0.4, 0.1]), 4)
    -0.1826
    """
    from scipy.stats import kendalltau

    true, estimate = _pair(truth, value)
    if np.isnan(estimate).any() or len(np.unique(true)) < 2 or len(np.unique(estimate)) < 2:
        return float("nan")
    return float(kendalltau(true, estimate, variant="b").statistic)


def tau_ap(truth: npt.ArrayLike, value: npt.ArrayLike) -> float:
    r"""Return τ_AP, a rank correlation in which the top of the estimated ranking counts most.

    Parameters
    ----------
    truth, value : array_like of float, shape (run,)

    Returns
    -------
    float
        From −1 to 1; NaN where an estimate is NaN or no two estimates differ.

    Notes
    -----
    With :math:`C_i` the share of the runs above run :math:`i` that are above it in truth, too, it is
    :math:`2\,\overline{C} - 1` over all runs but the first (Yilmaz et al. 2008). A tie counts half: in the
    truth as half a right order, in the estimates as half a run above.

    Examples
    --------
    Of the runs above the second, third and fourth estimate, 1 of 1, 0 of 2 and 3 of 3 belong there:

    >>> round(tau_ap([0.8, 0.7, 0.9, 0.1], [0.4, 0.3, 0.2, 0.1]), 4)
    0.3333
    """
    true, estimate = _pair(truth, value)
    if np.isnan(estimate).any() or len(np.unique(estimate)) < 2:
        return float("nan")
    above = _order(estimate)
    np.fill_diagonal(above, 0)
    n_above = above.sum(axis=0)
    right = (above * _order(true)).sum(axis=0)[n_above > 0] / n_above[n_above > 0]
    return float(2 * right.mean() - 1)


def rank_biased_overlap(truth: npt.ArrayLike, value: npt.ArrayLike, *, persistence: float = 0.9) -> float:
    r"""Return the rank-biased overlap (RBO) of the true and the estimated ranking of the same runs.

    Parameters
    ----------
    truth, value : array_like of float, shape (run,)
    persistence : float in (0, 1), default 0.9
        Probability that a reader who looks at a rank goes on to the next: 86 % of the weight is on the first
        ten.

    Returns
    -------
    float
        From 0 to 1; NaN where an estimate is NaN.

    Notes
    -----
    :math:`(1 - p) \sum_{d=1}^{n} p^{d-1} A_d + p^n` with :math:`A_d` the agreement of the first :math:`d`
    ranks, twice the runs in both over the runs in either list (Webber et al. 2010, extrapolated beyond all
    :math:`n` runs). Tied runs are all on their first rank.

    Examples
    --------
    >>> rank_biased_overlap([3, 2, 1], [2, 3, 1], persistence=0.5)  # A is 0, 1, 1
    0.5
    """
    true, estimate = _pair(truth, value)
    if not 0 < persistence < 1:
        raise InputError(f"persistence {persistence} is not between 0 and 1")
    if np.isnan(estimate).any():
        return float("nan")
    depth = np.arange(1, len(true) + 1)
    in_truth, in_estimate = (((x[:, None] < x).sum(axis=1) < depth[:, None]) for x in (true, estimate))
    agreement = 2 * (in_truth & in_estimate).sum(axis=1) / (in_truth.sum(axis=1) + in_estimate.sum(axis=1))
    weight = (1 - persistence) * persistence ** (depth - 1)
    return float(weight @ agreement + persistence ** len(true))


def _order(scores: FloatArray) -> FloatArray:
    """Return 1 where the row's score is higher than the column's, ½ where equal, else 0."""
    return np.asarray((np.sign(np.subtract.outer(scores, scores)) + 1) / 2)


def _error(truth: npt.ArrayLike, value: npt.ArrayLike) -> FloatArray:
    true, estimate = np.asarray(truth, dtype=float), np.asarray(value, dtype=float)
    if true.shape != estimate.shape or not true.size:
        raise InputError(f"truth of shape {true.shape} and estimates of shape {estimate.shape}")
    difference: FloatArray = estimate - true
    return difference


def _pair(truth: npt.ArrayLike, value: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    true, estimate = np.asarray(truth, dtype=float), np.asarray(value, dtype=float)
    if true.ndim != 1 or true.shape != estimate.shape:
        raise InputError(f"truth of shape {true.shape} and estimates of shape {estimate.shape}")
    return true, estimate
