"""Experiments on random pools (Webber & Park 2009): errors of new runs by the width of the pool (§2.2, §3.1),
and score adjustment from common topics (§3.2, algorithm 3, tables 2 to 4).

References
----------
S. K. Thompson (2002). Sampling. 2nd edition, Wiley.

W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, OrderArray, Progress
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.errors import InputError
from bayespool.experiments.design import Design, Graded, Part, contributors, find_run_types, whole_pool
from bayespool.experiments.graded_runs import RowOrder, ordered_table, result_fields
from bayespool.experiments.random_pool_results import RandomPoolsResult
from bayespool.experiments.settings import RandomPoolSettings
from bayespool.names import By, Runs
from bayespool.posterior import PosteriorEstimator
from bayespool.randomness import seed_of
from bayespool.tables.formatting import counted

COMMON_SIZES = (5, 10, 20, 30, 40, 50, 100, 150, 200)
"""Default numbers of common topics, limited to those below the number of topics."""

SCORES = ("unadjusted", "mixed", "adjusted", "common-only")
"""Kinds of scores compared in the common-topics experiment.

Unadjusted; with the true scores on the common topics; adjusted by the mean difference on the common topics;
the mean true score on the common topics alone.
"""

_KEYS = ("measure", "pool_width", "sample", "n_pool_runs", "run_id", "organization", "estimator")
_ROWS = ("truth", "value", "error", "topic_rmse", "unjudged", "n_unknown", "lower", "upper", "ci_prob")


PAPER_WIDTHS = (2, 4, 10, 20, 40)
"""Pool widths used by Webber & Park (2009)."""


class RandomPools(Design):
    """Experiment on pools sampled at random from the contributors, with runs outside each pool scored.

    With common topics, a run outside the pool is fully judged on them.
    """

    name: ClassVar[str] = "random-pools"
    parts_name: ClassVar[str] = "pools"

    def parts(self, collection: Collection, settings: RandomPoolSettings) -> tuple[Part, ...]:
        """Sample all pools and their target runs, determined by the seed.

        A target is drawn first, then the pool among other contributors than its own, then further targets.
        """
        types, kind, run_ids = dict(settings.run_types), settings.target_type, collection.pooled_run_ids
        unit_of = {run: unit for unit, runs in contributors(collection, settings.by).items() for run in runs}
        drawn_from = pool_contributors(collection, settings)
        scored = [run for run in run_ids if kind is None or types[run] == kind]
        pools = []
        for width, sample in itertools.product(settings.widths, range(settings.n_samples)):
            experiment = self.subfolder(settings).replace("-", " ")
            rng = np.random.default_rng(seed_of(settings.random_seed, experiment, width, sample))
            first = scored[rng.integers(len(scored))]
            others = [unit for unit in drawn_from if unit != unit_of[first]]
            drawn = {others[i] for i in rng.permutation(len(others))[:width]}
            pool = {run for unit in drawn for run in drawn_from[unit]}
            outside = [run for run in scored if run != first and unit_of[run] not in drawn]
            further = [outside[i] for i in rng.permutation(len(outside))[: settings.n_targets - 1]]
            pools.append(
                Part(
                    name=f"width-{width}-sample-{sample}",
                    run_ids=(first, *further),
                    pool_run_ids=tuple(run for run in run_ids if run in pool),
                    measures=settings.measures,
                    columns=(("pool_width", width), ("sample", sample)),
                    seeds=(width, sample),
                )
            )
        return tuple(pools)

    def subfolder(self, settings: RandomPoolSettings) -> str:
        """Return the name of the folder of finished pools, which both functions may have in one folder."""
        return "common-topics" if settings.n_common else "pool-width"

    def seeds(self, part: Part, settings: RandomPoolSettings) -> tuple[object, ...]:
        """Return the names that seed a pool: its width and number.

        Experiments on the same pools draw alike.
        """
        return ("random pool", *part.seeds)

    def grade(self, graded: Graded, settings: RandomPoolSettings) -> Mapping[str, Any]:
        """Return errors of the estimates and the pool's share of unjudged documents, or the run's errors with
        common topics.
        """
        rows = graded.rows() | {
            "n_pool_runs": len(graded.part.pool_run_ids),
            "unjudged": graded.bounds.unjudged_share,
        }
        rows["error"] = rows["value"] - rows["truth"]
        if not settings.n_common:
            return {name: rows[name] for name in (*_KEYS, *_ROWS)}
        run_row = {name: np.ravel(rows[name]).tolist()[0] for name in (*_KEYS, "n_unknown")}
        return run_row | _common_topics_rows(graded, settings)


def _common_topics_rows(graded: Graded, settings: RandomPoolSettings) -> dict[str, Any]:
    """Return a run's errors for each kind of score and number of common topics, stacked as rows."""
    truth, unpooled = graded.truth.values.scores()[0], graded.estimates.per_topic[0]
    n_topics, n_common = len(truth), np.array(settings.n_common)
    rng = np.random.default_rng(seed_of(settings.random_seed, "topics", *graded.part.seeds))
    order = np.argsort(rng.random((settings.n_topic_samples, n_topics)), axis=1)
    errors = common_topics_errors(truth, unpooled, settings.n_common, order)
    spread = np.sqrt((n_topics - n_common) / (n_common * n_topics))
    std = {"adjusted": (truth - unpooled).std(ddof=1), "common-only": truth.std(ddof=1)}
    return {
        "truth": float(truth.mean()),
        "value": float(unpooled.mean()),
        "std_difference": float(std["adjusted"]),
        "std_truth": float(std["common-only"]),
        "one_sided": bool((truth >= unpooled).all() or (truth <= unpooled).all()),
        "score": np.repeat(list(errors), len(n_common)),
        "n_common": np.tile(n_common, len(errors)),
        "mae": np.concatenate([np.abs(error).mean(axis=0) for error in errors.values()]),
        "mse": np.concatenate([(error**2).mean(axis=0) for error in errors.values()]),
        "bias": np.concatenate([error.mean(axis=0) for error in errors.values()]),
        "unadjusted_mae": float(np.abs(errors["unadjusted"]).mean(axis=0)[0]),
        "law": np.concatenate([spread * std.get(score, np.nan) for score in errors]),
    }


