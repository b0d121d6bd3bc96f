"""Pairs of runs and the order of all runs over joint draws, on one measure and on several; significance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, OrderArray
from bayespool.comparisons.significance import (
    ANNOUNCED_SHARE,
    Pairs,
    announced_order,
    dunnett_critical,
    tukey_critical,
)
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.measures import Estimates, Measure, equal_tailed_interval
from bayespool.measures.populations import population_draws
from bayespool.names import Control, Scope, SignificanceTest
from bayespool.randomness import key_of
from bayespool.validation import check_choice, check_share

_DECIMALS = 12
_NO_DIFFERENCE = 10.0**-_DECIMALS
_MAX_CELLS_HELD = 1 << 23  # numbers


@dataclass(frozen=True, eq=False)
class DrawComparison:
    """Pairwise comparison of runs over posterior draws, row run against column run.

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
    separated : ndarray of bool, shape (run, run)
        Whether the row's value is shown to be greater, by `simultaneous_order`: all orders together hold with
        the probability of the intervals.
    """

    n_draws: int
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_greater: IndexArray
    n_equal: IndexArray
    n_equivalent: IndexArray
    prob_rank: FloatArray
    separated: BoolArray

    @property
    def prob_greater(self) -> FloatArray:
        """Share of draws in which the row run scores higher, shape (run, run)."""
        return self.n_greater / self.n_draws

    @property
    def prob_equal(self) -> FloatArray:
        """Share of draws in which both runs score the same, shape (run, run).

        It adds up to 1 with both orders, to the bit.
        """
        return 1 - (self.prob_greater + self.prob_greater.T)

    @property
    def prob_equivalent(self) -> FloatArray:
        """Share of draws in which both runs are practically equivalent, shape (run, run)."""
        return self.n_equivalent / self.n_draws

    @property
    def expected_rank(self) -> FloatArray:
        """Mean rank for each run, 1 for the best, shape (run,)."""
        return self.prob_rank @ np.arange(1, len(self.prob_rank) + 1)

    @property
    def rank_interval(self) -> tuple[IndexArray, IndexArray]:
        """First and last rank that each run may have, valid for all runs at once, shape (run,) each.

        Tied runs have all the ranks that they cover.
        """
        return 1 + self.separated.sum(axis=0), len(self.separated) - self.separated.sum(axis=1)

    @property
    def tier(self) -> IndexArray:
        """Tier for each run, 1 for the best, shape (run,).

        From the highest mean down, the first run shown to be lower than the first run in a tier begins the
        next tier.
        """
        tier, first = np.ones(len(self.separated), dtype=np.int64), -1
        for run in np.argsort(-self.difference.mean(axis=1), kind="stable"):
            is_next = first >= 0 and bool(self.separated[first, run])
            tier[run] = (1 if first < 0 else tier[first]) + is_next
            first = run if first < 0 or is_next else first
        return tier


def compare_runs_by_draws(
    values: AnyArray,
    *,
    ci_prob: float | None = None,
    rope: float = 0.0,
    unit: float = 1.0,
    largest: float = np.inf,
) -> DrawComparison:
    """Compare all pairs of runs using joint draws of their scores.

    Parameters
    ----------
    values : ndarray of int or float, shape (draw, run)
        Totals over topics (`bayespool.measures.values.Values.totals`), or `population_draws`.
    ci_prob : float in (0, 1), optional
        Probability of the intervals, by default that of `bayespool.rcParams`.
    rope : float, default 0
        Largest difference that is practically none, in units of the measure.
    unit : float, default 1
        Divisor that turns a value into one of the measure: cutoff × topics for totals.
    largest : float, optional
        Largest difference that the measure's range allows, which differences on a population may pass.

    Returns
    -------
    DrawComparison
        On the diagonal: no difference, equal in all draws.

    Examples
    --------
    >>> two = compare_runs_by_draws(np.array([[3, 2], [2, 2], [4, 1], [1, 2]]), ci_prob=0.5, unit=10)
    >>> float(two.difference[0, 1]), int(two.n_greater[0, 1]), int(two.n_equal[0, 1])
    (0.075, 2, 1)
    """
    if rope < 0:
        raise InputError(f"a region of practical equivalence cannot reach to {rope}")
    n_draws, n_runs = values.shape
    shape = (n_runs, n_runs)
    mean, lower, upper = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    n_greater = np.zeros(shape, dtype=np.int64)
    n_equal, n_equivalent = np.full(shape, n_draws, np.int64), np.full(shape, n_draws, np.int64)
    for a, b, (difference,) in _differences([values], _MAX_CELLS_HELD):
        n_greater[a, b], n_greater[b, a] = (difference > 0).sum(axis=0), (difference < 0).sum(axis=0)
        n_equal[a, b] = n_equal[b, a] = (difference == 0).sum(axis=0)
        # a difference of whole amounts is a multiple of 1/unit, and the region is meant to hold its ends
        is_equivalent = np.abs(difference) <= rope * unit * (1 + 1e-12)
        n_equivalent[a, b] = n_equivalent[b, a] = is_equivalent.sum(axis=0)
        if difference.dtype.kind == "f":
            difference = difference.clip(-largest * unit, largest * unit)
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
        separated=simultaneous_order(values, ci_prob=ci_prob),
    )


def simultaneous_order(values: AnyArray, *, ci_prob: float | None = None) -> BoolArray:
    r"""Return which runs score higher than which, with simultaneous coverage over all pairs.

    Parameters
    ----------
    values : ndarray of int or float, shape (draw, run)
        As of `compare_runs_by_draws`.
    ci_prob : float in (0, 1), optional
        Share of the draws in which all these orders hold, or more; by default that of `bayespool.rcParams`.

    Returns
    -------
    ndarray of bool, shape (run, run)
        Whether the row's value is shown to be greater than the column's.

    Notes
    -----
    With :math:`\bar d_{ab}` and :math:`s_{ab}` mean and standard deviation of the difference of two runs,
    and :math:`c` the quantile ``ci_prob`` over draws of the largest :math:`|d_{ab} - \bar d_{ab}| / s_{ab}`
    of all pairs, the order of a pair is shown where :math:`|\bar d_{ab}| > c\,s_{ab}`. This is Tukey's range
    by simulation, for runs that vary unequally (Hothorn, Bretz and Westfall 2008); a set of rank intervals
    that follows from it is right for all runs at once (Mogstad, Romano, Shaikh and Wilhelm 2024).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> simultaneous_order(rng.normal([0, 1, 5], size=(4000, 3)), ci_prob=0.95).astype(int)
    array([[0, 0, 0],
           [0, 0, 0],
           [1, 1, 0]])
    """
    n_draws, n_runs = values.shape
    mean, spread = np.zeros((n_runs, n_runs)), np.zeros((n_runs, n_runs))
    largest = np.zeros(n_draws)
    for a, b, (difference,) in _differences([values], _MAX_CELLS_HELD):
        mean[a, b], spread[a, b] = difference.mean(axis=0), difference.std(axis=0)
        off = np.abs(difference - mean[a, b])
        np.divide(off, spread[a, b], out=off, where=spread[a, b] > 0)  # no spread, nothing off
        np.maximum(largest, off.max(axis=1, initial=0), out=largest)
    rank = min(int(np.ceil(fill_ci_prob(ci_prob) * n_draws)), n_draws)
    critical = np.partition(largest, rank - 1)[rank - 1]
    separated: BoolArray = mean - mean.T > critical * (spread + spread.T) + _NO_DIFFERENCE
    return separated


def _differences(
    values: Sequence[AnyArray], max_cells: int
) -> Iterator[tuple[OrderArray, OrderArray, Iterator[AnyArray]]]:
    """Yield batches of run pairs and their differences, given draws of shape (draw, run)."""
    n_draws, n_runs = values[0].shape
    first, second = np.triu_indices(n_runs, 1)
    step = max(1, max_cells // n_draws)
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        differences = (run_values[:, a] - run_values[:, b] for run_values in values)
        yield a, b, (np.round(d, _DECIMALS) if d.dtype.kind == "f" else d for d in differences)


def rank_probabilities(values: AnyArray) -> FloatArray:
    """Return the probability of each rank for each run, rank 1 being the best.

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
    from scipy.stats import rankdata

    n_draws, n_runs = values.shape
    n_below = rankdata(values, "min", axis=1).astype(np.int64) - 1
    n_reach = rankdata(values, "max", axis=1).astype(np.int64)
    share = 1 / (n_reach - n_below)
    steps = np.zeros((n_runs, n_runs + 1))
    run = np.broadcast_to(np.arange(n_runs), values.shape)
    np.add.at(steps, (run, n_runs - n_reach), share)
    np.add.at(steps, (run, n_runs - n_below), -share)
    chance: FloatArray = np.cumsum(steps, axis=1)[:, :-1] / n_draws
    return chance.clip(min=0)


