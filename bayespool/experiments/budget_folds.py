"""One part of the experiment on budgets: a strategy, an organization left out, and estimates on that pool."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.comparisons import paired_t
from bayespool.comparisons.significance import tukey_significant
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import (
    n_relevant_documents,
    ranked_levels,
    relevance_levels,
    tally_of,
    values_on_fuller,
)
from bayespool.experiments.calibration import interval_columns, with_missing_flags
from bayespool.experiments.error_measures import kendall_tau_b
from bayespool.experiments.fold_results import estimates_of
from bayespool.experiments.folds import seed_of
from bayespool.experiments.settings import BudgetSettings, Test
from bayespool.experiments.storage import Columns, PartResult, add_rows
from bayespool.measures import Measure, Values
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.pooling import Membership, Strategy, order_of_topic
from bayespool.pooling.choosing import shares_of
from bayespool.pooling.pools import with_strategy_pool
from bayespool.pooling.registry import strategy_text
from bayespool.pooling.strategy import retrieved_by

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
        reduced.with_pool(pooled, reduced.pool),
        strategy,
        budget,
        run_depth=settings.pool_depth,
        shares=settings.shares,
        rel=settings.rel,
        random_seed=settings.random_seed,
    )


def budget_estimates(
    whole: Collection, visible: Collection, part: BudgetPart, settings: BudgetSettings
) -> PartResult:
    """Rows of every estimator on the runs left out of a budget's pool."""
    columns: Columns = {}
    measures, budget = settings.measures, part.budget
    text = strategy_text(part.strategy)
    named = f"{part.left_out!r} left out of {budget} by {part.strategy.name}"
    # ideal rankings of the truth have the documents judged for the estimator and those in reach of the runs
    truths = [values_on_fuller(visible, whole, part.run_ids, measure) for measure in measures]
    is_open = [score_bounds(visible, part.run_ids, measure).has_unjudged for measure in measures]
    estimates, caught = estimates_of(
        settings.estimators, visible, part.run_ids, measures, named, (text, part.left_out, budget)
    )
    for label, of_estimator in estimates.items():
        for measure, of_measure, truth, open_ in zip(measures, of_estimator, truths, is_open, strict=True):
            name = str(measure)
            seed = seed_of(settings.random_seed, "pit", text, part.left_out, budget, name, label)
            row = {
                "measure": name,
                "estimator": label,
                "run_id": list(part.run_ids),
                "truth": truth.means(),
                "estimate": of_measure.value,
                "open": open_,
                **interval_columns(of_measure, truth, open_, ci_prob=DEFAULT_CI_PROB, seed=seed),
            }
            add_rows(columns, len(part.run_ids), row)
    return PartResult(part, columns, {"pools": {}, "warnings": caught})


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
    table = with_missing_flags(table)
    # rows are sorted except for the estimator, which precedes the run
    estimator = table["estimator"].map({label: i for i, (label, _) in enumerate(settings.estimators)})
    group = table["place"].groupby([table[name] for name in keys[:3]]).transform("min")
    order = np.lexsort([table["place"], estimator, group])
    first = ["measure", "strategy", "budget", "estimator", "run_id", "organization", "left_out", "reported"]
    first += ["full", "truth", "as_judged", "value", "error", "open"]
    others = [name for name in table if name not in {*first, "place"}]
    return table[first + others].iloc[order].reset_index(drop=True)


BoolArray = npt.NDArray[np.bool_]

_SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """A strategy and the organization or run left out (empty: none), with the runs to score; without a
    budget, scores as judged at every budget, with one, estimates from its pool.
    """

    strategy: Strategy
    left_out: str
    run_ids: tuple[str, ...]
    budget: int | None = None


@dataclass(frozen=True, eq=False)
class Order:
    """Place of each document in its topic's order from 0, shape (pair,), large where it has none, and the
    number judged by each budget, shape (budget, topic).
    """

    place: IntArray
    share: npt.NDArray[np.int64]

    def judged(self, collection: Collection, b: int) -> BoolArray:
        """Documents that budget number `b` judges, shape (pair,)."""
        inside: BoolArray = self.place < self.share[b][collection.pair_topic]
        return inside


def order_of(
    whole: Collection, strategy: Strategy, run_index: npt.NDArray[np.intp], settings: BudgetSettings
) -> Order:
    """The order in which a strategy judges the documents that some runs retrieved down to the pool depth."""
    seed = settings.random_seed
    topics = list(retrieved_by(whole, run_index, depth=settings.pool_depth, random_seed=seed))
    share = np.array([shares_of(strategy, topics, n, settings.shares) for n in settings.budgets])
    place = np.full(len(whole.relevance), np.iinfo(np.int32).max, dtype=np.int32)
    for topic, n in zip(topics, share.max(axis=0).tolist(), strict=True):
        order = order_of_topic(strategy, topic, whole.relevance, n, rel=settings.rel, random_seed=seed)
        place[order] = np.arange(len(order), dtype=np.int32)
    return Order(place, share)


def scores_of(
    whole: Collection, judged: Collection, index: npt.NDArray[np.intp], measures: Sequence[Measure]
) -> list[Values]:
    """Scores as trec_eval gives them with the judgments of `judged`, by measure, each of shape (run, topic);
    the levels of relevance are those of `whole`.
    """
    scores = []
    for measure in measures:
        tally = tally_of(judged, relevance_levels(whole, measure))
        scores.append(measure.values(measure.read(ranked_levels(judged, index, measure.cutoff)), tally))
    return scores


