"""Generalizability theory: how reliably scores on these topics tell runs apart on other topics.

The design is runs × topics, fully crossed, with one score per cell.

References
----------
R. L. Brennan (2001). Generalizability Theory. Springer.
D. Bodoff and P. Li (2007). Test theory for assessing IR test collections. SIGIR.
J. Urbano, M. Marrero and D. Martín (2013). On the measurement of test collection reliability. SIGIR.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError

FloatArray = npt.NDArray[np.float64]


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
        raise InputError(f"{n} topics are too few")
    return n


def _share(signal: FloatArray, noise: FloatArray, n: int) -> FloatArray:
    with np.errstate(invalid="ignore"):
        share: FloatArray = signal / (signal + noise / n)
    return share
