"""The field's significance tests of pairs of runs, once and repeated over draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, OrderArray
from bayespool.comparisons.dunnett_distribution import dunnett_critical, dunnett_sf
from bayespool.errors import InputError
from bayespool.names import Control, PairControl, SignificanceTest as SignificanceTest
from bayespool.validation import check_choice, check_share

SIGNIFICANCE_LEVEL = 0.05
_DECIMALS = 12
_MAX_EXACT_WILCOXON = 50  # as SciPy's limit
_MAX_CELLS_HELD = 1 << 24  # numbers
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


def adjust_p_values(p: FloatArray, control: PairControl = "holm", pairs: Pairs | None = None) -> FloatArray:
    """Return p-values adjusted for multiple comparisons over a family of pairs of runs.

    Parameters
    ----------
    p : ndarray of float, shape (run, run)
        Unadjusted p-values; those of `tukey_hsd` are already controlled.
    control : {"none", "holm", "benjamini-hochberg"}
        Holm bounds the chance of any false claim in the family, Benjamini–Hochberg the expected share of
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
    methods = {"holm": "holm", "benjamini-hochberg": "fdr_bh"}
    check_choice("control", control, PairControl)
    values = p[np.triu_indices(len(p), 1) if pairs is None else pairs]
    defined = ~np.isnan(values)
    if defined.any() and control != "none":
        from statsmodels.stats.multitest import multipletests

        values[defined] = multipletests(values[defined], method=methods[control])[1]
    return _symmetric(values, len(p), pairs)


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


def _signed_rank_tail(doubled: npt.NDArray[np.int64], largest_sum: int) -> float:
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


DRAW_TESTS: tuple[SignificanceTest, ...] = ("paired-t", "tukey-hsd")
"""Names of the tests fast enough to repeat in every draw."""


_MAX_CELLS_OF_DRAWS = 1 << 21  # numbers


@dataclass(frozen=True, eq=False)
class SignificantDraws:
    """Number of posterior draws in which each pair of runs differs significantly.

    Attributes
    ----------
    test : {"paired-t", "tukey-hsd"}
    level : float
    control : {"none", "holm", "benjamini-hochberg", "dunnett"}
        Over the family of pairs, within each draw.
    n_draws : int
    n_greater : ndarray of int64, shape (run, run)
        Draws in which the row's run is significantly better than the column's.
    """

    test: SignificanceTest
    level: float
    control: Control
    n_draws: int
    n_greater: npt.NDArray[np.int64]

    @property
    def prob_significant(self) -> FloatArray:
        """Share of draws in which two runs differ significantly in either direction, shape (run, run)."""
        return (self.n_greater + self.n_greater.T) / self.n_draws

    def reversal_risk(self, better: BoolArray) -> FloatArray:
        """Return the probability that completed judgments do not confirm currently significant differences.

        Parameters
        ----------
        better : ndarray of bool, shape (run, run)
            Whether the row's run is now significantly better than the column's.

        Returns
        -------
        ndarray of float, shape (run, run)
            One minus the share of draws in which the pair is significant *in that direction*, on both sides
            of the diagonal; NaN for pairs that are not significant now.
        """
        risk = np.where(better, 1 - self.n_greater / self.n_draws, np.nan)
        return np.where(better.T, risk.T, risk)


