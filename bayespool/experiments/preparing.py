"""Estimators and models from a user's arguments, and the versions of the user's own code."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bayespool.corrections import TopicsAdjustment
from bayespool.corrections.webber_park import Adjustment
from bayespool.errors import InputError, known_names
from bayespool.evidence import PREDICTORS
from bayespool.inference import ENGINES
from bayespool.measures import Estimator, Measure
from bayespool.measures.parsing import parse_ranking_measures
from bayespool.models import MODELS, own_models
from bayespool.names import COMBINED_MODELS, Estimand, leading_name
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.estimator import shared_settings
from bayespool.posterior.preparation import prior_names
from bayespool.scoring import ESTIMATOR_NAMES, named_estimators, parse_estimator
from bayespool.scoring.estimators import refuse_idle_priors
from bayespool.validation import listed


def user_code_versions(
    estimators: Iterable[tuple[str, Estimator]], measures: Iterable[Measure] = ()
) -> dict[str, Any]:
    """Return versions of user-defined estimators, measures, models and engines, by kind and label.

    Also those of predictors; empty without any. What has no ``version`` gets a new random one, equal to no
    other.
    """
    estimators = tuple(estimators)
    estimators += tuple(
        (f"base of {label}", e.base)
        for label, e in estimators
        if isinstance(e, Adjustment) and not isinstance(e.base, str)
    )
    classes: list[tuple[str, str, type]] = [
        ("estimators", label, type(estimator)) for label, estimator in estimators
    ]
    classes += [("measures", str(measure), type(measure)) for measure in measures]
    engines = [getattr(estimator, "engine", None) for _, estimator in estimators]
    classes += [("engines", name, engine) for name, engine in ENGINES.items() if name in engines]
    by_kind: dict[str, Any] = {}
    for kind, label, cls in classes:
        if not _is_built_in(cls):
            # not inherited: the version of a class says nothing of the methods of one below it
            by_kind.setdefault(f"own {kind}", {})[label] = _named_version(cls, vars(cls).get("version"))
    if predictors := [predictor for predictor in PREDICTORS.values() if not _is_built_in(predictor.compute)]:
        by_kind["own predictors"] = {
            p.name: f"{_named_version(p.compute, p.version)} {p.per} {p.slope}" for p in predictors
        }
    used = {getattr(estimator, "model", None) for _, estimator in estimators}
    if models := {name: spec for name, spec in own_models().items() if name in used}:
        by_kind["own models"] = {name: repr(spec) for name, spec in models.items()}
    return by_kind


def _named_version(defined: type | Callable[..., Any], version: object) -> str:
    """Return the name and version of a class or function, or a random text if it has no version."""
    if not isinstance(version, str | int) or version == "":
        return os.urandom(8).hex()
    return f"{defined.__module__}.{defined.__qualname__} {version}"


def _is_built_in(defined: type | Callable[..., Any]) -> bool:
    return str(getattr(defined, "__module__", "")).partition(".")[0] == "bayespool"


def labeled_estimators(
    given: object,
    posterior: str | PosteriorEstimator | None = None,
    *,
    estimand: Estimand = "pooled",
    random_seed: int,
    may_be_empty: bool = False,
) -> tuple[tuple[str, Estimator], ...]:
    """Return an experiment's estimators with distinct labels.

    Labels are those given with them, else their names, or the texts given where two share a name.

    Parameters
    ----------
    given : str, Estimator, sequence or mapping of them
    posterior : str or PosteriorEstimator, optional
        Settings of the posteriors among them.
    estimand : {"complete", "pooled"}
        That of all of them.
    random_seed : int
    may_be_empty : bool, default False

    Raises
    ------
    InputError
        Unknown name or setting, none, two of one label, or a prior that none of them has.
    """
    shared = shared_settings(posterior)
    entries = given.items() if isinstance(given, Mapping) else listed("estimators", given, may_be_empty=True)
    pairs = [e for e in entries if isinstance(e, tuple)]
    texts = named_estimators(e for e in entries if not isinstance(e, tuple))
    parsed = [
        changed(_parsed(e, {"random_seed": random_seed} | shared), "estimand", estimand)
        for e in (*(e for _, e in pairs), *texts)
    ]
    if not parsed and not may_be_empty:
        raise InputError("no estimator given", hint=f"known: all, {', '.join(ESTIMATOR_NAMES)}")
    refuse_idle_priors(parsed, shared.get("priors", {}))
    names = [e.name for e in parsed]
    labels = [label for label, _ in pairs] + [
        e.name if names.count(e.name) == 1 or not isinstance(text, str) else text
        for text, e in zip(texts, parsed[len(pairs) :], strict=True)
    ]
    if twice := [label for label in dict.fromkeys(labels) if labels.count(label) > 1]:
        raise InputError(
            f"two estimators are called {twice[0]!r}", hint="give a mapping of labels to estimators"
        )
    return tuple(zip(labels, parsed, strict=True))


def parsed_arguments(
    measures: object, estimators: object, posterior: str | PosteriorEstimator | None, **more: Any
) -> dict[str, Any]:
    """Return the measures, labeled estimators and seed that an experiment was given, as its settings have
    them. ``more`` are the other arguments of `labeled_estimators`.
    """
    parsed = parse_ranking_measures(measures)
    labeled = labeled_estimators(estimators, posterior, **more)
    return {"measures": parsed, "estimators": labeled, "random_seed": more["random_seed"]}


def parts_description(settings: Any, design: object) -> dict[str, Any]:
    """Return the settings on which an experiment's parts depend, with the versions of user-defined code."""
    described: dict[str, Any] = settings.describe_parts() | user_code_versions(
        settings.estimators, settings.measures
    )
    if _is_built_in(type(design)):
        return described
    versions = {"own design": _named_version(type(design), vars(type(design)).get("version"))}
    return {**described, **versions, **vars(design)}