_MAX_CELLS_OF_AGREEMENT = 1 << 22  # numbers


@dataclass(frozen=True, eq=False)
class Agreement:
    """Pairwise comparison of runs on several measures over posterior draws, row run against column run.

    Attributes
    ----------
    n_draws : int
    n_greater : ndarray of int64, shape (run, run)
        Draws in which the row's value is greater on every measure.
    n_disagree : ndarray of int64, shape (run, run)
        Draws in which it is greater on a measure and lower on another.
    """

    n_draws: int
    n_greater: IndexArray
    n_disagree: IndexArray

    @property
    def prob_all_greater(self) -> FloatArray:
        """Share of draws in which the row run scores higher on every measure, shape (run, run)."""
        return self.n_greater / self.n_draws

    @property
    def prob_disagree(self) -> FloatArray:
        """Share of draws in which measures order the two runs differently, shape (run, run)."""
        return self.n_disagree / self.n_draws

    @property
    def prob_tied(self) -> FloatArray:
        """Share of draws with a tie on some measure and no conflicting measures, shape (run, run)."""
        n_untied = self.n_greater + self.n_greater.T + self.n_disagree
        return (self.n_draws - n_untied) / self.n_draws


def agree_on_draws(values: Sequence[AnyArray]) -> Agreement:
    """Compare all pairs of runs on several measures using joint draws of their scores.

    Parameters
    ----------
    values : sequence of ndarray of int or float, each of shape (draw, run)
        By measure: totals over topics, or `bayespool.comparisons.population_draws`. Draws of the same number
        have to come from the same completed judgments.

    Returns
    -------
    Agreement

    Raises
    ------
    InputError
        Measures have different numbers of draws or runs.

    Examples
    --------
    In the first draw run a is ahead on both measures, in the second on the first one alone, in the third they
    tie on the second one:

    >>> precision, recall = np.array([[3, 2], [3, 2], [3, 2]]), np.array([[0.5, 0.2], [0.1, 0.2], [0.2, 0.2]])
    >>> agreement = agree_on_draws([precision, recall])
    >>> int(agreement.n_greater[0, 1]), int(agreement.n_disagree[0, 1])
    (1, 1)
    >>> round(float(agreement.prob_tied[0, 1]), 3)
    0.333
    """
    if not values or len({group.shape for group in values}) != 1:
        raise InputError("statements across measures need as many draws of the same runs of each measure")
    n_draws, n_runs = values[0].shape
    n_greater, n_disagree = np.zeros((2, n_runs, n_runs), dtype=np.int64)
    for a, b, differences in _differences(values, _MAX_CELLS_OF_AGREEMENT):
        lowest = highest = np.sign(next(differences))
        for difference in differences:
            lowest = np.minimum(lowest, np.sign(difference))
            highest = np.maximum(highest, np.sign(difference))
        n_greater[a, b], n_greater[b, a] = (lowest > 0).sum(axis=0), (highest < 0).sum(axis=0)
        n_disagree[a, b] = n_disagree[b, a] = (lowest * highest < 0).sum(axis=0)
    return Agreement(n_draws, n_greater, n_disagree)


