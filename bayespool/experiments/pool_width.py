"""Errors of the scores of new runs on pools of different widths (Webber & Park 2009, §2.2 and §3.1).

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayespool.collection import Collection
from bayespool.experiments.base import (
    POOL_COLUMNS,
    ExperimentResult,
    panel_figure,
    pools_clause,
    pools_scope,
    summary_of,
)
from bayespool.experiments.design import Graded
from bayespool.experiments.graded_runs import notes_of_truth
from bayespool.experiments.grading import errors_of
from bayespool.experiments.resampling import RandomPools, settings_for_collection, whole_pool
from bayespool.experiments.running import Running, in_parts
from bayespool.experiments.settings import PoolWidthSettings
from bayespool.report.result import Figure
from bayespool.tables.columns import Column
from bayespool.tables.formatting import level
from bayespool.tables.table import Table, View

if TYPE_CHECKING:
    import pandas as pd

WIDTH_ESTIMATORS = ("as-judged", "condensed-list", "systems-adjustment")
"""Estimators of figure 1 and table 1 of Webber & Park."""


_ROWS = (
    *("measure", "pool_width", "sample", "n_pool_runs", "run_id", "organization", "estimator"),
    *("truth", "value", "error", "topic_rmse", "unjudged", "n_unknown", "lower", "upper", "ci_prob"),
)
_QUARTILES = {
    "quartile_1": Column("1st\nquartile", "difference", "First quartile of estimate − truth."),
    "median": Column("median", "difference", "Median of estimate − truth."),
    "quartile_3": Column("3rd\nquartile", "difference", "Third quartile of estimate − truth."),
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PoolWidthResult(ExperimentResult):
    """Result of `vary_pool_width`.

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
    n_contributors: int
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<PoolWidthResult: {s.n_samples} pools of each of {len(s.widths)} widths, "
            f"{len(s.measures)} measures, {len(s.estimators)} estimators>"
        )

    def tables(self) -> tuple[Table, ...]:
        """``pools`` and ``summary``."""
        shown = level(self.settings.ci_prob)
        columns = POOL_COLUMNS | {
            "n_scored": Column("scored", "count", "Number of scored runs, over pools."),
            "bias_se": Column("its\ns.e.", "score", "Standard error of the bias over pools."),
            **_QUARTILES,
            "coverage": Column(f"truth in\n{shown}", "chance", "Share of intervals that hold the truth."),
            "interval_width": Column(f"width of\n{shown}", "score", "Mean width of the intervals."),
        }
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
            Table("summary", "Summary", self._summary(), columns, views),
        )

    def notes(self) -> tuple[str, ...]:
        """Notes on documents that are unjudged in truth, too."""
        measures = self.settings.measures
        return tuple(f"{m}: {note}" for m in measures for note in notes_of_truth(self._rows, m))

    def summary(self) -> tuple[str, ...]:
        """How pools and runs were drawn."""
        n_targets = self.settings.n_targets
        scored = "a run" if n_targets == 1 else f"up to {n_targets} runs"
        return (f"{pools_clause(self)}, {scored} outside each scored; {pools_scope(self)}",)

    def figures(self) -> tuple[Figure, ...]:
        """``pool-width`` for each measure."""
        from bayespool.plots import plot_pool_width

        caption, size = "Errors by the number of contributors", {"width": 6.5, "height": 4.5}
        return tuple(
            panel_figure("pool-width", caption, [partial(plot_pool_width, self, m)], of=[m], **size)
            for m in self.settings.measures
        )

    def _summary(self) -> pd.DataFrame:
        return summary_of(self._rows, ("measure", "pool_width", "estimator"), _summarize)


class PoolsOfWidths(RandomPools):
    """Pools of several widths, and the scores of runs outside them."""

    name: ClassVar[str] = "pool-width"

    def grade(self, graded: Graded, settings: PoolWidthSettings) -> Mapping[str, Any]:
        """Errors, and what the pool leaves unjudged."""
        rows = graded.rows() | {
            "n_pool_runs": len(graded.part.pool_run_ids),
            "unjudged": graded.bounds.unjudged_share,
        }
        rows["error"] = rows["value"] - rows["truth"]
        return {name: rows[name] for name in _ROWS}


@in_parts(PoolWidthSettings, PoolsOfWidths)
def vary_pool_width(
    collection: Collection, *, settings: PoolWidthSettings, running: Running
) -> PoolWidthResult:
    """Draw random pools of different widths, and estimate runs outside them.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    {running}

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
    whole = whole_pool(collection, settings.runs, settings.pool_depth)
    resolved = settings_for_collection(settings, whole)
    order = {
        "measure": [str(m) for m in resolved.measures],
        "pool_width": None,
        "estimator": resolved.labels,
        "sample": None,
    }
    return PoolWidthResult(**PoolsOfWidths().fields(collection, whole, resolved, order, running))


def _summarize(rows: pd.DataFrame) -> dict[str, Any]:
    error = rows["error"].to_numpy()
    of_pools = rows.groupby("sample")["error"].mean()
    open_ = rows[rows["ci_prob"].notna() & (rows["unjudged"] > 0)]
    inside = (open_["lower"] <= open_["truth"]) & (open_["truth"] <= open_["upper"])
    return {
        "n_scored": len(rows),
        "n_pool_runs": float(rows["n_pool_runs"].mean()),
        "unjudged": float(rows["unjudged"].mean()),
        **errors_of(rows, "bias"),
        "bias_se": float(of_pools.std(ddof=1) / np.sqrt(len(of_pools))) if len(of_pools) > 1 else np.nan,
        "quartile_1": float(np.quantile(error, 0.25)),
        "median": float(np.median(error)),
        "quartile_3": float(np.quantile(error, 0.75)),
        **errors_of(rows, "mae", "rmse"),
        "topic_rmse": float(np.sqrt((rows["topic_rmse"].to_numpy() ** 2).mean())),
        "coverage": float(inside.mean()) if len(open_) else np.nan,
        "interval_width": float((open_["upper"] - open_["lower"]).mean()) if len(open_) else np.nan,
        "ci_prob": float(rows["ci_prob"].iloc[0]),
    }
