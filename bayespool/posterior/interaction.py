"""What an organization finds for a topic is relevant together: an effect that the models' graphs leave out.

Documents of one organization on one topic are more alike than their predictors say: a query that went astray,
a facet that nobody else looked for. Over the cells of organization × topic the numbers of relevant hidden
documents vary more than chances that are right one by one would have them vary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit

from bayespool.compiled import compiled

if TYPE_CHECKING:
    from bayespool.models import LinearEvidence

__all__ = ["cell_of_document", "interaction_scale", "with_interaction"]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_SCALES = np.linspace(0, 3, 61)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_END, _PER_UNIT = 25, 20  # logits are looked up in a table from −25 to 25; farther out nothing is moved


def interaction_scale(evidence: LinearEvidence, draws: Mapping[str, FloatArray]) -> float:
    """Scale τ of the effects of organization × topic, given a fit without them.

    The number of relevant hidden documents of a cell is taken as normal about its mean, with the variance V +
    τ²V² that documents of binomial variance V have when their logits share an effect N(0, τ²) (Williams 1982,
    model III). τ maximises that density under a HalfNormal(1) prior. It errs on the small side: the fitted
    effects of topics and organizations have taken up part of the variation, the more the smaller the pool.

    Parameters
    ----------
    evidence : LinearEvidence
    draws : mapping of str to ndarray
        Of the fit: ``mu``, ``beta``, ``topic_effect`` and ``organization_effect``.

    Returns
    -------
    float
        From 0, where cells do not vary more than they should, to 3.

    References
    ----------
    D. A. Williams (1982). Extra-binomial variation in logistic linear models. Applied Statistics 31, 144–148.
    """
    mean = {name: draws[name].mean(axis=0) for name in ("mu", "beta", "topic_effect", "organization_effect")}
    log_odds = mean["mu"] + mean["topic_effect"][evidence.topic] + evidence.predictors @ mean["beta"]
    p = expit(log_odds + mean["organization_effect"][evidence.organization])
    off = np.bincount(evidence.cell, evidence.n_hidden_relevant - evidence.n_hidden * p) ** 2
    variance = np.bincount(evidence.cell, evidence.n_hidden * p * (1 - p))

    off, variance = off[variance > 0], variance[variance > 0]

    def twice_log_density(tau: float) -> float:
        more = 1 + tau**2 * variance
        return float(-(np.log(more) + off / (variance * more)).sum() - tau**2)

    best = int(np.argmax([twice_log_density(tau) for tau in _SCALES]))  # there may be several maxima
    if best == 0:
        return 0.0
    around = _SCALES[best - 1], _SCALES[min(best + 1, len(_SCALES) - 1)]
    return float(minimize_scalar(lambda tau: -twice_log_density(tau), bounds=around, method="bounded").x)


def cell_of_document(
    organization: npt.NDArray[Any], topic: npt.NDArray[Any], pair: npt.NDArray[Any], n_topics: int
) -> IndexArray:
    """Organization × topic of each (run, document), as one number; of a document that several organizations
    retrieve the lowest of theirs, so that its one relevance has one effect.

    Parameters
    ----------
    organization, topic, pair : ndarray of int, shape (document,)
    n_topics : int
    """
    cell = organization.astype(np.int64) * n_topics + topic
    distinct, which = np.unique(pair, return_inverse=True)
    lowest = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(lowest, which, cell)
    shared: IndexArray = lowest[which]
    return shared


def with_interaction(
    log_odds: FloatArray, scale: float, cell: IndexArray, rng: np.random.Generator
) -> FloatArray:
    """Log odds with a new effect for each cell and draw; chances keep their means.

    Parameters
    ----------
    log_odds : ndarray of float, shape (draw, document)
    scale : float
        τ of `interaction_scale`; 0 gives the log odds themselves.
    cell : ndarray of int, shape (document,)
        Organization × topic; documents with one number share an effect.
    rng : numpy.random.Generator
    """
    if scale == 0 or not len(cell):
        return log_odds
    cells, which = np.unique(cell, return_inverse=True)
    effects = rng.normal(scale=scale, size=(len(log_odds), len(cells)))
    grid = np.arange(-_END * _PER_UNIT, _END * _PER_UNIT + 1) / _PER_UNIT
    below, above = (expit(sign * grid[:, None] + scale * _NODES) @ _WEIGHTS for sign in (1, -1))
    shift = np.interp(grid, np.log(below / above), grid) - grid  # two tails: 1 − chance loses its digits
    moved = _add_shift_and_effect(log_odds, shift, effects, which.astype(np.int64))
    return moved


@compiled
def _add_shift_and_effect(
    log_odds: FloatArray, shift: FloatArray, effects: FloatArray, which: IndexArray
) -> FloatArray:
    """Compiled, because a table looked up in numpy takes several times as long."""
    moved = np.empty(log_odds.shape)
    last = len(shift) - 1
    for i in range(log_odds.shape[0]):
        for j in range(log_odds.shape[1]):
            position = (log_odds[i, j] + _END) * _PER_UNIT
            position = min(max(position, 0.0), float(last))
            k = min(int(position), last - 1)
            rest = position - k
            between = shift[k] * (1 - rest) + shift[k + 1] * rest
            moved[i, j] = log_odds[i, j] + between + effects[i, which[j]]
    return moved
