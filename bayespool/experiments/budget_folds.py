"""One part of the experiment on budgets: a strategy, and the runs left out of the pool it chooses from. A
strategy orders the documents of each topic once; every budget judges a prefix of that order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.comparisons import paired_t
from bayespool.comparisons.significance import tukey_significant
from bayespool.evidence.ideals import n_relevant_documents, ranked_levels, relevance_levels, tally_of
from bayespool.experiments.budget_estimates import estimates_of, seen_by_estimators
from bayespool.experiments.budget_settings import BudgetSettings
from bayespool.experiments.caught_warnings import CaughtWarnings
from bayespool.experiments.error_measures import kendall_tau_b
from bayespool.experiments.settings import Test
from bayespool.experiments.storage import Columns
from bayespool.measures import Measure, Values
from bayespool.pooling import Membership, Strategy, order_of_topic
from bayespool.pooling.choosing import shares_of
from bayespool.pooling.retrieved import retrieved_by

BoolArray = npt.NDArray[np.bool_]

_SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Part:
    """A strategy and the organization or run left out (empty: none), with the runs to score; without a
    budget, scores as judged at every budget, with one, estimates from its pool.
    """

    strategy: Strategy
    left_out: str
    run_ids: tuple[str, ...]
    budget: int | None = None


@dataclass(frozen=True, eq=False)
class PartResult:
    """Rows of a part's runs, columns of the tables of pools where no run is left out, and the estimators'
    warnings.
    """

    part: Part
    rows: Columns
    pools: dict[str, Columns]
    warnings: CaughtWarnings = ()


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


def run_part(whole: Collection, part: Part, settings: BudgetSettings) -> PartResult:
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
        names = (part.strategy, part.left_out, part.budget)
        estimates, caught = estimates_of(whole, visible, part.run_ids, names, settings)
        return PartResult(part, estimates, {}, caught)
    rows: Columns = {"measure": [], "budget": [], "run_id": [], "value": []}
    pools = None if part.left_out else _Pools(whole, index, settings)
    for b, budget in enumerate(settings.budgets):
        inside = order.judged(whole, b)
        reduced = whole.without_judgments(~inside)
        scores = scores_of(whole, reduced, index, settings.measures)
        for measure, values in zip(settings.measures, scores, strict=True):
            rows["measure"] += [str(measure)] * len(index)
            rows["budget"] += [budget] * len(index)
            rows["run_id"] += part.run_ids
            rows["value"] += values.means().tolist()
        if pools is not None:
            pools.add(budget, inside, reduced, scores)
    return PartResult(part, rows, {} if pools is None else pools.columns)


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
    """Pairs of runs from the text of `packed`, shape (run, run).

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
