"""The package's models with their priors, and the registry for looking models up by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from bayespool.errors import InputError, known_names
from bayespool.evidence import PREDICTORS
from bayespool.evidence.predictors import evidence_predictors
from bayespool.models.formulas import Chances, Effect, Linear
from bayespool.models.priors import (
    FACTOR,
    LOG_ODDS,
    LOG_RATIO,
    PRECISION,
    SLOPE,
    SLOPE_BELOW_POOL,
    VARYING,
    Prior,
    parse_prior,
    refuse_no_density,
)
from bayespool.models.spec import ModelSpec
from bayespool.names import COMBINED_MODELS, POSTERIOR_ESTIMATORS, split_effects

_MAX_PRIOR_NUMBER = 1e100  # the density is computed from squares

RATIO: ModelSpec = ModelSpec(
    name="ratio",
    description=POSTERIOR_ESTIMATORS["posterior-ratio"],
    source="after Webber & Park 2009",
    citations=("webber-park-2009",),
    evidence="documents",
    coefficients={"mu": LOG_ODDS, "beta": SLOPE},
    effects={
        "topic": Effect("topic", centered=True),
        "organization": Effect("organization"),
        "interaction": Effect("organization_topic"),
        "slope": Effect("organization_predictor", VARYING),
    },
    hidden=Linear("mu", "beta", ("topic", "organization", "interaction", "slope")),
    predictors={"precision": (0.7, 0.3), "run_precision": (1.3, 0.7)},
)
r"""Hierarchical ratio estimator: a run gains a share of its unjudged documents, by its judged precision.

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, \rho_{rq}), \qquad
    \operatorname{logit} \rho_{rq} = \mu + \mathrm{topic}_q + \mathrm{organization}_{o(r)}
    + \mathrm{interaction}_{o(r)q} + (\beta_1 + \mathrm{slope}_{o(r)1}) \mathrm{precision}_{rq}
    + (\beta_2 + \mathrm{slope}_{o(r)2}) \mathrm{precision}_{r}

The unjudged count is the auxiliary variable of a ratio estimator: the correction of a topic is ρ times the
unjudged documents. Webber & Park (2009) correct by differences of scores, of which
`bayespool.posterior.PosteriorDifference` is the Bayesian form.

``mu`` is the mean logit over these topics and organizations at average predictors, with the prior
`LOG_ODDS`; ``beta`` the difference of slopes from the expected ones, in standard
deviations. ``interaction`` is the effect of an organization on a topic, ``slope`` the difference of its
slopes from the common ones.
"""


BACKGROUND: ModelSpec = ModelSpec(
    name="background",
    description=POSTERIOR_ESTIMATORS["posterior-background"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"mu": LOG_ODDS},
    effects={"topic": Effect("topic"), "organization": Effect("organization")},
    hidden=Linear("mu", effects=("topic", "organization")),
)
r"""Hierarchical form of the background correction X_B = B + Δ·E (Ravana & Moffat 2010).

.. math::

    k_{oq} \sim \mathrm{Binomial}(v_{oq}, E_{oq}), \qquad
    \operatorname{logit} E_{oq} = \mu + \mathrm{topic}_q + \mathrm{organization}_o

``mu`` is the mean logit over these topics and organizations; 95 % of its prior is between 1 % and 68 %.
"""


_PRECISION = Linear("a", effects=("topic", "run"))
_RUN_EFFECTS = {
    "topic": Effect("topic", centered=True),
    "run": Effect("run", centered=True),
    "organization": Effect("organization"),
}

INTERPOLATED: ModelSpec = ModelSpec(
    name="interpolated",
    description=POSTERIOR_ESTIMATORS["posterior-interpolated"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"a": PRECISION, "c": FACTOR},
    effects=_RUN_EFFECTS,
    judged=_PRECISION,
    hidden=Chances(_PRECISION, factor="c"),
)
r"""Hierarchical form of the interpolated correction X_I = B + C·Δ·B/(1 − Δ) (Ravana & Moffat 2010).

An unjudged document is C times as likely to be relevant as the judged ones of the run and topic.

.. math::

    n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
    \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
    \operatorname{logit} p_{rq} = \operatorname{logit}(C\,\pi_{rq}) + \mathrm{organization}_{o(r)}