def significant_draws(
    draws: npt.NDArray[np.integer],
    *,
    test: SignificanceTest = "paired-t",
    level: float = 0.05,
    control: Control = "none",
    pairs: Pairs | None = None,
) -> SignificantDraws:
    """Count posterior draws in which each pair of runs differs significantly.

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run, topic)
        Numbers of relevant documents of completed judgments (`bayespool.Estimates`).
    test : {"paired-t", "tukey-hsd"}
    level : float in (0, 1), default 0.05
        Largest significant p-value.
    control : {"none", "holm", "benjamini-hochberg", "dunnett"}
        As in `bayespool.comparisons.adjust_p_values`, within each draw, or `dunnett` for pairs with one
        baseline; Tukey's test needs none.
    pairs : tuple of ndarray of int, optional
        First and second runs of the family; default: all pairs.

    Returns
    -------
    SignificantDraws

    Raises
    ------
    InputError
        Another test, an unknown control, or one for Tukey's test; fewer than two topics.

    Notes
    -----
    With s = Σd and S = Σd² over T topics t² = s²·(T − 1) / (T·S − s²), so that t² ≥ c² is
    s²·(T − 1 + c²) ≥ c²·T·S, without a quotient. A pair with equal numbers on every topic is not significant.
    Tukey's mean square of the error is (ΣX² − Σ_r S_r²/T − Σ_t S_t²/R + S²/RT) / ((R − 1)(T − 1)).

    Examples
    --------
    >>> draws = np.array([[[9, 8, 9, 7], [2, 1, 3, 1]], [[9, 1, 0, 7], [2, 8, 3, 1]]])
    >>> significant_draws(draws).prob_significant[0, 1]
    np.float64(0.5)
    """
    check_share("level", level)
    check_choice("control", control, Control)
    if test not in DRAW_TESTS:
        raise InputError(f"{test} cannot be repeated in every draw", hint=f"use {' or '.join(DRAW_TESTS)}")
    if test == "tukey-hsd" and control != "none":
        raise InputError("tukey-hsd controls for all pairs by itself", hint="use control none")
    n_draws, n_runs, n_topics = draws.shape
    if n_topics < 2:
        raise InputError("one topic cannot be tested")
    n_greater = np.zeros((n_runs, n_runs), dtype=np.int64)
    critical, degrees = 0.0, (n_runs - 1) * (n_topics - 1)
    if degrees and control == "dunnett":
        critical = np.sqrt(2) * dunnett_critical(level, n_runs - 1, degrees)
    elif degrees and test == "tukey-hsd":
        critical = tukey_critical(level, n_runs, degrees)
    family = np.triu_indices(n_runs, 1) if pairs is None else pairs
    step = max(1, _MAX_CELLS_OF_DRAWS // (n_runs * max(n_runs, n_topics)))
    for start in range(0, n_draws, step):
        part = draws[start : start + step].astype(np.float64)
        total = part.sum(axis=2)
        difference = total[:, :, None] - total[:, None, :]
        if test == "tukey-hsd" or control == "dunnett":
            significant = _exceed(part, total, difference, critical)
        else:
            significant = _paired_t(part, difference, level, control, family)
        n_greater += (significant & (difference > 0)).sum(axis=0)
    return SignificantDraws(test, level, control, n_draws, n_greater)


def _paired_t(
    part: FloatArray, difference: FloatArray, level: float, control: Control, family: Pairs
) -> BoolArray:
    from scipy.special import stdtr, stdtrit

    n_topics = part.shape[2]
    gram = part @ part.transpose(0, 2, 1)
    squares_of_runs = np.einsum("drr->dr", gram)
    squares = squares_of_runs[:, :, None] + squares_of_runs[:, None, :] - 2 * gram
    if control == "none":
        critical = float(stdtrit(n_topics - 1, 1 - level / 2)) ** 2
        enough = difference**2 * (n_topics - 1 + critical) >= critical * n_topics * squares
        significant: BoolArray = enough & (squares > 0)
        return significant
    first, second = family
    d, s = difference[:, first, second], squares[:, first, second]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(d**2 * (n_topics - 1) / (n_topics * s - d**2))
    p = np.where(s > 0, 2 * stdtr(n_topics - 1, -t), np.nan)
    significant = np.zeros(difference.shape, dtype=bool)
    significant[:, first, second] = significant[:, second, first] = p <= _largest_rejected(p, level, control)
    return significant


def _largest_rejected(p: FloatArray, level: float, control: Control) -> FloatArray:
    """Return the largest rejected p-value in each draw, −1 if none is rejected, shape (draw, 1)."""
    ordered = np.sort(p, axis=1)
    n = (~np.isnan(p)).sum(axis=1, keepdims=True)
    k = np.arange(1, p.shape[1] + 1)
    if control == "holm":
        is_rejected = ordered * (n - k + 1) <= level
        n_rejected = np.cumprod(is_rejected, axis=1).sum(axis=1, keepdims=True)
    else:
        is_rejected = ordered * n <= k * level
        n_rejected = (is_rejected * k).max(axis=1, keepdims=True, initial=0)
    padded = np.concatenate([np.full((len(p), 1), -1.0), ordered], axis=1)
    largest: FloatArray = np.take_along_axis(padded, n_rejected, axis=1)
    return largest


def _exceed(part: FloatArray, total: FloatArray, difference: FloatArray, critical: float) -> BoolArray:
    """Return whether each studentized difference reaches the critical value, shape (draw, run, run)."""
    n_runs, n_topics = part.shape[1:]
    topic_total = part.sum(axis=1)
    # the sum of squared residuals times R·T is a whole number
    residual = (
        n_runs * n_topics * np.einsum("drt,drt->d", part, part)
        - n_runs * np.einsum("dr,dr->d", total, total)
        - n_topics * np.einsum("dt,dt->d", topic_total, topic_total)
        + total.sum(axis=1) ** 2
    )
    error: FloatArray = residual / max(n_runs * n_topics * (n_runs - 1) * (n_topics - 1), 1)
    enough = difference**2 >= critical**2 * n_topics * error[:, None, None]
    significant: BoolArray = enough & (difference != 0)
    return significant
