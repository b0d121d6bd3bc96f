"""Prior draws, log odds and simulated counts of a model, computed from its `Structure`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayespool.experiments.hidden import without_organizations
from bayespool.models import Evidence, LinearEvidence, Structure, draw_prior
from bayespool.models.structure import Block
from bayespool.posterior import PreparedModel, new_slopes, slope_effect

FloatArray = npt.NDArray[np.float64]


def draw_priors(structure: Structure, n: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    """``n`` prior draws of all variables, named as in a fit, each of shape (draw, ...)."""
    draws = {}
    for name, coefficient in structure.coefficients.items():
        draws[name] = coefficient.shift + draw_prior(coefficient.prior, _shape(n, coefficient.size), rng)
    for name, group in structure.groups.items():
        sigma, size = draw_prior(group.scale, n, rng), group.size if group.kept is None else len(group.kept)
        effect = sigma[:, None] * rng.normal(size=(n, size))
        if not group.is_cell and not group.is_slope and size:  # effects of a factor sum to zero
            effect -= effect.mean(axis=1, keepdims=True)
        draws |= {f"sigma_{name}": sigma, f"{name}_effect": effect}
    return draws


def _shape(n: int, size: int | None) -> tuple[int, ...]:
    return (n,) if size is None else (n, size)


def block_log_odds(structure: Structure, block: Block, draws: Mapping[str, FloatArray]) -> FloatArray:
    """Log odds of a block's observations, shape (draw, observation), given draws of shape (draw, ...);
    missing effects are zero.
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


def simulate_counts(
    prepared: PreparedModel, evidence: Evidence, seen: npt.NDArray[np.bool_], rng: np.random.Generator
) -> tuple[dict[str, FloatArray], Evidence]:
    """Simulate a model: parameters from the priors, shape (1, ...), with effects of the seen organizations
    alone, and evidence with simulated relevant documents of all organizations, of which the last is new.
    """
    truth = draw_priors(prepared.structure(without_organizations(evidence, seen)), 1, rng)
    # the intercept is a mean over the seen organizations, itself off the population's
    new_effect = rng.normal(scale=truth["sigma_organization"] * np.sqrt(1 + 1 / seen.sum()))
    new = {"organization_effect": new_effect[None]}
    if "sigma_interaction" in truth:
        n_topics = len(evidence.query_ids)
        new["interaction_effect"] = truth["sigma_interaction"][:, None] * rng.normal(size=(1, n_topics))
    if "sigma_slope" in truth and isinstance(evidence, LinearEvidence):
        new["slope_effect"] = new_slopes(truth["sigma_slope"], 1, len(evidence.predictor_names), rng)[:, 0]
    effects = {name: np.append(truth[name], own, axis=1) for name, own in new.items()}
    structure = prepared.structure(evidence)
    counts: dict[str, Any] = {}
    for block in structure.blocks:
        p = expit(block_log_odds(structure, block, truth | effects)[0])
        counts[_counted(evidence, block.successes)] = rng.binomial(block.trials, p)
    return truth, dataclasses.replace(evidence, **counts)


def _counted(evidence: Evidence, successes: npt.NDArray[np.int64]) -> str:
    """Name of the evidence's field that holds a block's successes."""
    for field in dataclasses.fields(evidence):
        if getattr(evidence, field.name) is successes:
            return field.name
    raise ValueError("a block's successes are not a field of the evidence")
