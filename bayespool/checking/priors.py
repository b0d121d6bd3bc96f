"""Draws from a model's priors, and log odds of its observations given draws, by its `Structure`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError

if TYPE_CHECKING:
    from bayespool.models import Prior, Structure
    from bayespool.models.structure import Block

__all__ = ["block_log_odds", "draw_prior", "draw_priors"]

FloatArray = npt.NDArray[np.float64]

_Draw = Callable[..., FloatArray]

_DRAWS: dict[str, tuple[int, _Draw]] = {  # PyMC's names and parameters: how many, and how to draw
    "Beta": (2, lambda rng, size, a, b: rng.beta(a, b, size)),
    "Cauchy": (2, lambda rng, size, m, s: m + s * rng.standard_cauchy(size)),
    "Exponential": (1, lambda rng, size, rate: rng.exponential(1 / rate, size)),
    "Gamma": (2, lambda rng, size, a, rate: rng.gamma(a, 1 / rate, size)),
    "HalfCauchy": (1, lambda rng, size, s: np.abs(s * rng.standard_cauchy(size))),
    "HalfNormal": (1, lambda rng, size, s: np.abs(rng.normal(0, s, size))),
    "HalfStudentT": (2, lambda rng, size, nu, s: np.abs(s * rng.standard_t(nu, size))),
    "InverseGamma": (2, lambda rng, size, a, b: 1 / rng.gamma(a, 1 / b, size)),
    "Laplace": (2, lambda rng, size, m, s: rng.laplace(m, s, size)),
    "LogNormal": (2, lambda rng, size, m, s: rng.lognormal(m, s, size)),
    "Logistic": (2, lambda rng, size, m, s: rng.logistic(m, s, size)),
    "Normal": (2, lambda rng, size, m, s: rng.normal(m, s, size)),
    "StudentT": (3, lambda rng, size, nu, m, s: m + s * rng.standard_t(nu, size)),
    "Uniform": (2, lambda rng, size, low, high: rng.uniform(low, high, size)),
}


def draw_prior(prior: Prior, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draws from one prior.

    Parameters
    ----------
    prior : Prior
    size : int or tuple of int
    rng : numpy.random.Generator

    Raises
    ------
    InputError
        A distribution that is not known here, or a wrong number of parameters.

    Examples
    --------
    >>> from bayespool.models import parse_prior
    >>> draw_prior(parse_prior("Uniform(2, 2)"), 3, np.random.default_rng(1)).tolist()
    [2.0, 2.0, 2.0]
    """
    if prior.distribution not in _DRAWS:
        raise InputError(
            f"no draws from the prior {prior}", hint=f"prior checks know {', '.join(sorted(_DRAWS))}"
        )
    n_parameters, draw = _DRAWS[prior.distribution]
    if len(prior.args) != n_parameters:
        raise InputError(f"the prior {prior} has {len(prior.args)} parameters, not {n_parameters}")
    return draw(rng, size, *prior.args)


def draw_priors(structure: Structure, n: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Draws of all of a model's variables from their priors.

    Parameters
    ----------
    structure : Structure
    n : int
        Number of draws.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to ndarray, shape (draw, ...)
        Coefficients, ``sigma_<name>`` and ``<name>_effect``, as a fit names them. Effects of a factor are
        independent normal ones less their mean, zero for a factor of a single group.
    """
    draws = {}
    for name, coefficient in structure.coefficients.items():
        draws[name] = coefficient.shift + draw_prior(coefficient.prior, _shape(n, coefficient.size), rng)
    for name, group in structure.groups.items():
        sigma = draw_prior(group.scale, n, rng)
        effect = sigma[:, None] * rng.normal(size=(n, group.size))
        draws[f"sigma_{name}"] = sigma
        draws[f"{name}_effect"] = effect - effect.mean(axis=1, keepdims=True) if group.size else effect
    return draws


def _shape(n: int, size: int | None) -> tuple[int, ...]:
    return (n,) if size is None else (n, size)


def block_log_odds(structure: Structure, block: Block, draws: Mapping[str, FloatArray]) -> FloatArray:
    """Log odds of the observations of a block given draws, shape (draw, observation).

    Parameters
    ----------
    structure : Structure
        Of which the block is one.
    block : Block
    draws : mapping of str to ndarray, shape (draw, ...)
        Of all of the model's variables.
    """
    predictors = []
    for predictor in block.predictors:
        z = np.zeros((1, len(block.successes)))
        for name, values in predictor.coefficients.items():
            coefficient = structure.coefficients[name]
            x = np.log(draws[name]) - np.log1p(-draws[name]) if coefficient.logit else draws[name]
            z = z + (x[:, None] * values if coefficient.size is None else x @ values.T)
        for name, index in predictor.groups.items():
            z = z + draws[f"{name}_effect"][:, index]
        predictors.append(z)
    return predictors[0] if block.link is None else block.link.log_odds(predictors)
