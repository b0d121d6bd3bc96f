r"""Log odds of documents below the pool, where no evidence is of how they go on.

.. math::

    (\delta + \sigma z_q) \log \frac{k}{d}, \qquad z_q \sim \operatorname{Normal}(0, 1)

is added at rank :math:`k` below the pool depth :math:`d` on topic :math:`q`. The priors of :math:`\delta` and
:math:`\sigma` are declared with each model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayespool.models import ModelSpec, draw_prior
from bayespool.randomness import key_of, normals

FloatArray = npt.NDArray[np.float64]
LogOdds: TypeAlias = Callable[[npt.NDArray[np.intp], int, slice], FloatArray]

_STREAM = "below pool"  # of random numbers


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
    n_draws: int,
    query_ids: tuple[str, ...],
    random_seed: int,
) -> BelowPool:
    """Log odds with slopes below the pool from the model's priors."""
    slope, topic_scale = (
        draw_prior(prior, n_draws, np.random.default_rng(key_of(random_seed, _STREAM, str(k))))
        for k, prior in enumerate((spec.below_pool, spec.sigma_below_pool))
    )
    return BelowPool(log_odds, log_rank, slope, topic_scale, query_ids, random_seed)