def run_part(whole: Collection, part: BudgetPart, settings: BudgetSettings) -> PartResult:
    """Scores of the part's runs at every budget, with tables of the pools where no run is left out; or, for a
    part with a budget, the estimates on its pool.
    """
    left_out_runs = set(part.run_ids) if part.left_out else set()
    contributors = whole.run_index([run for run in whole.pooled_run_ids if run not in left_out_runs])
    index = whole.run_index(part.run_ids)
    if part.budget is not None:
        settings = dataclasses.replace(settings, budgets=(part.budget,))
    order = order_of(whole, part.strategy, contributors, settings)
    if part.budget is not None:
        reduced = whole.without_judgments(~order.judged(whole, 0))
        visible = seen_by_estimators(reduced, part.strategy, part.budget, part.run_ids, settings)
        return budget_estimates(whole, visible, part, settings)
    rows: Columns = {}
    pools = None if part.left_out else _Pools(whole, index, settings)
    for b, budget in enumerate(settings.budgets):
        inside = order.judged(whole, b)
        reduced = whole.without_judgments(~inside)
        scores = scores_of(whole, reduced, index, settings.measures)
        for measure, values in zip(settings.measures, scores, strict=True):
            row = {"measure": str(measure), "budget": budget, "run_id": list(part.run_ids)}
            add_rows(rows, len(index), row | {"value": values.means()})
        if pools is not None:
            pools.add(budget, inside, reduced, scores)
    return PartResult(part, rows, {"pools": {} if pools is None else pools.columns, "warnings": ()})


def significant_pairs(scores: npt.NDArray[np.float64], test: Test) -> BoolArray:
    """Pairs of runs that differ significantly at 5 %, shape (run, run); none where there is only one topic or
    run.
    """
    if min(scores.shape) < 2:
        return np.zeros((len(scores), len(scores)), dtype=bool)
    if test == "tukey-hsd":
        return tukey_significant(scores, _SIGNIFICANCE_LEVEL)
    with np.errstate(invalid="ignore"):
        return np.asarray(paired_t(scores) < _SIGNIFICANCE_LEVEL)


def packed(pairs: BoolArray) -> str:
    """Pairs of runs as hexadecimal text, one bit each."""
    return np.packbits(pairs).tobytes().hex()


def unpacked(text: str, n_runs: int) -> BoolArray:
    """Decode the string that `packed` makes into a matrix of pairs, shape (run, run).

    Examples
    --------
    >>> unpacked(packed(np.eye(3, dtype=bool)), 3).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8), count=n_runs * n_runs)
    return bits.reshape(n_runs, n_runs).astype(bool)


class _Pools:
    """Columns that describe the pools of a strategy with all runs, budget by budget."""

    def __init__(self, whole: Collection, index: npt.NDArray[np.intp], settings: BudgetSettings) -> None:
        self.columns: dict[str, Columns] = {"pools": {}, "contributors": {}, "agreement": {}}
        self._whole, self._settings = whole, settings
        self._in_truth = scores_of(whole, whole, index, settings.measures)
        runs = [whole.run_ids[i] for i in index]
        organizations = [whole.organizations[o] for o in whole.organization[index]]
        units = runs if settings.by == "run" else organizations
        self._of_runs = Membership.of(whole, index, runs, settings.pool_depth)
        self._of_units = Membership.of(whole, index, units, settings.pool_depth)

    def add(self, budget: int, inside: BoolArray, reduced: Collection, scores: Sequence[Values]) -> None:
        """Add the rows of one budget's pool."""
        runs, units = (m.contributions(self._whole, inside) for m in (self._of_runs, self._of_units))
        of_topic = runs.n_of_topic
        n_documents = int(of_topic.sum())
        self._note(
            "pools",
            budget=budget,
            n_documents=n_documents,
            n_judged=int(reduced.judged.sum()),
            n_relevant=n_relevant_documents(reduced, self._settings.rel),
            topic_least=int(of_topic.min()),
            topic_most=int(of_topic.max()),
            run_least=int(runs.n_documents.min()),
            run_mean=float(runs.n_documents.mean()),
            run_most=int(runs.n_documents.max()),
        )
        for name, n_runs, n, alone in zip(
            units.names,
            units.n_runs.tolist(),
            units.n_documents.tolist(),
            units.n_alone.tolist(),
            strict=True,
        ):
            share = n / n_documents if n_documents else 0.0
            self._note(
                "contributors",
                budget=budget, contributor=name, n_pooled_runs=n_runs, n_documents=n, share=share,
                n_alone=alone,
            )  # fmt: skip
        for measure, before, after in zip(self._settings.measures, self._in_truth, scores, strict=True):
            self._note("agreement", budget=budget, measure=str(measure), **self._agreement(before, after))

    def _agreement(self, before: Values, after: Values) -> dict[str, Any]:
        """Agreement of the runs' comparisons on a pool with those on the whole depth pool."""
        test = self._settings.test
        before_significant, after_significant = (
            significant_pairs(values.scores(), test) for values in (before, after)
        )
        before_ahead, after_ahead = (values.totals()[:, None] > values.totals() for values in (before, after))
        above_diagonal = np.triu(np.ones(before_significant.shape, dtype=bool), 1)
        both, same = before_significant & after_significant & above_diagonal, before_ahead == after_ahead
        return {
            "kendall_tau_b": kendall_tau_b(before.means(), after.means()),
            "n_significant": int((before_significant & above_diagonal).sum()),
            "n_preserved": int((both & same).sum()),
            "n_reversed": int((both & ~same).sum()),
            "n_new": int((after_significant & ~before_significant & above_diagonal).sum()),
            "significant": packed(after_significant),
        }

    def _note(self, table: str, **row: Any) -> None:
        for name, value in row.items():
            self.columns[table].setdefault(name, []).append(value)
