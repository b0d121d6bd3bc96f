"""Score adjustment from common topics on random pools (Webber & Park 2009, §3.2, algorithm 3, tables 2 to 4).

References
----------
S. K. Thompson (2002). Sampling. 2nd edition, Wiley.

W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.caught_warnings import CaughtWarnings
from bayespool.experiments.folds import seed_of
from bayespool.experiments.preparing import Estimators, experiment_settings
from bayespool.experiments.resampling import (
    RandomPool,
    Unit,
    contributors,
    distinct_sizes,
    draw_pools,
    estimates_of,
    in_random_pools,
    ordered_table,
    pool_store,
    settled,
    whole_pool,
    with_drawn_pool,
)
from bayespool.experiments.settings import CommonTopicsSettings, Runs
from bayespool.experiments.storage import Columns, at_work
from bayespool.options import documented
from bayespool.pooling import describe_pool
from bayespool.posterior.keywords import ExperimentOptions
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.scoring.scoring import warn_of_unused_relevance
from bayespool.tables.reprs import Shown

if TYPE_CHECKING:
    import pandas as pd

COMMON_ESTIMATORS = ("lower-bound", "condensed-list")
"""Estimators adjusted by Webber & Park: unjudged documents as not relevant (table 2), or dropped (table
3).
"""

COMMON_SIZES = (5, 10, 20, 30, 40, 50, 100, 150, 200)
"""Default numbers of common topics, as far as below the number of topics."""

SCORES = ("unadjusted", "mixed", "adjusted", "common-only")
"""Kinds of scores: unadjusted; with the true scores on the common topics; adjusted by the mean difference on
the common topics; the mean true score on the common topics alone.
"""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class CommonTopicsResult(Shown):
    """Result of `vary_common_topics`.

    Attributes
    ----------
    settings : CommonTopicsSettings
    fingerprint : str
        Of the collection.
    pool : str
        Report of the whole pool that pools were drawn from.
    query_ids : tuple of str
    n_contributors : int
        Runs or organizations that pools were drawn from.
    """

    settings: CommonTopicsSettings
    fingerprint: str
    pool: str
    query_ids: tuple[str, ...]
    n_contributors: int
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<CommonTopicsResult: {s.n_samples} pools of each of {len(s.widths)} widths, "
            f"{len(s.n_common)} numbers of common topics of {len(self.query_ids)}, "
            f"{s.n_topic_samples} draws of each>"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per measure, width, pool, estimator, kind of score and number of common topics.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``pool_width``, ``sample`` (number of the pool), ``run_id``, ``organization``,
            ``estimator`` (of the unpooled scores), ``truth``, ``value`` (the mean unpooled score),
            ``std_difference`` (standard deviation over topics of truth − unpooled score), ``std_truth`` (of
            the true scores), ``one_sided`` (whether these differences have one sign), ``score`` (one of
            `SCORES`), ``n_common``; over the draws of common topics ``mae``, ``mse`` and ``bias``; and
            ``law``, the error's theoretical standard deviation: √((N − n)/(nN)) times ``std_difference`` for
            adjusted scores, times ``std_truth`` for those of the common topics alone, NaN for the others.
        """
        return self._rows.copy()

    frame = to_frame

    def summary_frame(self) -> pd.DataFrame:
        """One row per measure, width, estimator, kind of score and number of common topics.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``pool_width``, ``estimator``, ``score``, ``n_common``, ``n_samples``; ``mae``,
            ``rmse`` and ``bias`` over pools and draws of common topics; their theoretical values ``mae_law``
            and ``rmse_law``, see `vary_common_topics`; and ``helped``, the share of pools whose mean absolute
            error is below that of the unadjusted score, among pools where the latter is not 0.
        """
        import pandas as pd

        keys = ["measure", "pool_width", "estimator", "score", "n_common"]
        places = ["measure", "pool_width", "estimator", "sample"]
        rows = self._rows
        plain = rows[rows["score"] == "unadjusted"].drop_duplicates(places)[[*places, "mae"]]
        rows = rows.merge(plain.rename(columns={"mae": "unadjusted_mae"}), on=places, how="left")
        n_topics = len(self.query_ids)
        return pd.DataFrame(
            [
                dict(zip(keys, key, strict=True)) | _summarize(group, n_topics)
                for key, group in rows.groupby(keys, sort=False)
            ]
        )