def pool_contributors(whole: Collection, settings: RandomPoolSettings) -> dict[str, tuple[str, ...]]:
    """Return the contributors from which random pools are drawn."""
    types, kind = dict(settings.run_types), settings.pool_type
    runs = [run for run in whole.pooled_run_ids if kind is None or types[run] == kind]
    return contributors(whole, settings.by, runs)


def _vary_pools(collection: Collection, settings: RandomPoolSettings, **execution: Any) -> RandomPoolsResult:
    """Draw the pools, score the runs outside them, and return the result with sorted rows."""
    whole = whole_pool(collection, settings.runs, settings.repool_to)
    settings = _settings_for_collection(settings, whole)
    design = RandomPools()
    pools = design.parts(whole, settings)
    results = design.run(whole, pools, settings, **execution, given=collection)
    order: RowOrder = {"measure": list(map(str, settings.measures)), "pool_width": None}
    order = {**order, "estimator": settings.labels, "score": SCORES, "n_common": None, "sample": None}
    return RandomPoolsResult(
        **result_fields(collection, whole, settings),
        n_contributors=len(pool_contributors(whole, settings)),
        pools={pool.seeds: pool.pool_run_ids for pool in pools},
        _rows=ordered_table(results, order),
    )


def _settings_for_collection(requested: RandomPoolSettings, whole: Collection) -> RandomPoolSettings:
    """Resolve the settings for depth, run types and pool widths for a collection. Default widths are those of
    the paper that leave a contributor outside.
    """
    is_typed = requested.pool_type is not None or requested.target_type is not None
    types = find_run_types(whole, "type") if is_typed else ()
    n_units = len(pool_contributors(whole, replace(requested, run_types=types)))
    most = n_units - 1
    widths = requested.widths or [w for w in PAPER_WIDTHS if w <= most] or ([most] if most > 0 else [])
    sizes = tuple(sorted(set(widths)))
    if not sizes or max(sizes) > most:
        which = "" if requested.pool_type is None else f" of type {requested.pool_type!r}"
        width = f"a pool of width {max(sizes, default=1)} and one more"
        raise InputError(
            f"{n_units} {requested.by}s{which} are too few for {width}",
            hint=f"widths from 1 to {most}" if most > 0 else "give more runs",
        )
    return replace(requested, repool_to=whole.pool_depth, run_types=types, widths=sizes)


