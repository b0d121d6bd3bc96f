"""Settings of the experiments, with the description of their options."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayespool.errors import InputError, known_names
from bayespool.options import (
    CI_PROB,
    ESTIMAND,
    ESTIMATORS,
    MEASURES,
    POOL_DEPTH,
    SEED,
    Option,
    Settings,
    describe_estimator,
    option,
    options_of,
)

if TYPE_CHECKING:
    from bayespool.evidence import Estimand
    from bayespool.measures import Estimator, Measure

By = Literal["organization", "run"]
LeftOut = Literal["organization", "run", "cluster"]
TopPool = Literal["all", "kept"]
Truth = Literal["repooled", "full"]
Denominator = Literal["qrels", "run"]
Test = Literal["tukey-hsd", "paired-t"]
Runs = Literal["pooled", "all"]

_RUNS = Option(
    help="The pooled runs take part, or all: what is unjudged in truth is then not relevant.",
    more="The second is the rule of Webber & Park.",
    of=Runs,
)
WITHIN_POOL_DEPTH = dataclasses.replace(
    POOL_DEPTH,
    more="By default the collection's own depth. Cutoffs may not be deeper: down to the pool depth a "
    "run's true "
    "score is known whatever else is in the pool.",
)
_RUN_TYPES = Option(
    help="Types of the runs that take part: CSV with run_id,type.",
    more="In Python a mapping, as `bayespool.collection.read_run_types` gives it.",
    of=Path,
    typed="mapping of str to str",
)


@dataclass(frozen=True, kw_only=True)
class ExperimentSettings(Settings):
    """Settings common to all experiments.

    Attributes
    ----------
    measures : tuple of Measure
    estimators : tuple of (str, Estimator)
        Estimators under their labels.
    """

    measures: tuple[Measure, ...] = option("P@10", MEASURES, held=...)
    estimators: tuple[tuple[str, Estimator], ...] = option("all", ESTIMATORS, held=...)
    random_seed: int = option(
        1,
        dataclasses.replace(
            SEED,
            more="Every part of an experiment draws from a seed of its own, made from this one and its name.",
        ),
    )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the estimators in the tables."""
        return tuple(label for label, _ in self.estimators)

    def describe(self) -> dict[str, Any]:
        """All settings in the types of JSON."""
        plain = {name: getattr(self, name) for name in options_of(type(self))}
        return plain | {
            "measures": [str(m) for m in self.measures],
            "estimators": {label: describe_estimator(e) for label, e in self.estimators},
        }

    def describe_parts(self) -> dict[str, Any]:
        """Settings whose change invalidates stored parts, such as folds or pools, in the types of JSON."""
        described, options = self.describe(), options_of(type(self))
        return {name: value for name, value in described.items() if options[name][0].of_parts}


