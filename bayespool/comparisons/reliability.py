"""Generalizability theory: how reliably scores on these topics tell runs apart on other topics.

The design is runs × topics, fully crossed, with one score per cell.

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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.errors import InputError
from bayespool.measures.values import DEFAULT_CI_PROB


@dataclass(frozen=True, eq=False)
class VarianceComponents:
    """Variance between runs, between topics, and of the residual, each of shape (...) of the scores."""

    run: FloatArray
    topic: FloatArray
    residual: FloatArray


def variance_components(scores: npt.ArrayLike) -> VarianceComponents:
    """Variance components of the two-way random model without replication.

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
    of_run, of_topic = x.mean(axis=-1), x.mean(axis=-2)
    mean = of_run.mean(axis=-1)
    ms_run = n_topics * ((of_run - mean[..., None]) ** 2).sum(axis=-1) / (n_runs - 1)
    ms_topic = n_runs * ((of_topic - mean[..., None]) ** 2).sum(axis=-1) / (n_topics - 1)
    left = x - of_run[..., None] - of_topic[..., None, :] + mean[..., None, None]
    ms_residual = (left**2).sum(axis=(-2, -1)) / ((n_runs - 1) * (n_topics - 1))
    return VarianceComponents(
        run=np.maximum((ms_run - ms_residual) / n_topics, 0),
        topic=np.maximum((ms_topic - ms_residual) / n_runs, 0),
        residual=ms_residual,
    )


def generalizability(scores: npt.ArrayLike, n_topics: int | None = None) -> FloatArray:
    """Eρ²: share of run variance in the variance of runs' means relative to one another.

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
    return _share(components.run, components.residual, _n_topics(scores, n_topics))


def dependability(scores: npt.ArrayLike, n_topics: int | None = None) -> FloatArray:
    """Φ: share of run variance in the variance of runs' means on an absolute scale.

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
    return _share(components.run, components.topic + components.residual, _n_topics(scores, n_topics))


def _n_topics(scores: npt.ArrayLike, n_topics: int | None) -> int:
    n = np.shape(scores)[-1] if n_topics is None else n_topics
    if n < 1:
        raise InputError(f"too few topics: {n}")
    return n


def _share(signal: FloatArray, noise: FloatArray, n: int) -> FloatArray:
    with np.errstate(invalid="ignore"):
        share: FloatArray = signal / (signal + noise / n)
    return share


@dataclass(frozen=True, slots=True)
class Reliability:
    """Reliability coefficients of these runs on a number of topics like these.

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
    scores: npt.ArrayLike, *, n_topics: int | None = None, ci_prob: float = DEFAULT_CI_PROB
) -> Reliability:
    """Generalizability coefficient Eρ² and index of dependability Φ of runs × topics, with intervals.

    Parameters
    ----------
    scores : array_like of float, shape (run, topic)
        At least two runs and topics.
    n_topics : int, optional
        Number of topics that the coefficients are for (default: that of ``scores``).
    ci_prob : float in (0, 1), default 0.95
        Level of the intervals.

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
    >>> of_all = reliability([[0.2, 0.4, 0.3], [0.3, 0.5, 0.5], [0.6, 0.6, 0.9]])
    >>> round(of_all.generalizability, 3), round(of_all.dependability, 3)
    (0.911, 0.864)
    """
    matrix = np.asarray(scores, dtype=float)
    if matrix.ndim != 2 or min(matrix.shape) < 2 or not np.isfinite(matrix).all():
        raise InputError(
            f"scores of shape {matrix.shape} have no reliability",
            hint="give numbers of two runs or more on two topics or more",
        )
    if not 0 < ci_prob < 1:
        raise InputError(f"ci_prob {ci_prob} is not between 0 and 1")
    n = matrix.shape[1] if n_topics is None else n_topics
    squares = _MeanSquares.of(matrix)
    lower, upper = (1 + ci_prob) / 2, (1 - ci_prob) / 2  # tails of the F distribution in the denominators
    return Reliability(
        n_topics=n,
        generalizability=float(generalizability(matrix, n)),
        generalizability_lower=squares.generalizability_end(n, lower),
        generalizability_upper=squares.generalizability_end(n, upper),
        dependability=float(dependability(matrix, n)),
        dependability_lower=squares.dependability_end(n, lower),
        dependability_upper=squares.dependability_end(n, upper),
        ci_prob=ci_prob,
    )


@dataclass(frozen=True, slots=True)
class _MeanSquares:
    n_runs: int
    n_topics: int
    run: float
    topic: float
    rest: float

    @classmethod
    def of(cls, matrix: npt.NDArray[np.float64]) -> _MeanSquares:
        n_runs, n_topics = matrix.shape
        rest = float(variance_components(matrix).residual)
        scale = float(matrix.var())
        return cls(
            n_runs,
            n_topics,
            run=float(n_topics * matrix.mean(axis=1).var(ddof=1)),
            topic=float(n_runs * matrix.mean(axis=0).var(ddof=1)),
            rest=rest if rest > 1e-12 * scale else 0.0,  # rounding error
        )

    def generalizability_end(self, n: int, tail: float) -> float:
        """End of the interval for Eρ², from that of σ²_run/σ²_rest, exact by the F distribution."""
        from scipy.special import fdtri

        if self.rest == 0 or self.run == 0:
            return float("nan") if self.rest == 0 else 0.0
        df_run, df_topic = self.n_runs - 1, self.n_topics - 1
        below = self.rest * float(fdtri(df_run, df_run * df_topic, tail))
        ratio = max(0.0, (self.run / below - 1) / self.n_topics)
        return n * ratio / (1 + n * ratio)

    def dependability_end(self, n: int, tail: float) -> float:
        """End of the interval for Φ, from that of σ²_run/(σ²_run + σ²_topic + σ²_rest)."""
        from scipy.special import chdtri, fdtri

        if self.rest == 0 or self.run == 0:
            return float("nan") if self.rest == 0 else 0.0
        df_run, df_topic = self.n_runs - 1, self.n_topics - 1
        unbounded = chdtri(df_run, 1 - tail) / df_run  # F with infinitely many degrees of freedom below
        to_rest, to_topic = fdtri(df_run, df_run * df_topic, tail), fdtri(df_run, df_topic, tail)
        above = (
            self.run**2 - unbounded * self.run * self.rest + (unbounded - to_rest) * to_rest * self.rest**2
        )
        below = df_run * unbounded * self.run * self.rest + to_topic * self.run * self.topic
        ratio = max(0.0, float(above / below))
        group = self.n_runs * ratio / (self.n_runs * ratio + self.n_topics)
        return n * group / (1 + (n - 1) * group)
