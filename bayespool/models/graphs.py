"""PyMC graphs for the models, and the parts that they share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayespool.models.evidence import LinearEvidence, UnjudgedDocuments
from bayespool.models.formulas import Chances, Formula, Linear
from bayespool.models.priors import FAMILIES, Prior
from bayespool.models.spec import OBSERVED, Evidence, ModelSpec

_TWO_SIDED = MappingProxyType({"HalfCauchy": "Cauchy", "HalfNormal": "Normal"})


def group_effect(name: str, scale: Prior, dims: str, *, centered: bool) -> Any:
    """Add the effects ``name_effect`` of a grouping factor and their scale ``sigma_name`` to the model."""
    # Effects of topics, runs and organizations sum to zero. This makes the intercept the mean over these
    # groups, and sample tens of times better than effects that compete with it. A group outside the data has
    # the effect N(0, σ·√(1 + 1/J)), J groups. Centered effects sample better where each group has much data,
    # standardized ones where it has little.
    n_groups = len(pm.modelcontext(None).coords[dims])
    sums_to_zero = dims not in ("organization_topic", "organization_predictor")
    if n_groups < 2 and sums_to_zero:
        scale.variable(f"sigma_{name}")
        return pm.Deterministic(f"{name}_effect", pt.zeros(n_groups), dims=dims)  # the intercept's
    if centered:
        return pm.ZeroSumNormal(f"{name}_effect", sigma=scale.variable(f"sigma_{name}"), dims=dims)
    factor = _scale_or_its_negative(name, scale)
    standard = (pm.ZeroSumNormal if sums_to_zero else pm.Normal)(f"standard_{name}", dims=dims)
    return pm.Deterministic(f"{name}_effect", factor * standard, dims=dims)


def _scale_or_its_negative(name: str, scale: Prior) -> Any:
    """Return a multiplier for standardized effects: the scale ``sigma_name``, or a signed variable.

    The absolute value of the signed variable is the scale.
    """
    # With either sign the effects have the same distribution. A scale near zero is then the middle of what is
    # sampled, which the sampler passes through; log σ has a long tail there, which it seldom leaves.
    distribution = _TWO_SIDED.get(scale.distribution)
    if distribution is None or len(scale.args) != len(FAMILIES[scale.distribution].parameters):
        return scale.variable(f"sigma_{name}")
    symmetric = Prior(distribution, (0.0, *scale.args))
    signed = symmetric.variable(f"standard_sigma_{name}")
    pm.Deterministic(f"sigma_{name}", pt.abs(signed))
    return signed


def binomial(name: str, logit_p: Any, n: Any, observed: Any) -> None:
    """Add observations k ~ Binomial(n, p) given logit p, four times as fast as ``pm.Binomial``."""

    def logp(value: Any, eta: Any, trials: Any) -> Any:  # k·η − n·softplus(η), without the coefficient
        return value * eta - trials * pt.softplus(eta)

    def random(eta: Any, trials: Any, rng: np.random.Generator | None = None, size: Any = None) -> Any:
        rng = np.random.default_rng() if rng is None else rng
        return rng.binomial(np.asarray(trials, dtype=np.int64), 1 / (1 + np.exp(-np.asarray(eta))), size=size)

    pm.CustomDist(name, logit_p, n, logp=logp, random=random, observed=observed, dtype="int64")


def build_graph(spec: ModelSpec, evidence: Evidence, unjudged: UnjudgedDocuments | None = None) -> pm.Model:
    """Return a model's PyMC graph, with the evidence's arrays as ``pm.Data``.

    With unjudged documents it has their relevance, and the scores of runs.
    """
    with pm.Model(coords=evidence.coords) as model:
        data = {name: pm.Data(name, values) for name, values in evidence.arrays().items()}
        coefficients, effects = {}, {}
        for name, prior in spec.coefficients.items():
            if name == spec.slopes and isinstance(evidence, LinearEvidence):
                coefficients[name] = _slopes(name, prior, evidence, data["rotation"])
            else:
                coefficients[name] = prior.variable(name)
        for name, effect in spec.effects.items():
            centered = effect.centered and evidence.much_judged
            effects[name] = group_effect(name, effect.scale, effect.dim, centered=centered)

        def linear(part: Linear, of: str) -> Any:
            terms = [coefficients[name] for name in part.intercepts]
            for name in part.effects:
                if spec.effects[name].dim == "organization_predictor":
                    x = data[f"{of}_predictors"]
                    own = effects[name].reshape((-1, x.shape[1]))[data[f"{of}_organization"]]
                    terms.append((x * own).sum(axis=1))
                else:
                    at = data[f"{of}_{spec.effects[name].dim}"]  # groups, or the shares of each
                    terms.append(at @ effects[name] if at.ndim == 2 else effects[name][at])
            if part.slopes is not None:
                terms.append(data[f"{of}_predictors"] @ coefficients[part.slopes])
            return sum(terms)

        def logit(formula: Formula, of: str) -> Any:
            if isinstance(formula, Linear):
                return linear(formula, of)
            return _chances_logit(formula, of, linear, coefficients, data)

        for of, formula in spec.likelihoods.items():
            successes, trials = (data[name] for name in OBSERVED[of])
            binomial(f"{of}_relevant", logit(formula, of), trials, successes)
        if unjudged is not None:
            for name, values in unjudged.rows.items():
                data[f"unjudged_{name}"] = pm.Data(f"unjudged_{name}", values)
            effects |= _new_effects(spec, evidence, unjudged, effects)
            _add_scores(spec, unjudged, logit(spec.hidden, "unjudged"))
    return model


def _new_effects(
    spec: ModelSpec, evidence: Evidence, unjudged: UnjudgedDocuments, effects: Mapping[str, Any]
) -> dict[str, Any]:
    """Add effects of new organizations, and return those of all organizations, and of runs of new ones last.

    As in `bayespool.posterior.distance.NewOrganizations`: effects and slopes have a t distribution's tails,
    and effects are larger on runs with few unjudged documents (`bayespool.posterior.stretch_with_few`).
    """
    model, n_known, new = pm.modelcontext(None), len(evidence.organizations), unjudged.organizations
    model.add_coord("new_organization", new)
    freedom = spec.effects["organization"].freedom.variable("freedom")
    tails = pt.sqrt(freedom / pm.ChiSquared("standard_tails", freedom, dims="new_organization"))
    about_intercept = np.sqrt(1 + (1 / n_known if n_known else 0))
    few = spec.effects["organization"].few.variable("few")
    stretch = pt.sqrt(pt.maximum(1, (1 + few * unjudged.few) / (1 + few * unjudged.usually_few)))
    concatenate: Any = pt.concatenate  # which has no types
    grown = {}
    for name, effect in spec.effects.items():
        scale, size, of_run = model[f"sigma_{name}"], 1, np.ones(1)
        if effect.dim == "organization":
            scale, of_run = scale * about_intercept * tails, stretch[:, None]
        elif effect.dim == "organization_topic":
            size = len(evidence.query_ids)
        elif effect.dim == "organization_predictor":
            size = len(evidence.coords["predictor"])
            scale = scale * pt.repeat(tails, size)
        else:
            continue
        standard = pm.Normal(f"standard_new_{name}", shape=size * len(new))
        of_new = (scale * standard).reshape((len(new), size))[unjudged.new_organization] * of_run
        grown[name] = concatenate([effects[name], of_new.reshape((-1,))])
    return grown


def _add_scores(spec: ModelSpec, unjudged: UnjudgedDocuments, log_odds: Any) -> None:
    """Add the relevance of unjudged documents, given log odds of shape (row,), and the scores of runs."""
    document, n = unjudged.document, len(unjudged.labels)
    pm.modelcontext(None).add_coords({"unjudged": unjudged.labels, "run_id": unjudged.run_ids})
    if unjudged.below_pool is not None:
        of_topics = spec.sigma_below_pool.variable("sigma_below_pool")
        slope = spec.below_pool.variable("below_pool")
        slope += of_topics * pm.Normal("standard_below_pool", dims="topic")
        if unjudged.slope_within is not None:
            slope += pm.Normal("slope_within_rankings", *unjudged.slope_within)
        log_odds += slope[unjudged.rows["topic"]] * unjudged.below_pool[document]
    log_odds = pt.zeros(n)[document].inc(log_odds) / np.bincount(document, minlength=n)
    # a discrete variable would be sampled document by document; a uniform one below the chance is the same
    drawn = pt.lt(pm.Uniform("standard_relevance", dims="unjudged"), pt.sigmoid(log_odds))
    relevant = pm.Deterministic("unjudged_relevant", pt.cast(drawn, "int64"), dims="unjudged")
    pm.Deterministic(unjudged.score, unjudged.judged + pt.as_tensor(unjudged.gains) @ relevant, dims="run_id")


def _chances_logit(
    formula: Chances, of: str, linear: Any, coefficients: Mapping[str, Any], data: Mapping[str, Any]
) -> Any:
    chance = coefficients[formula.factor] * pt.sigmoid(linear(formula.precision, of))
    if formula.background is not None:
        residual = data[f"{of}_residual"]
        chance = (1 - residual) * chance + residual * pt.sigmoid(linear(formula.background, of))
    return pt.log(chance) - pt.log1p(-chance) + linear(formula.effect, of)


def _slopes(name: str, prior: Prior, evidence: LinearEvidence, rotation: Any) -> Any:
    """Add slopes as expected slopes plus deviations, sampled along directions of uncorrelated predictors."""
    if prior.is_plain_normal:  # a rotation leaves this prior unchanged
        center, scale = prior.args
        standard = pm.Normal(f"standard_{name}", shape=len(evidence.predictor_names))
        deviation = center + scale * rotation @ standard
    else:
        deviation = prior.variable(f"standard_{name}", dims="predictor")
    return pm.Deterministic(name, evidence.expected + deviation, dims="predictor")