def vary_pool_width(
    collection: Collection,
    measures: object = "P@10",
    *,
    estimators: object = ("as-judged", "condensed-list", "systems-adjustment"),
    posterior_settings: str | PosteriorEstimator | None = None,
    widths: Iterable[int] | None = None,
    n_samples: int = 100,
    by: By = "run",
    runs: Runs = "pooled",
    repool_to: int | None = None,
    pool_type: str | None = None,
    target_type: str | None = None,
    n_targets: int = 1,
    ci_prob: float | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RandomPoolsResult:
    """Sample random pools of different widths and estimate the scores of runs outside them.

    Parameters
    ----------
    estimators : str, Estimator, sequence or mapping of them
        'default', 'all', 'pairs', or names with settings in parentheses: background(e=0.05). The first three
        are `bayespool.scoring.DEFAULT_ESTIMATORS`, `bayespool.scoring.ALL_ESTIMATORS` and
        `bayespool.scoring.PAIRED_ESTIMATORS`; a mapping is of labels to estimators.
    n_targets : int, default 1
        Runs outside each pool that are scored. In the paper one; more make the means steadier.
    ci_prob : float, optional
        Probability of the intervals; default: 0.95, or what `bayespool.rcParams` has. They are equal-tailed.
    collection, measures, posterior_settings, widths, n_samples, by, runs, repool_to, pool_type, \
target_type, random_seed, folder, n_jobs, progress : optional
        As in `vary_common_topics`; the subfolder of finished pools is ``pool-width/``.

    Returns
    -------
    RandomPoolsResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; no pool; a cutoff below the pool depth; a pool so wide
        that no run is outside it.
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
    A run's true score is that on the whole pool, where its documents are judged down to the pool depth. An
    estimator gets the collection with the judgments of the drawn pool alone, the names of the runs and the
    measures. The paper draws w + 1 systems and takes one out to score it, which is equivalent. Over an ideal
    ranking (R, AP, nDCG) the true score counts the relevant documents of the drawn pool and the runs scored.

    Examples
    --------
    >>> from bayespool import load_example
    >>> result = vary_pool_width(load_example(), widths=[2, 8], n_samples=10, estimators="as-judged")
    >>> print(result.to_frame("summary")[["pool_width", "unjudged", "bias"]].round(3).to_string(index=False))
     pool_width  unjudged   bias
              2     0.511 -0.140
              8     0.234 -0.049
    """
    settings = RandomPoolSettings.parse(locals())
    return _vary_pools(collection, settings, folder=folder, n_jobs=n_jobs, progress=progress)


def vary_common_topics(
    collection: Collection,
    measures: object = "P@10",
    *,
    estimators: object = None,
    posterior_settings: str | PosteriorEstimator | None = None,
    widths: Iterable[int] | None = None,
    n_samples: int = 100,
    by: By = "run",
    runs: Runs = "pooled",
    repool_to: int | None = None,
    pool_type: str | None = None,
    target_type: str | None = None,
    n_common: Iterable[int] | None = None,
    n_topic_samples: int = 200,
    sds: Iterable[float] | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RandomPoolsResult:
    """Sample pools and common topics, and adjust scores of runs outside the pools using these topics.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    estimators : str, Estimator, sequence or mapping of them, optional
        Estimators; by default as-judged, condensed-list and, without common topics, systems-adjustment. As
        of `vary_pool_width`.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors among them: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.
    widths : iterable of int, optional
        Pool widths: numbers of contributors that make a pool. By default 2, 4, 10, 20 and 40 as far as there
        is one more.
    n_samples : int, default 100
        Pools drawn of each width.
    by : {"run", "organization"}, default "run"
        What pools are drawn from: runs, or organizations with all their runs. Of runs, as in the paper,
        siblings of the run that is scored may be in the pool.
    runs : {"pooled", "all"}, default "pooled"
        The pooled runs take part, or all: what is unjudged in truth is then not relevant. The second is the
        rule of Webber & Park.
    repool_to : int, optional
        Re-pool to this depth first: judgments of documents that no pooled run has down to it go. By default
        the collection's own depth. Cutoffs may not be deeper: down to the pool depth a run's true score is
        known whatever else is in the pool.
    pool_type : str, optional
        Make pools of runs of this type alone, in the column ``type`` of attributes of runs
        (`Collection.with_attributes`).
    target_type : str, optional
        Score runs of this type alone.
    n_common : iterable of int, optional
        Numbers of common topics, on which runs outside the pools are judged in full. By default 5, 10, 20,
        30, 40, 50, 100, 150 and 200 below the number of topics.
    n_topic_samples : int, default 200
        Sets of common topics drawn for each pool. The sets of one draw are nested: n topics are n′ < n and
        others.
    sds : iterable of float, optional
        Standard errors of a mean score: says how many common topics each takes.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    folder : path, optional
        Folder for finished pools, from which a later call goes on. They are in its subfolder
        ``common-topics/``.
    n_jobs : int, optional
        Number of processes; −1 for one per core, by default 1 or as set by ``joblib.parallel_config``.
        Results are the same to the byte for any number, and on a Dask cluster.
    progress : callable, optional
        Called with a text, the number of finished pools, stored ones included, and their total.

    Returns
    -------
    RandomPoolsResult

    Raises
    ------
    InputError
        More common topics than topics; fewer than two topics; and what `vary_pool_width` refuses.
    OutputError, WorkerError
        As of `vary_pool_width`.

    Warns
    -----
    BayespoolWarning
        Those of `vary_pool_width`.

    Notes
    -----
    Let d be the differences between a run's true and unpooled scores on N topics, with mean A and standard
    deviation s (denominator N − 1), and a the mean of d on n common topics. The error of the adjusted mean
    score is a − A, with mean 0 over simple random samples of topics and variance exactly (N − n)/(nN)·s²
    (equations 2 to 4), whatever the distribution of d. So ``rmse_law`` is the root of its mean over pools;
    ``mae_law``, √(2/π) times the mean standard deviation, holds as far as a is normal. The error of the mixed
    score is −(N − n)/N times A on average; where all of d have one sign, as with ``as-judged``, the
    absolute value of that is its MAE, given as ``mae_law``.

    Over an ideal ranking (R, AP, nDCG) a true score is that with the relevant documents of the drawn pool and
    of the run. Common topics are drawn at random from one campaign; other common topics would help less.

    Examples
    --------
    >>> from bayespool import load_example
    >>> few = {"widths": [4], "n_common": [5, 20], "n_samples": 10}
    >>> result = vary_common_topics(load_example(), estimators="as-judged", **few)
    >>> summary = result.to_frame("summary")[["score", "n_common", "mae", "mae_law"]]
    >>> print(summary.round(3).to_string(index=False))
          score  n_common   mae  mae_law
     unadjusted         5 0.078      NaN
     unadjusted        20 0.078      NaN
          mixed         5 0.058    0.059
          mixed        20 0.000    0.000
       adjusted         5 0.028    0.027
       adjusted        20 0.000    0.000
    common-only         5 0.087    0.085
    common-only        20 0.000    0.000
    """
    estimators = ("as-judged", "condensed-list") if estimators is None else estimators
    settings = RandomPoolSettings.parse(locals())
    expect_collection(collection)
    settings = replace(settings, n_common=_sizes(settings.n_common, len(collection.query_ids)))
    return _vary_pools(collection, settings, folder=folder, n_jobs=n_jobs, progress=progress)


def common_topics_errors(
    truth: npt.ArrayLike, unpooled: npt.ArrayLike, n_common: Sequence[int], order: OrderArray
) -> dict[str, FloatArray]:
    """Return a run's errors (estimate − true mean score) by kind of score in `SCORES`.

    Each has shape (draw, len(n_common)). Takes true and unpooled scores, shape (topic,), and permutations of
    the topics, shape (draw, topic), of which the first n are common.

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


def _sizes(n_common: tuple[int, ...], n_topics: int) -> tuple[int, ...]:
    """Return the requested or default numbers of common topics in ascending order."""
    if n_topics < 2:
        raise InputError("one topic cannot be common to some of the topics", hint="give more topics")
    sizes = tuple(sorted(set(n_common or [n for n in COMMON_SIZES if n < n_topics] or [1])))
    if sizes[-1] > n_topics:
        raise InputError(
            f"{counted(sizes[-1], 'common topic')} of {counted(n_topics, 'topic')}", hint=f"1 to {n_topics}"
        )
    return sizes