@documented(CommonTopicsSettings)
def vary_common_topics(
    collection: Collection,
    measures: object = "P@10",
    *,
    estimators: Estimators = COMMON_ESTIMATORS,
    widths: Sequence[int] | None = None,
    n_common: Sequence[int] | None = None,
    n_samples: int = 100,
    n_topic_samples: int = 200,
    by: Unit = "run",
    runs: Runs = "pooled",
    pool_depth: int | None = None,
    run_types: Mapping[str, str] | None = None,
    pool_type: str | None = None,
    target_type: str | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[ExperimentOptions],
) -> CommonTopicsResult:
    """Draw pools and common topics at random, and adjust scores of runs outside the pools from these topics.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    **settings
        Settings of the named estimators that have them.

    Returns
    -------
    CommonTopicsResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; no pool; a cutoff below the pool depth; a pool so wide
        that no run is outside it; more common topics than topics; fewer than two topics.
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
    Let d be the differences between a run's true and unpooled scores on N topics, with mean A and standard
    deviation s (denominator N − 1), and a the mean of d on n common topics. The error of the adjusted mean
    score is a − A, with mean 0 over simple random samples of topics and variance exactly (N − n)/(nN)·s²
    (equations 2 to 4), whatever the distribution of d. So ``rmse_law`` is the root of its mean over pools;
    ``mae_law``, √(2/π) times the mean standard deviation, holds as far as a is normal. The error of the mixed
    score is −(N − n)/N times A on average; where all of d have one sign, as with ``lower-bound``, the
    absolute value of that is its MAE, given as ``mae_law``.

    Over an ideal ranking (R, AP, nDCG) a true score is that with the relevant documents of the drawn pool and
    of the run. Common topics are drawn at random from one campaign; other common topics would help less.

    Examples
    --------
    >>> from bayespool import load_example
    >>> result = vary_common_topics(load_example(), widths=[4], n_common=[5, 20], estimators="lower-bound")
    >>> summary = result.summary_frame()[["score", "n_common", "mae", "mae_law"]]
    >>> print(summary.round(3).to_string(index=False))
          score  n_common   mae  mae_law
     unadjusted         5 0.078      NaN
     unadjusted        20 0.078      NaN
          mixed         5 0.058    0.059
          mixed        20 0.000    0.000
       adjusted         5 0.029    0.028
       adjusted        20 0.000    0.000
    common-only         5 0.087    0.086
    common-only        20 0.000    0.000
    """
    requested = experiment_settings(
        CommonTopicsSettings,
        measures,
        estimators,
        widths=widths,
        n_common=n_common,
        n_samples=n_samples,
        n_topic_samples=n_topic_samples,
        by=by,
        runs=runs,
        pool_depth=pool_depth,
        run_types=run_types,
        pool_type=pool_type,
        target_type=target_type,
        random_seed=random_seed,
        settings=settings,
    )
    warn_of_unused_relevance(collection, requested.measures)
    warn_of_judges(collection, (), requested.measures)
    whole = whole_pool(collection, runs, pool_depth)
    sizes = _sizes(requested.n_common or None, len(whole.query_ids))
    resolved = dataclasses.replace(settled(requested, whole), n_common=sizes)
    pools = draw_pools(whole, resolved, 1, "common topics")
    work = functools.partial(_adjust_outside, settings=resolved)
    store = pool_store(folder, "common-topics", collection, resolved)
    with at_work(store):
        results = in_random_pools(work, whole, pools, store=store, n_jobs=n_jobs, progress=progress)
    return CommonTopicsResult(
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
                "score": SCORES,
                "n_common": None,
                "sample": None,
            },
        ),
    )


def common_topics_errors(
    truth: npt.ArrayLike, unpooled: npt.ArrayLike, n_common: Sequence[int], order: npt.NDArray[np.intp]
) -> dict[str, FloatArray]:
    """Errors (estimate − true mean score) of a run with common topics, by `SCORES`, each of shape (draw,
    len(n_common)). Takes true and unpooled scores, shape (topic,), and permutations of the topics, shape
    (draw, topic), of which the first n are common.

    Examples
    --------
    Two topics of which the first is common, with half of the loss on each:

    >>> errors = common_topics_errors([0.5, 0.3], [0.4, 0.2], [1], np.array([[0, 1]]))
    >>> {name: round(float(error[0, 0]), 3) for name, error in errors.items()}
    {'unadjusted': -0.1, 'mixed': -0.05, 'adjusted': 0.0, 'common-only': 0.1}
    """
    true = np.asarray(truth, dtype=float)
    difference = true - np.asarray(unpooled, dtype=float)
    n, n_topics = np.asarray(n_common), len(true)
    common_sum = np.cumsum(difference[order], axis=1)[:, n - 1]  # of the differences
    whole = difference.sum()
    return {
        "unadjusted": np.full(common_sum.shape, -whole / n_topics),
        "mixed": (common_sum - whole) / n_topics,
        "adjusted": common_sum / n - whole / n_topics,
        "common-only": np.cumsum(true[order], axis=1)[:, n - 1] / n - true.mean(),
    }


