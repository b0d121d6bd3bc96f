"""Weights of fitted models, and the mixture of them on one rung."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, ndtr

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.compiled import one_thread
from bayespool.inference import Density, Engine, Fit, Rows
from bayespool.inference.cells import normal_nodes
from bayespool.inference.laplace import approximate
from bayespool.posterior.distance import LogOdds, NewOrganizations, below_pool, new_organizations
from bayespool.posterior.preparation import DEPTHS, PreparedModel, ScoringProblem
from bayespool.posterior.steps import (
    FittedModel,
    HeldOut,
    Mixture,
    NewKind,
    RungPosterior,
    scale_of_new,
)

if TYPE_CHECKING:
    from bayespool.inference import Fit
    from bayespool.models import LinearEvidence


_N_FOLDS = 5
_NODES, _SHARES = normal_nodes(15)
_LOGISTIC_TO_NORMAL = 256 / (75 * np.pi**2)  # (16√3 / 15π)²: scale of a logistic curve as a normal one
_MIN_ORGANIZATIONS = 4
_PRIOR_ORGANIZATIONS = 0.1  # prior weight of each model


@dataclass(frozen=True, eq=False)
class HeldOutTotals:
    """Predictions of the relevant hidden documents of runs of held-out organizations, by model.

    Attributes
    ----------
    log_density : ndarray of float, shape (run, model)
        Log predictive densities of the totals.
    at_most, at_least : ndarray of float, shape (run, model)
        Predictive chances of as many or fewer, and of as many or more.
    weight : ndarray of float, shape (run,)
        One over the number of runs of the organization, so that each organization counts once.
    """

    log_density: FloatArray
    at_most: FloatArray
    at_least: FloatArray
    weight: FloatArray

    def validated(self, shares: Sequence[float], prob: float = 0.95) -> HeldOut:
        """How often equal-tailed intervals of the mixture with these shares hold the totals."""
        tail = (1 - prob) / 2
        inside = (self.at_most @ shares > tail) & (self.at_least @ shares > tail)
        n = self.weight.sum()
        return HeldOut(float(self.weight @ inside / n) if n else float("nan"), round(n))


@dataclass(frozen=True)
class Stacking:
    """Shares of models in their mixture, and what they say of held-out organizations."""

    shares: tuple[float, ...]
    held_out: HeldOut


def stack(prepared: Mapping[str, PreparedModel], fits: Mapping[str, Fit]) -> Stacking:
    """Shares of models by `stacking_weights`, or equal ones with too little to tell by."""
    from bayespool.models import LinearEvidence

    evidence = [part.evidence for part in prepared.values()]
    can_tell = all(
        isinstance(part, LinearEvidence) and len(part.organizations) >= _MIN_ORGANIZATIONS
        for part in evidence
    )
    if len(prepared) == 1 or not can_tell:
        return Stacking((1 / len(prepared),) * len(prepared), HeldOut())
    totals = held_out_totals(prepared, fits)
    shares = tuple(stacking_weights(totals.log_density, totals.weight).tolist())
    return Stacking(shares, totals.validated(shares))


def held_out_totals(prepared: Mapping[Any, PreparedModel], fits: Mapping[Any, Fit]) -> HeldOutTotals:
    """Predict the relevant hidden documents of runs of held-out organizations.

    Each of five folds of organizations is predicted by the Laplace approximation given the others, with new
    organizations' effects. The score is of a run's total, the target of estimates. No random number takes
    part, but that approximations start from the scales in the fits' draws.

    Parameters
    ----------
    prepared : mapping of str to PreparedModel
        Models with predictors on the same hidden documents.
    fits : mapping of str to Fit
        Fits of these models to all of the evidence: starting points of the approximations.
    """
    from bayespool.models import LinearEvidence

    columns, weight = [], np.zeros(0)
    for name, model in prepared.items():
        evidence = model.evidence
        if not isinstance(evidence, LinearEvidence):
            raise TypeError(f"{model.model} has no predictors")
        whole, n_organizations = fits[name].draws(), len(evidence.organizations)
        runs, run = np.unique(evidence.run, return_inverse=True)
        predicted = np.empty((3, len(runs)))
        organization = np.zeros(len(runs), dtype=np.int64)
        organization[run] = evidence.organization
        for fold in range(min(_N_FOLDS, n_organizations)):
            held_out = np.arange(n_organizations) % _N_FOLDS == fold
            seen, held = evidence.of_organizations(~held_out), evidence.of_organizations(held_out)
            near = whole | _of_organizations(whole, ~held_out)
            if not len(held.run):
                continue
            with one_thread():
                of_fold = np.unique(run[held_out[evidence.organization]])
                predicted[:, of_fold] = _of_runs(model, seen, held, near)
        columns.append(predicted)
        weight = 1 / np.bincount(organization, minlength=n_organizations)[organization]
    log_density, at_most, at_least = np.stack(columns, axis=-1)
    return HeldOutTotals(log_density, at_most, at_least, weight)


def _of_runs(
    model: PreparedModel, seen: LinearEvidence, held: LinearEvidence, near: Mapping[str, FloatArray]
) -> FloatArray:
    """Log predictive densities of totals of runs, and chances of as few and as many, shape (3, run)."""
    # A total is normal given scales and the organization's effect, which is integrated by Gauss–Hermite
    # nodes. Mean and variance depend on the other parameters and slopes, normal themselves. Effects of
    # organization × topic, of standard deviation τ, draw chances to a half and turn a count's variance V into
    # V + τ²V² (Williams 1982, Extra-binomial variation in logistic linear models, Applied Statistics 31,
    # 144–148).
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
    approximation, log_densities, tails = approximate(density, near=near), list[FloatArray](), []
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
        ends = np.stack([off + 0.5, 0.5 - off]) / np.sqrt(variance)
        tails.append(share * (ndtr(ends) @ _SHARES))
    return np.vstack([logsumexp(log_densities, axis=(0, 2)), np.sum(tails, axis=0)])


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
    """Mixture weights, shape (model,), that maximize the weighted log predictive density, shrunk a little.

    Parameters
    ----------
    densities : ndarray of float, shape (observation, model)
    weight : ndarray of float, shape (observation,)

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
    return np.stack(draws)[members_of_draws(n, weights, rng), np.arange(n)]


