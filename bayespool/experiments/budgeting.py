"""Bias of pools of different strategies and budgets against runs that did not contribute.

References
----------
A. Lipani, M. Lupu, J. Palotti, G. Zuccon and A. Hanbury (2017). Fixed budget pooling strategies based on
fusion methods. SAC 2017.

D. Otero, J. Parapar and N. Ferro (2023). How discriminative are your qrels? How to study the statistical
significance of document adjudication methods. CIKM 2023, 1960–1970.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence.ideals import n_relevant_documents
from bayespool.experiments.base import fields_of, in_order
from bayespool.experiments.budget_folds import (
    BudgetPart,
    estimate_rows,
    run_part,
    scores_of,
    significant_pairs,
)
from bayespool.experiments.budget_results import Budgets
from bayespool.experiments.folds import best_scores, n_best
from bayespool.experiments.parallel import Design, run_parts
from bayespool.experiments.preparing import versions_of_own, warn_of_measures, warn_once
from bayespool.experiments.resampling import contributors, whole_pool
from bayespool.experiments.settings import BudgetSettings
from bayespool.experiments.storage import PartResult
from bayespool.options import describe_estimator, takes
from bayespool.pooling import STRATEGIES, Strategy, parse_strategy
from bayespool.pooling.registry import strategy_text

if TYPE_CHECKING:
    import pandas as pd

PAPER_STRATEGIES = (
    "take",
    "borda",
    "condorcet",
    "combmax",
    "combmin",
    "combmed",
    "combsum",
    "combanz",
    "combmnz",
)
"""Strategies of Lipani et al. (2017): Take@N, which is Depth@k with a budget, and eight others."""

PAPER_BUDGETS = tuple(range(5_000, 80_001, 5_000))
"""Budgets of Lipani et al. (2017)."""

Strategies = str | Strategy | Iterable[str | Strategy]

_SMALL_POOL_DOCUMENTS = 20_000  # below it too few of the paper's budgets fit
_N_BUDGETS_OF_SMALL_POOL = 10


@takes(BudgetSettings)
def budgets(
    collection: Collection,
    *,
    settings: BudgetSettings,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Budgets:
    """Measure how biased pools of different strategies and budgets are against runs that did not contribute.

    Parameters
    ----------
    collection : Collection
        With a known pool; with scores (``read_collection(scores=True)``) for strategies that read them.
    {options}
    n_jobs : int, optional
        Processes; −1 for one per core, None for 1 or the setting of a ``joblib.parallel_config`` around the
        call. Results are the same to the byte.
    folder : path, optional
        Each strategy's pools are stored in its subfolder ``budgets/`` as soon as they are finished and not
        computed again, even if you request more strategies.
    progress : callable, optional
        Called with the number of finished parts and their total: each strategy with all runs, and without
        each organization (or run); with estimators also each budget.

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
        A worker process died. With a folder the same call continues from the stored parts.

    Warns
    -----
    ExperimentChangedWarning
        ``folder`` holds results of other settings, or unreadable files.
    InputWarning
        No document has the relevance that a measure asks for.
    JudgeWarning
        Labels of a second judge are not used, for all runs or an organization's.

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
    >>> result = budgets(load_example(), "P@10", strategies="take", budgets=[200, 600])
    >>> summary = result.to_frame("summary")[["strategy", "budget", "mae", "sre"]]
    >>> print(summary.round(3).to_string(index=False))
    strategy  budget   mae   sre
        take     200 0.216 122.0
        take     600 0.068  81.0
    """
    warn_of_measures(collection, settings.measures)
    whole = _depth_pool(collection, settings.pool_depth)
    n_documents = int(whole.in_pool().sum())
    resolved = dataclasses.replace(
        settings, pool_depth=whole.pool_depth, budgets=_fitting_budgets(settings.budgets, n_documents)
    )
    if any(strategy.needs_scores for strategy in resolved.strategies) and whole.score is None:
        raise InputError(
            "a strategy reads the scores of the runs, which the collection does not have",
            hint="read it with scores=True",
        )
    parts = _parts(whole, resolved)
    results = run_parts(
        _DESIGN, collection, whole, parts, resolved, folder=folder, n_jobs=n_jobs, progress=progress
    )
    warn_once([result.warnings for result in results if result.part.budget], "pools")
    return _result_of(collection, whole, resolved, results, n_documents)


def strategies_of(strategies: Strategies) -> tuple[Strategy, ...]:
    """Strategies from texts, each once; ``paper`` means `PAPER_STRATEGIES`, ``all`` every registered one."""
    listed = [strategies] if isinstance(strategies, str | Strategy) else list(strategies)
    names = {"paper": PAPER_STRATEGIES, "all": tuple(STRATEGIES)}
    texts = [
        member
        for text in listed
        for member in (names.get(text, (text,)) if isinstance(text, str) else (text,))
    ]
    if not texts:
        raise InputError("strategies cannot be empty", hint="leave it out, or name some")
    return tuple(dict.fromkeys(map(parse_strategy, texts)))


def _depth_pool(collection: Collection, pool_depth: int | None) -> Collection:
    """The collection with the judgments of its depth pool and no others."""
    whole = whole_pool(collection, "pooled", pool_depth)
    return whole.without_judgments(~whole.in_pool())


def _fitting_budgets(requested: tuple[int, ...], n_documents: int) -> tuple[int, ...]:
    """The requested budgets; by default those of the paper up to the size of the pool, or tenths of a small
    pool.
    """
    if requested:
        return requested
    if n_documents < _SMALL_POOL_DOCUMENTS:
        return tuple(
            sorted(
                {
                    -(-n_documents * i // _N_BUDGETS_OF_SMALL_POOL)
                    for i in range(1, _N_BUDGETS_OF_SMALL_POOL + 1)
                }
            )
        )
    return tuple(budget for budget in PAPER_BUDGETS if budget <= n_documents)


def _parts(whole: Collection, settings: BudgetSettings) -> list[BudgetPart]:
    """All parts: each strategy with all runs and without each contributor; then, with estimators, each budget
    without each contributor.
    """
    n_best(len(whole.pooled_run_ids), settings.top)
    units = contributors(whole, settings.by)
    if len(units) < 2:
        raise InputError(
            f"only one {settings.by} was pooled: nothing is left once it is left out",
            hint="give more runs, or the organizations of the runs",
        )
    parts = [
        BudgetPart(strategy, left_out, run_ids)
        for strategy in settings.strategies
        for left_out, run_ids in (("", whole.pooled_run_ids), *units.items())
    ]
    sizes = settings.budgets if settings.estimators else ()
    return parts + [
        dataclasses.replace(part, budget=budget) for budget in sizes for part in parts if part.left_out
    ]


def _identity(part: BudgetPart, settings: BudgetSettings) -> tuple[str, list[Any]]:
    """Name of a part, and what tells it from the others: also the estimators, so that some can be added to a
    finished experiment, and the code of the user's own strategies.
    """
    text, strategy = strategy_text(part.strategy), cast("Any", part.strategy)
    identity = [text, versions_of_own([(text, strategy)]), part.left_out, list(part.run_ids)]
    left_out = part.left_out or "everybody"
    if part.budget is None:
        return f"{part.strategy.name}-{left_out}", identity
    estimators = [[label, describe_estimator(estimator)] for label, estimator in settings.estimators]
    name = f"{part.strategy.name}-{part.budget}-{left_out}"
    return name, [*identity, part.budget, estimators, versions_of_own(settings.estimators)]


def _describe(settings: BudgetSettings) -> dict[str, Any]:
    """Settings that the parts depend on."""
    return settings.describe_parts() | versions_of_own((), settings.measures)


def _is_of(result: PartResult) -> bool:
    return isinstance(result.rest.get("pools"), dict)


_DESIGN = Design("budgets", run_part, _identity, describe=_describe, is_of=_is_of)


def _result_of(
    collection: Collection,
    whole: Collection,
    settings: BudgetSettings,
    results: Sequence[PartResult],
    n_documents: int,
) -> Budgets:
    index = whole.run_index(whole.pooled_run_ids)
    in_truth = dict(
        zip(map(str, settings.measures), scores_of(whole, whole, index, settings.measures), strict=True)
    )
    means = {measure: values.means() for measure, values in in_truth.items()}
    best = {measure: best_scores(of_runs, settings.top) for measure, of_runs in means.items()}
    labels = dict(zip(settings.strategies, settings.labels, strict=True))
    everybody = [result for result in results if not result.part.left_out]
    rows = _rows(
        whole, settings, [result for result in results if result.part.budget is None], means, best, labels
    )
    with_estimators = [result for result in results if result.part.budget is not None]
    estimates = [(labels[r.part.strategy], r.part.budget or 0, r.rows) for r in with_estimators]
    tables = {name: _table(everybody, name, labels) for name in ("pools", "contributors", "agreement")}
    return Budgets(
        **fields_of(collection, whole, settings, with_estimators),
        n_documents=n_documents,
        n_relevant=n_relevant_documents(whole, settings.rel),
        run_ids=whole.pooled_run_ids,
        significant={
            measure: significant_pairs(values.scores(), settings.test) for measure, values in in_truth.items()
        },
        _rows=rows,
        _estimates=estimate_rows(estimates, rows, settings) if with_estimators else None,
        _pools=tables["pools"],
        _contributors=tables["contributors"],
        _agreement=tables["agreement"],
    )


def _rows(
    whole: Collection,
    settings: BudgetSettings,
    results: Sequence[PartResult],
    means: Mapping[str, Any],
    best: Mapping[str, Any],
    labels: Mapping[Strategy, str],
) -> pd.DataFrame:
    """Table of runs in the order of measures, strategies, budgets and runs."""
    import pandas as pd

    keys = ["measure", "strategy", "budget", "run_id"]
    frames = {True: list[pd.DataFrame](), False: list[pd.DataFrame]()}
    for result in results:
        frame = pd.DataFrame(result.rows).assign(strategy=labels[result.part.strategy])
        frames[bool(result.part.left_out)].append(frame.assign(left_out=result.part.left_out))
    inside = pd.concat(frames[False])[[*keys, "value"]].rename(columns={"value": "pooled"})
    rows = pd.concat(frames[True]).merge(inside, on=keys, validate="one_to_one")
    runs = whole.pooled_run_ids
    organizations = np.array(whole.organizations, dtype=object)[whole.organization[whole.run_index(runs)]]
    of_runs = pd.concat(
        pd.DataFrame(
            {
                "measure": name,
                "run_id": runs,
                "organization": organizations,
                "reported": np.isin(np.arange(len(runs)), best[name]),
                "full": of_measure,
            }
        )
        for name, of_measure in means.items()
    )
    rows = rows.merge(of_runs, on=["measure", "run_id"], validate="many_to_one")
    rows = rows[[*keys, "organization", "left_out", "reported", "full", "pooled", "value"]]
    rows["truth"] = rows["full" if settings.truth == "full" else "pooled"]
    rows["error"] = rows["value"] - rows["truth"]
    return in_order(
        rows, {"measure": list(means), "strategy": settings.labels, "budget": None, "run_id": runs}
    )


def _table(results: Sequence[PartResult], name: str, labels: Mapping[Strategy, str]) -> pd.DataFrame:
    """A table of the pools with all runs."""
    import pandas as pd

    frames = []
    for result in results:
        frame = pd.DataFrame(result.rest["pools"][name])
        frame.insert(0, "strategy", labels[result.part.strategy])
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
