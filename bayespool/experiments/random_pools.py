"""Experiments on random pools (Webber & Park 2009): errors of new runs by the width of the pool (§2.2, §3.1),
and score adjustment from common topics (§3.2, algorithm 3, tables 2 to 4).

References
----------
S. K. Thompson (2002). Sampling. 2nd edition, Wiley.

W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.corrections.webber_park import topics_for_error
from bayespool.errors import InputError
from bayespool.experiments.design import (
    Design,
    Graded,
    Part,
    contributors,
    error_columns,
    pool_contributors,
    settings_for_collection,
    whole_pool,
)
from bayespool.experiments.graded_runs import (
    ExperimentResult,
    RowOrder,
    ordered_table,
    panel_figure,
    pools_scope,
    result_fields,
    summarize_groups,
    truth_notes,
)
from bayespool.experiments.running import ExecutionOptions, experiment
from bayespool.experiments.settings import CommonTopicsSettings, PoolSettings, PoolWidthSettings
from bayespool.randomness import seed_of
from bayespool.report.result import Figure
from bayespool.tables.formatting import counted, level
from bayespool.tables.table import Column, Pivot, Table, View

if TYPE_CHECKING:
    import pandas as pd


COMMON_SIZES = (5, 10, 20, 30, 40, 50, 100, 150, 200)
"""Default numbers of common topics, limited to those below the number of topics."""

SCORES = ("unadjusted", "mixed", "adjusted", "common-only")
"""Kinds of scores compared in the common-topics experiment.