Judged documents of all runs, those to score included, inform π; hidden documents of the pooled runs inform C
and the effects of organizations. ``a`` is the mean logit precision of judged documents, a priori between 3 %
and 92 %. The prior of ``c``, Beta(2, 2.5), covers the published constants 0.42 and 0.91 (Ravana & Moffat
2010, §4).
"""


ODDS_RATIO: ModelSpec = ModelSpec(
    name="odds_ratio",
    description=POSTERIOR_ESTIMATORS["posterior-odds-ratio"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"a": PRECISION, "log_ratio": LOG_RATIO},
    effects=_RUN_EFFECTS,
    judged=_PRECISION,
    hidden=Linear(("a", "log_ratio"), effects=("topic", "run", "organization")),
)
r"""Interpolated correction (Ravana & Moffat 2010) on the odds scale.

The odds of an unjudged document are a constant times those of the judged ones of the run and topic.

.. math::

    n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
    \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
    \operatorname{logit} p_{rq} = \operatorname{logit} \pi_{rq} + \log \omega + \mathrm{organization}_{o(r)}

The ratio of odds ω differs less between collections than the ratio of probabilities C, which cannot exceed
1/π. The combined estimator therefore uses this model where no pool informs either.

``a`` is the mean logit precision of judged documents. ``log_ratio`` is log ω: −1.3 to −1.7 on five
collections with shallow pools, −2.2 and −3.0 on TREC-2 and TREC-8, whose pools are deep.
"""


SMOOTHED: ModelSpec = ModelSpec(
    name="smoothed",
    description=POSTERIOR_ESTIMATORS["posterior-smoothed"],
    source="after Ravana & Moffat 2010",
    citations=("ravana-moffat-2010",),
    evidence="counts",
    coefficients={"a": PRECISION, "c": FACTOR, "mu": Prior("Normal", (-2.8, 1.0))},
    effects={
        "topic": Effect("topic", centered=True),
        "run": Effect("run", centered=True),
        "background": Effect("topic", Prior("HalfNormal", (0.5,))),
        "organization": Effect("organization"),
    },
    judged=_PRECISION,
    hidden=Chances(_PRECISION, factor="c", background=Linear("mu", effects=("background",))),
)
r"""Hierarchical form of the smoothed correction X_M = B + C·Δ·B + Δ²·E (Ravana & Moffat 2010).

It is interpolated where much of the top is judged, background where little is.

.. math::

    n^{\mathrm{rel}}_{rq} \sim \mathrm{Binomial}(n^{\mathrm{judged}}_{rq}, \pi_{rq}), \qquad
    \operatorname{logit} \pi_{rq} = a + \mathrm{topic}_q + \mathrm{run}_r

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad \operatorname{logit} p_{rq} =
    \operatorname{logit}\bigl((1 - \Delta_{rq})\,C\,\pi_{rq} + \Delta_{rq} E_q\bigr) +
    \mathrm{organization}_{o(r)}, \qquad \operatorname{logit} E_q = \mu + \mathrm{background}_q

Δ of a pooled run is that with its organization held out. ``a`` and ``c`` are those of
`INTERPOLATED`. ``mu`` is the mean logit of the background probability E over these topics. 95 %
of Normal(−2.8, 1) is between 0.8 % and 31 %: published constants are 1 % to 5 % for newswire and web, higher
for domain collections. The scale of ``background`` is HalfNormal(0.5): with a wider one E of a topic may be
zero or stand in for C·π, and the posterior has two modes.
"""


ANTI_PRECISION: ModelSpec = dataclasses.replace(
    RATIO,
    name="anti_precision",
    description=POSTERIOR_ESTIMATORS["posterior-anti-precision"],
    source="after Lipani et al. 2015",
    citations=("lipani-lupu-hanbury-2015",),
    predictors={"delta_precision": (-3.0, 5.0), "delta_antiprecision": (-3.0, 5.0), "precision": (0.7, 0.3)},
)
r"""Hierarchical form of the anti-precision correction (Lipani et al. 2015).

