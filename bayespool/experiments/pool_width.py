"""Errors of the scores of new runs on pools of different widths (Webber & Park 2009, §2.2 and §3.1).

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayespool.collection import Collection
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.caught_warnings import CaughtWarnings
from bayespool.experiments.error_measures import mean_absolute_error, mean_error, root_mean_squared_error
from bayespool.experiments.from_frames import notes_of_truth
from bayespool.experiments.preparing import Estimators, experiment_settings
from bayespool.experiments.resampling import (
    RandomPool,
    Unit,
    contributors,
    draw_pools,
    estimates_of,
    in_random_pools,
    ordered_table,
    pool_store,
    settled,
    whole_pool,
    with_drawn_pool,
)
from bayespool.experiments.settings import PoolWidthSettings, Runs
from bayespool.experiments.storage import Columns, at_work
from bayespool.options import documented
from bayespool.pooling import describe_pool
from bayespool.posterior.keywords import ExperimentOptions
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.scoring.scoring import warn_of_unused_relevance
from bayespool.tables.reprs import Shown

if TYPE_CHECKING:
    import pandas as pd

WIDTH_ESTIMATORS = ("lower-bound", "condensed-list", "systems-adjustment")
"""Estimators of figure 1 and table 1 of Webber & Park."""


@dataclass(frozen=True, eq=False, repr=False)
class PoolWidthResult(Shown):
    """Result of `vary_pool_width`.

    Attributes
    ----------
    settings : PoolWidthSettings
    fingerprint : str
        Of the collection.
    pool : str
        Report of the whole pool.
    query_ids : tuple of str
    n_contributors : int
        Runs or organizations that pools were drawn from.
    """

    settings: PoolWidthSettings
    fingerprint: str
    pool: str
    query_ids: tuple[str, ...]
    n_contributors: int
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<PoolWidthResult: {s.n_samples} pools of each of {len(s.widths)} widths, "
            f"{len(s.measures)} measures, {len(s.estimators)} estimators>"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on documents that are unjudged in truth, too, a line each."""
        measures = self.settings.measures
        return tuple(f"{m}: {note}" for m in measures for note in notes_of_truth(self._rows, m))

    def to_frame(self) -> pd.DataFrame:
        """One row per measure, width, pool, estimator and scored run.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``pool_width``, ``sample`` (number of the pool), ``n_pool_runs``, ``run_id``,
            ``organization``, ``estimator``, ``truth``, ``value`` (the estimate), ``error`` (value − truth),
            ``topic_rmse`` (root mean squared error over topics), ``unjudged`` (share of the top n),
            ``n_unknown`` (documents unjudged in truth, too, where they count as nonrelevant),
            ``lower``, ``upper`` (ends of the interval, NaN for a point correction), ``ci_prob``.
        """
        return self._rows.copy()

    frame = to_frame

    def summary_frame(self) -> pd.DataFrame:
        """One row per measure, width and estimator.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``pool_width``, ``estimator``, ``n_scored`` (rows of `frame`), ``n_pool_runs``
            (mean), ``unjudged`` (mean share), ``bias`` (mean error), ``bias_se`` (its standard error over
            pools; NaN for one pool), ``quartile_1``, ``median``, ``quartile_3`` (of the error), ``mae``,
            ``rmse``, ``topic_rmse``, and for posteriors ``coverage`` (share of intervals that hold the truth,
            ends included, where anything is unjudged), ``interval_width`` (mean, likewise) and ``ci_prob``.
        """
        import pandas as pd

        keys = ["measure", "pool_width", "estimator"]
        rows = [
            dict(zip(keys, key, strict=True)) | _summarize(group)
            for key, group in self._rows.groupby(keys, sort=False)
        ]
        return pd.DataFrame(rows)


