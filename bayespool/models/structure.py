"""Numeric form of a model for the Laplace engine: blocks of binomial observations on linear predictors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logit

from bayespool.arrays import FloatArray, IndexArray
from bayespool.models.priors import Prior, draw_prior


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient, or a vector of them with one prior, which is of the coefficient less ``shift``."""

    prior: Prior
    size: int | None = None  # length of the vector; None for a scalar
    dim: str | None = None  # name of the vector's coordinate
    logit: bool = False  # the prior is on (0, 1), and the predictors use the logit
    shift: float | FloatArray = 0.0  # shape (size,)


@dataclass(frozen=True, slots=True)
class Group:
    """Effects of a grouping factor with a scale of their own; they sum to zero but for cells and slopes."""

    scale: Prior
    size: int
    dim: str
    # each within one group of every other factor; many and small, so that the engine integrates them
    is_cell: bool = False
    is_slope: bool = False  # a vector of slopes for each group of another factor, group by group
    kept: IndexArray | None = None  # cells whose effects to return, ascending; None for all


@dataclass(frozen=True, slots=True)
class Varying:
    """Differences of a vector of coefficients by group; ``group`` is of shape (observation,)."""

    name: str  # of the factor
    coefficient: str  # of the vector
    group: IndexArray


@dataclass(frozen=True, slots=True)
class LinearPredictor:
    """One linear predictor of a block."""

    # multipliers of the coefficients, shape (observation,) or (observation, size)
    coefficients: Mapping[str, FloatArray] = field(default_factory=dict)
    groups: Mapping[str, IndexArray] = field(default_factory=dict)  # shape (observation,)
    varying: Varying | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A chance (1 − Δ)·C·π + Δ·E with an effect added to its logit; without Δ it is C·π."""

    residual: FloatArray | None = None  # Δ, shape (observation,)

    def log_odds(self, z: Sequence[FloatArray]) -> FloatArray:
        """Logit of the chance plus the effect, from predictors of logit π, C, E (with Δ) and the effect."""
        chance = expit(z[0]) * expit(z[1])
        if self.residual is not None:
            chance = (1 - self.residual) * chance + self.residual * expit(z[2])
        chance = np.clip(chance, 1e-12, 1 - 1e-12)
        return logit(chance) + z[-1]


@dataclass(frozen=True, slots=True)
class Block:
    """Counts k ~ Binomial(n, p), shape (observation,), with logit p by ``link``, or the only predictor."""

    successes: IndexArray
    trials: IndexArray
    predictors: tuple[LinearPredictor, ...]
    link: Product | None = None


@dataclass(frozen=True, slots=True)
class Structure:
    """Coefficients, groups and blocks of a model.

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


def draw_priors(structure: Structure, n: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    """``n`` prior draws of all variables, named as in a fit, each of shape (draw, ...)."""
    draws = {}
    for name, coefficient in structure.coefficients.items():
        shape = n if coefficient.size is None else (n, coefficient.size)
        draws[name] = coefficient.shift + draw_prior(coefficient.prior, shape, rng)
    for name, group in structure.groups.items():
        sigma, size = draw_prior(group.scale, n, rng), group.size if group.kept is None else len(group.kept)
        effect = sigma[:, None] * rng.normal(size=(n, size))
        if not group.is_cell and not group.is_slope and size:  # effects of a factor sum to zero
            effect -= effect.mean(axis=1, keepdims=True)
        draws |= {f"sigma_{name}": sigma, f"{name}_effect": effect}
    return draws
