"""The leave-out experiment: organizations, runs or clusters left out of a pool are estimated and graded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import Estimand
from bayespool.experiments.caught_warnings import warn_once
from bayespool.experiments.clusters import RunCluster, cluster_runs
from bayespool.experiments.fold_results import FoldResult, run_fold
from bayespool.experiments.folds import Fold, best_scores, make_folds
from bayespool.experiments.intervals import COVERAGE_LEVELS
from bayespool.experiments.parallel import completed
from bayespool.experiments.preparing import Estimators, experiment_settings, parts_description
from bayespool.experiments.results import LeaveOutResult
from bayespool.experiments.settings import Denominator, LeaveOutSettings, LeftOut, Test, TopPool, Truth
from bayespool.experiments.storage import FoldStore, at_work, description_of
from bayespool.options import documented
from bayespool.pooling import describe_pool
from bayespool.posterior.keywords import ExperimentOptions
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.scoring.scoring import warn_of_unused_relevance

if TYPE_CHECKING:
    import pandas as pd


@documented(LeaveOutSettings)
def leave_out(
    collection: Collection,
    measures: object = "P@10",
    *,
    estimators: Estimators = "all",
    by: LeftOut = "organization",
    n_clusters: int | None = None,
    top: float = 100,
    top_pool: TopPool = "all",
    truth: Truth = "repooled",
    estimand: Estimand = "pooled",
    denominator: Denominator = "qrels",
    pool_depth: int | None = None,
    test: Test = "tukey-hsd",
    ci_prob: float = 0.95,
    random_seed: int = 1,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[ExperimentOptions],
) -> LeaveOutResult:
    """Leave each organization (run, cluster of runs) out of the pool, and compare estimates with the truth.

    Parameters
    ----------
    collection : Collection
        With a known pool. Its pooled runs are left out and estimated.
    {options}
    n_jobs : int, optional
        Processes; −1 for one per core; default 1, or as set by a ``joblib.parallel_config`` around the call.
        It does not change results, nor does a Dask cluster.
    folder : path, optional
        Store finished folds there, in ``folds/``, and continue from stored folds.
    progress : callable, optional
        Called with the number of finished folds, stored ones included, and their total.
    **settings
        Settings of the named estimators that have them: ``draws``, ``engine``, ``priors``, ….

    Returns
    -------
    LeaveOutResult

    Raises
    ------
    InputError
        Unknown measure, estimator or setting; no pool; a pool of one organization (or run), or none of whose
        clusters can be left out.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call continues from the stored folds.

    Warns
    -----
    ExperimentChangedWarning
        ``folder`` holds another experiment's folds, or unreadable ones.
    InputWarning
        No document has the relevance that a measure asks for.
    JudgeWarning
        Labels of a second judge are not used, for all runs or an organization's.

    Notes
    -----
    An estimator gets the collection without the judgments that only the left-out runs contributed, the names
    of the runs, and the measures. Judgments that no pooled run explains stay, unless ``pool_depth`` is given.
    Over an ideal ranking (R, AP, nDCG) the true scores of a fold also count the relevant documents that its
    runs have within reach.

    Clusters are those of `bayespool.experiments.cluster_runs`; runs of clusters that cannot be left out are
    neither estimated nor reported. An organization with runs inside and outside a cluster stays in the pool
    with the latter.

    Examples
    --------
    >>> from bayespool import leave_out, load_example
    >>> result = leave_out(load_example(), "P@10", estimators=["lower-bound", "interpolated"])
    >>> print(result.summary_frame()[["estimator", "mae", "bias", "sre"]].round(4).to_string(index=False))
       estimator    mae    bias  sre
     lower-bound 0.0233 -0.0233 35.0
    interpolated 0.0166  0.0147 23.0
    """
    resolved = experiment_settings(
        LeaveOutSettings,
        measures,
        estimators,
        by=by,
        n_clusters=n_clusters,
        top=top,
        top_pool=top_pool,
        truth=truth,
        estimand=estimand,
        denominator=denominator,
        pool_depth=pool_depth,
        test=test,
        ci_prob=ci_prob,
        random_seed=random_seed,
        settings=settings,
    )
    warn_of_unused_relevance(collection, resolved.measures)
    warn_of_judges(collection, (), resolved.measures)
    if not collection.pooled.any():
        raise InputError(
            "no pooled run to leave out", hint="give the campaign's runs as the pool, or name those pooled"
        )
    pooled = collection if pool_depth is None else collection.truncate_pool(pool_depth)
    clusters = () if resolved.n_clusters is None else cluster_runs(pooled, resolved.n_clusters)
    folds = make_folds(pooled, resolved, clusters)
    store = None
    if folder is not None:
        description = description_of("leave-out", collection, parts_description(resolved))
        store = FoldStore(Path(folder) / "folds", description)
    with at_work(store):
        finished = run_folds(pooled, folds, resolved, store, n_jobs, progress)
    warn_once([result.warnings for result in finished], "folds")
    return _assemble(collection, pooled, resolved, finished, clusters)


def run_folds(
    collection: Collection,
    folds: Sequence[Fold],
    settings: LeaveOutSettings,
    store: FoldStore | None,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> list[FoldResult]:
    """Results of all folds in their order, loaded from the store or computed and stored."""
    results: dict[Fold, FoldResult] = {}
    if store is not None:
        results = {fold: stored for fold in folds if (stored := store.load_fold(fold)) is not None}
    if progress is not None:
        progress(len(results), len(folds))
    left = [fold for fold in folds if fold not in results]
    work = functools.partial(run_fold, settings=settings)
    for result in completed(work, collection, left, n_jobs=n_jobs):
        if store is not None:
            store.save_fold(result)
        results[result.fold] = result
        if progress is not None:
            progress(len(results), len(folds))
    return [results[fold] for fold in folds]


def _assemble(
    collection: Collection,
    pooled: Collection,
    settings: LeaveOutSettings,
    finished: Iterable[FoldResult],
    clusters: tuple[RunCluster, ...],
) -> LeaveOutResult:
    columns: dict[str, list[Any]] = {}
    true_scores: dict[tuple[str, str], npt.NDArray[np.float64]] = {}
    seconds: dict[str, float] = {}
    caught: dict[tuple[str, str], None] = {}
    for result in finished:
        for name, values in result.rows.items():
            columns.setdefault(name, []).extend(values)
        for measure, scores in result.true_scores.items():
            true_scores |= {
                (measure, run): of_run for run, of_run in zip(result.fold.run_ids, scores, strict=True)
            }
        for stage, spent in result.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
        caught |= dict.fromkeys(result.warnings)
    return LeaveOutResult(
        settings=settings,
        fingerprint=collection.fingerprint,
        pool=str(describe_pool(pooled)),
        query_ids=collection.query_ids,
        n_pooled_runs={str(m): len(pooled.pooled_run_ids) for m in settings.measures},
        scores_in_truth=true_scores,
        warnings=tuple(caught),
        seconds=seconds,
        clusters=clusters,
        _rows=_table(pooled, settings, columns),
    )


def _table(collection: Collection, settings: LeaveOutSettings, columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Rows by measure, estimator and run, whatever order the folds came in, with the columns ``organization``
    and ``reported``.
    """
    import pandas as pd

    frame = pd.DataFrame(columns)
    places = {
        "measure": {str(m): i for i, m in enumerate(settings.measures)},
        "estimator": {label: i for i, label in enumerate(settings.labels)},
        "run_id": {run: i for i, run in enumerate(collection.run_ids)},
    }
    index = collection.run_index(frame["run_id"])
    frame["organization"] = np.array(collection.organizations, dtype=object)[collection.organization[index]]
    order = np.lexsort([frame[name].map(of).to_numpy() for name, of in reversed(places.items())])
    frame = frame.iloc[order].reset_index(drop=True)
    reported = np.zeros(len(frame), dtype=bool)
    for _, rows in frame.groupby(["measure", "estimator"], sort=False):
        all_ = settings.top_pool == "kept"  # runs were chosen before they were left out
        best = slice(None) if all_ else best_scores(rows["truth"].to_numpy(), settings.top)
        reported[rows.index[best]] = True
    frame.insert(list(frame.columns).index("truth"), "reported", reported)
    for level in COVERAGE_LEVELS:
        frame[f"covered_{level}"] = frame[f"covered_{level}"].astype("boolean")
    return frame
