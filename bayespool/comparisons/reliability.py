"""Variances of scores: reliability of runs × topics, and systems of several runs.

Reliability is that of generalizability theory: how well scores on these topics tell runs apart on other
topics, in a design that is fully crossed, with one score per cell.

References
----------
R. L. Brennan (2001). Generalizability Theory. Springer. (Tables 6.2 and 6.5 are the reference of the tests.)

D. Bodoff and P. Li (2007). Test theory for assessing IR test collections. SIGIR.

J. Urbano, M. Marrero and D. Martín (2013). On the measurement of test collection reliability. SIGIR 2013,
393–402.

L. S. Feldt (1965). The approximate sampling distribution of Kuder–Richardson reliability coefficient twenty.
Psychometrika 30, 357–370.

C. Arteaga, S. Jeyaratnam and G. A. Franklin (1982). Confidence intervals for proportions of total variance in
the two-way cross component of variance model. Communications in Statistics: Theory and Methods 11, 1643–1658.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayespool.arrays import AnyArray, FloatArray
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.measures import Estimates, Measure, Values, equal_tailed_interval
from bayespool.measures.populations import AddedVariance, average_runs, population_draws, topic_variance
from bayespool.randomness import key_of


@dataclass(frozen=True, eq=False)
class VarianceComponents:
    """Variances between runs, between topics and of the residual, each of shape (...)."""

    run: FloatArray
    topic: FloatArray
    residual: FloatArray


def variance_components(scores: npt.ArrayLike) -> VarianceComponents:
    """Return variance components for the two-way random-effects model without replication.

    Parameters
    ----------
    scores : array_like, shape (..., run, topic)
        Two runs and two topics or more; axes before may be draws.

    Returns
    -------
    VarianceComponents
        ANOVA estimates: (MS_run − MS_residual)/T, (MS_topic − MS_residual)/R and MS_residual, those below
        zero set to zero.

    Examples
    --------
    >>> components = variance_components([[2.0, 4.0, 6.0], [3.0, 5.0, 10.0]])
    >>> [round(float(x), 3) for x in (components.run, components.topic, components.residual)]
    [1.5, 7.0, 1.5]
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim < 2 or min(x.shape[-2:]) < 2:
        raise InputError(
            f"scores of shape {x.shape} have no variance components", hint="two runs and two topics or more"
        )
    n_runs, n_topics = x.shape[-2:]
    squares = _MeanSquares.of(x)
    return VarianceComponents(
        run=np.maximum((squares.run - squares.rest) / n_topics, 0),
        topic=np.maximum((squares.topic - squares.rest) / n_runs, 0),
        residual=squares.rest,
    )


def generalizability(scores: npt.ArrayLike, n_topics: int | None = None) -> FloatArray:
    """Return the generalizability coefficient Eρ² for relative differences between runs.

    Parameters
    ----------
    scores : array_like, shape (..., run, topic)
        Draws of completed judgments (draw, run, topic) give draws of the coefficient.
    n_topics : int, optional
        Number of topics of the test collection; default: as in ``scores``.

    Returns
    -------
    ndarray of float, shape (...)
        σ²_run / (σ²_run + σ²_residual/n), the reliability of the order of runs; NaN where both are 0.

    Examples
    --------
    >>> round(float(generalizability([[2.0, 4.0, 6.0], [3.0, 5.0, 10.0]])), 3)
    0.75
    >>> round(float(generalizability([[2.0, 4.0, 6.0], [3.0, 5.0, 10.0]], n_topics=12)), 3)
    0.923
    """
    components = variance_components(scores)
    return _share(components.run, components.residual, scores, n_topics)


def expected_values(e: Estimates) -> FloatArray:
    """Return scores shrunk toward their mean, as expected on a new sample of topics, shape (run,)."""
    assert e.draws is not None
    by_draw = generalizability(e.draws.amount)
    defined = by_draw[~np.isnan(by_draw)]  # none where all runs are equal
    share, center = defined.mean() if len(defined) else 0.0, e.value.mean()
    return np.asarray(center + share * (e.value - center))


