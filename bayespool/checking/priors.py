"""Draws from a model's priors, and log odds of its observations given draws, by its `Structure`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bayespool.models import Structure, draw_prior
from bayespool.models.structure import Block
from bayespool.posterior import slope_effect

__all__ = ["block_log_odds", "draw_priors"]

FloatArray = npt.NDArray[np.float64]


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
        independent normal ones less their mean, zero for a factor of a single group; of cells, those kept,
        and slopes independent ones.
    """
    draws = {}
    for name, coefficient in structure.coefficients.items():
        draws[name] = coefficient.shift + draw_prior(coefficient.prior, _shape(n, coefficient.size), rng)
    for name, group in structure.groups.items():
        sigma, size = draw_prior(group.scale, n, rng), group.size if group.kept is None else len(group.kept)
        effect = sigma[:, None] * rng.normal(size=(n, size))
        if not group.is_cell and not group.is_slope and size:
            effect -= effect.mean(axis=1, keepdims=True)
        draws |= {f"sigma_{name}": sigma, f"{name}_effect": effect}
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
        Of the model's variables. Effects that are not among them are taken as zero.
    """
    predictors = []
    for predictor in block.predictors:
        z = np.zeros((1, len(block.successes)))
        for name, values in predictor.coefficients.items():
            coefficient = structure.coefficients[name]
            x = np.log(draws[name]) - np.log1p(-draws[name]) if coefficient.logit else draws[name]
            z = z + (x[:, None] * values if coefficient.size is None else x @ values.T)
        for name, index in predictor.groups.items():
            if f"{name}_effect" in draws:
                z = z + draws[f"{name}_effect"][:, index]
        varying = predictor.varying
        if varying is not None and f"{varying.name}_effect" in draws:
            x = predictor.coefficients[varying.coefficient]
            own = draws[f"{varying.name}_effect"]
            z = z + slope_effect(own.reshape(len(own), -1, x.shape[1]), x, varying.group)
        predictors.append(z)
    return predictors[0] if block.link is None else block.link.log_odds(predictors)
