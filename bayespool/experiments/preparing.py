"""Settings of an experiment from a user's arguments: parses texts and refuses unknown names."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from bayespool.corrections import TopicsAdjustment
from bayespool.errors import InputError
from bayespool.evidence import Estimand
from bayespool.experiments.code_digests import own_estimators
from bayespool.experiments.settings import ExperimentSettings
from bayespool.measures import Estimator, parse_measures
from bayespool.options import Settings, options_of
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.keywords import refuse_unknown_settings
from bayespool.scoring import ESTIMATOR_NAMES, named_estimators, parse_estimator
from bayespool.scoring.estimators import refuse_idle_priors
from bayespool.scoring.scoring import refuse_of_judgments

Estimators = str | Iterable[str | Estimator] | Mapping[str, str | Estimator]
Kind = TypeVar("Kind", bound=ExperimentSettings)


def experiment_settings(
    cls: type[Kind],
    measures: object,
    estimators: Estimators,
    *,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Kind:
    """Settings of class ``cls`` from measures and estimators, possibly as text, options of the class, and
    ``settings`` of the named estimators.

    Raises `InputError` for an unknown measure, estimator or setting, or a value that an option cannot have.
    """
    parsed = parse_measures(measures)
    refuse_of_judgments(parsed)
    labeled = labeled_estimators(
        cls,
        estimators,
        options.get("estimand", "pooled"),
        random_seed=options.get("random_seed", 1),
        settings=settings,
    )
    if not labeled:
        raise InputError("no estimator given", hint=f"known: all, {', '.join(ESTIMATOR_NAMES)}")
    defaults = {name: default for name, (_, default) in options_of(cls).items()}
    values = {n: _held(n, v) for n, v in options.items() if v is not None or defaults[n] is not None}
    return cls(measures=parsed, estimators=labeled, **values)


def labeled_estimators(
    cls: type[Settings],
    estimators: Estimators,
    estimand: Estimand,
    *,
    random_seed: int,
    settings: Mapping[str, Any] | None = None,
) -> tuple[tuple[str, Estimator], ...]:
    """Estimators of an experiment under distinct labels: their names, or the texts given where two share a
    name.
    """
    of_estimators = dict(settings or {})
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    refuse_unknown_settings(of_estimators, known, more={"the experiment": options_of(cls)})
    return _labeled(estimators, estimand, random_seed=random_seed, **of_estimators)


def parts_description(settings: ExperimentSettings) -> dict[str, Any]:
    """Settings that the parts of an experiment (folds, pools) depend on, with the code of the user's own
    estimators.
    """
    return settings.describe_parts() | own_estimators(settings.estimators, settings.measures)


def _held(name: str, value: Any) -> Any:
    """Immutable form of an option's value."""
    if not isinstance(value, str | tuple) and isinstance(value, Sequence | Mapping):
        value = tuple(value.items() if isinstance(value, Mapping) else value)
    if value == ():
        raise InputError(f"{name} cannot be empty", hint="leave it out, or name some")
    return value


def _labeled(
    estimators: Estimators, estimand: Estimand, **settings: Any
) -> tuple[tuple[str, Estimator], ...]:
    if isinstance(estimators, Mapping):
        labeled = tuple((label, _parsed(e, estimand, **settings)) for label, e in estimators.items())
        refuse_idle_priors((e for _, e in labeled), settings.get("priors") or {})
        return labeled
    listed = named_estimators(estimators)
    parsed = [_parsed(e, estimand, **settings) for e in listed]
    refuse_idle_priors(parsed, settings.get("priors") or {})
    names = [e.name for e in parsed]
    labels = [
        e.name if names.count(e.name) == 1 or not isinstance(text, str) else text
        for text, e in zip(listed, parsed, strict=True)
    ]
    if twice := [label for label in dict.fromkeys(labels) if labels.count(label) > 1]:
        raise InputError(
            f"two estimators are called {twice[0]!r}", hint="give a mapping of labels to estimators"
        )
    return tuple(zip(labels, parsed, strict=True))


def _parsed(estimator: str | Estimator, estimand: Estimand, **settings: Any) -> Estimator:
    """Estimator of the experiment's estimand, where it has that setting."""
    name = estimator.partition("(")[0].strip() if isinstance(estimator, str) else ""
    if name == "topics-adjustment" or isinstance(estimator, TopicsAdjustment):
        raise InputError(
            "topics-adjustment needs topics on which a run outside the pool is judged; here there are none",
            hint="bayespool common-topics is the experiment for it",
        )
    return changed(parse_estimator(estimator, **settings), "estimand", estimand)


def changed(estimator: Estimator, name: str, value: object) -> Estimator:
    """The estimator with another value of a setting, if it is a dataclass with that setting; else
    unchanged.
    """
    if name not in getattr(estimator, "__dataclass_fields__", {}):
        return estimator
    if "__dataclass_fields__" in vars(type(estimator)):
        replaced: Any = dataclasses.replace(estimator, **{name: value})  # type: ignore[type-var]
        return replaced  # type: ignore[no-any-return]
    copied = copy.copy(estimator)  # a class below a dataclass may have another __init__
    object.__setattr__(copied, name, value)
    return copied
