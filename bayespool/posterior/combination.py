"""Weights of models that predict held-out organizations of the pool at hand; no truth of a run to score is
touched.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from bayespool.errors import DiagnosticsWarning
from bayespool.inference import Fit, Laplace
from bayespool.posterior.drawing import add_moments
from bayespool.posterior.preparation import Prepared

if TYPE_CHECKING:
    from bayespool.models import LinearEvidence

__all__ = ["log_predictive_densities", "members_of_draws", "mix", "stacking_weights"]

FloatArray = npt.NDArray[np.float64]

_N_FOLDS = 5
_N_DRAWS = 800
_N_POINTS = 4
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(15)
_SHARES = _SHARES / _SHARES.sum()
_PRIOR_ORGANIZATIONS = 0.1  # the weights start from equal ones that count as much as this many each


def log_predictive_densities(
    prepared: Mapping[Any, Prepared], fits: Mapping[Any, Fit], random_seed: int
) -> tuple[FloatArray, FloatArray]:
    """How well each model predicts the number of relevant hidden documents of runs of organizations it has
    not seen.

    Organizations are dealt out to five folds; each fold is predicted by the Laplace fit to the others, with
    new organizations' effects. What is scored is a run's total, because that is what an estimate is wanted
    of; it is taken as normal given the parameters.

    Parameters
    ----------
    prepared : mapping of str to Prepared
        Models with predictors on the same hidden documents.
    fits : mapping of str to Fit
        Of these models to all of the evidence: where the fits to parts of it look first.
    random_seed : int

    Returns
    -------
    densities : ndarray of float, shape (run, model)
        Log predictive densities.
    weight : ndarray of float, shape (run,)
        One over the number of runs of the organization, so that each organization counts once.
    """
    from bayespool.models import LinearEvidence

    columns, weight = [], np.zeros(0)
    for name, model in prepared.items():
        evidence = model.evidence
        if not isinstance(evidence, LinearEvidence):
            raise TypeError(f"{model.model} has no predictors")
        means = {variable: values.mean(axis=0) for variable, values in fits[name].draws().items()}
        n_organizations = len(evidence.organizations)
        runs, run = np.unique(evidence.run, return_inverse=True)
        density = np.empty(len(runs))
        organization = np.zeros(len(runs), dtype=np.int64)
        organization[run] = evidence.organization
        for fold in range(min(_N_FOLDS, n_organizations)):
            held_out = np.arange(n_organizations) % _N_FOLDS == fold
            seen = evidence.of_organizations(~held_out)
            near = means | {"organization_effect": means["organization_effect"][~held_out]}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticsWarning)  # a rough fit weighs less
                fit = Laplace(draws=_N_DRAWS, n_points=_N_POINTS, check=False).fit(
                    model.spec, seen, random_seed + fold, near=near
                )
            rows = np.flatnonzero(held_out[evidence.organization])
            rows = rows[np.lexsort((evidence.topic[rows], run[rows]))]
            draws = fit.draws()
            tau = model.interaction_scale(draws, seen)
            mean, variance = _moments_of_runs(evidence, rows, run[rows], len(seen.organizations), draws, tau)
            predicted, start = np.unique(run[rows], return_index=True)
            k = np.add.reduceat(evidence.n_hidden_relevant[rows], start)
            variance += 1 / 12
            log_normal = -0.5 * ((k - mean) ** 2 / variance + np.log(2 * np.pi * variance))
            log_normal += np.log(_SHARES)[:, None]
            density[predicted] = logsumexp(log_normal, axis=(0, 1)) - np.log(len(mean))
        columns.append(density)
        weight = 1 / np.bincount(organization, minlength=n_organizations)[organization]
    return np.column_stack(columns), weight


def _moments_of_runs(
    evidence: LinearEvidence,
    rows: npt.NDArray[np.intp],
    run: npt.NDArray[np.intp],
    n_organizations: int,
    draws: Mapping[str, FloatArray],
    tau: float,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance, given the parameters of each draw and an effect of the new organization, of the
    number of relevant documents in some rows by run, in the order of runs and topics; two arrays of shape
    (draw, effect, run).

    No random number takes part: effects are the nodes of Gauss and Hermite, and those of organization × topic
    add to the variance (`bayespool.posterior.interaction_scale`).
    """
    scale = draws["sigma_organization"] * np.sqrt(1 + 1 / n_organizations)
    position = np.unique(run, return_inverse=True)[1].astype(np.int64)
    mean, variance = np.zeros((2, len(scale), len(_NODES), int(position.max(initial=-1)) + 1))
    add_moments(
        draws["mu"],
        draws["beta"],
        draws["topic_effect"],
        np.exp(-scale[:, None] * _NODES),
        tau,
        evidence.predictors[rows],
        evidence.topic[rows],
        position,
        evidence.n_hidden[rows],
        mean,
        variance,
    )
    return mean, variance


def stacking_weights(densities: FloatArray, weight: FloatArray) -> FloatArray:
    """Mixture weights that maximise the weighted log predictive density, drawn a little towards equal ones.

    Parameters
    ----------
    densities : ndarray of float, shape (observation, model)
    weight : ndarray of float, shape (observation,)

    Returns
    -------
    ndarray of float, shape (model,)
        Sum to 1.

    Examples
    --------
    >>> stacking_weights(np.log([[0.9, 0.1]] * 50), np.ones(50)).round(3).tolist()
    [0.998, 0.002]
    """
    n_models = densities.shape[1]
    weights = np.full(n_models, 1 / n_models)
    for _ in range(20_000):  # slow where models hardly differ, and quick all the same
        log_share = np.log(weights) + densities
        share = np.exp(log_share - logsumexp(log_share, axis=1, keepdims=True))
        updated = (weight[:, None] * share).sum(axis=0) + _PRIOR_ORGANIZATIONS
        updated /= updated.sum()
        if np.abs(updated - weights).max() < 1e-9:
            break
        weights = updated
    return weights


def mix(
    draws: list[npt.NDArray[np.int32]], weights: FloatArray, rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Draws of the mixture: each draw is one model's, models in proportion to their weights.

    Parameters
    ----------
    draws : list of ndarray, shape (draw, ...)
        As many of each model.
    weights : ndarray of float, shape (model,)
    rng : numpy.random.Generator
    """
    n = len(draws[0])
    mixed: npt.NDArray[np.int32] = np.stack(draws)[members_of_draws(n, weights, rng), np.arange(n)]
    return mixed


def members_of_draws(n: int, weights: FloatArray, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Which model each of n draws of the mixture is of, in proportion to the weights, shape (draw,)."""
    position = (rng.permutation(n) + rng.random(n)) / n
    return np.searchsorted(np.cumsum(weights), position).clip(max=len(weights) - 1)