def _parsed(estimator: str | Estimator, settings: Mapping[str, Any]) -> Estimator:
    """Return the parsed estimator, or raise `InputError` for one that no experiment has topics for."""
    name = leading_name(estimator) if isinstance(estimator, str) else ""
    if name == "topics-adjustment" or isinstance(estimator, TopicsAdjustment):
        raise InputError(
            "topics-adjustment needs topics on which a run outside the pool is judged; here there are none",
            hint="bayespool random-pools --common is the experiment for it",
        )
    return parse_estimator(estimator, **settings)


def changed(estimator: Estimator, name: str, value: object) -> Estimator:
    """Return the estimator with a changed setting if it has that setting, else unchanged."""
    if name not in getattr(estimator, "__dataclass_fields__", {}):
        return estimator
    if "__dataclass_fields__" in vars(type(estimator)):
        replaced: Any = dataclasses.replace(estimator, **{name: value})  # type: ignore[type-var]
        return replaced  # type: ignore[no-any-return]
    copied = copy.copy(estimator)  # a class below a dataclass may have another __init__
    object.__setattr__(copied, name, value)
    return copied


def parse_models(models: str | Iterable[str]) -> tuple[str, ...]:
    """Return the model names, or raise `InputError` if one is unknown or none is given."""
    names = (models,) if isinstance(models, str) else tuple(dict.fromkeys(models))
    if unknown := [name for name in names if name not in MODELS]:
        hint = known_names(unknown[0], MODELS)
        if unknown[0] == "combined":
            hint = f"it is checked where all of its models are: {', '.join(COMBINED_MODELS)}"
        raise InputError(f"no model {unknown[0]!r} to check", hint=hint)
    if not names:
        raise InputError("no model to check", hint=f"known: {', '.join(MODELS)}")
    return names


def refuse_foreign_priors(priors: Mapping[str, str], models: Sequence[str]) -> None:
    """Raise `InputError` for priors that no model has."""
    names = {prior for model in models for prior in prior_names(model)}
    for name in priors:
        if name not in names:
            hint = known_names(name, sorted(names), before="these models have ")
            raise InputError(f"no prior {name!r}", hint=hint)