def compare_across(estimates: Sequence[Estimates], scope: Scope, *, random_seed: int = 1) -> Agreement:
    """Compare all pairs of runs on several measures whose estimates share draws.

    For a population, measures share the sample of topics.
    """
    values = [e.draws for e in estimates if e.draws is not None]
    if scope != "population":
        return agree_on_draws([draws.totals() for draws in values])
    return agree_on_draws([population_draws(draws.amount, random_seed=random_seed) for draws in values])


def draws_in_scope(e: Estimates, scope: Scope, random_seed: int) -> tuple[AnyArray, float]:
    """Return draws of runs' scores in a scope, shape (draw, run), and the divisor that makes them scores."""
    draws = e.draws
    assert draws is not None
    if scope == "population":
        return population_draws(draws.amount, random_seed=key_of(random_seed, e.measure)), draws.unit
    return draws.totals(), draws.per_mean()


def largest_difference(measure: Measure) -> float:
    """Return the largest difference between two scores under a measure."""
    least, most = measure.range
    return most - least


def groups_with_shared_draws(estimates: Sequence[Estimates]) -> list[list[Estimates]]:
    """Group estimates that come from the same completed judgments in each draw.

    A measure without uncertainty is in every group; one of the judgments, or that falls (AntiP), in none.
    """
    drawn = {e.measure: e.draws.amount for e in estimates if e.draws is not None}
    comparable = [e for e in estimates if e.measure in drawn and is_compared_across(e.measure)]
    # the very same fits, not equal ones
    fits = {id(e): frozenset((name, id(fit)) for name, fit in e.fits.items()) for e in comparable}
    fixed = [e for e in comparable if not e.fits and (drawn[e.measure] == drawn[e.measure][:1]).all()]
    groups = [
        [e for e in comparable if e in fixed or fits[id(e)] == of_group]
        for of_group in dict.fromkeys(each for each in fits.values() if each) or [None]
    ]
    return [g for g in groups if len(g) > 1 and len({len(drawn[e.measure]) for e in g}) == 1]


