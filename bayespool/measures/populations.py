"""Scores for a population of topics from which the given topics are a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.errors import InputError
from bayespool.measures.estimates import Estimates
from bayespool.measures.values import Values, equal_tailed_interval
from bayespool.randomness import key_of

_MAX_CELLS_HELD = 1 << 23  # numbers
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


def population_draws(draws: AnyArray, *, random_seed: int = 1) -> FloatArray:
    """Draw each run's mean over the population from which the topics are a sample.

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
    refuse_one_topic(n_topics)
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
