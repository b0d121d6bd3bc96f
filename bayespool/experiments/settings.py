"""What a leave-out experiment is asked to do, as one frozen value that can be told from any other."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bayespool.corrections import TopicsAdjustment
from bayespool.counts import Estimand
from bayespool.errors import InputError
from bayespool.estimates import DEFAULT_CI_PROB, Estimator
from bayespool.measures import Precision, parse_measures
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import DEFAULT_ESTIMATORS, ESTIMATOR_NAMES, parse_estimator, refuse_idle_priors

__all__ = [
    "ALL_ESTIMATORS",
    "Estimators",
    "LeaveOutSettings",
    "leave_out_settings",
    "own_estimators",
]

ALL_ESTIMATORS = ("lower-bound", *DEFAULT_ESTIMATORS)
"""What ``estimators="all"`` stands for: P@n as it stands, every correction that needs no argument, and the
default posterior.
"""

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
    measures : tuple of Precision
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

    measures: tuple[Precision, ...]
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
            "estimators": {label: _describe_estimator(e) for label, e in self.estimators},
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
    measures: object, estimators: Estimators, *, estimand: Estimand, random_seed: int, **others: Any
) -> LeaveOutSettings:
    """Settings from what a user gives: texts for measures and estimators, settings of named estimators.

    Parameters
    ----------
    measures, estimators, estimand, random_seed
        See `leave_out`.
    **others
        Fields of `LeaveOutSettings`, or settings of the named estimators that have them.

    Raises
    ------
    InputError
        Unknown measure, estimator or setting.
    """
    fields = {f.name for f in dataclasses.fields(LeaveOutSettings)}
    of_estimators = {name: value for name, value in others.items() if name not in fields}
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    if unknown := set(of_estimators) - known:
        raise InputError(
            f"unknown settings {sorted(unknown)}", hint=f"known: {', '.join(sorted(known | fields))}"
        )
    return LeaveOutSettings(
        measures=parse_measures(measures),
        estimators=_labelled(estimators, estimand, random_seed=random_seed, **of_estimators),
        estimand=estimand,
        random_seed=random_seed,
        **{name: value for name, value in others.items() if name in fields},
    )


def _describe_estimator(estimator: Estimator) -> dict[str, Any]:
    """Name and settings of an estimator, as JSON can hold them."""
    settings: dict[str, Any] = {}
    for name, field in getattr(estimator, "__dataclass_fields__", {}).items():
        if field.compare:
            value = getattr(estimator, name)
            settings[name] = dict(value) if isinstance(value, Mapping) else value
    return {"name": estimator.name} | settings


def own_estimators(estimators: Iterable[tuple[str, Estimator]]) -> dict[str, Any]:
    """What tells estimators that are not the package's from others of the same name and settings: attributes
    and source. Empty where there are none.
    """
    found = {}
    for label, estimator in estimators:
        classes = [cls for cls in type(estimator).__mro__ if not _is_known(cls)]
        if classes:
            described = hasattr(estimator, "__dataclass_fields__")  # by its fields
            plain = {} if described else dict(getattr(estimator, "__dict__", {}))
            found[label] = {"attributes": plain, "source": [_source(cls) for cls in classes]}
    return {"own estimators": found} if found else {}


def _is_known(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in ("bayespool", "builtins", "typing")


def _source(cls: type) -> str:
    """Name and digest of a class's source; where there is none to be had, nothing is ever equal to it."""
    try:
        source = inspect.getsource(cls).encode()
    except (OSError, TypeError):
        source = os.urandom(16)
    return f"{cls.__module__}.{cls.__qualname__} {hashlib.blake2b(source, digest_size=8).hexdigest()}"


def _labelled(
    estimators: Estimators, estimand: Estimand, **settings: Any
) -> tuple[tuple[str, Estimator], ...]:
    """Estimators under distinct labels: their names, or the texts given where two share a name."""
    if isinstance(estimators, str):
        estimators = ALL_ESTIMATORS if estimators == "all" else (estimators,)
    if isinstance(estimators, Mapping):
        labelled = tuple(
            (label, _with_estimand(_parsed(e, **settings), estimand)) for label, e in estimators.items()
        )
        refuse_idle_priors((e for _, e in labelled), settings.get("priors") or {})
        return labelled
    given = [one for e in estimators for one in (ALL_ESTIMATORS if e == "all" else (e,))]
    parsed = [_with_estimand(_parsed(e, **settings), estimand) for e in given]
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


def _parsed(given: str | Estimator, **settings: Any) -> Estimator:
    name = given.partition("(")[0].strip() if isinstance(given, str) else ""
    if name == "topics-adjustment" or isinstance(given, TopicsAdjustment):
        raise InputError(
            "topics-adjustment needs topics on which a run outside the pool is judged; here there are none",
            hint="bayespool common-topics is the experiment for it",
        )
    return parse_estimator(given, **settings)


def _with_estimand(estimator: Estimator, estimand: Estimand) -> Estimator:
    """The estimator for the experiment's estimand; one of the user's own may know of none."""
    fields: Mapping[str, Any] = getattr(estimator, "__dataclass_fields__", {})
    if "estimand" not in fields:
        return estimator
    replaced: Any = dataclasses.replace(estimator, estimand=estimand)  # type: ignore[type-var]
    return replaced  # type: ignore[no-any-return]
