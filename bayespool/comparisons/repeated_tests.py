"""Significance tests of all pairs of runs repeated over draws of completed judgments.

Paired sums come from the runs' totals and the Gram matrix G = X·Xᵀ of the (run, topic) matrix X of numbers of
relevant documents: Σ(x_a − x_b)² = G_aa + G_bb − 2·G_ab. All are integers, so no rounding decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from bayespool.comparisons.significance import Control, SignificanceTest, check_level, tukey_critical
from bayespool.errors import InputError, known_names

DRAW_TESTS: tuple[SignificanceTest, ...] = ("paired-t", "tukey-hsd")
"""Tests that are fast enough to be done in every draw."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_MAX_CELLS_HELD = 1 << 21  # numbers


@dataclass(frozen=True, eq=False)
class SignificantDraws:
    """Number of draws of completed judgments in which each pair differs significantly.

    Attributes
    ----------
    test : {"paired-t", "tukey-hsd"}
    level : float
    control : {"none", "holm", "benjamini-hochberg"}
        Over the family of all pairs, within each draw.
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
        """Share of draws in which the pair differs significantly, either way; shape (run, run)."""
        return (self.n_greater + self.n_greater.T) / self.n_draws

    def reversal_risk(self, better: BoolArray) -> FloatArray:
        """Chance that completed judgments do not confirm the significant differences of now.

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
) -> SignificantDraws:
    """Count, for every pair of runs, the draws in which it differs significantly.

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run, topic)
        Numbers of relevant documents of completed judgments (`bayespool.Estimates`).
    test : {"paired-t", "tukey-hsd"}
    level : float in (0, 1), default 0.05
        Largest significant p-value.
    control : {"none", "holm", "benjamini-hochberg"}
        As in `bayespool.comparisons.adjust_p_values`, within each draw; Tukey's test needs none.

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
    check_level(level)
    if test not in DRAW_TESTS:
        raise InputError(f"{test} cannot be repeated in every draw", hint=f"use {' or '.join(DRAW_TESTS)}")
    if control not in get_args(Control):
        raise InputError(f"no control {control!r}", hint=known_names(control, get_args(Control)))
    if test == "tukey-hsd" and control != "none":
        raise InputError("tukey-hsd controls for all pairs by itself", hint="use control none")
    n_draws, n_runs, n_topics = draws.shape
    if n_topics < 2:
        raise InputError("one topic cannot be tested")
    n_greater = np.zeros((n_runs, n_runs), dtype=np.int64)
    step = max(1, _MAX_CELLS_HELD // (n_runs * max(n_runs, n_topics)))
    for start in range(0, n_draws, step):
        part = draws[start : start + step].astype(np.float64)
        total = part.sum(axis=2)
        difference = total[:, :, None] - total[:, None, :]
        if test == "tukey-hsd":
            significant = _tukey(part, total, difference, level)
        else:
            significant = _paired_t(part, difference, level, control)
        n_greater += (significant & (difference > 0)).sum(axis=0)
    return SignificantDraws(test, level, control, n_draws, n_greater)


def _paired_t(part: FloatArray, difference: FloatArray, level: float, control: Control) -> BoolArray:
    from scipy.special import stdtr, stdtrit

    n_runs, n_topics = part.shape[1:]
    gram = part @ part.transpose(0, 2, 1)
    own = np.einsum("drr->dr", gram)
    squares = own[:, :, None] + own[:, None, :] - 2 * gram
    if control == "none":
        critical = float(stdtrit(n_topics - 1, 1 - level / 2)) ** 2
        enough = difference**2 * (n_topics - 1 + critical) >= critical * n_topics * squares
        significant: BoolArray = enough & (squares > 0)
        return significant
    first, second = np.triu_indices(n_runs, 1)
    d, s = difference[:, first, second], squares[:, first, second]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(d**2 * (n_topics - 1) / (n_topics * s - d**2))
    p = np.where(s > 0, 2 * stdtr(n_topics - 1, -t), np.nan)
    significant = np.zeros(difference.shape, dtype=bool)
    significant[:, first, second] = significant[:, second, first] = p <= _largest_rejected(p, level, control)
    return significant


def _largest_rejected(p: FloatArray, level: float, control: Control) -> FloatArray:
    """Largest rejected p-value of each draw, shape (draw, 1), −1 where none is; NaN is not in the family."""
    ordered = np.sort(p, axis=1)
    n = (~np.isnan(p)).sum(axis=1, keepdims=True)
    k = np.arange(1, p.shape[1] + 1)
    if control == "holm":
        passed = ordered * (n - k + 1) <= level
        n_rejected = np.cumprod(passed, axis=1).sum(axis=1, keepdims=True)
    else:
        passed = ordered * n <= k * level
        n_rejected = (passed * k).max(axis=1, keepdims=True, initial=0)
    padded = np.concatenate([np.full((len(p), 1), -1.0), ordered], axis=1)
    largest: FloatArray = np.take_along_axis(padded, n_rejected, axis=1)
    return largest


def _tukey(part: FloatArray, total: FloatArray, difference: FloatArray, level: float) -> BoolArray:
    n_runs, n_topics = part.shape[1:]
    if n_runs < 2:
        return np.zeros(difference.shape, dtype=bool)
    degrees = (n_runs - 1) * (n_topics - 1)
    of_topic = part.sum(axis=1)
    # the sum of squared residuals times R·T is a whole number
    residual = (
        n_runs * n_topics * np.einsum("drt,drt->d", part, part)
        - n_runs * np.einsum("dr,dr->d", total, total)
        - n_topics * np.einsum("dt,dt->d", of_topic, of_topic)
        + total.sum(axis=1) ** 2
    )
    error: FloatArray = residual / (n_runs * n_topics * degrees)
    critical = tukey_critical(level, n_runs, degrees)
    enough = difference**2 >= critical**2 * n_topics * error[:, None, None]
    significant: BoolArray = enough & (difference != 0)
    return significant
