"""Weights of models by their predictions of held-out organizations of the pool."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from bayespool.inference import Density, Fit, Rows
from bayespool.inference.laplace import approximate, one_thread
from bayespool.posterior.preparation import Prepared

if TYPE_CHECKING:
    from bayespool.models import LinearEvidence

FloatArray = npt.NDArray[np.float64]

_N_FOLDS = 5
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(15)
_SHARES = _SHARES / _SHARES.sum()
_LOGISTIC_TO_NORMAL = 256 / (75 * np.pi**2)  # (16√3 / 15π)²: scale of a logistic curve as a normal one
_MIN_ORGANIZATIONS = 4
_PRIOR_ORGANIZATIONS = 0.1  # prior weight of each model


def shares_of_models(prepared: Mapping[str, Prepared], fits: Mapping[str, Fit]) -> list[float]:
    """Weights of models in their mixture: `stacking_weights`, equal ones with fewer than four organizations
    or a model without predictors.
    """
    from bayespool.models import LinearEvidence

    evidence = [part.evidence for part in prepared.values()]
    can_tell = all(
        isinstance(part, LinearEvidence) and len(part.organizations) >= _MIN_ORGANIZATIONS
        for part in evidence
    )
    if len(prepared) == 1 or not can_tell:
        return [1 / len(prepared)] * len(prepared)
    return [float(share) for share in stacking_weights(*log_predictive_densities(prepared, fits))]


def log_predictive_densities(
    prepared: Mapping[Any, Prepared], fits: Mapping[Any, Fit]
) -> tuple[FloatArray, FloatArray]:
    """Log predictive densities of the relevant hidden documents of runs of held-out organizations.

    Each of five folds of organizations is predicted by the Laplace approximation given the others, with new
    organizations' effects. The score is of a run's total, the target of estimates. No random number takes
    part, but that approximations start from the scales in the fits' draws.

    Parameters
    ----------
    prepared : mapping of str to Prepared
        Models with predictors on the same hidden documents.
    fits : mapping of str to Fit
        Fits of these models to all of the evidence: starting points of the approximations.

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
        whole, n_organizations = fits[name].draws(), len(evidence.organizations)
        runs, run = np.unique(evidence.run, return_inverse=True)
        density = np.empty(len(runs))
        organization = np.zeros(len(runs), dtype=np.int64)
        organization[run] = evidence.organization
        for fold in range(min(_N_FOLDS, n_organizations)):
            held_out = np.arange(n_organizations) % _N_FOLDS == fold
            seen, held = evidence.of_organizations(~held_out), evidence.of_organizations(held_out)
            near = whole | _of_organizations(whole, ~held_out)
            if not len(held.run):
                continue
            with one_thread():
                density[np.unique(run[held_out[evidence.organization]])] = _of_runs(model, seen, held, near)
        columns.append(density)
        weight = 1 / np.bincount(organization, minlength=n_organizations)[organization]
    return np.column_stack(columns), weight


