"""The field's significance tests of pairs of runs.

References
----------
C. W. Dunnett (1955). A multiple comparison procedure for comparing several treatments with a control.
Journal of the American Statistical Association 50(272).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, OrderArray
from bayespool.errors import InputError
from bayespool.names import Control, PairControl, SignificanceTest as SignificanceTest
from bayespool.validation import check_choice, check_number, check_share

SIGNIFICANCE_LEVEL = 0.05
ANNOUNCED_SHARE = 0.8
"""Share of completed judgments in which a difference has to be significant to be announced."""
_DECIMALS = 12
_MAX_EXACT_WILCOXON = 50  # as SciPy's limit
_MAX_CELLS_HELD = 1 << 24  # numbers
_NORMAL = np.linspace(-9, 9, 91)
_MAX_T = 1e6
Pairs = tuple[OrderArray, OrderArray]
"""First and second runs of pairs, as places among the runs."""


def p_values(
    scores: npt.ArrayLike, test: SignificanceTest = "paired-t", *, n_flips: int = 10_000, random_seed: int = 0
) -> FloatArray:
    """Return p-values for all pairs of runs from a test on scores (run, topic), shape (run, run)."""
    check_choice("test", test, SignificanceTest)
    if test == "randomization":
        return randomization(scores, n_flips=n_flips, random_seed=random_seed)
    return {"paired-t": paired_t, "wilcoxon": wilcoxon, "tukey-hsd": tukey_hsd}[test](scores)


def paired_t(scores: npt.ArrayLike) -> FloatArray:
    """Return p-values for all pairs of runs from Student's paired t test.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)

    Returns
    -------
    ndarray of float, shape (run, run)
        NaN for runs with the same score on every topic, where t is 0/0; 0 for runs with the same nonzero
        difference on every topic, where t is infinite; NaN where a score is NaN.

    Examples
    --------
    >>> paired_t([[0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.5, 0.5]]).round(4)
    array([[   nan, 0.0917],
           [0.0917,    nan]])
    """
    from scipy.special import stdtr

    matrix, difference = _differences(scores)
    n_topics = matrix.shape[1]
    mean, std = _moments(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / (std / np.sqrt(n_topics))
    return _symmetric(2 * stdtr(n_topics - 1, -np.abs(t)), len(matrix))


def wilcoxon(scores: npt.ArrayLike) -> FloatArray:
    """Return p-values for all pairs of runs from Wilcoxon's signed-rank test.

    Topics without a difference are left out.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)

    Returns
    -------
    ndarray of float, shape (run, run)
        NaN for runs with the same score on every topic, and where a score is NaN.

    Notes
    -----
    Tied differences get their mean rank. With up to 50 nonzero differences the p-value is exact *given the
    tied ranks*: all 2ⁿ signs, by convolution over doubled ranks, which are integers. SciPy's
    ``method="exact"`` is the same without ties and falls back to the normal approximation with them. Beyond
    50 it is the normal approximation with tie correction and without continuity correction, as in SciPy.

    Examples
    --------
    >>> wilcoxon([[5, 7, 9, 4, 6], [1, 5, 8, 1, 6]])[0, 1]  # four differences, all positive: 2 / 2⁴
    np.float64(0.125)
    """
    from scipy.special import ndtr

    matrix, difference = _differences(scores)
    if not len(difference):
        return _symmetric(np.zeros(0), len(matrix))
    difference[np.isnan(difference).any(axis=1)] = 0
    rank = _ranks(difference)
    n = (rank > 0).sum(axis=1)
    plus = (rank * (difference > 0)).sum(axis=1)
    total = n * (n + 1) / 2
    smaller = np.minimum(plus, total - plus)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * ndtr((smaller - total / 2) / np.sqrt((rank**2).sum(axis=1) / 4))
    doubled = np.rint(2 * rank).astype(np.int64)
    for i in np.flatnonzero((n > 0) & (n <= _MAX_EXACT_WILCOXON)):
        p[i] = 2 * _signed_rank_tail(doubled[i][doubled[i] > 0], round(2 * smaller[i]))
    p[n == 0] = np.nan
    return _symmetric(np.minimum(p, 1), len(matrix))


def randomization(scores: npt.ArrayLike, *, n_flips: int = 10_000, random_seed: int = 0) -> FloatArray:
    """Return p-values for all pairs of runs from Fisher's randomization test of the mean difference.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)
    n_flips : int, default 10,000
        Sign vectors drawn if there are more in all (more than 13 topics by default); else all are tried and
        the p-value is exact. All pairs share them.
    random_seed : int

    Returns
    -------
    ndarray of float, shape (run, run)
        Share of sign vectors whose mean is at least as far from 0 as the observed one, which counts as
        another draw if they are drawn, so that no p-value is under 1 / (n_flips + 1). NaN for runs with the
        same score on every topic, and where a score is NaN.

    Examples
    --------
    >>> randomization([[5, 7, 9, 4, 6], [1, 5, 8, 1, 6]])[0, 1]
    np.float64(0.125)
    """
    if n_flips < 1:
        raise InputError(f"{n_flips} sign flips are too few")
    matrix, difference = _differences(scores)
    n_topics = matrix.shape[1]
    exact = n_topics < 63 and 2**n_topics <= n_flips
    if exact:
        signs = 1.0 - 2.0 * ((np.arange(2**n_topics)[:, None] >> np.arange(n_topics)) & 1)
    else:
        flips = np.random.default_rng(random_seed).integers(0, 2, size=(n_flips, n_topics), dtype=np.int8)
        signs = 1.0 - 2.0 * flips
    observed = np.abs(difference.sum(axis=1))
    n_extreme = np.zeros(len(difference))
    step = max(1, _MAX_CELLS_HELD // len(signs))
    for start in range(0, len(difference), step):
        part = slice(start, start + step)
        flipped = np.abs(signs @ difference[part].T)
        n_extreme[part] = (flipped >= observed[part] - 1e-9).sum(axis=0)
    p = n_extreme / len(signs) if exact else (n_extreme + 1) / (n_flips + 1)
    p[(difference == 0).all(axis=1) | np.isnan(observed)] = np.nan
    return _symmetric(p, len(matrix))


def tukey_hsd(scores: npt.ArrayLike) -> FloatArray:
    """Return p-values for all pairs of runs from Tukey's HSD on a two-way additive ANOVA.

    They are already controlled for all pairs of the R runs given, so more runs make every p-value larger.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)

    Returns
    -------
    ndarray of float, shape (run, run)
        Where the additive model leaves no error: 0 for runs whose means differ, NaN for the others. All NaN
        where a score is NaN, because the error is common to all pairs.

    Notes
    -----
    score_rt = μ + run_r + topic_t + error; MSE is the sum of squared residuals over (R − 1)(T − 1), and
    ``q = |mean_r − mean_s| / sqrt(MSE / T)`` follows the studentized range of R groups with these degrees of
    freedom. With two runs q is √2 times the t of `paired_t`, with its p-value. A p-value takes about a
    millisecond; `tukey_significant` needs one critical value for all pairs.

    Examples
    --------
    >>> scores = [[0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.5, 0.5]]
    >>> bool(np.isclose(tukey_hsd(scores)[0, 1], paired_t(scores)[0, 1]))
    True
    """
    from scipy.stats import studentized_range

    statistic, degrees = _tukey_statistic(scores)
    n_runs = len(statistic)
    first, second = np.triu_indices(n_runs, 1)
    q = statistic[first, second]
    p = np.where(np.isnan(q), np.nan, 0.0)
    finite = np.isfinite(q)
    if finite.any():
        unique_q, inverse = np.unique(q[finite], return_inverse=True)
        p[finite] = np.clip(studentized_range.sf(unique_q, n_runs, degrees), 0, 1)[inverse]
    return _symmetric(p, n_runs)


def dunnett(scores: npt.ArrayLike, baseline: int) -> FloatArray:
    """Return p-values for all runs against one from Dunnett's test on the additive ANOVA of `tukey_hsd`.

    They are already controlled for all runs given.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)
    baseline : int
        Place of the baseline among the runs.

    Returns
    -------
    ndarray of float, shape (run, run)
        NaN for pairs without the baseline, and where `tukey_hsd` has NaN.

    Examples
    --------
    >>> scores = [[0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.5, 0.5]]
    >>> bool(np.isclose(dunnett(scores, 0)[0, 1], paired_t(scores)[0, 1]))
    True
    """
    statistic, degrees = _tukey_statistic(scores)
    t = statistic[baseline] / np.sqrt(2)
    p = np.full(statistic.shape, np.nan)
    p[baseline] = p[:, baseline] = dunnett_sf(t, len(t) - 1, degrees)
    return p


def dunnett_sf(t: npt.ArrayLike, n_differences: int, degrees: int) -> FloatArray:
    r"""Return the probability that the largest of several t statistics against one baseline is at least
    ``t``.

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
    and :math:`s^2` a :math:`\chi^2_\nu / \nu`, the probability that all :math:`k` statistics are below
    :math:`t` is the mean of :math:`(\Phi(z + \sqrt 2 t s) - \Phi(z - \sqrt 2 t s))^k`. Both integrals are
    sums over even grids, of :math:`z` and of :math:`\log s`.

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