def dependability(scores: npt.ArrayLike, n_topics: int | None = None) -> FloatArray:
    """Return the dependability coefficient Φ for absolute scores of runs.

    Parameters
    ----------
    scores : array_like, shape (..., run, topic)
    n_topics : int, optional
        Number of topics of the test collection; default: as in ``scores``.

    Returns
    -------
    ndarray of float, shape (...)
        σ²_run / (σ²_run + (σ²_topic + σ²_residual)/n), the reliability of the scores themselves, never more
        than Eρ²; NaN where all are 0.

    Examples
    --------
    >>> round(float(dependability([[2.0, 4.0, 6.0], [3.0, 5.0, 10.0]])), 3)
    0.346
    """
    components = variance_components(scores)
    return _share(components.run, components.topic + components.residual, scores, n_topics)


def _share(signal: FloatArray, noise: FloatArray, scores: npt.ArrayLike, n_topics: int | None) -> FloatArray:
    n = np.shape(scores)[-1] if n_topics is None else n_topics
    if n < 1:
        raise InputError(f"too few topics: {n}")
    with np.errstate(invalid="ignore"):
        share: FloatArray = signal / (signal + noise / n)
    return share


@dataclass(frozen=True, slots=True)
class Reliability:
    """Reliability coefficients for the runs with a given number of topics.

    Attributes
    ----------
    n_topics : int
        The number of topics.
    generalizability : float in [0, 1]
        Eρ² = σ²_run / (σ²_run + σ²_rest/n): for differences between runs. NaN where all scores are equal.
    generalizability_lower, generalizability_upper : float
        Ends of its confidence interval, exact under normality (Feldt 1965); NaN without residual variance.
    dependability : float in [0, 1]
        Φ = σ²_run / (σ²_run + (σ²_topic + σ²_rest)/n): for the scores themselves.
    dependability_lower, dependability_upper : float
        Ends of its approximate confidence interval (Arteaga et al. 1982).
    ci_prob : float
        Level of both intervals.
    """

    n_topics: int
    generalizability: float
    generalizability_lower: float
    generalizability_upper: float
    dependability: float
    dependability_lower: float
    dependability_upper: float
    ci_prob: float


def reliability(
    scores: npt.ArrayLike, *, n_topics: int | None = None, ci_prob: float | None = None
) -> Reliability:
    """Return generalizability Eρ² and dependability Φ for runs × topics, with confidence intervals.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)
        At least two runs and topics.
    n_topics : int, optional
        Number of topics that the coefficients are for (default: that of ``scores``).
    ci_prob : float in (0, 1), optional
        Level of the intervals, by default that of `bayespool.rcParams`.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        Fewer than two runs or topics, a score that is not a number, ``n_topics`` below 1, or ``ci_prob`` out
        of range.

    Notes
    -----
    Lipani et al. (2015, §5.2 and figure 2) plot the gain of a correction against both coefficients. Negative
    ends are set to 0.

    Examples
    --------
    >>> coefficients = reliability([[0.2, 0.4, 0.3], [0.3, 0.5, 0.5], [0.6, 0.6, 0.9]])
    >>> round(coefficients.generalizability, 3), round(coefficients.dependability, 3)
    (0.911, 0.864)
    """
    matrix = np.asarray(scores, dtype=float)
    if matrix.ndim != 2 or min(matrix.shape) < 2 or not np.isfinite(matrix).all():
        raise InputError(
            f"scores of shape {matrix.shape} have no reliability",
            hint="give numbers of two runs or more on two topics or more",
        )
    ci_prob = fill_ci_prob(ci_prob)
    n = matrix.shape[1] if n_topics is None else n_topics
    squares = _MeanSquares.of(matrix)
    if squares.rest <= 1e-12 * matrix.var():  # rounding error
        squares = replace(squares, rest=np.zeros(()))
    lower, upper = (1 + ci_prob) / 2, (1 - ci_prob) / 2  # tails of the F distribution in the denominators
    (general_lower, depend_lower), (general_upper, depend_upper) = (
        squares.ends(n, tail) for tail in (lower, upper)
    )
    return Reliability(
        n_topics=n,
        generalizability=float(generalizability(matrix, n)),
        generalizability_lower=general_lower,
        generalizability_upper=general_upper,
        dependability=float(dependability(matrix, n)),
        dependability_lower=depend_lower,
        dependability_upper=depend_upper,
        ci_prob=ci_prob,
    )