def _sizes(n_common: Sequence[int] | None, n_topics: int) -> tuple[int, ...]:
    if n_topics < 2:
        raise InputError("one topic cannot be common to some of the topics", hint="give more topics")
    if n_common is None:
        n_common = [n for n in COMMON_SIZES if n < n_topics] or [1]
    chosen = distinct_sizes(n_common, "number of common topics")
    if not chosen or max(chosen) > n_topics:
        raise InputError(
            f"{max(chosen, default=0)} common topics: there are {n_topics} topics", hint=f"1 to {n_topics}"
        )
    return chosen


def _adjust_outside(
    whole: Collection, pool: RandomPool, settings: CommonTopicsSettings
) -> tuple[Columns, CaughtWarnings]:
    """Rows of one pool: errors of the adjusted scores of the run outside it."""
    reduced = with_drawn_pool(whole, pool)
    estimates, caught = estimates_of(reduced, pool, settings)
    (run,) = pool.target_run_ids
    n_topics = len(whole.query_ids)
    rng = np.random.default_rng(seed_of(settings.random_seed, "topics", pool.width, pool.sample))
    order = np.argsort(rng.random((settings.n_topic_samples, n_topics)), axis=1)
    n_common = np.array(settings.n_common)
    spread = np.sqrt((n_topics - n_common) / (n_common * n_topics))
    columns: Columns = {}
    for m, measure in enumerate(settings.measures):
        truth = values_on_fuller(reduced, whole, (run,), measure).scores()[0]
        for label in settings.labels:
            unpooled = estimates[label][m].per_topic[0]
            errors = common_topics_errors(truth, unpooled, settings.n_common, order)
            std = {"adjusted": (truth - unpooled).std(ddof=1), "common-only": truth.std(ddof=1)}
            for score, error in errors.items():
                row = {
                    "measure": str(measure),
                    "pool_width": pool.width,
                    "sample": pool.sample,
                    "run_id": run,
                    "organization": whole.organizations[int(whole.organization[whole.run_index(run)[0]])],
                    "estimator": label,
                    "truth": float(truth.mean()),
                    "value": float(unpooled.mean()),
                    "std_difference": float(std["adjusted"]),
                    "std_truth": float(std["common-only"]),
                    "one_sided": bool((truth >= unpooled).all() or (truth <= unpooled).all()),
                    "score": score,
                    "n_common": n_common.tolist(),
                    "mae": np.abs(error).mean(axis=0).tolist(),
                    "mse": (error**2).mean(axis=0).tolist(),
                    "bias": error.mean(axis=0).tolist(),
                    "law": (spread * std.get(score, np.nan)).tolist(),
                }
                for name, value in row.items():
                    values = value if isinstance(value, list) else [value] * len(n_common)
                    columns.setdefault(name, []).extend(values)
    return columns, caught


def _summarize(rows: pd.DataFrame, n_topics: int) -> dict[str, Any]:
    law, n_common = rows["law"].to_numpy(), int(rows["n_common"].iloc[0])
    lost = np.abs(rows["truth"].to_numpy() - rows["value"].to_numpy())
    mae_law = np.sqrt(2 / np.pi) * law.mean()
    if rows["score"].iloc[0] == "mixed":
        mae_law = (n_topics - n_common) / n_topics * lost.mean() if rows["one_sided"].all() else np.nan
    biased = rows["unadjusted_mae"] > 0
    helped = rows["mae"] < rows["unadjusted_mae"]
    is_comparable = rows["score"].iloc[0] != "unadjusted" and biased.any()
    return {
        "n_samples": len(rows),
        "mae": float(rows["mae"].mean()),
        "rmse": float(np.sqrt(rows["mse"].mean())),
        "bias": float(rows["bias"].mean()),
        "mae_law": float(mae_law),
        "rmse_law": float(np.sqrt((law**2).mean())),
        "helped": float(helped[biased].mean()) if is_comparable else np.nan,
    }
