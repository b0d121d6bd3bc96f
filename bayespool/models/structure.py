"""A model as numbers: blocks of binomial observations on linear predictors, which the Laplace engine
differentiates.

Each PyMC graph of this package has such a twin; `tests/test_laplace.py` holds the two densities together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.models.priors import Prior

__all__ = [
    "Block",
    "Coefficient",
    "Group",
    "Link",
    "Predictor",
    "Structure",
    "identity_link",
    "product_link",
]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

Link = Callable[[list[FloatArray]], tuple[FloatArray, list[FloatArray], dict[tuple[int, int], FloatArray]]]
"""Linear predictors → logit of the chance, its gradient, and the second derivatives that are not zero (l ≤
m).
"""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient, or a vector of them with one prior.

    Attributes
    ----------
    prior : Prior
    size : int or None
        Length of the vector; None for a scalar.
    dim : str or None
        Name of the vector's coordinate.
    logit : bool
        Whether the prior is on (0, 1) and the predictors use the logit.
    shift : float or ndarray of float, shape (size,)
        What the prior is about: it is of the coefficient less this.
    """

    prior: Prior
    size: int | None = None
    dim: str | None = None
    logit: bool = False
    shift: float | FloatArray = 0.0


@dataclass(frozen=True, slots=True)
class Group:
    """Zero-sum effects of a grouping factor with a scale of their own.

    Attributes
    ----------
    scale : Prior
        Prior of their standard deviation.
    size : int
        How many groups.
    dim : str
        Name of their coordinate.
    """

    scale: Prior
    size: int
    dim: str


@dataclass(frozen=True, slots=True)
class Predictor:
    """One linear predictor of a block.

    Attributes
    ----------
    coefficients : mapping of str to ndarray of float, shape (observation,) or (observation, size)
        What multiplies a scalar (vector) coefficient.
    groups : mapping of str to ndarray of int, shape (observation,)
        Whose effect is added.
    """

    coefficients: Mapping[str, FloatArray] = field(default_factory=dict)
    groups: Mapping[str, IndexArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """Counts k ~ Binomial(n, p) with logit p a function of linear predictors.

    Attributes
    ----------
    successes, trials : ndarray of int64, shape (observation,)
    predictors : tuple of Predictor
    link : Link
    """

    successes: IndexArray
    trials: IndexArray
    predictors: tuple[Predictor, ...]
    link: Link


@dataclass(frozen=True, slots=True)
class Structure:
    """All of a model.

    Attributes
    ----------
    coefficients : mapping of str to Coefficient
    groups : mapping of str to Group
        By the name of the factor: its effects are ``<name>_effect``, its scale ``sigma_<name>``.
    blocks : tuple of Block
    """

    coefficients: Mapping[str, Coefficient]
    groups: Mapping[str, Group]
    blocks: tuple[Block, ...]


def identity_link(
    z: list[FloatArray],
) -> tuple[FloatArray, list[FloatArray], dict[tuple[int, int], FloatArray]]:
    """The logit is the one predictor itself."""
    return z[0], [np.ones_like(z[0])], {}


def product_link(residual: FloatArray | None = None) -> Link:
    """The logit of (1 − Δ)·C·π + Δ·E, plus an effect.

    Parameters
    ----------
    residual : ndarray of float, shape (observation,), optional
        Δ. Without it the chance is C·π and there is no predictor for E.

    Returns
    -------
    Link
        Of the predictors logit π, logit C, (logit E,) effect.
    """

    def link(z: list[FloatArray]) -> tuple[FloatArray, list[FloatArray], dict[tuple[int, int], FloatArray]]:
        share = np.ones_like(z[0]) if residual is None else 1 - residual
        s = [expit(one) for one in z[:-1]]
        d = [one * (1 - one) for one in s]
        bend = [one * (1 - 2 * other) for one, other in zip(d, s, strict=True)]
        chance = share * s[0] * s[1]
        first = [share * d[0] * s[1], share * s[0] * d[1]]
        second = {
            (0, 0): share * bend[0] * s[1],
            (0, 1): share * d[0] * d[1],
            (1, 1): share * s[0] * bend[1],
        }
        if residual is not None:
            chance = chance + residual * s[2]
            first.append(residual * d[2])
            second |= {
                (2, 2): residual * bend[2],
                (0, 2): np.zeros_like(chance),
                (1, 2): np.zeros_like(chance),
            }
        chance = np.clip(chance, 1e-12, 1 - 1e-12)  # a step too far may leave neither 0 nor 1 to divide by
        scale = 1 / (chance * (1 - chance))
        gradient = [one * scale for one in first]
        curvature = {
            (i, j): value * scale - gradient[i] * gradient[j] * (1 - 2 * chance)
            for (i, j), value in second.items()
        }
        logit = np.log(chance) - np.log1p(-chance) + z[-1]
        return logit, [*gradient, np.ones_like(chance)], curvature

    return link
