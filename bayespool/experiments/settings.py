"""Settings of experiments and checks, one record each; estimators and models from a user's arguments, and the
versions of the user's own code.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_origin

from bayespool.comparisons.significance import check_announced
from bayespool.corrections import TopicsAdjustment
from bayespool.corrections.webber_park import Adjustment
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError, known_names
from bayespool.evidence import PREDICTORS
from bayespool.inference import ENGINES
from bayespool.measures import Estimator, Measure
from bayespool.measures.parsing import parse_ranking_measures
from bayespool.models import MODELS, model_named, own_models
from bayespool.names import (
    COMBINED_MODELS,
    By,
    Estimand,
    PairTest,
    Runs,
    Shares,
    Unseen,
    leading_name,
    type_hints,
)
from bayespool.pooling import PoolPlan, StoppingRule, Strategy
from bayespool.pooling.registry import parse_stopping_rule, parse_strategies, stopping_text, strategy_text
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.estimator import shared_settings
from bayespool.posterior.preparation import prior_names
from bayespool.scoring import ESTIMATOR_NAMES, named_estimators, parse_estimator
from bayespool.scoring.estimators import refuse_idle_priors
from bayespool.validation import check_choice, check_count, check_number, described, listed

LEFT_OUT = ("organization", "run", "cluster")
"""What `bayespool.leave_out` leaves out, beside runs of one value in a column of attributes."""
_COUNTS = (int, int | None, tuple[int, ...])
_PARSERS: dict[str, Callable[[Any], Any]] = {
    "measures": parse_ranking_measures,
    "ci_prob": fill_ci_prob,
    "strategies": parse_strategies,
    "stop": lambda rule: None if rule is None else parse_stopping_rule(rule),
    "unpool": partial(listed, "unpool", may_be_empty=True),
    **{name: partial(listed, name) for name in ("types", "widths", "n_common", "sds", "budgets", "keep")},
}


def parsed_fields(kind: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a function's arguments that are fields of its settings, parsed by name."""
    names = [field.name for field in fields(kind) if field.name in given]
    return {name: _PARSERS[name](given[name]) if name in _PARSERS else given[name] for name in names}


@dataclass(frozen=True, kw_only=True)
class ExperimentSettings:
    """Settings of an experiment, parsed: its parts are computed from them and described by them.

    Attributes
    ----------
    measures : tuple of Measure
    estimators : tuple of (str, Estimator)
        Under their labels: their names, or the texts given where two share a name.
    random_seed : int
        Every part draws from a seed of its own, made from this one and its name.
    """

    measures: tuple[Measure, ...]
    estimators: tuple[tuple[str, Estimator], ...]
    random_seed: int

    PARTS_EXCLUDE: ClassVar[frozenset[str]] = frozenset()
    """Settings whose change leaves stored parts valid: the number of parts, or what is reported of them."""

    MAY_LACK_ESTIMATORS: ClassVar[bool] = False

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """Return the settings from the arguments of the experiment's function, by name."""
        settings = cls(**parsed_fields(cls, given) | {"estimators": ()})
        estimators = labeled_estimators(
            given["estimators"],
            given["posterior_settings"],
            estimand=settings.estimand_of_estimators,
            random_seed=settings.random_seed,
            may_be_empty=cls.MAY_LACK_ESTIMATORS,
        )
        return replace(settings, estimators=estimators)

    def __post_init__(self) -> None:
        for name, hint in type_hints(type(self)).items():
            value = getattr(self, name)
            if get_origin(hint) is Literal:
                check_choice(name, value, hint)
            elif hint in _COUNTS:
                for count in value if isinstance(value, tuple) else (value,):
                    check_count(name, count, least=0 if name == "random_seed" else 1)

    @property
    def estimand_of_estimators(self) -> Estimand:
        """Estimand for all estimators: the experiment's, if it has one, else "pooled"."""
        estimand: Estimand = getattr(self, "estimand", "pooled")
        return estimand

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the estimators in the tables."""
        return tuple(label for label, _ in self.estimators)

    def describe(self) -> dict[str, Any]:
        """Return the settings as JSON types, with those of posteriors under each estimator."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "random_seed"}
        return described(**values | {"estimators": dict(self.estimators), "random_seed": self.random_seed})

    def describe_parts(self) -> dict[str, Any]:
        """Return the settings whose change invalidates stored parts (folds or pools), as JSON types."""
        return {name: value for name, value in self.describe().items() if name not in self.PARTS_EXCLUDE}