def tukey_significant(scores: npt.ArrayLike, level: float = 0.05) -> BoolArray:
    """Return whether each pair of runs differs significantly in Tukey's test, shape (run, run)."""
    statistic, degrees = _tukey_statistic(scores)
    if len(statistic) < 2:
        return np.zeros(statistic.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        return statistic >= tukey_critical(level, len(statistic), degrees)


def significant_pairs(scores: FloatArray, test: Literal["tukey-hsd", "paired-t"]) -> BoolArray:
    """Return whether each pair of runs differs significantly at 5 %, shape (run, run).

    No pair does with one topic or run.
    """
    if min(scores.shape) < 2:
        return np.zeros((len(scores), len(scores)), dtype=bool)
    if test == "tukey-hsd":
        return tukey_significant(scores, SIGNIFICANCE_LEVEL)
    with np.errstate(invalid="ignore"):
        return np.asarray(paired_t(scores) < SIGNIFICANCE_LEVEL)


@lru_cache(maxsize=256)
def tukey_critical(level: float, n_runs: int, degrees: int) -> float:
    """Return the critical value for Tukey's studentized range."""
    from scipy.stats import studentized_range

    check_share("level", level)
    return float(studentized_range.isf(level, n_runs, degrees))


def announced_order(
    prob_greater: FloatArray, prob_less: FloatArray, share: float = ANNOUNCED_SHARE
) -> IndexArray:
    """Return the significant order of pairs that completed judgments allow to announce, else 0.

    Parameters
    ----------
    prob_greater, prob_less : ndarray of float
        Shares of completed judgments in which the first run is significantly better, and the second one.
    share : float, default 0.8
        Least such share that is announced, over one half.

    Returns
    -------
    ndarray of int64
        1 where the first run is better, −1 where the second one is.

    Examples
    --------
    >>> announced_order(np.array([0.9, 0.7, 0.0]), np.array([0.0, 0.2, 1.0])).tolist()
    [1, 0, -1]
    """
    order = np.sign(prob_greater - prob_less)
    return np.where(np.maximum(prob_greater, prob_less) >= share, order, 0).astype(np.int64)


def check_announced(share: float) -> None:
    """Raise `InputError` for a share of draws that may not announce differences."""
    check_number("announce", share, least=0.5, most=1)


def adjust_p_values(p: FloatArray, control: PairControl = "holm", pairs: Pairs | None = None) -> FloatArray:
    """Return p-values adjusted for multiple comparisons over a family of pairs of runs.

    Parameters
    ----------
    p : ndarray of float, shape (run, run)
        Unadjusted p-values; those of `tukey_hsd` are already controlled.
    control : {"none", "holm", "benjamini-hochberg"}
        Holm bounds the probability of any false claim in the family, Benjamini–Hochberg the expected share of
        false claims.
    pairs : tuple of ndarray of int, optional
        First and second runs of the family; default: all pairs.

    Returns
    -------
    ndarray of float, shape (run, run)
        NaN stays NaN and does not count in the family; NaN for pairs outside it.

    Examples
    --------
    >>> p = np.array([[np.nan, 0.01, 0.04], [0.01, np.nan, 0.03], [0.04, 0.03, np.nan]])
    >>> adjust_p_values(p, "holm")[np.triu_indices(3, 1)]
    array([0.03, 0.06, 0.06])
    >>> adjust_p_values(p, "benjamini-hochberg")[np.triu_indices(3, 1)].round(3)
    array([0.03, 0.04, 0.04])
    """
    check_choice("control", control, PairControl)
    values = p[np.triu_indices(len(p), 1) if pairs is None else pairs]
    return _symmetric(adjusted_values(values, control), len(p), pairs)


def adjusted_values(p: FloatArray, control: Control) -> FloatArray:
    """Return p-values of one family, adjusted; by Holm for ``dunnett``, which is for runs tested together."""
    methods, adjusted, defined = {"benjamini-hochberg": "fdr_bh"}, p.copy(), ~np.isnan(p)
    if defined.sum() > 1 and control != "none":
        from statsmodels.stats.multitest import multipletests

        adjusted[defined] = multipletests(p[defined], method=methods.get(control, "holm"))[1]
    return adjusted


def applied_control(test: SignificanceTest, control: PairControl) -> PairControl:
    """Return the multiplicity control applied to a test's p-values, "none" for Tukey's test."""
    return "none" if test == "tukey-hsd" else control


def _matrix(scores: npt.ArrayLike) -> FloatArray:
    """Return scores as an array of shape (run, topic) with at least two topics."""
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise InputError(
            f"scores of shape {matrix.shape} cannot be tested", hint="(run, topic), with two topics or more"
        )
    return matrix


def effect_sizes(scores: npt.ArrayLike, test: SignificanceTest = "paired-t") -> FloatArray:
    r"""Return the effect size that belongs to a test for all pairs of runs.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)
    test : str, default "paired-t"

    Returns
    -------
    ndarray of float, shape (run, run)
        Of the row's run against the column's, with its sign; NaN for runs with the same score on every topic,
        and where a score is NaN; infinite for the same nonzero difference on every topic.

    Notes
    -----
    For ``wilcoxon`` the matched-pairs rank-biserial correlation :math:`r = (W^+ - W^-) / (W^+ + W^-)` of the
    sums of signed ranks (Kerby 2014), from −1 to 1; for the other tests the standardized mean difference
    :math:`d = \\bar d / s` of the differences over topics, as Sakai (2014) recommends to report.

    Examples
    --------
    >>> scores = [[0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.5, 0.5]]
    >>> effect_sizes(scores)[1, 0].round(3), effect_sizes(scores, "wilcoxon")[1, 0]
    (np.float64(1.225), np.float64(1.0))
    """
    matrix, difference = _differences(scores)
    if not len(difference):
        return np.full((len(matrix), len(matrix)), np.nan)
    if test == "wilcoxon":
        rank = _ranks(difference)
        numerator, denominator = (np.sign(difference) * rank).sum(axis=1), rank.sum(axis=1)
    else:
        numerator, denominator = _moments(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = _symmetric(numerator / denominator, len(matrix))
    sizes[np.tril_indices(len(matrix), -1)] *= -1
    return sizes


def _differences(scores: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the score array and the differences for all pairs of runs, shape (pair, topic)."""
    matrix = _matrix(scores)
    first, second = np.triu_indices(len(matrix), 1)
    return matrix, np.round(matrix[first] - matrix[second], _DECIMALS)


def _moments(difference: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations over topics, shape (pair,)."""
    std = difference.std(axis=1, ddof=1)
    std[(difference == difference[:, :1]).all(axis=1)] = 0  # whatever rounding of the mean leaves
    return difference.mean(axis=1), std


def _ranks(difference: FloatArray) -> FloatArray:
    """Return ranks of absolute differences per pair, tied ones at their mean, 0 for no difference."""
    from scipy.stats import rankdata

    zero = difference == 0
    return np.where(zero, 0, rankdata(np.abs(difference), axis=1) - zero.sum(axis=1, keepdims=True))


def _symmetric(pair_values: FloatArray, n_runs: int, pairs: Pairs | None = None) -> FloatArray:
    """Return a symmetric matrix (run, run) from pairwise values, NaN on the diagonal and for other pairs."""
    matrix = np.full((n_runs, n_runs), np.nan)
    places = np.triu_indices(n_runs, 1) if pairs is None else pairs
    matrix[places] = matrix.T[places] = pair_values
    return matrix


def _signed_rank_tail(doubled: IndexArray, largest_sum: int) -> float:
    """Return the lower tail probability for the signed-rank statistic, with ranks doubled."""
    probability = np.zeros(largest_sum + 1)
    probability[0] = 1
    for rank in doubled:
        probability /= 2
        if rank <= largest_sum:
            probability[rank:] += probability[: largest_sum + 1 - rank].copy()
    return float(probability.sum())


def _tukey_statistic(scores: npt.ArrayLike) -> tuple[FloatArray, int]:
    """Return studentized range statistics for all pairs of runs (run, run) and the degrees of freedom."""
    matrix = _matrix(scores)
    n_runs, n_topics = matrix.shape
    degrees = (n_runs - 1) * (n_topics - 1)
    run_mean = matrix.mean(axis=1)
    residual = matrix - run_mean[:, None] - matrix.mean(axis=0) + matrix.mean()
    error = (np.round(residual, _DECIMALS) ** 2).sum() / max(degrees, 1)
    difference = np.abs(np.round(run_mean[:, None] - run_mean, _DECIMALS))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = difference / np.sqrt(error / n_topics)
    np.fill_diagonal(statistic, np.nan)
    return statistic, degrees
