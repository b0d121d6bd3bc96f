"""Scores for a population of topics from which the given topics are a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.errors import InputError
from bayespool.measures.estimates import Estimates
from bayespool.measures.groups import Groups, welch_degrees
from bayespool.measures.values import Values, equal_tailed_interval
from bayespool.names import Scope
from bayespool.randomness import key_of

_MAX_CELLS_HELD = 1 << 23  # numbers
_DECIMALS = 12
_N_RESAMPLED = 4000  # bootstrap samples of topics for an estimator without draws


@dataclass(frozen=True, eq=False)
class Population:
    """Intervals and variance components for run scores on a population of topics.

    Attributes
    ----------
    lower, upper : ndarray of float, shape (run,)
        Ends of the equal-tailed interval of each run's mean over the population of topics.
    topic_part, unjudged_part : ndarray of float, shape (run,)
        Variance of the mean that is due to the choice of topics and to unjudged documents.
    has_draws : bool
        Whether unjudged documents are uncertain, too; else the interval is a bootstrap's over topics alone,
        and ``unjudged_part`` is NaN.
    """

    lower: FloatArray
    upper: FloatArray
    topic_part: FloatArray
    unjudged_part: FloatArray
    has_draws: bool

    @property
    def unjudged_share(self) -> FloatArray:
        """Share of the variance due to unjudged documents, shape (run,); NaN without variance."""
        with np.errstate(invalid="ignore"):
            share: FloatArray = self.unjudged_part / (self.unjudged_part + self.topic_part)
        return share


def estimate_population(
    estimates: Estimates, ci_prob: float | None = None, *, random_seed: int = 1
) -> Population:
    r"""Estimate run scores for the population from which the topics are a sample.

    Parameters
    ----------
    estimates : Estimates
        On two topics or more.
    ci_prob : float in (0, 1), optional
        By default that of `bayespool.rcParams`.
    random_seed : int, default 1

    Returns
    -------
    Population
        Ends stay within the measure's range.

    Raises
    ------
    InputError
        There is one topic.

    Notes
    -----
    With draws, the interval is that of `population_draws`, in which topics and unjudged documents are
    uncertain at once. Its variance has two parts, with :math:`x_{dt}` the value of topic :math:`t` of
    :math:`T` in draw :math:`d`, :math:`\bar x_d` its mean and :math:`s_d^2` its variance over topics:

    .. math::

        \underbrace{\operatorname{Var}_d(\bar x_d)}_{\text{unjudged documents}} +
        \underbrace{\operatorname{E}_d(s_d^2) / T}_{\text{topics}}

    Twice the topics halve the second part; judging all documents takes the first away.

    Without draws topics are resampled with replacement, the same ones for all runs (the paired bootstrap),
    and the ends are quantiles of the means.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators="posterior-ratio")
    >>> there = estimate_population(scores["P@10", "posterior-ratio"])
    >>> round(float(there.lower[0]), 1), round(float(there.upper[0]), 1)
    (0.5, 0.8)
    """
    seed, (least, most) = key_of(random_seed, estimates.measure), estimates.measure.range
    if estimates.draws is None:
        means, has_draws = _resampled(estimates.per_topic, seed), False
        topic_part = estimates.per_topic.var(axis=1, ddof=1) / estimates.per_topic.shape[1]
        unjudged_part = np.full_like(topic_part, np.nan)
    else:
        values, has_draws = estimates.draws, True
        means = population_draws(values.amount, random_seed=seed) / values.unit
        unjudged_part, topic_part = values.std() ** 2, topic_variance(values.amount) / values.unit**2
    lower, upper = (np.clip(end, least, most) for end in equal_tailed_interval(means, ci_prob))
    return Population(lower, upper, topic_part, unjudged_part, has_draws)


def _resampled(per_topic: FloatArray, seed: int) -> FloatArray:
    """Return bootstrap means over topics, shape (draw, run)."""
    n_topics = per_topic.shape[-1]
    refuse_one_topic(n_topics)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=_N_RESAMPLED)
    return np.asarray(counts @ per_topic.T / n_topics)


def topic_variance(draws: AnyArray) -> FloatArray:
    """Return the variance of the mean over topics, averaged over draws, shape (run,).

    The draws have the shape (draw, run, topic).
    """
    n_topics = draws.shape[-1]
    refuse_one_topic(n_topics)
    variances = [draw.var(axis=1, ddof=1) for draw in draws]  # one at a time, for memory
    return np.asarray(np.mean(variances, axis=0) / n_topics)


def topic_width(values: Values, ci_prob: float) -> float:
    """Return the mean width of t intervals of runs for a population of topics, judged in full; 0 of one.

    Examples
    --------
    >>> topic_width(Values(np.array([[[2, 4, 6]]]), 10), 0.95)  # 2 × 4.303 × 0.2 / √3
    0.993...
    """
    from scipy.stats import t

    if values.n_topics < 2:
        return 0.0
    deviation = np.sqrt(topic_variance(values.amount)) / values.unit
    return float(2 * t.ppf((1 + ci_prob) / 2, values.n_topics - 1) * deviation.mean())


def refuse_one_topic(n_topics: int) -> None:
    """Raise `InputError` if there are fewer than two topics."""
    if n_topics < 2:
        raise InputError("one topic says nothing about a population of topics")


@dataclass(frozen=True, eq=False)
class AddedVariance:
    """Variance of runs' means beside that of topics, apart for each run.

    Attributes
    ----------
    variance : ndarray of float, shape (draw, run)
    degrees : ndarray of float, shape (draw,)
        Its degrees of freedom.
    noise : ndarray of float, shape (draw,), or float
        Variance of a run's mean that is due to what the run does on single topics, and not in ``variance``.
    run_degrees : int
        Runs beside the first of their system.
    """

    variance: FloatArray
    degrees: FloatArray
    noise: FloatArray | float = 0.0
    run_degrees: int = 1

    @classmethod
    def from_runs(
        cls, scores: AnyArray, members: Sequence[Sequence[int]], groups: Groups | None = None
    ) -> AddedVariance | None:
        r"""Estimate what runs as a sample add to the variance of systems' means; None if none has two runs.

        Parameters
        ----------
        scores : ndarray, shape (draw, run, topic)
        members : sequence of sequence of int
            Places of the runs of each system.
        groups : Groups, optional
            Then means are those of groups with equal weight.

        Notes
        -----
        Runs and topics are crossed: with :math:`M_R` the mean square of runs' means within systems, and
        :math:`M_E` the variance of such a mean that is due to what a run does on single topics, the variance
        of a system's mean over :math:`R` runs is :math:`\max(M_R - M_E, 0) / R` beside that of topics, which
        has :math:`M_E` already. All systems have these in common. The degrees of freedom are those of
        `crossed_degrees`.
        """
        groups = groups or Groups(("",) * scores.shape[-1])
        n_runs = np.array([len(runs) for runs in members])
        freedom = int((n_runs - 1).sum())
        if not freedom:
            return None
        between, within = np.zeros(len(scores)), np.zeros(len(scores))
        for runs in members:
            apart = scores[:, list(runs)] - scores[:, list(runs)].mean(axis=1, keepdims=True)
            between += (groups.mean(apart) ** 2).sum(axis=1) / freedom
            within += groups.variances(apart).sum(axis=(1, 2)) / freedom
        excess = np.maximum(between - within, 0)
        of_topics = freedom * (scores.shape[-1] - len(groups.names))
        return cls(
            excess[:, None] / n_runs, crossed_degrees(excess, within, freedom, of_topics), within, freedom
        )


def crossed_degrees(excess: Any, noise: Any, run_degrees: int, of_topics: Any) -> FloatArray:
    r"""Return the degrees of freedom of the variance of runs, shape (...); 1 where there is none.

    Notes
    -----
    With the variance V of runs, and the noise :math:`M_E` that their mean square :math:`V + M_E` has beside
    it, :math:`\nu = V^2 / ((V + M_E)^2 / \nu_R + M_E^2 / \nu_E)` (Satterthwaite 1946).

    Examples
    --------
    Noise, of which more topics take away, is all that lowers them:

    >>> crossed_degrees(np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0]), 4, 100).round(2).tolist()
    [4.0, 0.99, 1.0]
    """
    error = (excess + noise) ** 2 / run_degrees + noise**2 / of_topics
    return np.asarray(np.divide(excess**2, error, out=np.ones_like(error), where=excess > 0))


def population_draws(
    draws: AnyArray, *, groups: Groups | None = None, added: AddedVariance | None = None, random_seed: int = 1
) -> FloatArray:
    r"""Draw each run's mean over the population from which the topics are a sample.

    Parameters
    ----------
    draws : ndarray, shape (draw, run, topic)
        Scores, or numbers of relevant documents, of completed judgments; two topics or more.
    groups : Groups, optional
        Then the mean is that of groups with equal weight, and topics are a sample within each group, of two
        or more.
    added : AddedVariance, optional
        What else makes the means uncertain, on the scale of ``draws``.
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
    be ranked. Runs with equal scores on all topics have equal means. Where nothing is unjudged the
    probability that a run's mean is not the greater one is half the p-value of the two-sided paired t test
    in favor of it.

    Of G groups, and with an added variance A_r, it is

        μ_r = x̄_r + √(ν/χ²_ν) · (Σ_t z_t·(x_rt − x̄_rg) / (G·√(n_g·(n_g − 1))) + z_r·√A_r),

    with g the group of topic t, n_g its topics, x̄_rg the run's mean over them, and ν the degrees of freedom
    of the whole variance (`bayespool.measures.groups.welch_degrees`), which all runs of a draw share: those
    of two runs' difference, or of the mean over all pairs of them. Of two runs the probability is again half
    the p-value of `bayespool.measures.groups.t_test_of_groups`.

    Examples
    --------
    >>> scores = np.repeat(np.array([[[6, 5, 8, 7], [5, 5, 7, 4]]]), 20_000, axis=0)
    >>> mean = population_draws(scores)
    >>> round(float((mean[:, 0] <= mean[:, 1]).mean()), 2)  # t = 1.987: p = 0.141, one half of it 0.07
    0.07
    """
    n_draws, n_runs, n_topics = draws.shape
    refuse_one_topic(n_topics)
    rng = np.random.default_rng(random_seed)
    step = max(1, _MAX_CELLS_HELD // (n_runs * n_topics))
    parts = [slice(start, min(start + step, n_draws)) for start in range(0, n_draws, step)]
    if groups is None and added is None:
        weight: Any = 1.0
        scale = 1 / np.sqrt(n_topics * rng.chisquare(n_topics - 1, size=n_draws))
    else:
        groups = groups or Groups(("",) * n_topics)
        groups.refuse_one_topic()
        n = groups.n_topics[groups.topic_group]
        weight = 1 / (len(groups.names) * np.sqrt(n * (n - 1.0)))
        variances = np.concatenate([_variances_of_differences(draws[part], groups) for part in parts])
        degrees: AnyArray = groups.n_topics - 1
        if added is not None:
            of_pairs = added.variance.mean(axis=1) * min(n_runs, 2)
            variances = np.column_stack([variances, of_pairs])
            degrees = np.column_stack([np.broadcast_to(degrees, (n_draws, len(degrees))), added.degrees])
        freedom = welch_degrees(variances, degrees)
        scale = np.sqrt(freedom / rng.chisquare(freedom))
    means = np.empty((n_draws, n_runs))
    for part in parts:
        scores = draws[part].astype(np.float64)
        mean = scores.mean(axis=2) if groups is None else groups.mean(scores)
        center = mean[:, :, None] if groups is None else groups.by_group(scores)[:, :, groups.topic_group]
        z = rng.normal(size=(len(scores), n_topics, 1)) * scale[part, None, None]
        means[part] = mean + ((scores - center) @ (z * np.reshape(weight, (-1, 1))))[:, :, 0]
    if added is not None:
        means += rng.normal(size=means.shape) * np.sqrt(added.variance) * scale[:, None]
    return means


def _variances_of_differences(draws: AnyArray, groups: Groups) -> FloatArray:
    """Return the variances of the mean difference of two runs by group, mean over pairs of runs, or those of
    a sole run, shape (draw, group).
    """
    n_runs = draws.shape[1]
    if n_runs == 1:
        return groups.variances(draws[:, 0])
    apart = draws - draws.mean(axis=1, keepdims=True)
    return np.asarray(groups.variances(apart).sum(axis=1) * 2 / (n_runs - 1))


def mean_draws(
    draws: AnyArray,
    groups: Groups | None,
    scope: Scope,
    *,
    members: Sequence[Sequence[int]] = (),
    random_seed: int = 1,
) -> FloatArray:
    """Draw each run's mean over topics, or the mean of groups, as uncertain as the scope has it.

    Parameters
    ----------
    draws : ndarray, shape (draw, run, topic)
        As for `population_draws`.
    groups : Groups or None
        Then the mean is that of groups with equal weight.
    scope : {"these-topics", "population", "groups"}
        What is uncertain beside the draws: nothing; topics, within groups; or the groups, which are a sample
        of groups then.
    members : sequence of sequence of int
        Places of the runs of systems, whose means over runs are drawn then in place of runs'; but for these
        topics their runs are a sample, too.
    random_seed : int

    Returns
    -------
    ndarray of float, shape (draw, run) or (draw, system)
        On the scale of ``draws``.
    """
    if scope == "groups" and groups is not None:
        draws, groups = groups.by_group(draws), None
    values = average_runs(draws, members)
    if scope == "these-topics":
        return np.round(values.mean(axis=2), _DECIMALS) if groups is None else groups.mean(values)
    added = AddedVariance.from_runs(draws, members, groups)
    return population_draws(values, groups=groups, added=added, random_seed=random_seed)


def average_runs(scores: AnyArray, members: Sequence[Sequence[int]]) -> AnyArray:
    """Average scores over the runs of systems, from (..., run, topic) to (..., system, topic).

    Without systems, or of one run each, they stay as they are.
    """
    if not any(len(runs) > 1 for runs in members):
        return scores[..., [run for (run,) in members], :] if members else scores
    return np.stack([scores[..., list(runs), :].mean(axis=-2) for runs in members], axis=-2)


def estimate_groups(
    estimates: Estimates,
    groups: Groups,
    scope: Scope = "these-topics",
    ci_prob: float | None = None,
    *,
    random_seed: int = 1,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimate each run's mean in each group, and last the mean of groups with equal weight.

    Parameters
    ----------
    estimates : Estimates
    groups : Groups
        Of the topics.
    scope : {"these-topics", "population", "groups"}
        What is uncertain beside unjudged documents: nothing, topics within groups, or for the mean of groups
        the groups themselves, which are a sample of groups then.
    ci_prob : float in (0, 1), optional
        By default that of `bayespool.rcParams`.
    random_seed : int, default 1

    Returns
    -------
    value, lower, upper : ndarray of float, shape (run, group + 1)
        Posterior means, or values of an estimator without draws, and ends of intervals within the measure's
        range; without draws they are NaN on these topics, and values are known in wider scopes.

    Raises
    ------
    InputError
        A group of one topic in a wider scope.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators="posterior-ratio")
    >>> groups = Groups(("gis",) * 15 + ("unix",) * 5)
    >>> value, lower, upper = estimate_groups(scores["P@10", "posterior-ratio"], groups)
    >>> value.round(2).tolist()
    [[0.59, 0.7, 0.65]]
    """
    draws, unit = estimates.per_topic[None], 1
    if estimates.draws is not None:
        draws, unit = estimates.draws.amount, estimates.draws.unit
    of_groups = groups.by_group(draws)
    here = np.concatenate([of_groups, groups.mean(draws)[:, :, None]], axis=2) / unit
    value, none = here.mean(axis=0), np.full(here.shape[1:], np.nan)
    if scope == "these-topics":
        return value, *((none, none) if len(draws) == 1 else equal_tailed_interval(here, ci_prob))
    groups.refuse_one_topic()
    if np.isnan(value).any():  # an estimator of runs alone
        return value, none, none
    if len(draws) == 1:
        draws = np.broadcast_to(draws, (_N_RESAMPLED, *draws.shape[1:]))
    ends, seed, (least, most) = [], key_of(random_seed, estimates.measure), estimates.measure.range
    for run in range(draws.shape[1]):  # by itself, with the degrees of freedom of its own mean
        own = draws[:, [run]]
        parts = [
            mean_draws(own[:, :, groups.topic_group == g], None, "population", random_seed=seed)
            for g in range(len(groups.names))
        ]
        parts.append(mean_draws(own, groups, scope, random_seed=seed))
        ends.append(equal_tailed_interval(np.concatenate(parts, axis=1) / unit, ci_prob))
    lower, upper = np.clip(np.array(ends).transpose(1, 0, 2), least, most)
    return value, lower, upper