@documented(PoolWidthSettings)
def vary_pool_width(
    collection: Collection,
    measures: object = "P@10",
    *,
    estimators: Estimators = WIDTH_ESTIMATORS,
    widths: Sequence[int] | None = None,
    n_samples: int = 100,
    n_targets: int = 1,
    by: Unit = "run",
    runs: Runs = "pooled",
    pool_depth: int | None = None,
    run_types: Mapping[str, str] | None = None,
    pool_type: str | None = None,
    target_type: str | None = None,
    ci_prob: float = 0.95,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[ExperimentOptions],
) -> PoolWidthResult:
    """Draw random pools of different widths, and estimate runs outside them.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    folder : path, optional
        Store finished pools there, and continue from stored pools, also with more pools or widths.
    n_jobs : int, optional
        Processes, as of `bayespool.leave_out`.
    progress : callable, optional
        Called with the numbers of finished pools and of all.
    **settings
        Settings of the named estimators that have them.

    Returns
    -------
    PoolWidthResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; no pool; a cutoff below the pool depth; a pool so wide
        that no run is outside it.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call continues from the stored pools.

    Warns
    -----
    ExperimentChangedWarning
        ``folder`` holds pools of other settings, or unreadable ones.
    InputWarning
        No document has the relevance that a measure asks for.
    JudgeWarning
        Labels of a second judge are not used, for all runs or an organization's.

    Notes
    -----
    A run's true score is that on the whole pool, where its documents are judged down to the pool depth. An
    estimator gets the collection with the judgments of the drawn pool alone, the names of the runs and the
    measures. The paper draws w + 1 systems and takes one out to score it, which is equivalent. Over an ideal
    ranking (R, AP, nDCG) the true score counts the relevant documents of the drawn pool and the runs scored.

    Examples
    --------
    >>> from bayespool import load_example
    >>> result = vary_pool_width(load_example(), widths=[2, 8], n_samples=50, estimators="lower-bound")
    >>> print(result.summary_frame()[["pool_width", "unjudged", "bias"]].round(3).to_string(index=False))
     pool_width  unjudged   bias
              2     0.512 -0.147
              8     0.234 -0.035
    """
    requested = experiment_settings(
        PoolWidthSettings,
        measures,
        estimators,
        widths=widths,
        n_samples=n_samples,
        n_targets=n_targets,
        by=by,
        runs=runs,
        pool_depth=pool_depth,
        run_types=run_types,
        pool_type=pool_type,
        target_type=target_type,
        ci_prob=ci_prob,
        random_seed=random_seed,
        settings=settings,
    )
    warn_of_unused_relevance(collection, requested.measures)
    warn_of_judges(collection, (), requested.measures)
    whole = whole_pool(collection, runs, pool_depth)
    resolved = settled(requested, whole)
    pools = draw_pools(whole, resolved, n_targets, "pool width")
    work = functools.partial(_score_outside, settings=resolved)
    store = pool_store(folder, "pool-width", collection, resolved)
    with at_work(store):
        results = in_random_pools(work, whole, pools, store=store, n_jobs=n_jobs, progress=progress)
    return PoolWidthResult(
        settings=resolved,
        fingerprint=collection.fingerprint,
        pool=str(describe_pool(whole)),
        query_ids=whole.query_ids,
        n_contributors=len(contributors(whole, by, resolved.run_types, pool_type)),
        _rows=ordered_table(
            results,
            {
                "measure": [str(m) for m in resolved.measures],
                "pool_width": None,
                "estimator": resolved.labels,
                "sample": None,
            },
        ),
    )


def _score_outside(
    whole: Collection, pool: RandomPool, settings: PoolWidthSettings
) -> tuple[Columns, CaughtWarnings]:
    """Rows of one pool: every estimator on every measure for the runs to score."""
    reduced = with_drawn_pool(whole, pool)
    estimates, caught = estimates_of(reduced, pool, settings)
    names = np.array(whole.organizations)[whole.organization[whole.run_index(pool.target_run_ids)]]
    columns: Columns = {}
    for m, measure in enumerate(settings.measures):
        of_whole = score_bounds(whole, pool.target_run_ids, measure)
        of_drawn = score_bounds(reduced, pool.target_run_ids, measure)
        true = values_on_fuller(reduced, whole, pool.target_run_ids, measure)
        for label in settings.labels:
            estimated = estimates[label][m]
            lower, upper = estimated.interval(settings.ci_prob)
            truth = true.means()
            row = {
                "measure": [str(measure)] * len(truth),
                "pool_width": [pool.width] * len(truth),
                "sample": [pool.sample] * len(truth),
                "n_pool_runs": [len(pool.pool_run_ids)] * len(truth),
                "run_id": list(pool.target_run_ids),
                "organization": names.tolist(),
                "estimator": [label] * len(truth),
                "truth": truth.tolist(),
                "value": estimated.value.tolist(),
                "error": (estimated.value - truth).tolist(),
                "topic_rmse": np.sqrt(((estimated.per_topic - true.scores()) ** 2).mean(axis=1)).tolist(),
                "unjudged": of_drawn.unjudged_share.tolist(),
                "n_unknown": of_whole.n_unjudged.sum(axis=1).tolist(),
                "lower": lower.tolist(),
                "upper": upper.tolist(),
                "ci_prob": [np.nan if estimated.draws is None else settings.ci_prob] * len(truth),
            }
            for name, values in row.items():
                columns.setdefault(name, []).extend(values)
    return columns, caught


def _summarize(rows: pd.DataFrame) -> dict[str, Any]:
    truth, value, error = (rows[name].to_numpy() for name in ("truth", "value", "error"))
    of_pools = rows.groupby("sample")["error"].mean()
    open_ = rows[rows["ci_prob"].notna() & (rows["unjudged"] > 0)]
    inside = (open_["lower"] <= open_["truth"]) & (open_["truth"] <= open_["upper"])
    return {
        "n_scored": len(rows),
        "n_pool_runs": float(rows["n_pool_runs"].mean()),
        "unjudged": float(rows["unjudged"].mean()),
        "bias": mean_error(truth, value),
        "bias_se": float(of_pools.std(ddof=1) / np.sqrt(len(of_pools))) if len(of_pools) > 1 else np.nan,
        "quartile_1": float(np.quantile(error, 0.25)),
        "median": float(np.median(error)),
        "quartile_3": float(np.quantile(error, 0.75)),
        "mae": mean_absolute_error(truth, value),
        "rmse": root_mean_squared_error(truth, value),
        "topic_rmse": float(np.sqrt((rows["topic_rmse"].to_numpy() ** 2).mean())),
        "coverage": float(inside.mean()) if len(open_) else np.nan,
        "interval_width": float((open_["upper"] - open_["lower"]).mean()) if len(open_) else np.nan,
        "ci_prob": float(rows["ci_prob"].iloc[0]),
    }
