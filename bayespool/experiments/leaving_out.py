"""The leave-out experiment: organizations, runs or clusters left out of a pool are estimated and graded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.base import RowOrder, fields_of, ordered_table
from bayespool.experiments.calibration import with_missing_flags
from bayespool.experiments.fold_results import identity_of_fold, is_of_fold, run_fold
from bayespool.experiments.folds import best_scores, cluster_runs, make_folds
from bayespool.experiments.parallel import Design, run_parts
from bayespool.experiments.preparing import warn_of_measures, warn_once
from bayespool.experiments.results import LeaveOutResult
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.experiments.storage import PartResult
from bayespool.options import takes

if TYPE_CHECKING:
    import pandas as pd

DESIGN: Design = Design(
    "leave-out", run_fold, identity_of_fold, "folds", is_of=is_of_fold, fixed_columns=True
)
"""How folds are run and stored."""


@takes(LeaveOutSettings)
def leave_out(
    collection: Collection,
    *,
    settings: LeaveOutSettings,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
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
    >>> result = leave_out(load_example(), "P@10", estimators=["as-judged", "interpolated"])
    >>> print(result.to_frame("summary")[["estimator", "mae", "bias", "sre"]].round(4).to_string(index=False))
       estimator    mae    bias  sre
       as-judged 0.0233 -0.0233 35.0
    interpolated 0.0166  0.0147 23.0
    """
    warn_of_measures(collection, settings.measures)
    if not collection.pooled.any():
        raise InputError(
            "no pooled run to leave out", hint="give the campaign's runs as the pool, or name those pooled"
        )
    pooled = collection if settings.pool_depth is None else collection.truncate_pool(settings.pool_depth)
    clusters = () if settings.n_clusters is None else cluster_runs(pooled, settings.n_clusters)
    folds = make_folds(pooled, settings, clusters)
    results = run_parts(
        DESIGN, collection, pooled, folds, settings, folder=folder, n_jobs=n_jobs, progress=progress
    )
    warn_once([result.warnings for result in results], "folds")
    true_scores: dict[tuple[str, str], npt.NDArray[np.float64]] = {}
    seconds: dict[str, float] = {}
    for result in results:
        for measure, scores in result.rest["true_scores"].items():
            of_runs = zip(result.part.run_ids, np.array(scores), strict=True)
            true_scores |= {(measure, run): of_run for run, of_run in of_runs}
        for stage, spent in result.rest["seconds"].items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    return LeaveOutResult(
        **fields_of(collection, pooled, settings, results),
        n_pooled_runs={str(m): len(pooled.pooled_run_ids) for m in settings.measures},
        scores_in_truth=true_scores,
        seconds=seconds,
        clusters=clusters,
        _rows=_table(pooled, settings, results),
    )


def table_of_runs(
    collection: Collection,
    settings: LeaveOutSettings,
    results: Sequence[PartResult],
    first: RowOrder | None = None,
) -> pd.DataFrame:
    """Rows by the columns in `first`, measure, estimator and run, whatever order the folds came in, with each
    run's organization.
    """
    order: RowOrder = {"measure": [str(m) for m in settings.measures], "estimator": settings.labels}
    order = {**(first or {}), **order, "run_id": collection.run_ids}
    frame = ordered_table(results, order)
    index = collection.run_index(frame["run_id"])
    frame["organization"] = np.array(collection.organizations, dtype=object)[collection.organization[index]]
    return with_missing_flags(frame)


def _table(collection: Collection, settings: LeaveOutSettings, results: Sequence[PartResult]) -> pd.DataFrame:
    """Rows of all runs with the column ``reported``."""
    frame = table_of_runs(collection, settings, results)
    reported = np.zeros(len(frame), dtype=bool)
    for _, rows in frame.groupby(["measure", "estimator"], sort=False):
        all_ = settings.top_pool == "kept"  # runs were chosen before they were left out
        best = slice(None) if all_ else best_scores(rows["truth"].to_numpy(), settings.top)
        reported[rows.index[best]] = True
    frame.insert(list(frame.columns).index("truth"), "reported", reported)
    return frame
