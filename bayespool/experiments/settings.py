"""Settings of the experiments and checks, one record each: what their parts depend on."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_origin

from bayespool.errors import InputError, known_names
from bayespool.names import By, Estimand, PairTest, Runs, Shares, Unseen, type_hints
from bayespool.options import (
    SEED,
    Option,
    PosteriorSettings,
    option,
    options_of,
)
from bayespool.scoring.settings import (
    CI_PROB,
    ESTIMATORS,
    MEASURES_OF_RANKINGS,
    POOL_DEPTH,
)
from bayespool.validation import check_choice, check_count, check_number, described

if TYPE_CHECKING:
    from bayespool.measures import Estimator, Measure
    from bayespool.pooling import StoppingRule, Strategy

Test = PairTest

_RUNS = Option(
    help="The pooled runs take part, or all: what is unjudged in truth is then not relevant.",
    details="The second is the rule of Webber & Park.",
)
WITHIN_POOL_DEPTH = replace(
    POOL_DEPTH,
    details="By default the collection's own depth. Cutoffs may not be deeper: down to the pool depth a "
    "run's true score is known whatever else is in the pool.",
)
_RUN_TYPES = Option(
    help="Types of the runs that take part: CSV with run_id,type.",
    details="In Python a mapping, as `bayespool.collection.read_run_types` gives it.",
    type=Path,
    docstring_type="mapping of str to str",
    group="Input",
    parse=lambda given: tuple(dict(given or {}).items()),
)


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
        check_count("random_seed", self.random_seed, least=0)
        for name, hint in type_hints(type(self)).items():
            if get_origin(hint) is Literal:
                check_choice(name, getattr(self, name), hint)

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
        measures = {"measures": [str(measure) for measure in self.measures]}
        return (
            described(**values | {"estimators": dict(self.estimators), "random_seed": self.random_seed})
            | measures
        )

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
        check_count("pool_depth", self.pool_depth)
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


# --- forged as before, until the functions are written out ---


@dataclass(frozen=True, kw_only=True)
class FormerSettings(PosteriorSettings):
    """Settings common to the experiments that are not written out yet."""

    measures: tuple[Measure, ...] = option("P@10", MEASURES_OF_RANKINGS)
    estimators: tuple[tuple[str, Estimator], ...] = option("all", ESTIMATORS)
    random_seed: int = option(1, SEED)

    def __post_init__(self) -> None:
        from bayespool.experiments.preparing import labeled_estimators

        super().__post_init__()
        labeled = labeled_estimators(
            self.estimators,
            self.posterior,
            estimand=self.estimand_of_estimators,
            random_seed=self.random_seed,
            may_be_empty=options_of(type(self))["estimators"][1] is None,
        )
        self._hold("estimators", labeled)

    @property
    def estimand_of_estimators(self) -> Estimand:
        """Estimand for all estimators."""
        return "pooled"

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the estimators in the tables."""
        return tuple(label for label, _ in self.estimators)

    def describe(self) -> dict[str, Any]:
        """Return the options as JSON types, with posterior options listed under each estimator."""
        described = {n: v for n, v in super().describe().items() if n not in options_of(PosteriorSettings)}
        return described | {
            "measures": [str(measure) for measure in self.measures],
            "estimators": described["estimators"] or {},
        }

    def describe_parts(self) -> dict[str, Any]:
        """Return the settings whose change invalidates stored parts (folds or pools), as JSON types."""
        options = options_of(type(self))
        return {name: value for name, value in self.describe().items() if options[name][0].affects_parts}


@dataclass(frozen=True, kw_only=True)
class PoolSettings(FormerSettings):
    """Settings for experiments on random pools.

    Before the collection is known ``widths`` may be empty and ``pool_depth`` None.
    """

    widths: tuple[int, ...] = option(
        None,
        "Comma-separated pool widths: contributors that make a pool.",
        details="By default 2, 4, 10, 20 and 40 as far as there is one more.",
        least=1,
        affects_parts=False,
    )
    n_samples: int = option(100, "Pools drawn of each width.", least=1, affects_parts=False)
    by: Literal["run", "organization"] = option(
        "run",
        "What pools are drawn from: runs, or organizations with all their runs.",
        details="Of runs, as in the paper, siblings of the run that is scored may be in the pool.",
    )
    runs: Runs = option("pooled", _RUNS)
    pool_depth: int | None = option(None, WITHIN_POOL_DEPTH)
    run_types: tuple[tuple[str, str], ...] = option(None, _RUN_TYPES)
    pool_type: str | None = option(None, "Make pools of runs of this type alone.")
    target_type: str | None = option(None, "Score runs of this type alone.")

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_cutoffs_below_pool(self.measures, self.pool_depth)
        kinds = sorted({kind for _, kind in self.run_types})
        for kind, role in ((self.pool_type, "pool"), (self.target_type, "target")):
            if kind is not None and kind not in kinds:
                hint = known_names(kind, kinds) if kinds else "give the types of the runs"
                raise InputError(f"no run has the {role} type {kind!r}", hint=hint)

    def describe(self) -> dict[str, Any]:
        """Return the settings as JSON types."""
        return super().describe() | {"run_types": dict(self.run_types)}


@dataclass(frozen=True, kw_only=True)
class PoolWidthSettings(PoolSettings):
    """Settings for `bayespool.experiments.vary_pool_width`."""

    estimators: tuple[tuple[str, Estimator], ...] = option(
        ("as-judged", "condensed-list", "systems-adjustment"), ESTIMATORS
    )
    n_targets: int = option(
        1,
        "Runs outside each pool that are scored.",
        details="In the paper one; more make the means steadier.",
        least=1,
    )
    ci_prob: float = option(None, CI_PROB)