@dataclass(frozen=True, eq=False)
class _MeanSquares:
    """Mean squares of runs, of topics and of the rest, each of shape (...), and the size of the design."""

    n_runs: int
    n_topics: int
    run: FloatArray
    topic: FloatArray
    rest: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> _MeanSquares:
        n_runs, n_topics = x.shape[-2:]
        run_mean, topic_mean = x.mean(axis=-1), x.mean(axis=-2)
        mean = run_mean.mean(axis=-1)
        residual = x - run_mean[..., None] - topic_mean[..., None, :] + mean[..., None, None]
        return cls(
            n_runs,
            n_topics,
            run=n_topics * ((run_mean - mean[..., None]) ** 2).sum(axis=-1) / (n_runs - 1),
            topic=n_runs * ((topic_mean - mean[..., None]) ** 2).sum(axis=-1) / (n_topics - 1),
            rest=(residual**2).sum(axis=(-2, -1)) / ((n_runs - 1) * (n_topics - 1)),
        )

    def ends(self, n: int, tail: float) -> tuple[float, float]:
        """Return confidence limits for Eρ² and, approximately, for Φ from F quantiles."""
        from scipy.special import chdtri, fdtri

        if self.rest == 0 or self.run == 0:
            end = float("nan") if self.rest == 0 else 0.0
            return end, end
        df_run, df_topic = self.n_runs - 1, self.n_topics - 1
        unbounded = chdtri(df_run, 1 - tail) / df_run  # F with infinitely many degrees of freedom below
        to_rest, to_topic = fdtri(df_run, df_run * df_topic, tail), fdtri(df_run, df_topic, tail)
        ratio = max(0.0, float(self.run / (self.rest * to_rest) - 1) / self.n_topics)
        above = (
            self.run**2 - unbounded * self.run * self.rest + (unbounded - to_rest) * to_rest * self.rest**2
        )
        below = df_run * unbounded * self.run * self.rest + to_topic * self.run * self.topic
        of_group = self.n_runs * max(0.0, float(above / below))
        group = of_group / (of_group + self.n_topics)
        return n * ratio / (1 + n * ratio), n * group / (1 + (n - 1) * group)


# --- systems ---

_VARIANCES: dict[str, tuple[str, ...]] = {
    "these-topics": (),
    "population": ("topics_variance", "runs_variance", "unjudged_variance"),
}


@dataclass(frozen=True, eq=False)
class SystemScores:
    """Scores for systems, averaged over their runs, with variance components.

    Attributes
    ----------
    names : tuple of str
        The systems.
    n_runs : tuple of int
        Number of runs of each.
    value : ndarray of float, shape (system,)
        Posterior means.
    draws : ndarray of float, shape (draw, system)
        Means on these topics, of these runs.
    like_these : ndarray of float, shape (draw, system)
        Means on topics and of runs like these.
    topics_variance, runs_variance, unjudged_variance : ndarray of float, shape (system,)
        Variance of a system's mean due to the choice of topics, of runs and to unjudged documents;
        ``runs_variance`` is NaN where no system has two runs.
    run, system : float
        Variance between runs of a system, and between systems; both are at least 0.
    """

    names: tuple[str, ...]
    n_runs: tuple[int, ...]
    value: FloatArray
    draws: FloatArray
    like_these: FloatArray
    topics_variance: FloatArray
    runs_variance: FloatArray
    unjudged_variance: FloatArray
    run: float
    system: float

    @property
    def any_system(self) -> dict[str, Any]:
        """Variances for a run of any system; those but of systems and runs are means over systems."""
        means = {name: np.mean(getattr(self, name)) for name in ("topics_variance", "unjudged_variance")}
        between = {"systems_variance": self.system, "runs_variance": self.run}
        return {"system": "any system", "n_runs": sum(self.n_runs), **between, **means}

    def interval(self, ci_prob: float, *, like_these: bool) -> tuple[FloatArray, FloatArray]:
        """Return interval limits for each system's score, shape (system,) each."""
        return equal_tailed_interval(self.like_these if like_these else self.draws, ci_prob)


