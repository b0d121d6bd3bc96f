"""Bias of pools of different strategies and budgets against runs that did not contribute.

References
----------
A. Lipani, M. Lupu, J. Palotti, G. Zuccon and A. Hanbury (2017). Fixed budget pooling strategies based on
fusion methods. SAC 2017.

D. Otero, J. Parapar and N. Ferro (2023). How discriminative are your qrels? How to study the statistical
significance of document adjudication methods. CIKM 2023, 1960–1970.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import pandas as pd

from bayespool.arrays import BoolArray, OrderArray, Progress
from bayespool.collection import Collection
from bayespool.comparisons.significance import significant_pairs
from bayespool.errors import InputError
from bayespool.evidence.ideals import judged_tally, n_relevant_documents, ranked_levels, relevance_levels
from bayespool.experiments.budget_results import Budgets, packed
from bayespool.experiments.design import (
    INTERVAL_COLUMNS,
    Design,
    Graded,
    Part,
    contributors,
    run_organizations,
    whole_pool,
)
from bayespool.experiments.graded_runs import RowOrder, in_order, result_fields, stacked
from bayespool.experiments.leaving_out import n_best, with_reported
from bayespool.experiments.running import Columns, PartResult, Stored, add_rows
from bayespool.experiments.settings import BudgetSettings, user_code_versions
from bayespool.measures import Measure, Values
from bayespool.measures.errors import kendall_tau_b
from bayespool.names import By, PairTest, Shares, describe_estimator
from bayespool.pooling import Contributions, Membership, PoolPlan, StoppingRule, Strategy, judging_order
from bayespool.pooling.choosing import topic_shares
from bayespool.pooling.pools import with_strategy_pool
from bayespool.pooling.registry import stops_at, strategy_text
from bayespool.pooling.strategy import retrieved_by
from bayespool.posterior import PosteriorEstimator

PAPER_BUDGETS = tuple(range(5_000, 80_001, 5_000))
"""Judging budgets used by Lipani et al. (2017)."""


_SMALL_POOL_DOCUMENTS = 20_000  # below it too few of the paper's budgets fit
_N_BUDGETS_OF_SMALL_POOL = 10
_POOL_TABLES = ("pools", "contributors", "agreement")


@dataclass(frozen=True, kw_only=True)
class BudgetPart(Part):
    """Strategy with the runs to score and the organization or run left out (empty: none).

    Without a budget the part has scores as judged at every budget; with one, estimates from its pool.
    """

    strategy: Strategy
    left_out: str
    budget: int | None = None


class PoolsOfBudgets(Design):
    """Experiment on the pools that strategies choose with a budget, from all runs and without each
    contributor.
    """

    name: ClassVar[str] = "budgets"
    parts_name: ClassVar[str] = "pools"
    has_like_parts: ClassVar[bool] = False

    def parts(self, collection: Collection, settings: BudgetSettings) -> tuple[BudgetPart, ...]:
        """Return a part for each strategy with all runs and without each contributor.

        With estimators, a part for each budget without each contributor follows.
        """
        n_best(len(collection.pooled_run_ids), settings.top)
        units, parts = contributors(collection, settings.by, least=2), []
        budgets = settings.budgets if settings.estimators else ()
        everybody = {"": collection.pooled_run_ids}
        for budget, strategy, (left_out, run_ids) in (
            *itertools.product([None], settings.strategies, (everybody | units).items()),
            *itertools.product(budgets, settings.strategies, units.items()),
        ):
            text, absent = strategy_text(strategy), set(run_ids) if left_out else set()
            name = strategy.name, str(budget or ""), left_out or "everybody"
            parts.append(
                BudgetPart(
                    name="-".join(filter(None, name)),
                    run_ids=run_ids,
                    pool_run_ids=tuple(run for run in collection.pooled_run_ids if run not in absent),
                    measures=settings.measures,
                    columns=(("strategy", text), ("budget", budget), ("left_out", left_out)),
                    seeds=(text, left_out, budget),
                    strategy=strategy,
                    left_out=left_out,
                    budget=budget,
                )
            )
        return tuple(parts)

    def conceal(self, collection: Collection, part: BudgetPart, settings: BudgetSettings) -> Collection:
        """Return the collection with only the documents judged within the budget.

        Its pool is one that the strategy can choose again without more runs.
        """
        budget = cast("int", part.budget)
        judged = judged_by_budget(collection, part, replace(settings, budgets=(budget,)))[0]
        reduced = collection.without_judgments(~judged)
        pooled = reduced.pooled.copy()
        pooled[reduced.run_index(part.run_ids)] = False
        plan = PoolPlan(
            strategy=part.strategy,
            budget=budget,
            run_depth=settings.repool_to,
            shares=settings.shares,
            rel=settings.rel,
            random_seed=settings.random_seed,
        )
        return with_strategy_pool(reduced.with_pool(pooled, reduced.pool), plan)

    def seeds(self, part: BudgetPart, settings: BudgetSettings) -> tuple[object, ...]:
        """Return the names that seed a part: strategy, contributor left out, budget."""
        return part.seeds

    def grade(self, graded: Graded, settings: BudgetSettings) -> Mapping[str, Any]:
        """Return estimates with intervals, and whether a run has unjudged documents."""
        rows = graded.rows() | {"open": graded.bounds.has_unjudged}
        names = ("strategy", "budget", "measure", "estimator", "run_id", "truth", "value", "open")
        return {name: rows[name] for name in (*names, *INTERVAL_COLUMNS)}

    def compute(self, collection: Collection, part: BudgetPart, settings: BudgetSettings) -> Stored:
        """Return estimates from the pool of a budget, or scores at every budget for a part without one.

        Parts in which no run is left out also give tables that describe the pools.
        """
        if part.budget is not None:
            return super().compute(collection, part, settings)
        index, organizations = collection.run_index(part.run_ids), run_organizations(collection, part.run_ids)
        in_truth = trec_scores(collection, collection, index, settings.measures)
        contributor = part.run_ids if settings.by == "run" else organizations
        members = [
            Membership.of(collection, index, names, settings.repool_to)
            for names in (() if part.left_out else (part.run_ids, contributor))
        ]
        rows: Columns = {}
        pools: dict[str, Columns] = {name: {} for name in _POOL_TABLES}
        judged = judged_by_budget(collection, part, settings)
        for budget, inside in zip(settings.budgets, judged, strict=True):
            reduced = collection.without_judgments(~inside)
            scores = trec_scores(collection, reduced, index, settings.measures)
            place = {"strategy": strategy_text(part.strategy), "budget": budget}
            for measure, full, values in zip(settings.measures, in_truth, scores, strict=True):
                row = place | {
                    "left_out": part.left_out,
                    "measure": str(measure),
                    "run_id": list(part.run_ids),
                }
                row |= {"organization": organizations, "full": full.means(), "value": values.means()}
                add_rows(rows, row)
                if members:
                    agrees = agreement(full, values, settings.test)
                    add_rows(pools["agreement"], place | {"measure": str(measure)} | agrees)
            if members:
                runs, units = (each.contributions(collection, inside) for each in members)
                add_rows(pools["pools"], place | describe_documents(runs, reduced, settings.rel))
                add_rows(pools["contributors"], place | describe_contributors(units, runs))
        return rows, {"pools": pools}

    def identity(self, part: BudgetPart, settings: BudgetSettings) -> tuple[str, list[Any]]:
        """Return the part's name and identity, with its estimators and the versions of the user's strategies.

        Estimators can thus be added to a finished experiment.
        """
        text, strategy = strategy_text(part.strategy), cast("Any", part.strategy)
        identity = [text, user_code_versions([(text, strategy)]), part.left_out, list(part.run_ids)]
        if part.budget is None:
            return part.name, identity
        estimators = [[label, describe_estimator(estimator)] for label, estimator in settings.estimators]
        return part.name, [*identity, part.budget, estimators, user_code_versions(settings.estimators)]

    def describe(self, settings: BudgetSettings) -> dict[str, Any]:
        """Return the settings that affect every part."""
        return settings.describe_parts() | user_code_versions((), settings.measures)

    def warn(self, results: Sequence[PartResult]) -> None:
        """Issue the warnings raised by estimates."""
        super().warn([result for result in results if result.part.budget])


def compare_budgets(
    collection: Collection,
    measures: object = ("P@100", "AP@100", "nDCG@100"),
    *,
    estimators: object = (),
    posterior_settings: str | PosteriorEstimator | None = None,
    strategies: str | Strategy | Iterable[str | Strategy] = "paper",
    budgets: Iterable[int] | None = None,
    by: By = "organization",
    top: float = 75,
    truth: Literal["full", "pooled"] = "full",
    repool_to: int | None = None,
    shares: Shares = "equal",
    rel: int = 1,
    test: PairTest = "paired-t",
    stop: str | StoppingRule | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Budgets:
    """Measure the bias of pools against non-contributing runs, for different strategies and budgets.

    Parameters
    ----------
    collection : Collection
        With a known pool; with scores (``read_collection(scores=True)``) for strategies that read them.
    measures : measure or iterable of measures, default ("P@100", "AP@100", "nDCG@100")
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    estimators : str, Estimator, sequence or mapping of them, optional
        What estimates runs left out of each pool, too: 'default', 'all', 'pairs', or names; default: nothing.
        A posterior is fitted for each strategy, budget and organization: name few of them.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors among them: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.
    strategies : str, Strategy or iterable of them, default "paper"
        'paper' (the nine of Lipani et al. 2017), 'all', or names with settings in parentheses.
    budgets : iterable of int, optional
        Budgets: documents judged over all topics. By default 5,000, 10,000, … 80,000, as far as the pool has
        more documents; of a pool of fewer than 20,000 its tenths.
    by : {"organization", "run"}, default "organization"
        What is left out of the pool at a time.
    top : float, default 75
        Report the bias against this percentage of the pooled runs, the best by true score. They are chosen
        measure by measure, by their scores on the whole depth pool. The others still contribute documents.
    truth : {"full", "pooled"}, default "full"
        What is true: a run's score on the whole depth pool, or on what is judged with the run in the pool.
        The first counts what a small budget leaves out for all runs alike, too; the second (pooled) only what
        it costs a run not to contribute.
    repool_to : int, optional
        Re-pool to this depth first: judgments of documents that no pooled run has down to it go. By default
        the collection's own depth. Cutoffs may not be deeper: down to the pool depth a run's true score is
        known whatever else is in the pool.
    shares : {"equal", "global"}, default "equal"
        How topics share a budget: as evenly as they have documents, or by the values of documents (global).
    rel : int, default 1
        Smallest relevance that counts as relevant for adaptive strategies, and in counts of documents.
    test : {"tukey-hsd", "paired-t"}, default "paired-t"
        Significance test of a pair. It says what is significant in SRE*, and which differences a budget
        preserves.
    stop : str or StoppingRule, optional
        Rule that may end a topic before the budget: nonrelevant(n=50), recall(target=0.9), yield(share=0.05).
        Budgets are then what is judged at most (`bayespool.pooling.choose`). Without estimators and samples.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    folder : path, optional
        Folder for finished pools, from which a later call goes on: they are in its subfolder ``budgets/``.
    n_jobs : int, optional
        Number of processes; −1 for one per core, by default 1 or as set by ``joblib.parallel_config``.
        Results are the same to the byte for any number, and on a Dask cluster.
    progress : callable, optional
        Called with a text, the number of finished pools, stored ones included, and their total.

    Returns
    -------
    Budgets

    Raises
    ------
    InputError
        Unknown measure, strategy, estimator or setting, no pool, a pool of one organization (or run), a
        cutoff below the pool depth, runs without the scores that a strategy reads.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call goes on from the stored pools.

    Warns
    -----
    ExperimentChangedWarning
        ``folder`` holds pools of other settings, or unreadable ones.
    InputWarning
        No document has the relevance that a measure asks for.
    JudgeWarning
        Labels of an LLM judge are not used, for all runs or an organization's.

    Notes
    -----
    As in the paper, the experiment reduces the collection to a Depth@k pool of its pooled runs, cut to k
    documents, and drops judgments of other documents. Each strategy chooses the documents of a budget from
    it, first with all runs, then without each organization's, with the same budget: a pool without an
    organization is not a subset of the pool with it. Adaptive strategies learn from the depth pool's
    judgments. Unjudged documents count as not relevant; every score, also over an ideal ranking, is what
    trec_eval gives with the judgments at hand.

    An estimator gets the budget's judgments without the organization, and the strategy, which it may run
    again without a further organization. Its errors are against scores on the whole depth pool, whatever
    ``truth`` is; over an ideal ranking, these consider the documents that the budget judged and those that
    the runs have within reach, since a posterior covers no others.

    Examples
    --------
    >>> from bayespool import load_example
    >>> result = compare_budgets(load_example(), "P@10", strategies="take", budgets=[200, 600])
    >>> summary = result.to_frame("summary")[["strategy", "budget", "mae", "sre"]]
    >>> print(summary.round(3).to_string(index=False))
    strategy  budget   mae   sre
        take     200 0.216 122.0
        take     600 0.068  81.0
    """
    settings = BudgetSettings.parse(locals())
    whole = whole_pool(collection, "pooled", repool_to)
    whole = whole.without_judgments(~whole.in_pool())
    n_documents = int(whole.in_pool().sum())
    resolved = replace(
        settings, repool_to=whole.pool_depth, budgets=_fitting_budgets(settings.budgets, n_documents)
    )
    if any(strategy.needs_scores for strategy in resolved.strategies) and whole.score is None:
        raise InputError(
            "a strategy reads the scores of the runs, which the collection does not have",
            hint="read it with scores=True",
        )
    design = PoolsOfBudgets()
    parts = design.parts(whole, resolved)
    results = design.run(
        whole, parts, resolved, folder=folder, n_jobs=n_jobs, progress=progress, given=collection
    )
    as_judged = [result for result in results if result.part.budget is None]
    estimated = [result for result in results if result.part.budget is not None]
    index, names = whole.run_index(whole.pooled_run_ids), map(str, settings.measures)
    in_truth = dict(zip(names, trec_scores(whole, whole, index, settings.measures), strict=True))
    rows = _rows(resolved, as_judged, whole.pooled_run_ids)
    whole_pools = [result.rest["pools"] for result in as_judged if not result.part.left_out]
    return Budgets(
        **result_fields(collection, whole, resolved, estimated),
        n_documents=n_documents,
        n_relevant=n_relevant_documents(whole, settings.rel),
        run_ids=whole.pooled_run_ids,
        significant={m: significant_pairs(values.scores(), settings.test) for m, values in in_truth.items()},
        _rows=rows,
        _estimates=_estimate_rows(estimated, rows, resolved) if estimated else None,
        _pools={name: stacked(pools[name] for pools in whole_pools) for name in _POOL_TABLES},
    )


def _fitting_budgets(requested: tuple[int, ...], n_documents: int) -> tuple[int, ...]:
    """Return the requested budgets, or by default budgets that suit the pool.

    Default: those of the paper up to the size of the pool, or tenths of a small pool.
    """
    if requested:
        return tuple(sorted(set(requested)))
    if n_documents < _SMALL_POOL_DOCUMENTS:
        tenths = np.arange(1, _N_BUDGETS_OF_SMALL_POOL + 1) * n_documents / _N_BUDGETS_OF_SMALL_POOL
        return tuple(np.unique(np.ceil(tenths).astype(int)).tolist())
    return tuple(budget for budget in PAPER_BUDGETS if budget <= n_documents)


def judged_by_budget(whole: Collection, part: BudgetPart, settings: BudgetSettings) -> BoolArray:
    """Return a mask of the documents that a strategy judges with each budget, shape (budget, pair).

    It chooses among the documents retrieved by the pool's runs down to the pool depth.
    """
    strategy, seed, run_index = part.strategy, settings.random_seed, whole.run_index(part.pool_run_ids)
    topics = list(retrieved_by(whole, run_index, depth=settings.repool_to, random_seed=seed))
    share = np.array([topic_shares(strategy, topics, n, settings.shares) for n in settings.budgets])
    judged = np.zeros((len(share), len(whole.relevance)), dtype=bool)
    for t, (topic, n) in enumerate(zip(topics, share.max(axis=0).tolist(), strict=True)):
        order = judging_order(strategy, topic, whole.relevance, n, rel=settings.rel, random_seed=seed)
        most = len(order)
        if settings.stop is not None:
            relevance = np.maximum(whole.relevance[order], 0)  # what nobody judged counts as nonrelevant
            most = stops_at(settings.stop, relevance, len(topic), settings.rel)
        judged[:, order] = np.arange(len(order)) < np.minimum(share[:, [t]], most)
    return judged


def trec_scores(
    whole: Collection, judged: Collection, index: OrderArray, measures: Sequence[Measure]
) -> list[Values]:
    """Return trec_eval's scores with the judgments of `judged`, one array of shape (run, topic) per measure.

    The levels of relevance are those of `whole`.
    """
    scores = []
    for measure in measures:
        tally = judged_tally(judged, relevance_levels(whole, measure))
        scores.append(measure.values(measure.read(ranked_levels(judged, index, measure.cutoff)), tally))
    return scores


def describe_documents(runs: Contributions, reduced: Collection, rel: int) -> dict[str, int | float]:
    """Return the numbers of documents of a pool, by topic and by run."""
    topics, run_documents = runs.n_of_topic, runs.n_documents
    return {
        "n_documents": int(topics.sum()),
        "n_judged": int(reduced.judged.sum()),
        "n_relevant": n_relevant_documents(reduced, rel),
        "topic_least": int(topics.min()),
        "topic_most": int(topics.max()),
        "run_least": int(run_documents.min()),
        "run_mean": float(run_documents.mean()),
        "run_most": int(run_documents.max()),
    }


def describe_contributors(units: Contributions, runs: Contributions) -> dict[str, Any]:
    """Return the documents of a pool that each contributor retrieves, and that it alone retrieves."""
    return {
        "contributor": list(units.names),
        "n_pooled_runs": units.n_runs,
        "n_documents": units.n_documents,
        "share": units.n_documents / max(int(runs.n_of_topic.sum()), 1),
        "n_alone": units.n_alone,
    }


def agreement(before: Values, after: Values, test: PairTest) -> dict[str, Any]:
    """Return how far run comparisons on a pool agree with those on the whole depth pool."""
    was, is_ = (significant_pairs(values.scores(), test) for values in (before, after))
    was_ahead, is_ahead = (values.totals()[:, None] > values.totals() for values in (before, after))
    pairs = np.triu(np.ones(was.shape, dtype=bool), 1)
    return {
        "kendall_tau_b": kendall_tau_b(before.means(), after.means()),
        "n_significant": int((was & pairs).sum()),
        "n_preserved": int((was & is_ & pairs & (was_ahead == is_ahead)).sum()),
        "n_swapped": int((was & is_ & pairs & (was_ahead != is_ahead)).sum()),
        "n_new": int((is_ & ~was & pairs).sum()),
        "significant": packed(is_),
    }


def _rows(settings: BudgetSettings, results: Sequence[PartResult], run_ids: Sequence[str]) -> pd.DataFrame:
    """Return the scores of runs left out as a table sorted by measure, strategy, budget and run."""
    keys = ["measure", "strategy", "budget", "run_id"]
    rows = stacked(result.rows for result in results)
    has_all = rows["left_out"] == ""
    pooled = rows.loc[has_all, [*keys, "value"]].rename(columns={"value": "pooled"})
    rows = rows[~has_all].merge(pooled, on=keys, validate="one_to_one")
    rows = rows[[*keys, "organization", "left_out", "full", "pooled", "value"]]
    rows["truth"] = rows["full" if settings.truth == "full" else "pooled"]
    rows["error"] = rows["value"] - rows["truth"]
    order: RowOrder = {"measure": list(map(str, settings.measures)), "strategy": settings.labels}
    rows = in_order(rows, {**order, "budget": None, "run_id": run_ids})
    return with_reported(rows, keys[:3], "full", settings.top)


def _estimate_rows(
    results: Sequence[PartResult], rows: pd.DataFrame, settings: BudgetSettings
) -> pd.DataFrame:
    """Return the estimates as a table sorted by measure, strategy, budget, estimator and run."""
    keys = ["measure", "strategy", "budget", "run_id"]
    as_judged = rows[[*keys, "organization", "left_out", "reported", "full", "value"]]
    as_judged = as_judged.rename(columns={"value": "as_judged"})
    table = stacked(result.rows for result in results).merge(as_judged, on=keys, validate="many_to_one")
    table["error"] = table["value"] - table["truth"]
    first = [*keys[:3], "estimator", "run_id", "organization", "left_out", "reported"]
    first += ["full", "truth", "as_judged", "value", "error", "open"]
    order: RowOrder = {name: list(dict.fromkeys(rows[name])) for name in keys}
    order = {**order, "estimator": [label for label, _ in settings.estimators]}
    order = {name: order[name] for name in [*keys[:3], "estimator", "run_id"]}
    return in_order(table[[*first, *table.columns.difference(first, sort=False)]], order)