def _of_runs(
    model: Prepared, seen: LinearEvidence, held: LinearEvidence, near: Mapping[str, FloatArray]
) -> FloatArray:
    """Log predictive densities of the totals of runs, shape (run,).

    A total is normal given scales and the organization's effect, which is integrated by Gauss–Hermite nodes.
    Mean and variance depend on the other parameters and slopes, normal themselves. Effects of organization ×
    topic, of standard deviation τ, draw chances to a half and turn a count's variance V into V + τ²V²
    (Williams 1982, Extra-binomial variation in logistic linear models, Applied Statistics 31, 144–148).
    """
    density, rows = Density(model.structure(seen, ())), np.lexsort((held.topic, held.run))
    (predictor,) = model.structure(held).blocks[-1].predictors
    known_effects = {n: g for n, g in predictor.groups.items() if model.spec.effects[n].dim == "topic"}
    documents = Rows(density.places, dataclasses.replace(predictor, groups=known_effects, varying=None), rows)
    far = (held.predictors[rows] ** 2).sum(axis=1)
    of_predictors = (
        np.arange(density.size)[density.slices[model.spec.slopes]]
        if model.spec.slopes
        else np.zeros(0, dtype=np.intp)
    )
    n, of_topic = held.n_hidden[rows].astype(float), _starts(held.run[rows], held.topic[rows])
    of_run = _starts(held.run[rows])
    first, run = np.searchsorted(of_topic, of_run), np.searchsorted(of_run, of_topic, side="right") - 1
    known = np.add.reduceat(held.n_hidden_relevant[rows], of_run)[:, None]
    new, used = np.sqrt(1 + 1 / len(seen.organizations)), documents.parameters
    approximation, log_densities = approximate(density, near=near), []
    for k, share in enumerate(approximation.weight):
        scales = dict(zip(density.scales, np.exp(approximation.theta[k]), strict=True))
        x, gaussian = approximation.mean[k], approximation.gaussian_at(k)
        mean, spread = documents.predict(x, gaussian)
        tau, sigma = scales.get("interaction", 0.0), scales.get("slope", 0.0)
        root = np.sqrt(1 + _LOGISTIC_TO_NORMAL * (tau**2 + spread + sigma**2 * far))
        effects = new * scales.get("organization", 0.0) * _NODES
        totals, of_rankings, slopes = documents.totals(mean, root, n, effects, of_topic, run)
        of_rankings += tau**2 * of_rankings**2
        variance = np.add.reduceat(of_rankings, first) + 1 / 12
        variance += sigma**2 * (slopes[of_predictors] ** 2).sum(axis=0)
        flat = slopes.reshape(density.size, -1)
        if flat.shape[1] > len(used):  # the form with fewer columns of the covariance
            covariance, slopes = gaussian.solve(np.eye(density.size)[:, used])[used], slopes[used]
            variance += (slopes * np.tensordot(covariance, slopes, axes=1)).sum(axis=0)
        else:
            variance += (flat * gaussian.solve(flat)).sum(axis=0).reshape(variance.shape)
        off = known - totals
        log_densities.append(
            np.log(share * _SHARES) - 0.5 * (off**2 / variance + np.log(2 * np.pi * variance))
        )
    return np.asarray(logsumexp(log_densities, axis=(0, 2)))


def _of_organizations(draws: Mapping[str, FloatArray], kept: npt.NDArray[np.bool_]) -> dict[str, FloatArray]:
    """Draws of the organizations' own effects and slopes, for a mask of shape (organization,)."""
    own = {"organization_effect": draws["organization_effect"][:, kept]}
    if "slope_effect" in draws:
        slopes = draws["slope_effect"].reshape(len(own["organization_effect"]), len(kept), -1)[:, kept]
        own["slope_effect"] = slopes.reshape(len(slopes), -1)
    return own


def _starts(*keys: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """First rows of equal values in sorted rows, shape (value,)."""
    changed = np.any([np.diff(key, prepend=-1) != 0 for key in keys], axis=0)
    return np.flatnonzero(changed)


def stacking_weights(densities: FloatArray, weight: FloatArray) -> FloatArray:
    """Mixture weights that maximize the weighted log predictive density, shrunk a little to equal ones.

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
    for _ in range(20_000):  # converges slowly where models hardly differ, but a step is cheap
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
    """Draws of the mixture, shape (draw, ...): each is one model's, models in proportion to their weights."""
    n = len(draws[0])
    mixed: npt.NDArray[np.int32] = np.stack(draws)[members_of_draws(n, weights, rng), np.arange(n)]
    return mixed


def members_of_draws(n: int, weights: FloatArray, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Model of each of n draws of the mixture, in proportion to the weights, shape (draw,)."""
    position = (rng.permutation(n) + rng.random(n)) / n
    return np.searchsorted(np.cumsum(weights), position).clip(max=len(weights) - 1)