.. math::

    k_{rq} \sim \mathrm{Binomial}(v_{rq}, p_{rq}), \qquad
    \operatorname{logit} p_{rq} = \mu + \mathrm{topic}_q + \mathrm{organization}_{o(r)}
    + \mathrm{interaction}_{o(r)q} + (\beta_1 + \mathrm{slope}_{o(r)1}) \Delta P_{rq}
    + (\beta_2 + \mathrm{slope}_{o(r)2}) \Delta \bar P_{rq}
    + (\beta_3 + \mathrm{slope}_{o(r)3}) \mathrm{precision}_{rq}

ΔP and ΔP̄ are the changes of the pooled runs' P@n and P̄@n on the topic when they are composed with the run
(§3.2). The paper corrects by the change of their unjudged share, −ΔP − ΔP̄, where composition helps (λ > 0);
the model estimates a slope for each. Effects and priors are those of `RATIO`.
"""


class _EvidenceSlopes(Mapping[str, tuple[float, float]]):
    """Mapping of currently registered predictors to their expected slopes."""

    def __getitem__(self, name: str) -> tuple[float, float]:
        slope = PREDICTORS[name].slope
        if slope is None:
            raise KeyError(name)
        return slope

    def __iter__(self) -> Iterator[str]:
        return iter(evidence_predictors())

    def __len__(self) -> int:
        return len(evidence_predictors())


# those of the package's predictors are from research/decisions/priors.py
EVIDENCE_SLOPES: Mapping[str, tuple[float, float]] = _EvidenceSlopes()
"""Prior mean and standard deviation for slopes in the evidence model, per unit of each predictor."""
EVIDENCE: ModelSpec = dataclasses.replace(
    RATIO,
    name="evidence",
    description=POSTERIOR_ESTIMATORS["posterior-evidence"],
    source="",
    citations=(),
    predictors=EVIDENCE_SLOPES,
    below_pool=SLOPE_BELOW_POOL,
)
r"""Evidence model: one Bernoulli trial per hidden document, with predictors from its ranks in runs.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{organization}_{o(d)}
    + \mathrm{interaction}_{o(d)q(d)} + (\beta + \mathrm{slope}_{o(d)}) \cdot x_d

x_d are the predictors of `bayespool.evidence.PREDICTORS` that have an expected slope. Effects and priors are
those of `RATIO`.
"""


RANKINGS: ModelSpec = dataclasses.replace(
    RATIO,
    name="rankings",
    description=POSTERIOR_ESTIMATORS["posterior-rankings"],
    source="",
    citations=(),
    predictors={  # from research/decisions/priors.py
        "learned_fusion": (0.9, 0.2),
        "run_skill": (2.0, 0.6),
        "run_slope": (1.2, 0.4),
        "log_rank": (-0.1, 0.15),
        "run_precision": (0.5, 0.3),
        "log_best_rank": (-0.2, 0.1),
        "local_precision": (0.5, 0.25),
        "run_unjudged": (0.1, 0.1),
    },
    below_pool=SLOPE_BELOW_POOL,
    # the fusion leaves topics little to differ by: their scale may be 0
    effects={**RATIO.effects, "topic": Effect("topic")},
)
r"""Rankings model: one Bernoulli trial per hidden document, with relevance learned from judged rankings.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \mathrm{organization}_{o(d)}
    + \mathrm{interaction}_{o(d)q(d)} + (\beta + \mathrm{slope}_{o(d)}) \cdot x_d

It is `EVIDENCE` with other predictors. The first of x_d are the log odds that
`bayespool.evidence.learned_fusion` learns from *which* runs retrieve the document, whose slope would be 1 if
documents of the run were like those that others retrieve; two more are what the run knows beyond that.
"""


LOTS: ModelSpec = ModelSpec(
    name="lots",
    description="documents left out at random, by the judged ones of the sample",
    evidence="documents",
    coefficients={"mu": Prior("Normal", (-1.0, 1.5)), "beta": SLOPE},
    effects={"topic": Effect("topic"), "organization": Effect("organization", Prior("HalfNormal", (1.5,)))},
    hidden=Linear("mu", "beta", ("topic", "organization")),
    predictors={"log_rate": (0.6, 0.7), "log_pooled_mass": (1.8, 1.5), "pooled_share": (1.0, 3.0)},
)
r"""Model for documents left out of a random sample, fitted to the sampled documents.

