"""Results of experiments on random pools."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.corrections.webber_park import topics_for_error
from bayespool.experiments.design import error_columns
from bayespool.experiments.graded_runs import (
    ExperimentResult,
    panel_figure,
    pools_scope,
    summarize_groups,
    truth_notes,
)
from bayespool.experiments.settings import CommonTopicsSettings, PoolWidthSettings
from bayespool.report.result import Figure
from bayespool.tables.formatting import counted, level
from bayespool.tables.table import Column, Pivot, Table, View

if TYPE_CHECKING:
    import pandas as pd


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
_QUARTILES = {
    "quartile_1": Column("1st\nquartile", "difference", "First quartile of estimate − truth."),
    "median": Column("median", "difference", "Median of estimate − truth."),
    "quartile_3": Column("3rd\nquartile", "difference", "Third quartile of estimate − truth."),
}


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

    command = "random-pools"
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

    command = "random-pools"
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