Unadjusted; with the true scores on the common topics; adjusted by the mean difference on the common topics;
the mean true score on the common topics alone.
"""

_POOL_COLUMNS = {
    "pool_width": Column("width", "count", "Number of runs or organizations that the pool was drawn with."),
    "sample": Column("pool", "count", "Number of the pool among those of its width."),
}
_TOPIC_COLUMNS = _POOL_COLUMNS | {
    "score": Column("score", "text", "Kind of score, one of `bayespool.experiments.SCORES`."),
    "n_common": Column("common\ntopics", "count", "Number of topics that are judged in full."),
    "n_samples": Column("pools", "count", "Number of pools."),
    "one_sided": Column("one-sided", "flag", "Whether truth − score has one sign on all topics."),
    "std_difference": Column("s. d.", "score", "Standard deviation over topics of truth − unpooled score."),
    "std_truth": Column("s. d. of\ntruth", "score", "Standard deviation over topics of the true scores."),
    "mse": Column("MSE", "score", "Mean squared error over draws of common topics."),
    "law": Column("law", "score", "Standard deviation of the error by sampling theory."),
    "mae_law": Column("MAE\nby law", "score", "Mean absolute error by sampling theory."),
    "rmse_law": Column("RMSE\nby law", "score", "Root mean squared error by sampling theory."),
    "helped": Column("helped", "share", "Share of pools whose error is below that of the unadjusted score."),
    "std": Column("error", "score", "Standard error of the mean score to reach."),
    "n_needed": Column("topics", "size", "Common topics that it takes, mean over pools.", 1),
    "n_needed_most": Column("most", "count", "The most that it takes with any pool."),
    "n_needed_alone": Column("alone", "size", "Common topics if they alone count, mean over pools.", 1),
}
_LAW = (
    "law: √(2/π) √((N − n)/(nN)) times the standard deviation over topics of what a run loses outside the "
    "pool, which is the MAE of the adjusted score as far as that is normal."
)
_ROWS = (
    *("measure", "pool_width", "sample", "n_pool_runs", "run_id", "organization", "estimator"),
    *("truth", "value", "error", "topic_rmse", "unjudged", "n_unknown", "lower", "upper", "ci_prob"),
)
_QUARTILES = {
    "quartile_1": Column("1st\nquartile", "difference", "First quartile of estimate − truth."),
    "median": Column("median", "difference", "Median of estimate − truth."),
    "quartile_3": Column("3rd\nquartile", "difference", "Third quartile of estimate − truth."),
}


class RandomPools(Design):
    """Experiment on pools sampled at random from the contributors, with runs outside each pool scored."""

    parts_name: ClassVar[str] = "pools"

    def parts(self, collection: Collection, settings: PoolSettings) -> tuple[Part, ...]:
        """Sample all pools and their target runs, determined by the seed.

        A target is drawn first, then the pool among other contributors than its own, then further targets.
        """
        n_targets, run_ids = getattr(settings, "n_targets", 1), collection.pooled_run_ids
        types, kind = dict(settings.run_types), settings.target_type
        unit_of = {run: unit for unit, runs in contributors(collection, settings.by).items() for run in runs}
        drawn_from = pool_contributors(collection, settings)
        scored = [run for run in run_ids if kind is None or types[run] == kind]
        pools = []
        for width, sample in itertools.product(settings.widths, range(settings.n_samples)):
            seed = seed_of(settings.random_seed, self.name.replace("-", " "), width, sample)
            rng = np.random.default_rng(seed)
            first = scored[rng.integers(len(scored))]
            others = [unit for unit in drawn_from if unit != unit_of[first]]
            drawn = {others[i] for i in rng.permutation(len(others))[:width]}
            pool = {run for unit in drawn for run in drawn_from[unit]}
            outside = [run for run in scored if run != first and unit_of[run] not in drawn]
            further = [outside[i] for i in rng.permutation(len(outside))[: n_targets - 1]]
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

    def seeds(self, part: Part, settings: PoolSettings) -> tuple[object, ...]:
        """Return the names that seed a pool: its width and number.

        Experiments on the same pools draw alike.
        """
        return ("random pool", *part.seeds)


def _result_fields(
    design: RandomPools,
    collection: Collection,
    settings: PoolSettings,
    execution: ExecutionOptions,
    order: RowOrder | None = None,
) -> dict[str, Any]:
    """Run a design and return the fields of its result, with sorted rows."""
    whole = whole_pool(collection, settings.runs, settings.pool_depth)
    resolved = settings_for_collection(settings, whole)
    results = design.run(whole, design.parts(whole, resolved), resolved, **vars(execution), given=collection)
    by_pool: RowOrder = {"measure": list(map(str, settings.measures)), "pool_width": None}
    by_pool = {**by_pool, "estimator": settings.labels, **(order or {}), "sample": None}
    n_contributors = len(pool_contributors(whole, resolved))
    rows = ordered_table(results, by_pool)
    return result_fields(collection, whole, resolved) | {"n_contributors": n_contributors, "_rows": rows}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _PoolsResult(ExperimentResult):
    n_contributors: int
    _rows: pd.DataFrame

    def _pools(self) -> str:
        """Return a clause on the number of random pools and their contributors."""
        s = self.settings
        kind = "" if s.pool_type is None else f"{s.pool_type} "
        pools = f"{s.n_samples} pools of each width drawn from {self.n_contributors} {kind}{s.by}s"
        return pools if s.target_type is None else f"{pools} for {s.target_type} runs"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PoolWidthResult(_PoolsResult):
    """Result from `vary_pool_width`.

    Its tables are ``pools``, a row per measure, width, pool, estimator and scored run, and ``summary``, a row
    per measure, width and estimator.

    Attributes
    ----------
    settings : PoolWidthSettings
    n_contributors : int
        Runs or organizations that pools were drawn from.
    """

    command = "pool-width"
    title = "Pools of fewer contributors"
    settings: PoolWidthSettings

    def tables(self) -> tuple[Table, ...]:
        """Return the tables ``pools`` and ``summary``."""
        shown = level(self.settings.ci_prob)
        columns = _POOL_COLUMNS | {
            "n_scored": Column("scored", "count", "Number of scored runs, over pools."),
            "bias_se": Column("its\ns.e.", "score", "Standard error of the bias over pools."),
            **_QUARTILES,
            "coverage": Column(f"truth in\n{shown}", "chance", "Share of intervals that hold the truth."),
            "interval_width": Column(f"width of\n{shown}", "score", "Mean width of the intervals."),
        }
        keys = ("measure", "pool_width", "estimator")
        errors = ("unjudged", "bias", "bias_se", *_QUARTILES, "mae", "rmse", "topic_rmse")
        views = tuple(
            View(
                title=str(measure),
                names=("pool_width", "estimator"),
                columns=(*errors, "coverage", "interval_width"),
                where={"measure": str(measure)},
            )
            for measure in self.settings.measures
        )
        return (
            Table("pools", "The pools", self._rows.copy(), columns),
            Table("summary", "Summary", summarize_groups(self._rows, keys, _summarize_pools), columns, views),
        )

    def notes(self) -> tuple[str, ...]:
        """Return notes on documents that are unjudged even in the truth."""
        measures = self.settings.measures
        return tuple(f"{m}: {note}" for m in measures for note in truth_notes(self._rows, m))

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on the sampled pools and the scored runs."""
        n_targets = self.settings.n_targets
        scored = "a run" if n_targets == 1 else f"up to {n_targets} runs"
        return (f"{self._pools()}, {scored} outside each scored; {pools_scope(self)}",)

    def figures(self) -> tuple[Figure, ...]:
        """Return the figure ``pool-width`` for each measure."""
        from bayespool.plots import plot_pool_width

        caption, size = "Errors by the number of contributors", {"width": 6.5, "height": 4.5}
        return tuple(
            panel_figure("pool-width", caption, [partial(plot_pool_width, self, m)], of=[m], **size)
            for m in self.settings.measures
        )


