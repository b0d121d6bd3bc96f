"""Checks of estimators, measures and priors before any file is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayespool.errors import InputError, known_names

if TYPE_CHECKING:
    from bayespool.measures import Estimator


def refuse_estimators(names: Sequence[str], sampling: Mapping[str, Any]) -> None:
    """Refuse no, unknown or repeated names, unknown settings, and priors that no estimator has."""
    from bayespool.scoring import ESTIMATOR_NAMES, named_estimators, parse_estimator
    from bayespool.scoring.estimators import refuse_idle_priors

    chosen = [parse_estimator(name, **sampling) for name in named_estimators(names)]
    if not chosen:
        raise InputError("no estimator given", hint=f"known: {', '.join(ESTIMATOR_NAMES)}")
    called = [estimator.name for estimator in chosen]
    for name in called:
        if called.count(name) > 1:
            raise InputError(f"two estimators are called {name!r}", hint="ask for one after the other")
    refuse_idle_priors(chosen, sampling.get("priors") or {})


def refuse_measures_of_judgments(measures: Sequence[str]) -> None:
    """Refuse measures that unjudged documents do not change."""
    from bayespool.measures import parse_measures
    from bayespool.scoring.scoring import refuse_of_judgments

    refuse_of_judgments(parse_measures(measures))


def refuse_no_posterior(name: str, sampling: Mapping[str, Any]) -> Estimator:
    """Posterior of this name; point corrections and priors that it does not have are refused."""
    from bayespool.scoring.estimators import parse_posterior, refuse_idle_priors

    chosen = parse_posterior(name, **sampling)
    refuse_idle_priors([chosen], sampling.get("priors") or {})
    return chosen


def refuse_priors(priors: Mapping[str, str], engine: str) -> None:
    """Refuse texts that are no distribution, or one that the engine has no density of."""
    if not priors:
        return
    from bayespool.models import parse_prior
    from bayespool.models.families import refuse_no_density
    from bayespool.scoring.estimators import refuse_large_priors

    refuse_large_priors(priors)
    for name, text in priors.items():
        refuse_no_density(name, parse_prior(text), engine)


def refuse_priors_of_no_model(priors: Mapping[str, str], models: Iterable[str], engine: str) -> None:
    """Refuse priors that no model has, or that the engine has no density of."""
    from bayespool.models import model_named
    from bayespool.posterior.preparation import prior_names

    models = tuple(models)
    known = {prior for model in models for prior in prior_names(model)}
    for name in priors:
        if name not in known:
            hint = known_names(name, sorted(known), before="these models have ")
            raise InputError(f"no prior {name!r}", hint=hint)
    if engine == "laplace":
        for model in models:
            model_named(model).refuse_priors(priors)
