"""Draws of effects and slopes of organizations outside the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.compiled import compiled
from bayespool.randomness import normals


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
    """Effects of organizations outside the evidence, shape (draw, name), each by the seed, the name and
    ``above``, the rungs above the first, alone.
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
    """Draws of effects of organizations outside the evidence, shape (draw, run).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation between organizations.
    n_organizations : int
        Number of organizations whose mean is the intercept: it is off the population's by σ/√J. 0 without
        evidence, when the intercept is the population's.
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


def new_interaction(
    sigma: npt.NDArray[np.float64], cell: npt.NDArray[Any], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Draws of effects of organization × topic outside the evidence, shape (draw, document).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of their standard deviation.
    cell : ndarray of int, shape (document,)
        Organization × topic. Documents with one number share one effect.
    rng : numpy.random.Generator
    """
    distinct, inverse = np.unique(cell, return_inverse=True)
    effect: npt.NDArray[np.float64] = sigma[:, None] * rng.normal(size=(len(sigma), len(distinct)))
    return effect[:, inverse]


def new_slopes(
    sigma: npt.NDArray[np.float64], n_organizations: int, n_predictors: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Draws of new organizations' slopes less the common ones, shape (draw, organization, predictor)."""
    return sigma[:, None, None] * rng.normal(size=(len(sigma), n_organizations, n_predictors))


def new_slope_effect(
    sigma: npt.NDArray[np.float64],
    predictors: npt.NDArray[np.float64],
    organization: npt.NDArray[Any],
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Effects of `new_slopes` on the log odds of documents, shape (draw, document).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation of slopes about the common ones.
    predictors : ndarray of float, shape (document, predictor)
    organization : ndarray of int, shape (document,)
        Documents with one number share slopes.
    rng : numpy.random.Generator
    """
    distinct, whose = np.unique(organization, return_inverse=True)
    return slope_effect(new_slopes(sigma, len(distinct), predictors.shape[1], rng), predictors, whose)


def slope_effect(
    slopes: npt.NDArray[np.float64], predictors: npt.NDArray[np.float64], organization: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Slopes, shape (draw, organization, predictor), of each document's organization times predictors, shape
    (document, predictor); shape (draw, document).
    """
    effect = np.zeros((len(slopes), len(predictors)))
    add_slopes(effect, slopes, np.arange(len(slopes)), organization, np.ascontiguousarray(predictors))
    return effect


def named_slopes(
    sigma: npt.NDArray[np.float64],
    predictors: Sequence[str],
    names: Sequence[str],
    random_seed: int,
    *above: object,
) -> npt.NDArray[np.float64]:
    """`new_slopes` of organizations, shape (draw, name, predictor), each by the seed and the names of
    organization and predictor alone.
    """
    slopes = np.empty((len(sigma), len(names), len(predictors)))
    for i, name in enumerate(names):
        for k, predictor in enumerate(predictors):
            slopes[:, i, k] = sigma * normals(len(sigma), random_seed, "slope", name, predictor, *above)
    return slopes


@compiled
def add_slopes(
    log_odds: npt.NDArray[np.float64],
    slopes: npt.NDArray[np.float64],
    source: npt.NDArray[np.int64],
    organization: npt.NDArray[np.int64],
    predictors: npt.NDArray[np.float64],
) -> None:
    """Add slopes, shape (draw, organization, predictor), times predictors, shape (document, predictor), to
    log odds, shape (draw, document), with the draws ``source`` and the organizations of documents.
    """
    for i in range(log_odds.shape[0]):
        of_draw = slopes[source[i]]
        for j in range(log_odds.shape[1]):
            own, total = of_draw[organization[j]], 0.0
            for k in range(predictors.shape[1]):
                total += own[k] * predictors[j, k]
            log_odds[i, j] += total
