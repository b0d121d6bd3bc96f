"""Settings of pooling strategies and of the experiment on budgets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayespool.experiments.settings import WITHIN_POOL_DEPTH, By, Test, check_cutoffs
from bayespool.options import (
    ESTIMATORS,
    MEASURES,
    SEED,
    Option,
    Settings,
    describe_estimator,
    option,
    options_of,
)

if TYPE_CHECKING:
    from bayespool.measures import Estimator, Measure
    from bayespool.pooling import Strategy

BudgetTruth = Literal["full", "pooled"]
Shares = Literal["equal", "global"]

_SHARES = Option(
    help="How topics share a budget: as evenly as they have documents, or by values of documents that "
    "compare across topics (global).",
    of=Shares,
)
_RELEVANT = Option(
    help="Smallest relevance that counts as relevant for adaptive strategies, and in counts of documents.",
    of=int,
    least=1,
    flag="--rel",
)


@dataclass(frozen=True, kw_only=True)
class StrategySettings(Settings):
    """Arguments of `bayespool.pooling.choose`."""

    strategy: str = option(
        ..., Option(help="Which documents are judged: a strategy, with settings in parentheses."), held=...
    )
    budget: int | None = option(
        None,
        Option(
            help="Documents to judge, over all topics. A strategy with a size of its own, such as depth, "
            "needs none.",
            of=int,
            least=1,
        ),
    )
    depth: int | None = option(
        None, Option(help="Ranks of a run that may be judged at most; default: all.", of=int, least=1)
    )
    shares: Shares = option("equal", _SHARES)
    rel: int = option(1, _RELEVANT)
    random_seed: int = option(1, SEED)


@dataclass(frozen=True, kw_only=True)
class BudgetSettings(Settings):
    """Settings of `bayespool.budgets`.

    Before the collection is known ``budgets`` may be empty and ``pool_depth`` None.
    """

    measures: tuple[Measure, ...] = option(("P@100", "AP@100", "nDCG@100"), MEASURES, held=...)
    estimators: tuple[tuple[str, Estimator], ...] = option(
        None,
        dataclasses.replace(
            ESTIMATORS,
            help="What estimates the runs left out of each pool, too: 'default', 'all', or names with "
            "settings. By default nothing does.",
            more="A posterior is fitted for each strategy, budget and organization: name few of them. In "
            "Python a name, a sequence of names and estimators, or a mapping of labels to them.",
            of_parts=False,
        ),
        held=(),
    )
    strategies: tuple[Strategy, ...] = option(
        "paper",
        Option(
            help="'paper' (the nine of Lipani et al. 2017), 'all', or comma-separated names with settings in "
            "parentheses.",
            more="In Python a name, a strategy, or a sequence of them.",
            many="listed",
            typed="str, Strategy or sequence of them",
            of_parts=False,
        ),
        held=...,
    )
    budgets: tuple[int, ...] = option(
        None,
        Option(
            help="Comma-separated budgets: documents judged over all topics.",
            more="By default 5,000, 10,000, … 80,000, as far as the pool has more documents; of a pool of "
            "fewer than 20,000 its tenths.",
            of=int,
            many="listed",
            least=1,
        ),
        held=(),
    )
    by: By = option("organization", Option(help="What is left out of the pool at a time.", of=By))
    top: float = option(
        75,
        Option(
            help="Report the bias against this percentage of the pooled runs, the best by true score.",
            more="They are chosen for each measure anew, by their scores on the whole depth pool. The others "
            "still contribute documents.",
            of=float,
            above=0,
            most=100,
            of_parts=False,
        ),
    )
    truth: Literal["full", "pooled"] = option(
        "full",
        Option(
            help="What is true: a run's score on the whole depth pool, or on what the strategy judges with "
            "the run in the pool (pooled).",
            more="The first counts what a small budget leaves out for all runs alike, too; the second only "
            "what it costs a run not to contribute.",
            of=BudgetTruth,
            of_parts=False,
        ),
    )
    pool_depth: int | None = option(None, WITHIN_POOL_DEPTH)
    shares: Shares = option("equal", _SHARES)
    rel: int = option(1, _RELEVANT)
    test: Test = option(
        "paired-t",
        Option(
            help="Significance test of a pair.",
            more="It says what is significant in SRE*, and which differences a budget preserves.",
            of=Test,
        ),
    )
    random_seed: int = option(1, SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cutoffs(self.measures, self.pool_depth)

    @property
    def labels(self) -> tuple[str, ...]:
        """Texts of the strategies in the tables."""
        from bayespool.pooling.registry import strategy_text

        return tuple(map(strategy_text, self.strategies))

    def describe(self) -> dict[str, Any]:
        """All settings, as values that JSON can hold."""
        plain = {name: getattr(self, name) for name in options_of(type(self))}
        return plain | {
            "measures": [str(m) for m in self.measures],
            "strategies": list(self.labels),
            "estimators": {label: describe_estimator(e) for label, e in self.estimators},
        }

    def describe_parts(self) -> dict[str, Any]:
        """The settings that the pools of a fold depend on."""
        described, options = self.describe(), options_of(type(self))
        return {name: value for name, value in described.items() if options[name][0].of_parts}
