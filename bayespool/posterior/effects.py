"""Effects that no evidence is of: those of new organizations, and of these on topics. They are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.randomness import normals

__all__ = ["named_organization_effects", "new_interaction", "new_organization_effect"]


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


def new_interaction(
    sigma: npt.NDArray[np.float64], cell: npt.NDArray[Any], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Effects of organization × topic outside the evidence; shape (draw, document).

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