def system_scores(
    values: Values, systems: Mapping[str, Sequence[int]], *, random_seed: int = 1
) -> SystemScores:
    r"""Score systems by averaging over their runs.

    Parameters
    ----------
    values : Values, shape (draw, run, topic)
        Joint draws of the runs, on two topics or more.
    systems : mapping of str to sequence of int
        Positions of the runs of each system.
    random_seed : int, default 1

    Returns
    -------
    SystemScores

    Notes
    -----
    In each draw a system's mean over the population of topics and runs is that of `population_draws`, of its
    mean over runs on each topic, with the variance of runs added
    (`bayespool.measures.populations.AddedVariance`).

    Examples
    --------
    >>> scores = np.array([[[4, 6], [6, 8], [1, 3]]])  # a draw of three runs on two topics
    >>> systems = system_scores(Values(scores, 10), {"a": [0, 1], "b": [2]})
    >>> systems.value.tolist(), round(systems.run, 4), systems.runs_variance.round(4).tolist()
    ([0.6, 0.2], 0.02, [0.01, 0.02])
    """
    scores, groups = values.scores(), list(systems.values())
    system_values = average_runs(scores, groups)
    means, n_runs = scores.mean(axis=2), np.array([len(runs) for runs in groups])
    draws = np.asarray(system_values.mean(axis=2))
    squares = sum(((means[:, list(runs)] - draws[:, [s]]) ** 2).sum(axis=1) for s, runs in enumerate(groups))
    freedom = int((n_runs - 1).sum())
    added = AddedVariance.from_runs(scores, groups)
    of_runs = np.full(len(groups), np.nan) if added is None else added.variance.mean(axis=0)
    return SystemScores(
        names=tuple(systems),
        n_runs=tuple(n_runs.tolist()),
        value=draws.mean(axis=0),
        draws=draws,
        like_these=population_draws(system_values, added=added, random_seed=random_seed),
        topics_variance=topic_variance(system_values),
        runs_variance=of_runs,
        unjudged_variance=draws.var(axis=0),
        run=float((of_runs * n_runs).mean()),
        system=_between(draws, float(np.mean(squares) / freedom) if freedom else float("nan"), n_runs),
    )


def _between(draws: FloatArray, of_runs: float, n_runs: AnyArray) -> float:
    """Return the variance between systems, without that of their runs, NaN for one system."""
    if draws.shape[1] < 2:
        return float("nan")
    added = 0.0 if np.isnan(of_runs) else float((of_runs / n_runs).mean())
    return max(0.0, float(draws.var(axis=1, ddof=1).mean()) - added)


SystemScoresByKey = Mapping[tuple[Measure, str], SystemScores]
"""Mapping from (measure, estimator) to system scores."""


def all_system_scores(
    systems: Iterable[tuple[str, str]], estimates: Sequence[Estimates], *, random_seed: int
) -> SystemScoresByKey:
    """Return system scores for all estimates, given (run, system) pairs."""
    pairs, scores = tuple(systems), dict[tuple[Measure, str], SystemScores]()
    for e in estimates:
        runs = dict[str, list[int]]()
        for run_id, system in pairs:
            if run_id in e.run_ids:
                runs.setdefault(system, []).append(e.run_ids.index(run_id))
        seed = key_of(random_seed, e.measure)
        if runs and e.draws is not None:
            scores[e.measure, e.estimator] = system_scores(e.draws, runs, random_seed=seed)
    return scores


def variance_frame(
    system_values: SystemScoresByKey, scopes: Iterable[tuple[Measure, str, str]], ci_prob: float
) -> pd.DataFrame:
    """Return the data frame for `Comparison.variance`."""
    frames = []
    for measure, estimator, scope in scopes if system_values else ():
        one = system_values[measure, estimator]
        ends = one.interval(ci_prob, like_these=scope == "population")
        lower, upper = (np.clip(end, *measure.range) for end in ends)
        columns: dict[str, Any] = {"system": one.names, "n_runs": one.n_runs, "value": one.value}
        columns |= {"lower": lower, "upper": upper, "ci_prob": ci_prob}
        columns |= {name: np.nan_to_num(getattr(one, name)) for name in _VARIANCES[scope]}
        rows = pd.DataFrame(columns).sort_values("value", ascending=False, kind="stable")
        if scope != "these-topics":
            rows = pd.concat([rows, pd.DataFrame([one.any_system])])
            parts = rows.filter(like="_variance")
            rows["variance"] = parts.sum(axis=1)
            rows[parts.columns] = parts.div(rows["variance"], axis=0)
        frames.append(rows.assign(measure=str(measure), estimator=estimator, scope=scope))
    names = ["measure", "estimator", "scope", "system", "n_runs", "value", "lower", "upper", "ci_prob"]
    names += ["variance", "systems_variance", *_VARIANCES["population"]]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    return frame.reindex(columns=names)
