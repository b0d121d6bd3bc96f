"""Formulas for log odds: as declared by name, and with arrays of evidence for the Laplace engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit, logit

from bayespool.arrays import FloatArray, IndexArray
from bayespool.compiled import compiled
from bayespool.models.priors import CORRELATION, FEW_DOCUMENTS, FREEDOM, SCALE, Prior, draw_prior, parse_prior


@dataclass(frozen=True, slots=True)
class Effect:
    """Group effects along a coordinate, normal with mean 0 and mostly summing to zero.

    Attributes
    ----------
    dim : str
        The coordinate: ``topic``, ``run``, ``organization``; or ``organization_topic``, whose groups are
        cells of an organization and a topic; or ``organization_predictor``, the differences of an
        organization's slopes from the common ones. Effects of the last two do not sum to zero. Any other
        name is a column of the collection (`Collection.runs`, `Collection.topics`), whose texts are groups.
    scale : Prior or str
        Of their standard deviation; a string such as ``HalfNormal(0.5)`` becomes a prior.
    freedom, correlation, few : Prior or str
        For effects of organizations: priors of the degrees of freedom of the t distribution of a new one's,
        of its correlation with that on the threshold of relevance below, and of how much larger its variance
        is where few documents are unjudged.
    centered : bool
        Whether the sampler sees effects themselves, not standardized ones, where much is judged. The model is
        the same.
    """

    dim: str
    scale: Prior = SCALE
    centered: bool = False
    freedom: Prior = FREEDOM
    correlation: Prior = CORRELATION
    few: Prior = FEW_DOCUMENTS

    def __post_init__(self) -> None:
        for name in ("scale", "freedom", "correlation", "few"):
            object.__setattr__(self, name, parse_prior(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Linear:
    """Linear predictor: intercepts, slopes times predictors, and group effects.

    Attributes
    ----------
    intercept : str or tuple of str or None
        Names of coefficients that are added.
    slopes : str or None
        Name of the coefficients of predictors.
    effects : tuple of str
        Names of effects.
    """

    intercept: str | tuple[str, ...] | None = None
    slopes: str | None = None
    effects: tuple[str, ...] = ()

    @property
    def coefficients(self) -> tuple[str, ...]:
        """Names of all coefficients: intercepts and slopes."""
        return self.intercepts if self.slopes is None else (*self.intercepts, self.slopes)

    @property
    def intercepts(self) -> tuple[str, ...]:
        """Names of the intercepts."""
        if self.intercept is None:
            return ()
        return (self.intercept,) if isinstance(self.intercept, str) else self.intercept

    @property
    def parts(self) -> tuple[Linear, ...]:
        """Linear predictors in the formula, here the formula itself."""
        return (self,)

    @property
    def outer(self) -> Linear:
        """Linear predictor added to the log odds, here the formula itself."""
        return self


@dataclass(frozen=True, slots=True)
class Chances:
    """Probability (1 − Δ)·C·π + Δ·E, or C·π, with an effect added to its log odds.

    Δ is the unjudged share of a run's top n on a topic.

    Attributes
    ----------
    precision : Linear
        Log odds of π.
    factor : str
        Name of the coefficient C, whose prior is on (0, 1).
    background : Linear or None
        Log odds of E; without it the probability is C·π.
    effect : Linear
        Added to the log odds.
    """

    precision: Linear
    factor: str
    background: Linear | None = None
    effect: Linear = Linear(effects=("organization",))

    @property
    def parts(self) -> tuple[Linear, ...]:
        """Linear predictors for π, C, E (if present) and the effect."""
        background = () if self.background is None else (self.background,)
        return (self.precision, Linear(self.factor), *background, self.effect)

    @property
    def outer(self) -> Linear:
        """Linear predictor added to the log odds, here the effect."""
        return self.effect


Formula: TypeAlias = Linear | Chances


def evaluate(
    formula: Formula,
    effects: Mapping[str, str],
    draws: Mapping[str, FloatArray],
    at: Mapping[str, Any],
    predictors: FloatArray | None,
    residual: FloatArray | float,
    source: Any,
) -> FloatArray:
    """Return log odds from a formula and its effects, shape (draw, document or 1).

    See `ModelSpec.log_odds`.
    """
    if isinstance(formula, Linear):
        total = evaluate_intercept(formula, effects, draws, at, source)
        if predictors is None or (beta := multipliers(formula, effects, draws, at)) is None:
            return total
        return document_log_odds(total, beta[source], predictors)

    def of(linear: Linear) -> FloatArray:
        return evaluate(linear, effects, draws, at, predictors, residual, source)

    factor = draws[formula.factor][source][:, None]
    if formula.background is None:
        p = factor / (1 + np.exp(-of(formula.precision)))
    else:
        p = (1 - residual) * factor / (1 + np.exp(-of(formula.precision)))
        p = p + residual / (1 + np.exp(-of(formula.background)))
    return np.asarray(np.log(p) - np.log1p(-p) + of(formula.effect))


def evaluate_intercept(
    formula: Linear,
    effects: Mapping[str, str],
    draws: Mapping[str, FloatArray],
    at: Mapping[str, Any],
    source: Any,
) -> FloatArray:
    """Return intercepts and effects of a linear formula, without slopes, shape (draw, document or 1)."""
    total = np.zeros((1, 1))
    for name in formula.intercepts:
        total = total + draws[name][source][:, None]
    for name in formula.effects:
        if effects.get(name) in at:
            values, group = draws[f"{name}_effect"], at[effects[name]]
            alone = np.ndim(group) == 0  # the group of all documents
            total = total + (values[source, group][:, None] if alone else values[source][:, group])
    return total


def multipliers(
    formula: Linear, effects: Mapping[str, str], draws: Mapping[str, FloatArray], at: Mapping[str, Any]
) -> FloatArray | None:
    """Return slopes, and the effects whose coordinate ``at`` lacks, shape (draw, predictor); None without."""
    parts = [] if formula.slopes is None else [draws[formula.slopes]]
    parts += [draws[f"{name}_effect"] for name in formula.effects if effects.get(name, "") not in ("", *at)]
    return np.hstack(parts) if len(parts) > 1 else parts[0] if parts else None


def document_log_odds(intercept: FloatArray, beta: FloatArray, predictors: FloatArray) -> FloatArray:
    """Return log odds, (draw, document), whose last bit does not depend on other draws or documents.

    Parameters
    ----------
    intercept : ndarray of float, shape (draw, 1) or (draw, document)
        All but the slopes.
    beta : ndarray of float, shape (draw, predictor)
    predictors : ndarray of float, shape (document, predictor)
    """
    # a product of matrices would round differently with other numbers of draws and documents
    log_odds = np.empty((len(beta), len(predictors)))
    log_odds[:] = intercept
    _add_slopes(beta, np.ascontiguousarray(predictors.T), log_odds)
    return log_odds


@compiled
def _add_slopes(beta: FloatArray, predictors: FloatArray, log_odds: FloatArray) -> None:
    for i in range(log_odds.shape[0]):
        for k in range(predictors.shape[0]):
            slope = beta[i, k]
            for j in range(log_odds.shape[1]):
                log_odds[i, j] += slope * predictors[k, j]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Coefficient, or coefficient vector under one prior, which applies after subtracting ``shift``."""

    prior: Prior
    size: int | None = None  # length of the vector; None for a scalar
    dim: str | None = None  # name of the vector's coordinate
    logit: bool = False  # the prior is on (0, 1), and the predictors use the logit
    shift: float | FloatArray = 0.0  # shape (size,)


