"""What estimators make of the pool of a strategy and a budget that an organization did not contribute to."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.collection import Collection
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.budget_settings import BudgetSettings
from bayespool.experiments.caught_warnings import CaughtWarnings, own_warnings
from bayespool.experiments.fold_results import naming, seeded
from bayespool.experiments.folds import seed_of
from bayespool.experiments.intervals import COVERAGE_LEVELS, interval_columns
from bayespool.experiments.storage import Columns
from bayespool.measures import Measure, Values
from bayespool.measures.estimates import ask
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.pooling import Strategy
from bayespool.pooling.pools import with_strategy_pool
from bayespool.pooling.registry import strategy_text

if TYPE_CHECKING:
    import pandas as pd


def seen_by_estimators(
    reduced: Collection, strategy: Strategy, budget: int, left_out: tuple[str, ...], settings: BudgetSettings
) -> Collection:
    """The collection that an estimator is given: without a judgment that the budget did not buy.

    Parameters
    ----------
    reduced : Collection
        With the judgments of the strategy's pool without the runs left out, and no others.
    strategy : Strategy
    budget : int
    left_out : tuple of str
        The runs that do not contribute.
    settings : BudgetSettings

    Returns
    -------
    Collection
        The same judgments, with a pool that can be asked again without further runs. What these let in
        instead has no judgment then, since there is none.
    """
    pooled = reduced.pooled.copy()
    pooled[reduced.run_index(left_out)] = False
    return with_strategy_pool(
        reduced.with_pool(pooled, reduced.pooling),
        strategy,
        budget,
        run_depth=settings.pool_depth,
        shares=settings.shares,
        rel=settings.rel,
        random_seed=settings.random_seed,
    )


def truth_of(whole: Collection, given: Collection, run_ids: tuple[str, ...], measure: Measure) -> Values:
    """Scores of runs left out on the whole depth pool, shape (run, topic). Ideal rankings are of what an
    estimator may speak of: the documents judged for it, and those that the runs have within reach.
    """
    return values_on_fuller(given, whole, run_ids, measure)


def estimates_of(
    whole: Collection,
    given: Collection,
    run_ids: tuple[str, ...],
    names: tuple[Strategy, str, int],
    settings: BudgetSettings,
) -> tuple[Columns, CaughtWarnings]:
    """Rows of every estimator on runs, and the warnings that came up.

    Parameters
    ----------
    whole : Collection
        With the judgments of the whole depth pool, which no estimator sees.
    given : Collection
        As `seen_by_estimators` makes it.
    run_ids : tuple of str
        The runs left out.
    names : (Strategy, str, int)
        Strategy, what is left out, and budget: draws are of a seed of their own for each.
    settings : BudgetSettings

    Returns
    -------
    dict of str to list
        ``measure``, ``estimator``, ``run_id``, ``truth``, ``estimate``, ``open`` and `interval_columns`.
    tuple of (str, str)
    """
    strategy, left_out, budget = names
    columns: Columns = {}
    said: list[warnings.WarningMessage] = []
    truths = [truth_of(whole, given, run_ids, measure) for measure in settings.measures]
    is_open = [score_bounds(given, run_ids, measure).has_unjudged for measure in settings.measures]
    for label, estimator in settings.estimators:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            one = seeded(estimator, strategy_text(strategy), left_out, budget)
            with naming(label, f"{left_out!r} left out of {budget} by {strategy.name}"):
                estimates = ask(one, given, run_ids, settings.measures)
        said += caught
        for measure, found, truth, open_ in zip(settings.measures, estimates, truths, is_open, strict=True):
            name = str(measure)
            seed = seed_of(
                settings.random_seed, "pit", strategy_text(strategy), left_out, budget, name, label
            )
            rows: dict[str, Any] = {
                "measure": [name] * len(run_ids),
                "estimator": [label] * len(run_ids),
                "run_id": list(run_ids),
                "truth": truth.means(),
                "estimate": found.value,
                "open": open_,
                **interval_columns(found, truth, open_, ci_prob=DEFAULT_CI_PROB, seed=seed),
            }
            for column, values in rows.items():
                columns.setdefault(column, []).extend(
                    values.tolist() if isinstance(values, np.ndarray) else values
                )
    return columns, own_warnings(said)


def estimate_rows(
    found: Sequence[tuple[str, int, Columns]], rows: pd.DataFrame, settings: BudgetSettings
) -> pd.DataFrame:
    """The table of estimates, in the order of measures, strategies, budgets, estimators and runs.

    Parameters
    ----------
    found : sequence of (str, int, dict of str to list)
        Text of the strategy, budget, and what `estimates_of` gave.
    rows : pandas.DataFrame
        The table of uncorrected runs, in that order.
    settings : BudgetSettings
    """
    import pandas as pd

    keys = ["measure", "strategy", "budget", "run_id"]
    frames = [pd.DataFrame(columns).assign(strategy=label, budget=budget) for label, budget, columns in found]
    known = rows[[*keys, "organization", "left_out", "reported", "full", "value"]]
    known = known.rename(columns={"value": "as_judged"}).assign(place=np.arange(len(known)))
    made = pd.concat(frames).merge(known, on=keys, validate="many_to_one")
    made = made.rename(columns={"estimate": "value"})
    made["error"] = made["value"] - made["truth"]
    for level in COVERAGE_LEVELS:
        made[f"covered_{level}"] = made[f"covered_{level}"].astype("boolean")
    # rows are in order already, but for the estimator, which comes before the run
    estimator = made["estimator"].map({label: i for i, (label, _) in enumerate(settings.estimators)})
    group = made["place"].groupby([made[name] for name in keys[:3]]).transform("min")
    order = np.lexsort([made["place"], estimator, group])
    first = ["measure", "strategy", "budget", "estimator", "run_id", "organization", "left_out", "reported"]
    first += ["full", "truth", "as_judged", "value", "error", "open"]
    others = [name for name in made if name not in {*first, "place"}]
    return made[first + others].iloc[order].reset_index(drop=True)