def is_compared_across(measure: Measure) -> bool:
    """Return whether the measure evaluates rankings and higher scores are better."""
    return not measure.falls and not measure.describes_judgments


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
    announce : float, default 0.8
        Least share of draws that declares a difference significant.
    """

    test: SignificanceTest
    level: float
    control: Control
    n_draws: int
    n_greater: IndexArray
    announce: float = ANNOUNCED_SHARE

    @property
    def prob_significant(self) -> FloatArray:
        """Share of draws in which two runs differ significantly in either direction, shape (run, run)."""
        return (self.n_greater + self.n_greater.T) / self.n_draws

    @property
    def order(self) -> IndexArray:
        """Order of two runs that is announced by `announced_order`, 1 for the row's, shape (run, run)."""
        shares = self.n_greater / self.n_draws
        return announced_order(shares, shares.T, self.announce)

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
    announce: float = ANNOUNCED_SHARE,
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
    announce : float, default 0.8
        Least share of draws that declares a difference significant.

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
            significant = paired_t_in_draws(part, difference, level, control, family)
        n_greater += (significant & (difference > 0)).sum(axis=0)
    return SignificantDraws(test, level, control, n_draws, n_greater, announce)


def paired_t_in_draws(
    part: FloatArray, difference: FloatArray, level: float, control: Control, family: Pairs
) -> BoolArray:
    """Return which runs differ significantly in each draw, shape (draw, run, run).

    ``part`` has the shape (draw, run, topic), ``difference`` of totals (draw, run, run).
    """
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
    significant[:, first, second] = significant[:, second, first] = p <= largest_rejected(p, level, control)
    return significant


def largest_rejected(p: FloatArray, level: float, control: Control) -> FloatArray:
    """Return the largest rejected p-value in each draw, −1 if none is rejected, shape (draw, 1).

    By Holm for ``dunnett``, which is for runs tested together.
    """
    if control == "none":
        return np.full((len(p), 1), level)
    ordered = np.sort(p, axis=1)
    n = (~np.isnan(p)).sum(axis=1, keepdims=True)
    k = np.arange(1, p.shape[1] + 1)
    if control != "benjamini-hochberg":
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