def members_of_draws(n: int, weights: FloatArray, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Model of each of n draws of the mixture, in proportion to the weights, shape (draw,)."""
    position = (rng.permutation(n) + rng.random(n)) / n
    return np.searchsorted(np.cumsum(weights), position).clip(max=len(weights) - 1)


def component_of(
    problem: ScoringProblem,
    prepared: PreparedModel,
    fit: Fit,
    new: NewOrganizations,
    shift: FloatArray | float = 0.0,
) -> FittedModel:
    """Fitted model of a problem's completion; runs whose organization is evidence have its effects.

    On the first rung ``shift``, of shape (draw, run), is added to these, and log odds below the pool have
    slopes on rank.
    """
    draws, of_run = fit.draws(), prepared.organization
    names = [problem.collection.organizations[o] for o in problem.organization]
    n_organizations = len(prepared.evidence.organizations)
    effect = new.effects(scale_of_new(draws["sigma_organization"], n_organizations), names)
    known = of_run >= 0
    effect[:, known] = draws["organization_effect"][:, of_run[known]]
    log_odds: LogOdds = partial(prepared.log_odds, draws)
    if not problem.asked.given:
        effect = effect + shift
    if not problem.asked.given and problem.below_pool.any():
        log_odds = below_pool(
            prepared.spec,
            log_odds,
            problem.below_pool,
            problem.held_out,
            len(effect),
            problem.collection.query_ids,
            new.random_seed,
        )
    scale, cells = draws.get("sigma_interaction"), dict[int, FloatArray]()
    if scale is not None and prepared.known:
        of_cells = draws["interaction_effect"].reshape(len(scale), len(prepared.known), -1)
        first = [int(problem.organization[of_run == o][0]) for o in prepared.known]
        cells = {o: of_cells[:, k] for k, o in enumerate(first)}
    slopes, whose = _slopes(prepared, draws, names, new)
    return FittedModel(
        model=prepared.model,
        fit=fit,
        log_odds=log_odds,
        effect=effect,
        new=new,
        cell_scale=scale,
        known=known,
        cells=cells,
        slopes=slopes,
        whose=whose,
        predictors=prepared.predictors,
    )


def _slopes(
    prepared: PreparedModel, draws: Mapping[str, FloatArray], names: Sequence[str], new: NewOrganizations
) -> tuple[FloatArray | None, npt.NDArray[np.int64]]:
    """Slopes less the common ones, shape (draw, organization, predictor), and whose they are, (run,)."""
    if "sigma_slope" not in draws:
        return None, np.zeros(len(names), dtype=np.int64)
    keys = list(zip(names, prepared.organization.tolist(), strict=True))
    distinct, predictors = sorted(set(keys)), tuple(prepared.spec.predictors)
    slopes = new.slopes(draws["sigma_slope"], predictors, [name for name, _ in distinct])
    of_known = draws["slope_effect"].reshape(len(slopes), -1, len(predictors))
    for i, (_, organization) in enumerate(distinct):
        if organization >= 0:
            slopes[:, i] = of_known[:, organization]
    return slopes, np.array([distinct.index(key) for key in keys], dtype=np.int64)


# C runs from 0.05 to 0.65 over collections, to 0.8 for runs unlike the pool (research/decisions/diary.md);
# published constants are 0.42 and 0.91. 95 % of Beta(1.2, 2.5) is between 0.02 and 0.79.
WITHOUT_POOL: Mapping[str, str] = MappingProxyType({"c": "Beta(1.2, 2.5)"})
"""Prior of the interpolated model where the pool hides no document."""

WITHOUT_POOL_ABOVE: Mapping[str, str] = MappingProxyType(
    {"c": "Beta(6, 2)", "log_ratio": "Normal(-0.8, 0.6)"}
)
"""The same above the first rung: as many unjudged as judged relevant documents are highly relevant."""

OF_KINDS: Mapping[str, str] = MappingProxyType({"sigma_slope": "HalfNormal(1)"})
"""Priors where kinds are held out: kinds differ more than organizations."""

_ORDER_SEED = 17  # of the order of draws, the same on all rungs


def fit_rung(
    problem: ScoringProblem,
    models: Sequence[str],
    engine: Engine,
    priors: Mapping[str, str],
    n_draws: int,
    random_seed: int,
    *,
    shift: FloatArray | float = 0.0,
    new_kind: FloatArray | None = None,
    kinds: Collection | None = None,
    below: RungPosterior | None = None,
) -> tuple[RungPosterior, list[float]]:
    """Fit the models of a rung, and again to ``kinds`` for runs that may be new; also their shares."""
    rung = problem.asked
    if not problem.has_pool_evidence:
        priors = {**(WITHOUT_POOL if not rung.given else WITHOUT_POOL_ABOVE), **priors}
    ready = {model: problem.prepare(model, priors) for model in models}
    others = None
    if new_kind is not None and kinds is not None and problem.has_pool_evidence:
        of_kinds = dataclasses.replace(problem, collection=kinds)
        others = of_kinds, {model: of_kinds.prepare(model, {**OF_KINDS, **priors}) for model in models}
    return fit_prepared(
        (problem, ready), others, engine, n_draws, random_seed, shift=shift, new_kind=new_kind, below=below
    )


def fit_prepared(
    usual: tuple[ScoringProblem, Mapping[str, PreparedModel]],
    others: tuple[ScoringProblem, Mapping[str, PreparedModel]] | None,
    engine: Engine,
    n_draws: int,
    random_seed: int,
    *,
    shift: FloatArray | float = 0.0,
    new_kind: FloatArray | None = None,
    below: RungPosterior | None = None,
) -> tuple[RungPosterior, list[float]]:
    """`fit_rung` from prepared models by name, with the evidence of organizations and of kinds."""
    rung = usual[0].asked
    kind = next(iter(usual[1].values())).spec.evidence
    depth = max(usual[0].measure.cutoff, DEPTHS[kind])
    seeds = np.random.SeedSequence([random_seed, depth, rung.above_floor])

    def mixture_of(
        problem: ScoringProblem,
        prepared: Mapping[str, PreparedModel],
        lower: Mixture | None,
        near: Sequence[float] | None = None,
    ) -> tuple[Mixture, Stacking]:
        """Fitted models with their draws, and their shares; those of kinds from the shares ``near`` them."""
        mix_seed, *model_seeds = seeds.spawn(1 + len(prepared))
        fits, keys = {}, []
        for (model, part), model_seed in zip(prepared.items(), model_seeds, strict=True):
            seed = int(model_seed.generate_state(1)[0])
            keys.append((part.key, seed))
            fits[model] = problem.shared.once(("fit", *keys[-1]), partial(part.fit, engine, seed))
        if near is None:
            stacking = problem.shared.once(("shares", *keys), partial(stack, prepared, fits))
        else:  # kinds are too few to choose a model by
            stacking = Stacking(tuple((share + 1 / len(prepared)) / 2 for share in near), HeldOut())
        of_models = {} if lower is None else {part.model: part.new for part in lower.components}
        above, components = (rung.above_floor,) if rung.given else (), []
        for (model, part), key in zip(prepared.items(), keys, strict=True):
            below_it, effect = of_models.get(part.model), part.spec.effects["organization"]
            new = problem.shared.once(
                ("new organizations", *key, random_seed, above, below_it),
                partial(
                    new_organizations,
                    effect,
                    fits[model].draws(),
                    part.evidence.organizations,
                    random_seed,
                    above,
                    below_it,
                ),
            )
            components.append(component_of(problem, part, fits[model], new, shift))
        member = members_of_draws(n_draws, np.array(stacking.shares), np.random.default_rng(mix_seed))
        return Mixture(tuple(components), member, np.arange(n_draws)), stacking

    mixture, stacking = mixture_of(*usual, None if below is None else below.mixture)
    shares, held_out = list(stacking.shares), stacking.held_out
    if new_kind is None or others is None:
        return RungPosterior(rung, mixture, held_out=held_out), shares
    lower_kinds = None if below is None or below.new_kind is None else below.new_kind.mixture
    mixture_of_kinds, of_kinds = mixture_of(*others, lower_kinds, shares)
    mean, rng = float(new_kind.mean()), np.random.default_rng([random_seed, _ORDER_SEED])
    order = (rng.permutation(n_draws) + 0.5) / n_draws
    weights = [(1 - mean) * share for share in shares] + [mean * share for share in of_kinds.shares]
    return RungPosterior(rung, mixture, NewKind(mixture_of_kinds, new_kind, order), held_out), weights
