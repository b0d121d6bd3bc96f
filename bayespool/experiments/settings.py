"""What a leave-out experiment is asked to do, as one frozen value that can be told from any other."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bayespool.corrections import TopicsAdjustment
from bayespool.counts import Estimand
from bayespool.errors import InputError
from bayespool.estimates import Estimator
from bayespool.estimators import (
    ALL_ESTIMATORS,
    ESTIMATOR_NAMES,
    describe_estimator,
    parse_estimator,
    refuse_idle_priors,
)
from bayespool.experiments.own import own_estimators
from bayespool.measures import Measure, parse_measures
from bayespool.posterior import PosteriorEstimator
from bayespool.values import DEFAULT_CI_PROB

__all__ = [
    "ALL_ESTIMATORS",
    "Estimators",
    "LeaveOutSettings",
    "changed",
    "leave_out_settings",
]

Estimators = str | Iterable[str | Estimator] | Mapping[str, str | Estimator]
By = Literal["organization", "run"]
TopPool = Literal["all", "kept"]
Truth = Literal["repooled", "full"]
Denominator = Literal["qrels", "run"]
Test = Literal["tukey-hsd", "paired-t"]


@dataclass(frozen=True, kw_only=True)
class LeaveOutSettings:
    """Settings of `leave_out`, complete; see there for what each means.

    Attributes
    ----------
    measures : tuple of Measure
    estimators : tuple of (str, Estimator)
        Labels, and what is run under them.
    by : {"organization", "run"}
    top : float in (0, 100]
    top_pool : {"all", "kept"}
    truth : {"repooled", "full"}
    estimand : {"pooled", "complete"}
    denominator : {"qrels", "run"}
    pool_depth : int or None
    test : {"tukey-hsd", "paired-t"}
    ci_prob : float in (0, 1)
    random_seed : int
    """

    measures: tuple[Measure, ...]
    estimators: tuple[tuple[str, Estimator], ...]
    by: By = "organization"
    top: float = 100
    top_pool: TopPool = "all"
    truth: Truth = "repooled"
    estimand: Estimand = "pooled"
    denominator: Denominator = "qrels"
    pool_depth: int | None = None
    test: Test = "tukey-hsd"
    ci_prob: float = DEFAULT_CI_PROB
    random_seed: int = 1

    def __post_init__(self) -> None:
        choices = {
            "by": By,
            "top_pool": TopPool,
            "truth": Truth,
            "estimand": Estimand,
            "denominator": Denominator,
            "test": Test,
        }
        for name, choice in choices.items():
            if getattr(self, name) not in get_args(choice):
                known = ", ".join(get_args(choice))
                raise InputError(f"{name} cannot be {getattr(self, name)!r}", hint=f"known: {known}")
        if not 0 < self.top <= 100:
            raise InputError(f"top {self.top} is not a percentage of the runs", hint="over 0, at most 100")
        if not 0 < self.ci_prob < 1:
            raise InputError(f"ci_prob {self.ci_prob} is not between 0 and 1")
        if self.random_seed < 0:
            raise InputError(f"random_seed {self.random_seed} is negative")
        if not self.estimators:
            raise InputError("no estimator given", hint=f"known: all, {', '.join(ESTIMATOR_NAMES)}")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the estimators in the tables."""
        return tuple(label for label, _ in self.estimators)

    def describe(self) -> dict[str, Any]:
        """All settings, as JSON can hold them."""
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return plain | {
            "measures": [str(m) for m in self.measures],
            "estimators": {label: describe_estimator(e) for label, e in self.estimators},
        }

    def describe_folds(self) -> dict[str, Any]:
        """Those settings that what is computed in a fold depends on.

        The others are about which runs are reported, and how.
        """
        described = self.describe() | own_estimators(self.estimators)
        del described["test"]
        if self.top_pool == "all":
            del described["top"]
        return described


def leave_out_settings(
    measures: object,
    estimators: Estimators,
    *,
    estimand: Estimand,
    random_seed: int,
    settings: Mapping[str, Any] | None = None,
    **others: Any,
) -> LeaveOutSettings:
    """Settings from what a user gives: texts for measures and estimators, settings of named estimators.

    Parameters
    ----------
    measures, estimators, estimand, random_seed
        See `leave_out`.
    settings : mapping of str to object, optional
        Settings of the named estimators that have them.
    **others
        Fields of `LeaveOutSettings`.

    Raises
    ------
    InputError
        Unknown measure, estimator or setting.
    """
    of_estimators = dict(settings or {})
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    if unknown := set(of_estimators) - known:
        raise InputError(
            f"unknown settings {sorted(unknown)}",
            hint=f"estimators have {', '.join(sorted(known))}; the others are the experiment's own arguments",
        )
    return LeaveOutSettings(
        measures=parse_measures(measures),
        estimators=_labelled(estimators, estimand, random_seed=random_seed, **of_estimators),
        estimand=estimand,
        random_seed=random_seed,
        **others,
    )


def _labelled(
    estimators: Estimators, estimand: Estimand, **settings: Any
) -> tuple[tuple[str, Estimator], ...]:
    """Estimators under distinct labels: their names, or the texts given where two share a name."""
    if isinstance(estimators, str):
        estimators = ALL_ESTIMATORS if estimators == "all" else (estimators,)
    if isinstance(estimators, Mapping):
        labelled = tuple((label, _parsed(e, estimand, **settings)) for label, e in estimators.items())
        refuse_idle_priors((e for _, e in labelled), settings.get("priors") or {})
        return labelled
    given = [one for e in estimators for one in (ALL_ESTIMATORS if e == "all" else (e,))]
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