@dataclass(frozen=True, kw_only=True)
class DesignSettings(ExperimentSettings):
    """Settings that `bayespool.experiments.run_design` was called with."""

    estimand: Estimand
    ci_prob: float


@dataclass(frozen=True, kw_only=True)
class LeaveOutSettings(ExperimentSettings):
    """Settings that `bayespool.leave_out` was called with.

    Of a collection, ``types`` and ``run_types``, the types by run, are those of its pooled runs.
    """

    by: str
    n_clusters: int | None
    types: tuple[str, ...]
    runs: Runs
    top: float
    top_pool: Literal["all", "kept"]
    truth: Literal["repooled", "full"]
    unseen: Unseen
    denominator: Literal["qrels", "run"]
    repool_to: int | None
    test: PairTest
    announce: float
    ci_prob: float
    run_types: tuple[tuple[str, str], ...] = ()

    PARTS_EXCLUDE = frozenset({"n_clusters", "run_types", "types", "test", "announce"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_clusters", self.n_clusters, least=2)
        check_number("top", self.top, above=0, most=100)
        check_announced(self.announce)
        if self.by not in ("organization", "run") and self.top_pool == "kept":
            raise InputError(
                f"{self.by}s are of all pooled runs: top_pool 'kept' does not go with them",
                hint="leave it out, or leave out organizations",
            )
        if self.by == "cluster" and self.n_clusters is None:
            object.__setattr__(self, "n_clusters", 5)
        if self.n_clusters and self.by != "cluster":
            reason = f"n_clusters is for clusters, and {self.by}s are left out"
            raise InputError(reason, hint='take by="cluster"')
        if self.types and not self.is_by_column:
            hint = 'take by="type", or another column of runs'
            raise InputError(f"types are of a column, and {self.by}s are left out", hint=hint)
        _refuse_strange_types(self.run_types, *self.types)

    @property
    def is_by_column(self) -> bool:
        """Whether runs are left out by their values in a column of attributes, such as their type."""
        return self.by not in LEFT_OUT

    @property
    def estimand_of_estimators(self) -> Estimand:
        """Estimand for the truth and all estimators.

        With the run alone back in the pool nothing is judged below its depth.
        """
        is_pooled = self.truth == "repooled" and self.unseen == "nonrelevant"
        return "pooled" if is_pooled else "complete"

    def describe(self) -> dict[str, Any]:
        """Return the settings as JSON types, with run types only if types are left out."""
        others = {} if self.is_by_column else {"run_types", "types"}
        types = {"run_types": dict(self.run_types)}
        return {n: types.get(n, value) for n, value in super().describe().items() if n not in others}

    def describe_parts(self) -> dict[str, Any]:
        """Return the settings that affect stored parts, without ``top`` if all runs make the pool."""
        described = super().describe_parts()
        if self.top_pool == "all":
            del described["top"]
        return described


@dataclass(frozen=True, kw_only=True)
class RandomPoolSettings(ExperimentSettings):
    """Settings that `bayespool.experiments.vary_pool_width` or `bayespool.experiments.vary_common_topics` was
    called with; only of the second ``n_common`` has numbers.

    Before the collection is known ``widths`` may be empty and ``repool_to`` None.
    """

    widths: tuple[int, ...]
    n_samples: int
    by: By
    runs: Runs
    repool_to: int | None
    pool_type: str | None
    target_type: str | None
    run_types: tuple[tuple[str, str], ...] = ()
    n_targets: int = 1
    ci_prob: float = 0.95
    n_common: tuple[int, ...] = ()
    n_topic_samples: int = 1
    sds: tuple[float, ...] = ()

    PARTS_EXCLUDE = frozenset({"widths", "n_samples", "sds"})

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_cutoffs_below_pool(self.measures, self.repool_to)
        for std in self.sds:
            check_number("sds", std, above=0)
        _refuse_strange_types(self.run_types, *filter(None, (self.pool_type, self.target_type)))

    def describe(self) -> dict[str, Any]:
        """Return the settings of the function called as JSON types."""
        others = {"n_targets", "ci_prob"} if self.n_common else {"n_common", "n_topic_samples", "sds"}
        described = super().describe() | {"run_types": dict(self.run_types)}
        return {name: value for name, value in described.items() if name not in others}


def _refuse_strange_types(run_types: Iterable[tuple[str, str]], *types: str) -> None:
    """Raise `InputError` for a type that no run has, where the types of runs are known."""
    known = sorted({kind for _, kind in run_types})
    for kind in types if known else ():
        if kind not in known:
            raise InputError(f"no run of the pool has the type {kind!r}", hint=known_names(kind, known))


def refuse_cutoffs_below_pool(measures: tuple[Measure, ...], repool_to: int | None) -> None:
    """Raise `InputError` for a cutoff deeper than the pool depth, if the depth is known."""
    deepest = max(measures, key=lambda m: m.cutoff)
    if repool_to is not None and deepest.cutoff > repool_to:
        raise InputError(
            f"{deepest} looks deeper than the pools, which are judged to depth {repool_to}",
            hint=f"take {replace(deepest, cutoff=repool_to)}, or a deeper pool",
        )


@dataclass(frozen=True, kw_only=True)
class KeptJudgmentsSettings(ExperimentSettings):
    """Settings that `bayespool.experiments.keep_judgments` was called with."""

    keep: tuple[float, ...]
    n_samples: int

    PARTS_EXCLUDE = frozenset({"keep", "n_samples"})

    def __post_init__(self) -> None:
        super().__post_init__()
        for share in self.keep:
            check_number("keep", share, above=0, most=1)

    @property
    def estimand_of_estimators(self) -> Estimand:
        """Estimand for documents that any run of the pool brought."""
        return "complete"


@dataclass(frozen=True, kw_only=True)
class BudgetSettings(ExperimentSettings):
    """Settings that `bayespool.compare_budgets` was called with.

    Before the collection is known ``budgets`` may be empty and ``repool_to`` None.
    """

    strategies: tuple[Strategy, ...]
    budgets: tuple[int, ...]
    by: By
    top: float
    truth: Literal["full", "pooled"]
    repool_to: int | None
    shares: Shares
    rel: int
    test: PairTest
    stop: StoppingRule | None

    PARTS_EXCLUDE = frozenset({"estimators", "strategies", "top", "truth"})
    MAY_LACK_ESTIMATORS = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("top", self.top, above=0, most=100)
        refuse_cutoffs_below_pool(self.measures, self.repool_to)
        if self.stop is not None:
            for strategy in self.strategies:
                PoolPlan(strategy=strategy, budget=1, stop=self.stop)
            if self.estimators:
                raise InputError(
                    "estimators need to know the pool of fewer runs, which a stopping rule does not tell",
                    hint="estimate without stop",
                )

    @property
    def estimand_of_estimators(self) -> Estimand:
        """Estimand for scores on the whole pool."""
        return "complete"

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the strategies in the tables."""
        return tuple(map(strategy_text, self.strategies))

    def describe(self) -> dict[str, Any]:
        """Return the settings as JSON types."""
        stop = self.stop and stopping_text(self.stop)
        return super().describe() | {"strategies": list(self.labels), "stop": stop}


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
    posterior_settings: str | PosteriorEstimator | None = None,
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
    posterior_settings : str or PosteriorEstimator, optional
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
    shared = shared_settings(posterior_settings)
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
        replaced: Any = replace(estimator, **{name: value})  # type: ignore[type-var]
        return replaced  # type: ignore[no-any-return]
    copied = copy.copy(estimator)  # a class below a dataclass may have another __init__
    object.__setattr__(copied, name, value)
    return copied


def parse_models(models: str | Iterable[str]) -> tuple[str, ...]:
    """Return the model names, or raise `InputError` if one is unknown or none is given."""
    names = (models,) if isinstance(models, str) else tuple(dict.fromkeys(models))
    if unknown := [name for name in names if leading_name(name) not in MODELS]:
        hint = known_names(unknown[0], MODELS)
        if unknown[0] == "combined":
            hint = f"it is checked where all of its models are: {', '.join(COMBINED_MODELS)}"
        raise InputError(f"no model {unknown[0]!r} to check", hint=hint)
    if not names:
        raise InputError("no model to check", hint=f"known: {', '.join(MODELS)}")
    return tuple(model_named(name).name for name in names)


def refuse_foreign_priors(priors: Mapping[str, str], models: Sequence[str]) -> None:
    """Raise `InputError` for priors that no model has."""
    names = {prior for model in models for prior in prior_names(model)}
    for name in priors:
        if name not in names:
            hint = known_names(name, sorted(names), before="these models have ")
            raise InputError(f"no prior {name!r}", hint=hint)