@dataclass(frozen=True, kw_only=True)
class LeaveOutSettings(ExperimentSettings):
    """Settings of `bayespool.leave_out`."""

    by: LeftOut = option(
        "organization",
        Option(
            help="What is left out of the pool at a time.",
            more="An organization's runs resemble each other, so that leaving out one run alone "
            "understates the "
            "bias that the run of a new organization would suffer. A cluster is of runs that retrieve alike, "
            "of any organizations: left out, they are unlike the pool.",
            of=LeftOut,
        ),
    )
    n_clusters: int | None = option(
        None,
        Option(
            help="Number of clusters, where they are left out.",
            more="By default 5; fewer where joins are tied.",
            of=int,
            least=2,
            flag="--clusters",
            of_parts=False,
        ),
    )
    top: float = option(
        100,
        Option(
            help="Report on this percentage of the runs left out, the best by true score.",
            more="They are chosen for each measure anew, their number rounded half up, the earlier of equal "
            "ones taken; buggy runs are then left aside, as in earlier work. The others still make the pool.",
            of=float,
            above=0,
            most=100,
        ),
    )
    top_pool: TopPool = option(
        "all",
        Option(
            help="Whether the other runs' contributions stay in the pool, or the best make it alone (kept).",
            more="With kept, as the published tool has it, runs are chosen by their scores on all judgments, "
            "and estimated only where they are among the best.",
            of=TopPool,
        ),
    )
    truth: Literal["repooled", "full"] = option(
        "repooled",
        Option(
            help="What is true: a run's score with it alone back in the pool, or on all judgments (full).",
            more="The two differ only below the pool depth, where full counts documents that other runs "
            "of the "
            "organization brought and that lie outside the pooled estimand.",
            of=Truth,
        ),
    )
    estimand: Estimand = option("pooled", ESTIMAND)
    denominator: Denominator = option(
        "qrels",
        Option(
            help="Scores are means over the topics of the qrels, or over those that the run has "
            "documents for.",
            more="The second is what the published tool does.",
            of=Denominator,
        ),
    )
    pool_depth: int | None = option(None, POOL_DEPTH)
    test: Test = option(
        "tukey-hsd",
        Option(
            help="Significance test of a pair.",
            more="It says what is significant in SRE*.",
            of=Test,
            of_parts=False,
        ),
    )
    ci_prob: float = option(
        0.95, dataclasses.replace(CI_PROB, more="Coverage is told at 50, 80 and 95 % besides.")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == "cluster":
            if self.top_pool == "kept":
                raise InputError(
                    "clusters are of all pooled runs: top_pool 'kept' does not go with them",
                    hint="leave it out, or leave out organizations",
                )
            if self.n_clusters is None:
                object.__setattr__(self, "n_clusters", 5)
        elif self.n_clusters is not None:
            raise InputError(
                f"n_clusters is for clusters, and {self.by}s are left out", hint='take by="cluster"'
            )

    def describe_parts(self) -> dict[str, Any]:
        """As in any experiment, without ``top`` if all pooled runs make the pool."""
        described = super().describe_parts()
        if self.top_pool == "all":
            del described["top"]
        return described


@dataclass(frozen=True, kw_only=True)
class PoolSettings(ExperimentSettings):
    """Settings of the experiments on random pools.

    Before the collection is known ``widths`` may be empty and ``pool_depth`` None.
    """

    widths: tuple[int, ...] = option(
        None,
        Option(
            help="Comma-separated pool widths: contributors that make a pool.",
            more="By default 2, 4, 10, 20 and 40 as far as there is one more.",
            of=int,
            many="listed",
            least=1,
            of_parts=False,
        ),
        held=(),
    )
    n_samples: int = option(
        100, Option(help="Pools drawn of each width.", of=int, least=1, flag="--samples", of_parts=False)
    )
    by: Literal["run", "organization"] = option(
        "run",
        Option(
            help="What pools are drawn from: runs, or organizations with all their runs.",
            more="Of runs, as in the paper, siblings of the run that is scored may be in the pool.",
            of=Literal["run", "organization"],
        ),
    )
    runs: Runs = option("pooled", _RUNS)
    pool_depth: int | None = option(None, WITHIN_POOL_DEPTH)
    run_types: tuple[tuple[str, str], ...] = option(None, _RUN_TYPES, held=())
    pool_type: str | None = option(None, Option(help="Make pools of runs of this type alone."))
    target_type: str | None = option(None, Option(help="Score runs of this type alone."))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cutoffs(self.measures, self.pool_depth)
        known = sorted({kind for _, kind in self.run_types})
        for kind, role in ((self.pool_type, "pool"), (self.target_type, "target")):
            if kind is not None and kind not in known:
                hint = known_names(kind, known) if known else "give the types of the runs"
                raise InputError(f"no run has the {role} type {kind!r}", hint=hint)

    def describe(self) -> dict[str, Any]:
        """All settings in the types of JSON."""
        return super().describe() | {"run_types": dict(self.run_types)}


@dataclass(frozen=True, kw_only=True)
class PoolWidthSettings(PoolSettings):
    """Settings of `bayespool.experiments.vary_pool_width`."""

    estimators: tuple[tuple[str, Estimator], ...] = option(
        ("lower-bound", "condensed-list", "systems-adjustment"), ESTIMATORS, held=...
    )
    n_targets: int = option(
        1,
        Option(
            help="Runs outside each pool that are scored.",
            more="In the paper one; more make the means steadier.",
            of=int,
            least=1,
            flag="--targets",
        ),
    )
    ci_prob: float = option(0.95, CI_PROB)


@dataclass(frozen=True, kw_only=True)
class CommonTopicsSettings(PoolSettings):
    """Settings of `bayespool.experiments.vary_common_topics`.

    Before the collection is known ``n_common`` may be empty.
    """

    estimators: tuple[tuple[str, Estimator], ...] = option(
        ("lower-bound", "condensed-list"), ESTIMATORS, held=...
    )
    n_common: tuple[int, ...] = option(
        None,
        Option(
            help="Comma-separated numbers of common topics.",
            more="By default 5, 10, 20, 30, 40, 50, 100, 150 and 200 below the number of topics.",
            of=int,
            many="listed",
            least=1,
            flag="--common",
        ),
        held=(),
    )
    n_topic_samples: int = option(
        200,
        Option(
            help="Sets of common topics drawn for each pool.",
            more="The sets of one draw are nested: n topics are n′ < n and others.",
            of=int,
            least=1,
            flag="--topic-samples",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class RunTypesSettings(ExperimentSettings):
    """Settings of `bayespool.experiments.leave_types_out`.

    Before the collection is known ``types`` may be empty and ``pool_depth`` None.
    """

    run_types: tuple[tuple[str, str], ...] = option(
        ..., dataclasses.replace(_RUN_TYPES, of_parts=False), held=...
    )
    types: tuple[str, ...] = option(
        None,
        Option(
            help="Comma-separated types to leave out, in turn; default: all.",
            many="listed",
            flag="--leave-out",
            of_parts=False,
        ),
        held=(),
    )
    runs: Runs = option("pooled", _RUNS)
    pool_depth: int | None = option(
        None, dataclasses.replace(POOL_DEPTH, more="By default the collection's.")
    )
    ci_prob: float = option(0.95, CI_PROB)

    def __post_init__(self) -> None:
        super().__post_init__()
        known = sorted({kind for _, kind in self.run_types})
        for kind in self.types:
            if kind not in known:
                raise InputError(f"no run of the pool has the type {kind!r}", hint=known_names(kind, known))

    @property
    def shared(self) -> LeaveOutSettings:
        """Settings shared with `bayespool.leave_out`."""
        return LeaveOutSettings(
            measures=self.measures,
            estimators=self.estimators,
            ci_prob=self.ci_prob,
            random_seed=self.random_seed,
        )

    def describe(self) -> dict[str, Any]:
        """All settings in the types of JSON."""
        return super().describe() | {"run_types": dict(self.run_types)}


def check_cutoffs(measures: tuple[Measure, ...], pool_depth: int | None) -> None:
    """Raise an `InputError` for a cutoff below the pool depth, where that is known."""
    deepest = max(measures, key=lambda m: m.cutoff)
    if pool_depth is not None and deepest.cutoff > pool_depth:
        raise InputError(
            f"{deepest} looks deeper than the pools, which are judged to depth {pool_depth}",
            hint=f"take {dataclasses.replace(deepest, cutoff=pool_depth)}, or a deeper pool",
        )