@dataclass(frozen=True, kw_only=True)
class CommonTopicsSettings(PoolSettings):
    """Settings for `bayespool.experiments.vary_common_topics`.

    Before the collection is known ``n_common`` may be empty.
    """

    estimators: tuple[tuple[str, Estimator], ...] = option(("as-judged", "condensed-list"), ESTIMATORS)
    n_common: tuple[int, ...] = option(
        None,
        "Comma-separated numbers of common topics.",
        details="By default 5, 10, 20, 30, 40, 50, 100, 150 and 200 below the number of topics.",
        least=1,
    )
    n_topic_samples: int = option(
        200,
        "Sets of common topics drawn for each pool.",
        details="The sets of one draw are nested: n topics are n′ < n and others.",
        least=1,
    )
    plan: tuple[float, ...] = option(
        None,
        "Comma-separated standard errors of a mean score: says how many common topics each takes.",
        above=0,
        affects_parts=False,
    )


def refuse_cutoffs_below_pool(measures: tuple[Measure, ...], pool_depth: int | None) -> None:
    """Raise `InputError` for a cutoff deeper than the pool depth, if the depth is known."""
    deepest = max(measures, key=lambda m: m.cutoff)
    if pool_depth is not None and deepest.cutoff > pool_depth:
        raise InputError(
            f"{deepest} looks deeper than the pools, which are judged to depth {pool_depth}",
            hint=f"take {replace(deepest, cutoff=pool_depth)}, or a deeper pool",
        )


_SHARES = Option(
    help="How topics share a budget: as evenly as they have documents, or by values of documents that "
    "compare across topics (global)."
)
_RELEVANT = Option(
    help="Smallest relevance that counts as relevant for adaptive strategies, and in counts of documents.",
    least=1,
)


def _registry() -> ModuleType:
    from bayespool.pooling import registry

    return registry


def _parse_stop(given: Any) -> Any:
    return None if given is None else _registry().parse_stopping_rule(given)


_STOP = Option(
    help="Rule that may end a topic before the budget does: nonrelevant(n=50), after so many nonrelevant "
    "documents in a row; recall(target=0.9), when the estimated recall is reached; yield(share=0.05), when "
    "fewer of the last 50 documents are relevant.",
    docstring_type="str or StoppingRule",
    parse=_parse_stop,
)


@dataclass(frozen=True, kw_only=True)
class BudgetSettings(FormerSettings):
    """Settings for `bayespool.compare_budgets`.

    Before the collection is known ``budgets`` may be empty and ``pool_depth`` None.
    """

    measures: tuple[Measure, ...] = option(("P@100", "AP@100", "nDCG@100"), MEASURES_OF_RANKINGS)
    estimators: tuple[tuple[str, Estimator], ...] = option(
        None,
        ESTIMATORS,
        help="What estimates the runs left out of each pool, too: 'default', 'all', 'pairs', or names with "
        "settings. By default nothing does.",
        details="A posterior is fitted for each strategy, budget and organization: name few of them. In "
        "Python a name, a sequence of names and estimators, or a mapping of labels to them.",
        affects_parts=False,
    )
    strategies: tuple[Strategy, ...] = option(
        "paper",
        "'paper' (the nine of Lipani et al. 2017), 'all', or comma-separated names with settings in "
        "parentheses.",
        details="In Python a name, a strategy, or a sequence of them.",
        multiple="listed",
        docstring_type="str, Strategy or sequence of them",
        names="strategies",
        parse=lambda given: _registry().parse_strategies(given),
        affects_parts=False,
    )
    budgets: tuple[int, ...] = option(
        None,
        "Comma-separated budgets: documents judged over all topics.",
        details="By default 5,000, 10,000, … 80,000, as far as the pool has more documents; of a pool of "
        "fewer than 20,000 its tenths.",
        least=1,
    )
    by: By = option("organization", "What is left out of the pool at a time.")
    top: float = option(
        75,
        "Report the bias against this percentage of the pooled runs, the best by true score.",
        details="They are chosen measure by measure, by their scores on the whole depth pool. The others "
        "still contribute documents.",
        above=0,
        most=100,
        affects_parts=False,
    )
    truth: Literal["full", "pooled"] = option(
        "full",
        "What is true: a run's score on the whole depth pool, or on what the strategy judges with the run "
        "in the pool (pooled).",
        details="The first counts what a small budget leaves out for all runs alike, too; the second only "
        "what it costs a run not to contribute.",
        affects_parts=False,
    )
    pool_depth: int | None = option(None, WITHIN_POOL_DEPTH)
    shares: Shares = option("equal", _SHARES)
    rel: int = option(1, _RELEVANT)
    test: Test = option(
        "paired-t",
        "Significance test of a pair.",
        group="Comparison",
        details="It says what is significant in SRE*, and which differences a budget preserves.",
    )
    stop: StoppingRule | None = option(
        None, _STOP, details="Budgets are then what is judged at most. Without estimators and samples."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_cutoffs_below_pool(self.measures, self.pool_depth)
        self._hold("budgets", tuple(sorted(set(self.budgets))))
        if self.stop is not None:
            from bayespool.pooling.plans import PoolPlan

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
        return tuple(map(_registry().strategy_text, self.strategies))

    def describe(self) -> dict[str, Any]:
        """Return the settings as JSON types."""
        stop = self.stop and _registry().stopping_text(self.stop)
        return super().describe() | {"strategies": list(self.labels), "stop": stop}
