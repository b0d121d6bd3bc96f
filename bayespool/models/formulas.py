"""Formulas of log odds: coefficients, slopes and effects of groups, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.compiled import compiled
from bayespool.models.priors import CORRELATION, FREEDOM, SCALE, Prior, parse_prior


@dataclass(frozen=True, slots=True)
class Effect:
    """Effects of the groups of a coordinate, normal with mean 0; most sum to zero.

    Attributes
    ----------
    dim : str
        The coordinate: ``topic``, ``run``, ``organization``; or ``organization_topic``, whose groups are
        cells of an organization and a topic; or ``organization_predictor``, the differences of an
        organization's slopes from the common ones. Effects of the last two do not sum to zero.
    scale : Prior or str
        Of their standard deviation; a string such as ``HalfNormal(0.5)`` becomes a prior.
    freedom, correlation : Prior or str
        For effects of organizations: priors of the degrees of freedom of the t distribution of a new one's,
        and of its correlation with that on the rung of relevance below.
    centered : bool
        Whether the sampler sees effects themselves, not standardized ones, where much is judged. The model is
        the same.
    """

    dim: str
    scale: Prior = SCALE
    centered: bool = False
    freedom: Prior = FREEDOM
    correlation: Prior = CORRELATION

    def __post_init__(self) -> None:
        for name in ("scale", "freedom", "correlation"):
            object.__setattr__(self, name, parse_prior(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Linear:
    """Sum of intercepts, slopes times predictors, and effects.

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
        """Names of its coefficients."""
        return self.intercepts if self.slopes is None else (*self.intercepts, self.slopes)

    @property
    def intercepts(self) -> tuple[str, ...]:
        """Names of the coefficients that are added."""
        if self.intercept is None:
            return ()
        return (self.intercept,) if isinstance(self.intercept, str) else self.intercept

    @property
    def parts(self) -> tuple[Linear, ...]:
        """Its linear predictors: itself."""
        return (self,)

    @property
    def outer(self) -> Linear:
        """The part that is added to the log odds."""
        return self


@dataclass(frozen=True, slots=True)
class Chances:
    """The chance (1 − Δ)·C·π + Δ·E, or C·π, with an effect added to its log odds.

    Δ is the unjudged share of a run's top n on a topic.

    Attributes
    ----------
    precision : Linear
        Log odds of π.
    factor : str
        Name of the coefficient C, whose prior is on (0, 1).
    background : Linear or None
        Log odds of E; without it the chance is C·π.
    effect : Linear
        Added to the log odds.
    """

    precision: Linear
    factor: str
    background: Linear | None = None
    effect: Linear = Linear(effects=("organization",))

    @property
    def parts(self) -> tuple[Linear, ...]:
        """Linear predictors: of π, C, E where there is one, and the effect."""
        background = () if self.background is None else (self.background,)
        return (self.precision, Linear(self.factor), *background, self.effect)

    @property
    def outer(self) -> Linear:
        """The part that is added to the log odds."""
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
    """Log odds by a formula and the effects in it, shape (draw, document or 1); see `ModelSpec.log_odds`."""
    if isinstance(formula, Linear):
        total = np.zeros((1, 1))
        for name in formula.intercepts:
            total = total + draws[name][source][:, None]
        for name in formula.effects:
            if name in effects:
                total = total + _of_groups(draws[f"{name}_effect"], at[effects[name]], source)
        if formula.slopes is None:
            return total
        assert predictors is not None
        return document_log_odds(total, draws[formula.slopes][source], predictors)

    def of(linear: Linear) -> FloatArray:
        return evaluate(linear, effects, draws, at, predictors, residual, source)

    factor = draws[formula.factor][source][:, None]
    if formula.background is None:
        p = factor / (1 + np.exp(-of(formula.precision)))
    else:
        p = (1 - residual) * factor / (1 + np.exp(-of(formula.precision)))
        p = p + residual / (1 + np.exp(-of(formula.background)))
    return np.asarray(np.log(p) - np.log1p(-p) + of(formula.effect))


def _of_groups(values: FloatArray, group: Any, source: Any) -> FloatArray:
    """Effects of one group or of several, shape (draw, 1 or observation)."""
    return np.asarray(values[source, group][:, None] if np.ndim(group) == 0 else values[source][:, group])


def document_log_odds(intercept: FloatArray, beta: FloatArray, predictors: FloatArray) -> FloatArray:
    """Log odds, shape (draw, document), to the bit the same whatever other draws and documents there are.

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
