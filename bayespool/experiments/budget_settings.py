"""Settings of pools with a budget: `bayespool.pooling.choose` and `bayespool.budgets`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayespool.errors import InputError
from bayespool.experiments.settings import (
    WITHIN_POOL_DEPTH,
    By,
    ExperimentSettings,
    Test,
    refuse_cutoffs_below_pool,
)
from bayespool.options import SEED, Option, Settings, option
from bayespool.scoring.settings import ESTIMATORS, MEASURES_OF_RANKINGS, Estimand

if TYPE_CHECKING:
    from bayespool.measures import Estimator, Measure
    from bayespool.pooling import StoppingRule, Strategy

Shares = Literal["equal", "global"]

_SHARES = Option(
    help="How topics share a budget: as evenly as they have documents, or by values of documents that "
    "compare across topics (global)."
)
_RELEVANT = Option(
    help="Smallest relevance that counts as relevant for adaptive strategies, and in counts of documents.",
    least=1,
)


def _stopping_rule(given: Any) -> StoppingRule | None:
    from bayespool.pooling import parse_stopping_rule

    return None if given is None else parse_stopping_rule(given)


def _stop_text(rule: StoppingRule | None) -> str | None:
    from bayespool.pooling.stopping import stopping_text

    return None if rule is None else stopping_text(rule)


_STOP = Option(
    help="Rule that may end a topic before the budget does: nonrelevant(n=50), after so many nonrelevant "
    "documents in a row; recall(target=0.9), when the estimated recall is reached; yield(share=0.05), when "
    "fewer of the last 50 documents are relevant.",
    docstring_type="str or StoppingRule",
    parse=_stopping_rule,
)


def _strategies(given: Any) -> tuple[Strategy, ...]:
    from bayespool.experiments.budgeting import strategies_of

    return strategies_of(given)


def _strategy(given: Any) -> Strategy:
    from bayespool.pooling import parse_strategy

    return parse_strategy(given)


@dataclass(frozen=True, kw_only=True)
class StrategySettings(Settings):
    """Arguments of `bayespool.pooling.choose`."""

    strategy: Strategy = option(
        ...,
        "Which documents are judged: a strategy, with settings in parentheses.",
        names="strategy",
        parse=_strategy,
    )
    budget: int | None = option(
        None,
        "Documents to judge, over all topics. A strategy with a size of its own, such as depth, needs none.",
        least=1,
    )
    depth: int | None = option(None, "Ranks of a run that may be judged at most; default: all.", least=1)
    shares: Shares = option("equal", _SHARES)
    rel: int = option(1, _RELEVANT)
    random_seed: int = option(1, SEED)
    stop: StoppingRule | None = option(
        None,
        _STOP,
        details="A topic whose judgments end before the rule is fulfilled goes on. The rules need judgments; "
        "none goes with a sample.",
    )

    def describe(self) -> dict[str, Any]:
        """All settings, as values that JSON can hold."""
        return super().describe() | {"stop": _stop_text(self.stop)}


@dataclass(frozen=True, kw_only=True)
class BudgetSettings(ExperimentSettings):
    """Settings for `bayespool.budgets`.

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
        parse=_strategies,
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
    random_seed: int = option(1, SEED)
    stop: StoppingRule | None = option(
        None, _STOP, details="Budgets are then what is judged at most. Without estimators and samples."
    )

    def __post_init__(self) -> None:
        from bayespool.experiments.resampling import distinct_sizes

        super().__post_init__()
        refuse_cutoffs_below_pool(self.measures, self.pool_depth)
        self._hold("budgets", distinct_sizes(self.budgets, "budget"))
        if self.stop is not None:
            from bayespool.pooling.choosing import check_budget

            for strategy in self.strategies:
                check_budget(strategy, 1, self.stop)
            if self.estimators:
                raise InputError(
                    "estimators need to know the pool of fewer runs, which a stopping rule does not tell",
                    hint="estimate without stop",
                )

    @property
    def estimand_of_estimators(self) -> Estimand:
        """That of scores on the whole pool."""
        return "complete"

    @property
    def labels(self) -> tuple[str, ...]:
        """Texts of the strategies in the tables."""
        from bayespool.pooling.registry import strategy_text

        return tuple(map(strategy_text, self.strategies))

    def describe(self) -> dict[str, Any]:
        """All settings, as values that JSON can hold."""
        return super().describe() | {"strategies": list(self.labels), "stop": _stop_text(self.stop)}
