"""How unlike the pool a run is, and how likely it is of a kind that the pool does not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.evidence import document_table

FloatArray = npt.NDArray[np.float64]

FAR = 1.5
"""From this distance on a run is called unlike the pool, if it is more likely of a new kind than not."""

_FEATURES = ("run_unjudged", "run_precision")
_USUAL = np.array([1.3, 0.5])  # standard deviations between organizations of a pool
_TOGETHER = -0.5  # their correlation: who has more unjudged documents has fewer relevant ones
_N_USUAL = 4  # organizations that this counts for
_CONCENTRATION = 6.0
_WIDER = 2.0  # times as far apart as organizations, kinds are


@dataclass(frozen=True, eq=False)
class PoolDistance:
    """How unlike the pool some runs are.

    Attributes
    ----------
    distance : ndarray of float, shape (run,)
        In standard deviations between the pool's organizations, over two features; NaN without a pool.
    new_kind : ndarray of float, shape (run,)
        Chance of being of a kind that the pool does not have; 0 without a pool and of pooled runs.
    """

    distance: FloatArray
    new_kind: FloatArray

    @property
    def is_far(self) -> npt.NDArray[np.bool_]:
        """Which runs are called unlike the pool, shape (run,)."""
        return (self.new_kind > 0.5) & (self.distance >= FAR)


def pool_distance(
    collection: Collection, run_ids: Sequence[str], *, rel: int = 1, given: int = 0
) -> PoolDistance:
    r"""How far runs are from the pooled organizations, each of which is held out.

    Two features of a run over all topics, with its own organization held out, both log odds: of a document
    of its top 10 to 30 being unjudged, and of a judged one there being relevant. The predictors
    ``run_unjudged`` and ``run_precision`` are these. With :math:`m` their mean and :math:`S` their covariance
    over the pooled runs, each of the :math:`J` organizations counting once, the latter shrunk towards that of
    other pools, the distance is
    :math:`\sqrt{(x - m)' S^{-1} (x - m)}`.

    The chance of a new kind follows by Bayes' rule. The next organization starts a new kind with prior odds
    of :math:`\theta / J` (θ = 6), as in a Chinese restaurant. Features of one of the pool's kinds have the
    predictive t distribution of the pool's organizations; those of a new kind one that is twice as wide.

    Parameters
    ----------
    collection : Collection
    run_ids : sequence of str
    rel, given : int
        What counts as relevant, and what counts at all.

    Returns
    -------
    PoolDistance

    Examples
    --------
    >>> from bayespool import load_example
    >>> found = pool_distance(load_example(), ["new-a", "new-b"])
    >>> found.distance.round(1).tolist(), found.new_kind.round(2).tolist()
    ([1.6, 0.8], [0.32, 0.21])
    """
    pooled, index = np.flatnonzero(collection.pooled), collection.run_index(run_ids)
    if not len(pooled):
        return PoolDistance(np.full(len(index), np.nan), np.zeros(len(index)))
    runs = np.concatenate([pooled, index])
    one = np.ones(len(runs), dtype=np.intp)
    features = document_table(  # of rankings: which document is asked about makes no difference
        collection,
        runs,
        0 * one,
        one,
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
    usual = np.outer(_USUAL, _USUAL) * np.array([[1, _TOGETHER], [_TOGETHER, 1]])
    shrunk = (n * covariance + _N_USUAL * usual) / (n + _N_USUAL)
    off = features[len(pooled) :] - mean
    square = (off * np.linalg.solve(shrunk, off.T).T).sum(axis=1)
    freedom, alike = n + _N_USUAL - len(_FEATURES), 1 + 1 / n
    log_odds = np.log(_CONCENTRATION / n)
    log_odds = log_odds + _log_t(square, freedom, alike - 1 + _WIDER**2) - _log_t(square, freedom, alike)
    new_kind = np.where(collection.pooled[index], 0.0, 1 / (1 + np.exp(-log_odds)))
    return PoolDistance(np.sqrt(square), new_kind)


def _log_t(square: FloatArray, freedom: int, scale: float) -> FloatArray:
    """Log density of a t distribution in two dimensions, but for a constant, at squared distances in units of
    a covariance that ``scale`` multiplies.
    """
    bent: FloatArray = -(freedom + 2) / 2 * np.log1p(square / (scale * freedom)) - np.log(scale)
    return bent