.. math::

    \operatorname{logit} p_d = \mu + \mathrm{topic}_{q(d)} + \sum_r a_{dr}\, \mathrm{run}_r
    + \tfrac{1}{7} \sum_{r:\, \mathrm{rank}_{dr} \le 10} \mathrm{top}_r
    + \beta \cdot \left(\log \mathrm{rate}_d, \log\Bigl(1 + \sum_r \tfrac{1}{\log_2(1 +
    \mathrm{rank}_{dr})}\Bigr), \mathrm{share}_d\right)

A judged document of the sample and an unjudged one of the same stratum are exchangeable, whichever run
retrieves them. A document has the effects of all runs that retrieve it (`bayespool.posterior.lots.Company`),
with weights :math:`a_{dr} \propto \mathrm{rank}_{dr}^{-1/2}` whose squares add up to 1, and those of runs
that have it in their top 10; the evidence numbers both as organizations. The rate is the one at which its
stratum was sampled (strata of likely documents are sampled more). The sum is over the pooled runs, or all
runs where no pool is known, and the share is that of these with the document in their top 10: how much it
counts in their mean score.
"""


_MODELS = (BACKGROUND, INTERPOLATED, SMOOTHED, ODDS_RATIO, RATIO, ANTI_PRECISION, EVIDENCE, RANKINGS)
_PACKAGE_MODELS = {spec.name: spec for spec in _MODELS}
MODELS: dict[str, ModelSpec] = dict(_PACKAGE_MODELS)
"""All models, keyed by name, the package's first, then registered ones."""
MODEL_NAMES: tuple[str, ...] = tuple(_PACKAGE_MODELS)
"""Names of the package's models."""
_RESERVED_NAMES = ("combined",)  # name of the mixture of models


def add_model(spec: ModelSpec) -> None:
    """Register a model, or replace a registered one.

    `bayespool.register_model` also adds its estimator.
    """
    if spec.name in (*_PACKAGE_MODELS, *_RESERVED_NAMES) and spec != _PACKAGE_MODELS.get(spec.name):
        raise InputError(f"there is a model {spec.name!r} already", hint="give it another name")
    MODELS[spec.name] = spec


def model_named(name: str) -> ModelSpec:
    """Return the model in `MODELS` with a name, with effects that it adds, or raise `InputError`.

    Examples
    --------
    >>> list(model_named("ratio + (1 | type)").effects)
    ['topic', 'organization', 'interaction', 'slope', 'type']
    """
    base, effects = split_effects(name)
    if effects and base in _RESERVED_NAMES:
        hint = f"add effects to one model: {' or '.join(COMBINED_MODELS)}"
        raise InputError(f"{base} is a mixture of models", hint=hint)
    if base not in MODELS:
        raise InputError(f"no model {base!r}", hint=known_names(base, MODELS))
    return MODELS[base].with_terms(effects) if effects else MODELS[base]


def own_models() -> dict[str, ModelSpec]:
    """Return the models that users registered, keyed by name."""
    return {name: spec for name, spec in MODELS.items() if spec != _PACKAGE_MODELS.get(name)}


def check_priors(priors: Mapping[str, str | Prior], models: Iterable[str], engine: str) -> None:
    """Raise `InputError` for priors that these models or the engine cannot use, ignoring unknown names.

    Examples
    --------
    >>> check_priors({"mu": "Normal(1e308, 1)"}, ["ratio"], "laplace")
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: prior of mu: Normal(1e308, 1) is too large; its numbers are at most 1e+100
    """
    for name, prior in priors.items():
        try:
            is_large = any(abs(x) > _MAX_PRIOR_NUMBER for x in parse_prior(prior).args)
        except OverflowError:  # a whole number of hundreds of digits
            is_large = True
        if is_large:
            hint = f"its numbers are at most {_MAX_PRIOR_NUMBER:g}"
            raise InputError(f"prior of {name}: {prior} is too large", hint=hint)
        if engine == "nuts":
            refuse_no_density(name, parse_prior(prior))
    if engine == "laplace":
        for model in models:
            model_named(model).refuse_priors(priors)
