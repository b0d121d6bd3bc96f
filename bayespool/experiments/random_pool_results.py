"""Results of experiments on random pools."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bayespool.corrections.webber_park import topics_for_error
from bayespool.experiments.design import error_columns
from bayespool.experiments.graded_runs import (
    ExperimentResult,
    measure_view,
    panel_figure,
    summarize_groups,
    truth_notes,
)
from bayespool.experiments.settings import RandomPoolSettings
from bayespool.notes import Note
from bayespool.report.result import Figure
from bayespool.tables.formatting import counted, level
from bayespool.tables.table import Column, Pivot, Table, View

_COLUMNS = {
    "pool_width": Column("width", "count", "Number of runs or organizations that the pool was drawn with."),
    "sample": Column("pool", "count", "Number of the pool among those of its width."),
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
    "unadjusted_mae": Column("unadjusted", "score", "Absolute error of the unadjusted score."),
    "n_scored": Column("scored", "count", "Number of scored runs, over pools."),
    "bias_se": Column("its\ns.e.", "score", "Standard error of the bias over pools."),
    "quartile_1": Column("1st\nquartile", "difference", "First quartile of estimate − truth."),
    "median": Column("median", "difference", "Median of estimate − truth."),
    "quartile_3": Column("3rd\nquartile", "difference", "Third quartile of estimate − truth."),
}
_KEYS = ("measure", "pool_width", "estimator")
_WIDTH_COLUMNS = (
    *("unjudged", "bias", "bias_se", "quartile_1", "median", "quartile_3"),
    *("mae", "rmse", "topic_rmse", "coverage", "interval_width"),
)
_LAW = (
    "law: √(2/π) √((N − n)/(nN)) times the standard deviation over topics of what a run loses outside the "
    "pool, which is the MAE of the adjusted score as far as that is normal."
)


def _columns(ci_prob: float) -> dict[str, Column]:
    shown = level(ci_prob)
    return _COLUMNS | {
        "coverage": Column(f"coverage\n{shown}", "chance", "Share of intervals that contain the truth."),
        "interval_width": Column(f"width of\n{shown}", "score", "Mean width of the intervals."),
    }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RandomPoolsResult(ExperimentResult):
    """Result from `vary_pool_width` or `vary_common_topics`.

    Its tables are ``pools``, a row per measure, width, pool, estimator and scored run, and ``summary``, the
    same over pools, both with common topics by kind of score and number of common topics, too; on request
    ``plan``, how many common topics an error takes; and ``pool_runs``, a row per run of each pool.

    Attributes
    ----------
    settings : RandomPoolSettings
    n_contributors : int
        Runs or organizations that pools were drawn from.
    pools : mapping of (int, int) to tuple of str
        By width and number, the runs that make the pool.
    """

    command = "random-pools"
    title = "Pools drawn at random"
    settings: RandomPoolSettings
    n_contributors: int
    pools: Mapping[tuple[object, ...], tuple[str, ...]]
    _rows: pd.DataFrame

    def tables(self) -> tuple[Table, ...]:
        """Return the tables ``pools``, ``summary``, if target errors were given ``plan``, and
        ``pool_runs``.
        """
        columns = _columns(self.settings.ci_prob)
        return (
            Table("pools", "The pools", self._rows.copy(), columns),
            Table("summary", "Summary", self._summary(), columns, tuple(self._views())),
            *([self._plan_table(columns)] if self.settings.sds else []),
            Table("pool_runs", "Runs of each pool", self._pool_runs(), columns),
        )

    def notes(self) -> tuple[Note, ...]:
        """Return notes on documents that are unjudged even in the truth."""
        measures = self.settings.measures
        return tuple(note.of(str(m)) for m in measures for note in truth_notes(self._rows, m))

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on the sampled pools, the scored runs and the common topics."""
        s = self.settings
        kind = "" if s.pool_type is None else f"{s.pool_type} "
        pools = f"{s.n_samples} pools of each width drawn from {self.n_contributors} {kind}{s.by}s"
        pools += "" if s.target_type is None else f" for {s.target_type} runs"
        scored = "a run" if s.n_targets == 1 else f"up to {s.n_targets} runs"
        draws = f"{s.n_topic_samples} draws of common topics each; " if s.n_common else ""
        who = "" if s.runs == "pooled" else ", all runs taking part, unjudged documents in truth nonrelevant"
        over = f"judged to depth {s.repool_to}{who}; means over {counted(len(self.query_ids), 'topic')}"
        return (f"{pools}, {scored} outside each scored; {draws}{over}",)

    def figures(self) -> tuple[Figure, ...]:
        """Return the figure ``pool-width`` for each measure, or ``common-topics`` for each measure and
        estimator.
        """
        from bayespool.plots import plot_common_topics, plot_pool_width

        s, caption = self.settings, "Errors by the number of contributors"
        if not s.n_common:
            draw = partial(panel_figure, "pool-width", caption, width=6.5, height=4.5)
            return tuple(draw([partial(plot_pool_width, self, m)], of=[m]) for m in s.measures)
        caption, figures = "Errors by the number of topics judged in full", []
        for measure, label in itertools.product(s.measures, s.labels):
            plots = [partial(plot_common_topics, self, measure, label, width) for width in s.widths]
            figures.append(panel_figure("common-topics", caption, plots, of=(measure, label)))
        return tuple(figures)

    def _views(self) -> Iterator[View]:
        """Yield views of the errors by width, or by number of common topics beside sampling theory."""
        s = self.settings
        if not s.n_common:
            for measure in s.measures:
                yield measure_view(measure, "", ("pool_width", "estimator"), _WIDTH_COLUMNS)
            return
        names, (mae, law) = ("score", "pool_width"), (Pivot((n,), "n_common") for n in ("mae", "mae_law"))
        pairs = list(itertools.product(s.measures, s.labels))
        for measure, label in pairs:
            title, note = f", MAE of {label} by", _LAW if (measure, label) == pairs[-1] else ""
            common, adjusted = f"{title} the number of common topics", f"{title} law, adjusted"
            where: dict[str, Any] = {"estimator": label, "score": "adjusted"}
            yield measure_view(measure, common, names, (mae,), estimator=label)
            yield measure_view(measure, adjusted, names, (law,), note, **where)

    def _summary(self) -> pd.DataFrame:
        if not self.settings.n_common:
            return summarize_groups(self._rows, _KEYS, _summarize_pools)
        summarize = partial(_summarize_topics, n_topics=len(self.query_ids))
        return summarize_groups(self._rows, (*_KEYS, "score", "n_common"), summarize)

    def _pool_runs(self) -> pd.DataFrame:
        rows = [(*pool, run) for pool, run_ids in self.pools.items() for run in run_ids]
        return pd.DataFrame(rows, columns=["pool_width", "sample", "run_id"])

    def _plan_table(self, columns: Mapping[str, Column]) -> Table:
        """Return the numbers of common topics needed for each target error, summarized over pools."""
        n_topics, rows = len(self.query_ids), []
        distinct = self._rows.drop_duplicates([*_KEYS, "sample"])
        groups = distinct.groupby(list(_KEYS), sort=False)
        for (key, pools), error in itertools.product(groups, self.settings.sds):
            needed, alone = (
                np.array([topics_for_error(std, n_topics, error) for std in pools[f"std_{name}"]])
                for name in ("difference", "truth")
            )
            n = {"n_needed": needed.mean(), "n_needed_most": needed.max(), "n_needed_alone": alone.mean()}
            rows.append({**dict(zip(_KEYS, key, strict=True)), "std": error, **n})
        view = View(
            title="Common topics that an error takes, mean over pools",
            names=(*_KEYS, "std"),
            columns=("n_needed", "n_needed_most", "n_needed_alone"),
            note=f"of {counted(n_topics, 'topic')}; error: standard error of the adjusted mean "
            "score; most: with any pool; alone: where only the common topics count, by their true scores",
        )
        return Table("plan", "Common topics that an error takes", pd.DataFrame(rows), columns, (view,))


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
