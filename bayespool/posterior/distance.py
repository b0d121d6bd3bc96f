"""Distance of runs from the pool, and the chance that a run is of a kind outside the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.evidence import document_table

FloatArray = npt.NDArray[np.float64]

FAR = 1.5
"""Smallest distance of runs called unlike the pool, if they are more likely of a new kind than not."""

_FEATURES = ("run_unjudged", "run_precision")
_PRIOR_SD = np.array([1.3, 0.5])  # between organizations of a pool, by feature
_PRIOR_CORRELATION = -0.5  # runs with more unjudged documents have fewer relevant ones
_PRIOR_ORGANIZATIONS = 4  # weight of this prior in organizations
_NEW_KIND_CONCENTRATION = 6.0
_NEW_KIND_SCALE = 2.0  # spread of kinds over that of organizations


@dataclass(frozen=True, eq=False)
class PoolDistance:
    """Distances of runs from the pool.

    Attributes
    ----------
    distance : ndarray of float, shape (run,)
        In standard deviations between the pool's organizations, over two features; NaN without a pool.
    new_kind : ndarray of float, shape (run,)
        Chance of a kind outside the pool; 0 for pooled runs and without a pool.
    """

    distance: FloatArray
    new_kind: FloatArray

    @property
    def is_far(self) -> npt.NDArray[np.bool_]:
        """Runs called unlike the pool, shape (run,)."""
        return (self.new_kind > 0.5) & (self.distance >= FAR)


def pool_distance(
    collection: Collection, run_ids: Sequence[str], *, rel: int = 1, given: int = 0
) -> PoolDistance:
    r"""Distance of runs from the pooled organizations, each of which is held out.

    The features of a run over all topics, with its own organization held out, are the predictors
    ``run_unjudged`` and ``run_precision``: log odds that a document of its top 10 to 30 is unjudged, and that
    a judged one there is relevant. With :math:`m` their mean and :math:`S` their covariance over the pooled
    runs, each of the :math:`J` organizations counting once, the latter shrunk to that of other pools, the
    distance is :math:`\sqrt{(x - m)' S^{-1} (x - m)}`.

    The chance of a new kind follows by Bayes' rule. The next organization starts a new kind with prior odds
    of :math:`\theta / J` (θ = 6), as in a Chinese restaurant process. Features of the pool's kinds have the
    predictive t distribution of the pool's organizations; those of a new kind one that is twice as wide.

    Parameters
    ----------
    collection : Collection
    run_ids : sequence of str
    rel, given : int
        Smallest relevance that counts as relevant, and of documents that count.

    Returns
    -------
    PoolDistance

    Examples
    --------
    >>> from bayespool import load_example
    >>> pool = pool_distance(load_example(), ["new-a", "new-b"])
    >>> pool.distance.round(1).tolist(), pool.new_kind.round(2).tolist()
    ([1.6, 0.8], [0.32, 0.21])
    """
    pooled, index = np.flatnonzero(collection.pooled), collection.run_index(run_ids)
    if not len(pooled):
        return PoolDistance(np.full(len(index), np.nan), np.zeros(len(index)))
    runs = np.concatenate([pooled, index])
    ones = np.ones(len(runs), dtype=np.intp)
    features = document_table(  # both predictors are of rankings, so that any document will do
        collection,
        runs,
        0 * ones,
        ones,
        np.zeros(len(runs), dtype=np.int32),
        depth=1,
        rel=rel,
        given=given,
        names=_FEATURES,
    )
    _, own, n_runs = np.unique(collection.organization[pooled], return_inverse=True, return_counts=True)
    weight, n = 1 / n_runs[own] / len(n_runs), len(n_runs)
    known = features[: len(pooled)]
    mean = weight @ known
    covariance = (known - mean).T @ ((known - mean) * weight[:, None])
    prior = np.outer(_PRIOR_SD, _PRIOR_SD) * np.array([[1, _PRIOR_CORRELATION], [_PRIOR_CORRELATION, 1]])
    shrunk = (n * covariance + _PRIOR_ORGANIZATIONS * prior) / (n + _PRIOR_ORGANIZATIONS)
    off = features[len(pooled) :] - mean
    square = (off * np.linalg.solve(shrunk, off.T).T).sum(axis=1)
    freedom, alike = n + _PRIOR_ORGANIZATIONS - len(_FEATURES), 1 + 1 / n
    log_odds = np.log(_NEW_KIND_CONCENTRATION / n)
    log_odds = (
        log_odds + _log_t(square, freedom, alike - 1 + _NEW_KIND_SCALE**2) - _log_t(square, freedom, alike)
    )
    new_kind = np.where(collection.pooled[index], 0.0, 1 / (1 + np.exp(-log_odds)))
    return PoolDistance(np.sqrt(square), new_kind)


def _log_t(square: FloatArray, freedom: int, scale: float) -> FloatArray:
    """Log density of a bivariate t distribution at squared distances over ``scale``, up to a constant."""
    bent: FloatArray = -(freedom + 2) / 2 * np.log1p(square / (scale * freedom)) - np.log(scale)
    return bent