@dataclass(frozen=True, slots=True)
class Group:
    """Effects for a grouping factor with their own scale, mostly summing to zero.

    Cells and slopes do not sum to zero.
    """

    scale: Prior
    size: int
    dim: str
    # each within one group of every other factor; many and small, so that the engine integrates them
    is_cell: bool = False
    is_slope: bool = False  # a vector of slopes for each group of another factor, group by group
    kept: IndexArray | None = None  # cells whose effects to return, ascending; None for all


@dataclass(frozen=True, slots=True)
class Varying:
    """Group-specific deviations for a coefficient vector, with ``group`` of shape (observation,)."""

    name: str  # of the factor
    coefficient: str  # of the vector
    group: IndexArray


@dataclass(frozen=True, slots=True)
class LinearPredictor:
    """One linear predictor for a block of observations, with arrays for its terms."""

    # multipliers of the coefficients, shape (observation,) or (observation, size)
    coefficients: Mapping[str, FloatArray] = field(default_factory=dict)
    groups: Mapping[str, IndexArray] = field(default_factory=dict)  # shape (observation,)
    varying: Varying | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """Probability (1 − Δ)·C·π + Δ·E, or C·π without Δ, with an effect added to its logit."""

    residual: FloatArray | None = None  # Δ, shape (observation,)

    def log_odds(self, z: Sequence[FloatArray]) -> FloatArray:
        """Return the probability's logit plus the effect, from linear predictors for π, C, E and effect."""
        chance = expit(z[0]) * expit(z[1])
        if self.residual is not None:
            chance = (1 - self.residual) * chance + self.residual * expit(z[2])
        chance = np.clip(chance, 1e-12, 1 - 1e-12)
        return logit(chance) + z[-1]


@dataclass(frozen=True, slots=True)
class Block:
    """Block of binomial observations k ~ Binomial(n, p), shape (observation,).

    Logit p is given by ``link``, or is the only predictor.
    """

    successes: IndexArray
    trials: IndexArray
    predictors: tuple[LinearPredictor, ...]
    link: Product | None = None


@dataclass(frozen=True, slots=True)
class Structure:
    """Coefficients, grouping factors and observation blocks that make up a model.

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
        """Name of the factor whose groups are cells, or None."""
        return next((name for name, group in self.groups.items() if group.is_cell), None)

    @property
    def slopes(self) -> str | None:
        """Name of the factor whose effects are slopes, or None."""
        return next((name for name, group in self.groups.items() if group.is_slope), None)


def draw_priors(structure: Structure, n: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Return ``n`` prior draws of all variables, named as in a fit, each of shape (draw, ...)."""
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