class PoolsOfWidths(RandomPools):
    """Experiment on random pools of several widths, with runs outside each pool scored."""

    name: ClassVar[str] = "pool-width"

    def grade(self, graded: Graded, settings: PoolWidthSettings) -> Mapping[str, Any]:
        """Return errors of the estimates and the pool's share of unjudged documents."""
        rows = graded.rows() | {
            "n_pool_runs": len(graded.part.pool_run_ids),
            "unjudged": graded.bounds.unjudged_share,
        }
        rows["error"] = rows["value"] - rows["truth"]
        return {name: rows[name] for name in _ROWS}


@experiment(PoolWidthSettings, PoolsOfWidths)
def vary_pool_width(
    collection: Collection, *, settings: PoolWidthSettings, execution: ExecutionOptions
) -> PoolWidthResult:
    """Sample random pools of different widths and estimate the scores of runs outside them.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    {execution}

    Returns
    -------
    PoolWidthResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; no pool; a cutoff below the pool depth; a pool so wide
        that no run is outside it.
    {errors}

    Warns
    -----
    {warnings}

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
    return PoolWidthResult(**_result_fields(PoolsOfWidths(), collection, settings, execution))


def _summarize_pools(rows: pd.DataFrame) -> dict[str, Any]:
    error = rows["error"].to_numpy()
    pool_bias = rows.groupby("sample")["error"].mean()
    open_ = rows[rows["ci_prob"].notna() & (rows["unjudged"] > 0)]
    inside = (open_["lower"] <= open_["truth"]) & (open_["truth"] <= open_["upper"])
    return {
        "n_scored": len(rows),
        "n_pool_runs": float(rows["n_pool_runs"].mean()),
        "unjudged": float(rows["unjudged"].mean()),
        **error_columns(rows, "bias"),
        "bias_se": float(pool_bias.std(ddof=1) / np.sqrt(len(pool_bias))) if len(pool_bias) > 1 else np.nan,
        "quartile_1": float(np.quantile(error, 0.25)),
        "median": float(np.median(error)),
        "quartile_3": float(np.quantile(error, 0.75)),
        **error_columns(rows, "mae", "rmse"),
        "topic_rmse": float(np.sqrt((rows["topic_rmse"].to_numpy() ** 2).mean())),
        "coverage": float(inside.mean()) if len(open_) else np.nan,
        "interval_width": float((open_["upper"] - open_["lower"]).mean()) if len(open_) else np.nan,
        "ci_prob": float(rows["ci_prob"].iloc[0]),
    }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CommonTopicsResult(_PoolsResult):
    """Result from `vary_common_topics`.

    Its tables are ``pools``, a row per measure, width, pool, estimator, kind of score and number of common
    topics, ``summary``, the same over pools, and on request ``plan``, how many common topics an error takes.

    Attributes
    ----------
    settings : CommonTopicsSettings
    n_contributors : int
        Runs or organizations that pools were drawn from.
    """

    command = "common-topics"
    title = "Topics judged in full"
    settings: CommonTopicsSettings

    def tables(self) -> tuple[Table, ...]:
        """Return the tables ``pools``, ``summary`` and, if target errors were given, ``plan``."""
        pools = Table("pools", "The pools", self._rows.copy(), _TOPIC_COLUMNS)
        summary = Table("summary", "Summary", self._summary(), _TOPIC_COLUMNS, tuple(self._views()))
        if not self.settings.plan:
            return pools, summary
        view = View(
            title="Common topics that an error takes, mean over pools",
            names=("measure", "pool_width", "estimator", "std"),
            columns=("n_needed", "n_needed_most", "n_needed_alone"),
            note=f"of {counted(len(self.query_ids), 'topic')}; error: standard error of the adjusted mean "
            "score; most: with any pool; alone: where only the common topics count, by their true scores",
        )
        plan = Table("plan", "Common topics that an error takes", self._plan(), _TOPIC_COLUMNS, (view,))
        return pools, summary, plan

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on the sampled pools and common topics."""
        draws = f"{self.settings.n_topic_samples} draws of common topics each"
        return (f"{self._pools()}, a run outside each scored; {draws}; {pools_scope(self)}",)

    def figures(self) -> tuple[Figure, ...]:
        """Return the figure ``common-topics`` for each measure and estimator."""
        from bayespool.plots import plot_common_topics

        s, caption = self.settings, "Errors by the number of topics judged in full"
        figures = []
        for of in itertools.product(s.measures, s.labels):
            panels = [partial(plot_common_topics, self, *of, width) for width in s.widths]
            figures.append(panel_figure("common-topics", caption, panels, of=of))
        return tuple(figures)

    def _views(self) -> Iterator[View]:
        """Yield views of the errors by number of common topics, with those expected from sampling theory."""
        names = ("score", "pool_width")
        pairs = list(itertools.product(map(str, self.settings.measures), self.settings.labels))
        for measure, label in pairs:
            title, where = f"{measure}, MAE of {label} by", {"measure": measure, "estimator": label}
            mae, law = (Pivot((column,), "n_common") for column in ("mae", "mae_law"))
            yield View(title=f"{title} the number of common topics", names=names, columns=(mae,), where=where)
            yield View(
                title=f"{title} law, adjusted",
                names=names,
                columns=(law,),
                where=where | {"score": "adjusted"},
                note=_LAW if (measure, label) == pairs[-1] else "",
            )

    def _plan(self) -> pd.DataFrame:
        """Return the numbers of common topics needed for each target error, summarized over pools."""
        import pandas as pd

        keys, n_topics = ["measure", "pool_width", "estimator"], len(self.query_ids)
        distinct = self._rows.drop_duplicates([*keys, "sample"])
        rows = []
        for (key, pools), error in itertools.product(distinct.groupby(keys, sort=False), self.settings.plan):
            needed, alone = (
                np.array([topics_for_error(std, n_topics, error) for std in pools[f"std_{name}"]])
                for name in ("difference", "truth")
            )
            of = dict(zip(keys, key, strict=True))
            n = {"n_needed": needed.mean(), "n_needed_most": needed.max(), "n_needed_alone": alone.mean()}
            rows.append({**of, "std": error, **n})
        return pd.DataFrame(rows)

    def _summary(self) -> pd.DataFrame:
        keys = ("measure", "pool_width", "estimator", "score", "n_common")
        places = ["measure", "pool_width", "estimator", "sample"]
        rows = self._rows
        plain = rows[rows["score"] == "unadjusted"].drop_duplicates(places)[[*places, "mae"]]
        rows = rows.merge(plain.rename(columns={"mae": "unadjusted_mae"}), on=places, how="left")
        return summarize_groups(rows, keys, partial(_summarize_topics, n_topics=len(self.query_ids)))


