"""Effects that no evidence is of: of new organizations, and of organizations on topics. They are drawn, never
zero.

What an organization finds for a topic is relevant together, which the models' graphs leave out. Documents of
one organization on one topic are more alike than their predictors say: a query that went astray, a facet that
nobody else looked for. Over the cells of organization × topic the numbers of relevant hidden documents vary
more than chances that are right one by one would have them vary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit

from bayespool.posterior.drawing import add_effects
from bayespool.randomness import normals

if TYPE_CHECKING:
    from bayespool.models import LinearEvidence

__all__ = [
    "interaction_scale",
    "named_organization_effects",
    "new_organization_effect",
    "shift_table",
    "with_interaction",
]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_SCALES = np.linspace(0, 3, 61)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_END, _PER_UNIT = 25, 20  # logits are looked up in a table from −25 to 25; farther out nothing is moved


def _scale_of_new(sigma: npt.NDArray[np.float64], n_organizations: int) -> npt.NDArray[np.float64]:
    """Standard deviation of a new organization's effect about the intercept, shape (draw,)."""
    scale: npt.NDArray[np.float64] = sigma * np.sqrt(1 + (1 / n_organizations if n_organizations else 0))
    return scale


def named_organization_effects(
    sigma: npt.NDArray[np.float64],
    n_organizations: int,
    names: Sequence[str],
    random_seed: int,
    *above: object,
) -> npt.NDArray[np.float64]:
    """Effects of organizations outside the evidence, shape (draw, name): each depends on the seed and the
    organization's name, not on who else there is.

    ``sigma`` and ``n_organizations`` are those of `new_organization_effect`; ``above`` tells the rungs above
    the first one apart.
    """
    scale = _scale_of_new(sigma, n_organizations)
    effects = {
        name: scale * normals(len(sigma), random_seed, "organization", name, *above) for name in set(names)
    }
    return np.column_stack([effects[name] for name in names])


def new_organization_effect(
    sigma: npt.NDArray[np.float64],
    n_organizations: int,
    organization: npt.NDArray[Any],
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Effects of organizations outside the evidence, drawn, never zero; shape (draw, run).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation between organizations.
    n_organizations : int
        How many organizations the intercept is the mean of: their mean is off the population's by σ/√J. 0
        without evidence, when the intercept is the population's.
    organization : ndarray of int, shape (run,)
        Runs with one number share one effect.
    rng : numpy.random.Generator
    """
    distinct, inverse = np.unique(organization, return_inverse=True)
    scale = _scale_of_new(sigma, n_organizations)
    effect: npt.NDArray[np.float64] = (scale[:, None] * rng.normal(size=(len(sigma), len(distinct))))[
        :, inverse
    ]
    return effect


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


@cache
def shift_table(scale: float) -> FloatArray:
    """How far a logit has to move so that an effect N(0, scale²) leaves its chance as it is, from −25 to 25
    by twentieths; empty for a scale of 0.
    """
    if scale == 0:
        return np.zeros(0)
    grid = np.arange(-_END * _PER_UNIT, _END * _PER_UNIT + 1) / _PER_UNIT
    below, above = (expit(sign * grid[:, None] + scale * _NODES) @ _WEIGHTS for sign in (1, -1))
    # two tails: 1 − chance loses its digits
    shift: FloatArray = np.interp(grid, np.log(below / above), grid) - grid
    return shift


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
    moved = log_odds.copy()
    nothing = np.zeros((len(moved), len(cells)))
    add_effects(moved, nothing, effects, which.astype(np.int64), shift_table(scale))
    return moved
