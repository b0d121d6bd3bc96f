"""A model as numbers: blocks of binomial observations on linear predictors, which the Laplace engine
differentiates.

`ModelSpec.structure` makes it from a model's declaration, as `ModelSpec.graph` makes the PyMC graph;
`tests/inference/test_density.py` holds the two densities together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from bayespool.models.priors import Prior

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


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
    """Effects of a grouping factor with a scale of their own, which sum to zero unless stated otherwise.

    Attributes
    ----------
    scale : Prior
        Prior of their standard deviation.
    size : int
        How many groups.
    dim : str
        Name of their coordinate.
    is_cell : bool
        Whether each lies within one group of every other factor that it goes with. Cells are many and small:
        their effects do not sum to zero, and the engine integrates them.
    is_slope : bool
        Whether they are slopes, a vector of them for each group of another factor, group by group. They do
        not sum to zero.
    kept : ndarray of int, shape (kept group,), or None
        Of cells those whose effects anyone wants to know, in ascending order; default: all.
    """

    scale: Prior
    size: int
    dim: str
    is_cell: bool = False
    is_slope: bool = False
    kept: IndexArray | None = None


@dataclass(frozen=True, slots=True)
class Varying:
    """What is added to a vector of coefficients, group by group.

    Attributes
    ----------
    name : str
        Of the factor.
    coefficient : str
        Of the vector.
    group : ndarray of int, shape (observation,)
        Which group each observation is of.
    """

    name: str
    coefficient: str
    group: IndexArray


@dataclass(frozen=True, slots=True)
class Predictor:
    """One linear predictor of a block.

    Attributes
    ----------
    coefficients : mapping of str to ndarray of float, shape (observation,) or (observation, size)
        The factors of a scalar (vector) coefficient.
    groups : mapping of str to ndarray of int, shape (observation,)
        The group whose effect is added.
    varying : Varying or None
        Slopes that differ from group to group.
    """

    coefficients: Mapping[str, FloatArray] = field(default_factory=dict)
    groups: Mapping[str, IndexArray] = field(default_factory=dict)
    varying: Varying | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A chance (1 − Δ)·C·π + Δ·E, whose logit an effect is added to; the four predictors are logit π, logit
    C, logit E and the effect.

    Attributes
    ----------
    residual : ndarray of float, shape (observation,), or None
        Δ. Without it the chance is C·π, and there is no predictor for E.
    """

    residual: FloatArray | None = None

    def log_odds(self, z: Sequence[FloatArray]) -> FloatArray:
        """Logit of the chance plus the effect, from the predictors, each of shape (..., observation)."""
        chance = expit(z[0]) * expit(z[1])
        if self.residual is not None:
            chance = (1 - self.residual) * chance + self.residual * expit(z[2])
        chance = np.clip(chance, 1e-12, 1 - 1e-12)
        log_odds: FloatArray = logit(chance) + z[-1]
        return log_odds


@dataclass(frozen=True, slots=True)
class Block:
    """Counts k ~ Binomial(n, p) with logit p a function of linear predictors.

    Attributes
    ----------
    successes, trials : ndarray of int64, shape (observation,)
    predictors : tuple of Predictor
    link : Product or None
        How the predictors make the logit; None where it is the one predictor itself.
    """

    successes: IndexArray
    trials: IndexArray
    predictors: tuple[Predictor, ...]
    link: Product | None = None


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

    @property
    def cells(self) -> str | None:
        """Name of the factor whose groups are cells, if there is one."""
        return next((name for name, group in self.groups.items() if group.is_cell), None)

    @property
    def slopes(self) -> str | None:
        """Name of the factor whose effects are slopes, if there is one."""
        return next((name for name, group in self.groups.items() if group.is_slope), None)