class TopicsInCommon(RandomPools):
    """Experiment on random pools with common topics, on which a run outside the pool is fully judged."""

    name: ClassVar[str] = "common-topics"

    def grade(self, graded: Graded, settings: CommonTopicsSettings) -> Mapping[str, Any]:
        """Return a run's errors for each kind of score and number of common topics, stacked as rows."""
        truth, unpooled = graded.truth.values.scores()[0], graded.estimates.per_topic[0]
        n_topics, n_common = len(truth), np.array(settings.n_common)
        rng = np.random.default_rng(seed_of(settings.random_seed, "topics", *graded.part.seeds))
        order = np.argsort(rng.random((settings.n_topic_samples, n_topics)), axis=1)
        errors = common_topics_errors(truth, unpooled, settings.n_common, order)
        spread = np.sqrt((n_topics - n_common) / (n_common * n_topics))
        std = {"adjusted": (truth - unpooled).std(ddof=1), "common-only": truth.std(ddof=1)}
        return {
            "measure": str(graded.bounds.measure),
            **dict(graded.part.columns),
            "run_id": graded.part.run_ids[0],
            "organization": graded.organizations[0],
            "estimator": graded.label,
            "truth": float(truth.mean()),
            "value": float(unpooled.mean()),
            "std_difference": float(std["adjusted"]),
            "std_truth": float(std["common-only"]),
            "one_sided": bool((truth >= unpooled).all() or (truth <= unpooled).all()),
            "score": [score for score in errors for _ in n_common],
            "n_common": np.tile(n_common, len(errors)),
            "mae": np.concatenate([np.abs(error).mean(axis=0) for error in errors.values()]),
            "mse": np.concatenate([(error**2).mean(axis=0) for error in errors.values()]),
            "bias": np.concatenate([error.mean(axis=0) for error in errors.values()]),
            "law": np.concatenate([spread * std.get(score, np.nan) for score in errors]),
        }


@experiment(CommonTopicsSettings, TopicsInCommon)
def vary_common_topics(
    collection: Collection, *, settings: CommonTopicsSettings, execution: ExecutionOptions
) -> CommonTopicsResult:
    """Sample pools and common topics, and adjust scores of runs outside the pools using these topics.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    {execution}

    Returns
    -------
    CommonTopicsResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; no pool; a cutoff below the pool depth; a pool so wide
        that no run is outside it; more common topics than topics; fewer than two topics.
    {errors}

    Warns
    -----
    {warnings}

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
    settings = replace(settings, n_common=_sizes(settings.n_common, len(collection.query_ids)))
    order: RowOrder = {"score": SCORES, "n_common": None}
    return CommonTopicsResult(**_result_fields(TopicsInCommon(), collection, settings, execution, order))


def common_topics_errors(
    truth: npt.ArrayLike, unpooled: npt.ArrayLike, n_common: Sequence[int], order: npt.NDArray[np.intp]
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


def _summarize_topics(rows: pd.DataFrame, n_topics: int) -> dict[str, Any]:
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
