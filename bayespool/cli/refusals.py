"""What is refused before a file is read: names of estimators and priors that no file could make right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayespool.errors import InputError, known_names

if TYPE_CHECKING:
    from bayespool.measures import Estimator


def refuse_estimators(names: Sequence[str], sampling: Mapping[str, Any]) -> None:
    """Refuse names of estimators.

    Parameters
    ----------
    names : sequence of str
    sampling : mapping
        Settings of those that have them.

    Raises
    ------
    InputError
        No name, an unknown one, an unknown setting, two of one name, a prior that none of them has.
    """
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
    """Refuse measures that unjudged documents do not change, where these are what it is about.

    Raises
    ------
    InputError
    """
    from bayespool.measures import parse_measures
    from bayespool.scoring.scoring import refuse_of_judgments

    refuse_of_judgments(parse_measures(measures))


def refuse_no_posterior(name: str, sampling: Mapping[str, Any]) -> Estimator:
    """The posterior of a name; anything else is refused.

    Raises
    ------
    InputError
        An unknown name or setting, a point correction, a prior that the posterior does not have.
    """
    from bayespool.scoring.estimators import parse_posterior, refuse_idle_priors

    chosen = parse_posterior(name, **sampling)
    refuse_idle_priors([chosen], sampling.get("priors") or {})
    return chosen


def refuse_priors(priors: Mapping[str, str], engine: str) -> None:
    """Refuse priors that the engine has no density of.

    Raises
    ------
    InputError
        A text that is no distribution, numbers that are too large, a distribution that the engine does not
        know or that has none of these parameters.
    """
    if not priors:
        return
    from bayespool.models import parse_prior
    from bayespool.models.families import refuse_no_density
    from bayespool.scoring.estimators import refuse_large_priors

    refuse_large_priors(priors)
    for name, text in priors.items():
        refuse_no_density(name, parse_prior(text), engine)


def refuse_priors_of_no_model(priors: Mapping[str, str], models: Iterable[str], engine: str) -> None:
    """Refuse priors that none of some models has, or that the engine has no density of in one of them.

    Raises
    ------
    InputError
    """
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
