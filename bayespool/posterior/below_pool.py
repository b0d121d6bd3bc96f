r"""Log odds of documents below the pool, where no evidence is of how they go on.

.. math::

    (\delta + \sigma z_q) \log \frac{k}{d}, \qquad z_q \sim \operatorname{Normal}(0, 1)

is added at rank :math:`k` below the pool depth :math:`d` on topic :math:`q`. The priors of :math:`\delta`
and :math:`\sigma` are declared with each model. A model without a predictor of ranks takes the documents of a
ranking as alike: to its :math:`\delta` the slope is added that hidden documents have within rankings.

References
----------
S. Yusuf, R. Peto, J. Lewis, R. Collins and P. Sleight (1985). Beta blockade during and after myocardial
infarction: an overview of the randomized trials. Progress in Cardiovascular Diseases 27(5), 335–371.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.evidence.held_out import HeldOutDocuments
from bayespool.evidence.predictors import LOG_RANK
from bayespool.models import ModelSpec, draw_prior
from bayespool.randomness import key_of, normals

LogOdds: TypeAlias = Callable[[npt.NDArray[np.intp], int, slice], FloatArray]

_STREAM = "below pool"  # of random numbers
_SLOPE_WITHIN, _SLOPE_WITHIN_SD = -0.3, 0.3  # prior


def slope_within_rankings(hidden: HeldOutDocuments) -> tuple[float, float]:
    """Posterior mean and standard deviation of the slope of log odds on log rank within rankings.

    The one-step estimate from the conditional likelihood (Yusuf et al. 1985), in which all cancels that
    rankings have apart, with a normal prior.
    """
    run, topic, rank, _, relevant = hidden
    keys = np.column_stack([run, topic])
    ranking = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    n = np.bincount(ranking)

    def spread(values: FloatArray) -> FloatArray:
        return values - (np.bincount(ranking, values) / n)[ranking]

    x, y = spread(np.log(rank)), spread(relevant.astype(float))
    variance = np.bincount(ranking, x**2) * np.bincount(ranking, y**2) / np.maximum(n - 1, 1)
    precision = float(variance.sum()) + 1 / _SLOPE_WITHIN_SD**2
    return (float(x @ y) + _SLOPE_WITHIN / _SLOPE_WITHIN_SD**2) / precision, precision**-0.5


@dataclass(frozen=True, eq=False)
class BelowPool:
    """Log odds that have slopes on log rank below the pool; called as `FittedModel.log_odds`.

    Attributes
    ----------
    log_odds : callable
        Those that go on as in the pool.
    log_rank : ndarray of float, shape (document,)
        Log of rank over pool depth, 0 in the pool.
    slope, topic_scale : ndarray of float, shape (draw,)
        Slope that topics share, and the standard deviation of topics about it.
    query_ids : tuple of str
    random_seed : int
    """

    log_odds: LogOdds
    log_rank: FloatArray
    slope: FloatArray
    topic_scale: FloatArray
    query_ids: tuple[str, ...]
    random_seed: int

    def __call__(self, source: npt.NDArray[np.intp], topic: int, documents: slice) -> FloatArray:
        """Log odds of a topic's documents in some draws, shape (draw, document)."""
        log_odds, log_rank = self.log_odds(source, topic, documents), self.log_rank[documents]
        if not log_rank.any():
            return log_odds
        own = normals(len(self.slope), self.random_seed, _STREAM, self.query_ids[topic])
        slope = self.slope + self.topic_scale * own
        return log_odds + slope[source, None] * log_rank


def below_pool(
    spec: ModelSpec,
    log_odds: LogOdds,
    log_rank: FloatArray,
    hidden: HeldOutDocuments,
    n_draws: int,
    query_ids: tuple[str, ...],
    random_seed: int,
) -> BelowPool:
    """Log odds with slopes below the pool, from the model's priors and hidden documents."""
    slope, topic_scale = (
        draw_prior(prior, n_draws, np.random.default_rng(key_of(random_seed, _STREAM, str(k))))
        for k, prior in enumerate((spec.below_pool, spec.sigma_below_pool))
    )
    if LOG_RANK.name not in spec.predictors:
        mean, deviation = slope_within_rankings(hidden)
        slope = slope + mean + deviation * normals(n_draws, random_seed, _STREAM, "within rankings")
    return BelowPool(log_odds, log_rank, slope, topic_scale, query_ids, random_seed)
