"""Settings of the experiments and checks, one record each: what their parts depend on."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_origin

from bayespool.errors import InputError, known_names
from bayespool.names import By, Estimand, PairTest, Runs, Shares, Unseen, type_hints
from bayespool.pooling import PoolPlan, StoppingRule, Strategy
from bayespool.pooling.registry import stopping_text, strategy_text
from bayespool.validation import check_choice, check_count, check_number, described

if TYPE_CHECKING:
    from bayespool.measures import Estimator, Measure


_COUNTS = (int, int | None, tuple[int, ...])


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

    Of a collection, ``run_types`` and ``types`` are those of its pooled runs.
    """

    by: Literal["organization", "run", "cluster", "type"]
    n_clusters: int | None
    run_types: tuple[tuple[str, str], ...]
    types: tuple[str, ...]
    runs: Runs
    top: float
    top_pool: Literal["all", "kept"]
    truth: Literal["repooled", "full"]
    unseen: Unseen
    denominator: Literal["qrels", "run"]
    pool_depth: int | None
    test: PairTest
    ci_prob: float

    PARTS_EXCLUDE = frozenset({"n_clusters", "run_types", "types", "test"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_clusters", self.n_clusters, least=2)
        check_number("top", self.top, above=0, most=100)
        if self.by in ("cluster", "type") and self.top_pool == "kept":
            raise InputError(
                f"{self.by}s are of all pooled runs: top_pool 'kept' does not go with them",
                hint="leave it out, or leave out organizations",
            )
        if self.by == "cluster" and self.n_clusters is None:
            object.__setattr__(self, "n_clusters", 5)
        for name, by in (("n_clusters", "cluster"), ("run_types", "type"), ("types", "type")):
            if getattr(self, name) and self.by != by:
                raise InputError(f"{name} is for {by}s, and {self.by}s are left out", hint=f'take by="{by}"')
        kinds = sorted({kind for _, kind in self.run_types})
        if self.by == "type" and not kinds:
            raise InputError("which type is each run of?", hint="give run_types")
        for kind in self.types:
            if kind not in kinds:
                raise InputError(f"no run of the pool has the type {kind!r}", hint=known_names(kind, kinds))

    @property
    def estimand_of_estimators(self) -> Estimand:
        """Estimand for the truth and all estimators."""
        return leave_out_estimand(self.truth, self.unseen)

    def describe(self) -> dict[str, Any]:
        """Return the settings as JSON types, with run types only if types are left out."""
        others = {} if self.by == "type" else {"run_types", "types"}
        types = {"run_types": dict(self.run_types)}
        return {n: types.get(n, value) for n, value in super().describe().items() if n not in others}

    def describe_parts(self) -> dict[str, Any]:
        """Return the settings that affect stored parts, without ``top`` if all runs make the pool."""
        described = super().describe_parts()
        if self.top_pool == "all":
            del described["top"]
        return described


def leave_out_estimand(truth: str, unseen: str) -> Estimand:
    """Return the estimand of a leave-out experiment's estimators.

    With the run alone back in the pool nothing is judged below its depth.
    """
    return "pooled" if truth == "repooled" and unseen == "nonrelevant" else "complete"


@dataclass(frozen=True, kw_only=True)
class RandomPoolSettings(ExperimentSettings):
    """Settings that `bayespool.experiments.vary_pool_width` or `bayespool.experiments.vary_common_topics` was
    called with; only of the second ``n_common`` has numbers.

    Before the collection is known ``widths`` may be empty and ``pool_depth`` None.
    """

    widths: tuple[int, ...]
    n_samples: int
    by: By
    runs: Runs
    pool_depth: int | None
    run_types: tuple[tuple[str, str], ...]
    pool_type: str | None
    target_type: str | None
    n_targets: int = 1
    ci_prob: float = 0.95
    n_common: tuple[int, ...] = ()
    n_topic_samples: int = 1
    plan: tuple[float, ...] = ()

    PARTS_EXCLUDE = frozenset({"widths", "n_samples", "plan"})

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_cutoffs_below_pool(self.measures, self.pool_depth)
        for std in self.plan:
            check_number("plan", std, above=0)
        kinds = sorted({kind for _, kind in self.run_types})
        for kind, role in ((self.pool_type, "pool"), (self.target_type, "target")):
            if kind is not None and kind not in kinds:
                hint = known_names(kind, kinds) if kinds else "give the types of the runs"
                raise InputError(f"no run has the {role} type {kind!r}", hint=hint)

    def describe(self) -> dict[str, Any]:
        """Return the settings of the function called as JSON types."""
        others = {"n_targets", "ci_prob"} if self.n_common else {"n_common", "n_topic_samples", "plan"}
        described = super().describe() | {"run_types": dict(self.run_types)}
        return {name: value for name, value in described.items() if name not in others}


def refuse_cutoffs_below_pool(measures: tuple[Measure, ...], pool_depth: int | None) -> None:
    """Raise `InputError` for a cutoff deeper than the pool depth, if the depth is known."""
    deepest = max(measures, key=lambda m: m.cutoff)
    if pool_depth is not None and deepest.cutoff > pool_depth:
        raise InputError(
            f"{deepest} looks deeper than the pools, which are judged to depth {pool_depth}",
            hint=f"take {replace(deepest, cutoff=pool_depth)}, or a deeper pool",
        )


@dataclass(frozen=True, kw_only=True)
class BudgetSettings(ExperimentSettings):
    """Settings that `bayespool.compare_budgets` was called with.

    Before the collection is known ``budgets`` may be empty and ``pool_depth`` None.
    """

    strategies: tuple[Strategy, ...]
    budgets: tuple[int, ...]
    by: By
    top: float
    truth: Literal["full", "pooled"]
    pool_depth: int | None
    shares: Shares
    rel: int
    test: PairTest
    stop: StoppingRule | None

    PARTS_EXCLUDE = frozenset({"estimators", "strategies", "top", "truth"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("top", self.top, above=0, most=100)
        refuse_cutoffs_below_pool(self.measures, self.pool_depth)
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
