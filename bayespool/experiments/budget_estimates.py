"""Estimates of the runs left out, from the pools of strategies and budgets."""

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
    """The collection that an estimator gets: the budget's judgments, and a pool that the strategy can choose
    again without the runs left out.
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


def truth_of(whole: Collection, visible: Collection, run_ids: tuple[str, ...], measure: Measure) -> Values:
    """Scores of runs left out on the whole depth pool, shape (run, topic); ideal rankings have the documents
    judged for the estimator and those that the runs have within reach.
    """
    return values_on_fuller(visible, whole, run_ids, measure)


def estimates_of(
    whole: Collection,
    visible: Collection,
    run_ids: tuple[str, ...],
    names: tuple[Strategy, str, int],
    settings: BudgetSettings,
) -> tuple[Columns, CaughtWarnings]:
    """Columns of every estimator's rows on the runs left out, and the estimators' warnings; `names` are
    strategy, unit left out and budget, which seed the draws.
    """
    strategy, left_out, budget = names
    columns: Columns = {}
    messages: list[warnings.WarningMessage] = []
    truths = [truth_of(whole, visible, run_ids, measure) for measure in settings.measures]
    is_open = [score_bounds(visible, run_ids, measure).has_unjudged for measure in settings.measures]
    for label, estimator in settings.estimators:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seeded_estimator = seeded(estimator, strategy_text(strategy), left_out, budget)
            with naming(label, f"{left_out!r} left out of {budget} by {strategy.name}"):
                estimates = ask(seeded_estimator, visible, run_ids, settings.measures)
        messages += caught
        for measure, of_measure, truth, open_ in zip(
            settings.measures, estimates, truths, is_open, strict=True
        ):
            name = str(measure)
            seed = seed_of(
                settings.random_seed, "pit", strategy_text(strategy), left_out, budget, name, label
            )
            rows: dict[str, Any] = {
                "measure": [name] * len(run_ids),
                "estimator": [label] * len(run_ids),
                "run_id": list(run_ids),
                "truth": truth.means(),
                "estimate": of_measure.value,
                "open": open_,
                **interval_columns(of_measure, truth, open_, ci_prob=DEFAULT_CI_PROB, seed=seed),
            }
            for column, values in rows.items():
                columns.setdefault(column, []).extend(
                    values.tolist() if isinstance(values, np.ndarray) else values
                )
    return columns, own_warnings(messages)


def estimate_rows(
    results: Sequence[tuple[str, int, Columns]], rows: pd.DataFrame, settings: BudgetSettings
) -> pd.DataFrame:
    """Table of estimates in the order of measures, strategies, budgets, estimators and runs."""
    import pandas as pd

    keys = ["measure", "strategy", "budget", "run_id"]
    frames = [
        pd.DataFrame(columns).assign(strategy=label, budget=budget) for label, budget, columns in results
    ]
    known = rows[[*keys, "organization", "left_out", "reported", "full", "value"]]
    known = known.rename(columns={"value": "as_judged"}).assign(place=np.arange(len(known)))
    table = pd.concat(frames).merge(known, on=keys, validate="many_to_one")
    table = table.rename(columns={"estimate": "value"})
    table["error"] = table["value"] - table["truth"]
    for level in COVERAGE_LEVELS:
        table[f"covered_{level}"] = table[f"covered_{level}"].astype("boolean")
    # rows are sorted except for the estimator, which precedes the run
    estimator = table["estimator"].map({label: i for i, (label, _) in enumerate(settings.estimators)})
    group = table["place"].groupby([table[name] for name in keys[:3]]).transform("min")
    order = np.lexsort([table["place"], estimator, group])
    first = ["measure", "strategy", "budget", "estimator", "run_id", "organization", "left_out", "reported"]
    first += ["full", "truth", "as_judged", "value", "error", "open"]
    others = [name for name in table if name not in {*first, "place"}]
    return table[first + others].iloc[order].reset_index(drop=True)
