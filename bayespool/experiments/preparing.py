"""From what a user asks of an experiment to its settings: texts are parsed, and unknown names refused."""

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
    """Settings from what a user gives: texts for measures and estimators, settings of named estimators.

    Parameters
    ----------
    cls : type
        A settings class of `bayespool.experiments`.
    measures, estimators
        See there.
    settings : mapping of str to object, optional
        Settings of the named estimators that have them.
    **options
        Options of the class, as functions take them.

    Raises
    ------
    InputError
        Unknown measure, estimator or setting; a value that an option cannot have.
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
    given = {n: _held(n, v) for n, v in options.items() if v is not None or defaults[n] is not None}
    return cls(measures=parsed, estimators=labeled, **given)


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

    Raises
    ------
    InputError
        Unknown estimator or setting; two of one label.
    """
    of_estimators = dict(settings or {})
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    refuse_unknown_settings(of_estimators, known, more={"the experiment": options_of(cls)})
    return _labeled(estimators, estimand, random_seed=random_seed, **of_estimators)


def parts_description(settings: ExperimentSettings) -> dict[str, Any]:
    """What the parts of an experiment (folds, pools) depend on of its settings, the code of estimators of the
    user's own included.
    """
    return settings.describe_parts() | own_estimators(settings.estimators, settings.measures)


def _held(name: str, value: Any) -> Any:
    """What a settings object holds of a value: it does not change."""
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
    given = named_estimators(estimators)
    parsed = [_parsed(e, estimand, **settings) for e in given]
    refuse_idle_priors(parsed, settings.get("priors") or {})
    names = [e.name for e in parsed]
    labels = [
        e.name if names.count(e.name) == 1 or not isinstance(text, str) else text
        for text, e in zip(given, parsed, strict=True)
    ]
    if twice := [label for label in dict.fromkeys(labels) if labels.count(label) > 1]:
        raise InputError(
            f"two estimators are called {twice[0]!r}", hint="give a mapping of labels to estimators"
        )
    return tuple(zip(labels, parsed, strict=True))


def _parsed(given: str | Estimator, estimand: Estimand, **settings: Any) -> Estimator:
    """The estimator for the experiment's estimand; one of the user's own may know of none."""
    name = given.partition("(")[0].strip() if isinstance(given, str) else ""
    if name == "topics-adjustment" or isinstance(given, TopicsAdjustment):
        raise InputError(
            "topics-adjustment needs topics on which a run outside the pool is judged; here there are none",
            hint="bayespool common-topics is the experiment for it",
        )
    return changed(parse_estimator(given, **settings), "estimand", estimand)


def changed(estimator: Estimator, name: str, value: object) -> Estimator:
    """The estimator with another value of a setting, if it is a dataclass that has it; else as it is."""
    if name not in getattr(estimator, "__dataclass_fields__", {}):
        return estimator
    if "__dataclass_fields__" in vars(type(estimator)):
        replaced: Any = dataclasses.replace(estimator, **{name: value})  # type: ignore[type-var]
        return replaced  # type: ignore[no-any-return]
    copied = copy.copy(estimator)  # a class below a dataclass may have another __init__
    object.__setattr__(copied, name, value)
    return copied
