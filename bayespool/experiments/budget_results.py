"""Result of the experiment on budgets: a row per run, and summaries by strategy and budget."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import pandas as pd

from bayespool.arrays import BoolArray
from bayespool.experiments.design import error_columns, interval_summary
from bayespool.experiments.graded_runs import (
    WithReportedRuns,
    best_runs_text,
    in_order,
    measure_view,
    reported_rows,
    sre_star_note,
    summarize_groups,
)
from bayespool.experiments.settings import BudgetSettings
from bayespool.measures.errors import system_rank_error
from bayespool.notes import Note
from bayespool.report.result import Figure
from bayespool.tables.formatting import counted, level, number
from bayespool.tables.table import COLUMNS, Column, Pivot, Table, View

BIAS_MEASURES = ("mae", "sre", "sre_star")
"""Columns with measures for the bias of a pool, in the table ``summary`` of `Budgets`."""

_MAX_BUDGET_COLUMNS = 8
_COLUMNS = {
    "strategy": Column("strategy", "text", "The pooling strategy."),
    "budget": Column("budget", "count", "Number of documents to judge."),
    "left_out": Column("left out", "text", "The organization or run that was left out of the pool."),
    "full": Column("on full\npool", "score", "Score on the whole depth pool."),
    "pooled": Column("in\npool", "score", "Score on the budget's judgments with all runs in the pool."),
    "contributor": Column("contributor", "text", "The organization or run."),
    "n_pooled_runs": Column("pooled\nruns", "count", "Number of its pooled runs."),
    "n_documents": Column("documents", "count", "Number of documents of the pool that it retrieves."),
    "share": Column("share", "share", "Share of the pool that it retrieves."),
    "n_alone": Column("alone", "count", "Number of documents of the pool that it alone retrieves."),
    "fairness": Column(
        "fairness", "coefficient", "Rank correlation of contributors' share of the pool with their bias.", 2
    ),
    "n_significant": Column(
        "significant", "count", "Pairs of runs that differ significantly on the whole depth pool."
    ),
    "preserved": Column(
        "preserved", "chance", "Share of the significant pairs that are significant here, too."
    ),
    "n_preserved": Column(
        "preserved", "count", "Significant pairs that are significant here in the same direction."
    ),
    "n_swapped": Column(
        "swapped", "count", "Significant pairs that are significant here in the other direction."
    ),
    "n_new": Column("new", "count", "Pairs that are significant here alone."),
    "bias_measure": Column("bias", "text", "Error that strategies are ranked by."),
    "mean": Column("mean", "score", "Mean of the error over budgets."),
    "rank": Column(
        "rank", "count", "Rank of the strategy, from 1, the least biased; ties share the smallest."
    ),
    "beats_first": Column(
        "less than\nthe first", "flag", "Whether the mean is less than that of the first strategy named."
    ),
    "open": Column("open", "flag", "Whether the run has an unjudged document."),
    "mae_as_judged": Column(
        "as judged", "score", "Mean absolute error of scores with the budget's judgments."
    ),
    "bias_as_judged": Column(
        "bias as\njudged", "difference", "Mean error of scores with the budget's judgments."
    ),
    "full_mae_as_judged": Column(
        "as judged*", "score", "MAE of these scores against those on the whole depth pool."
    ),
    "full_mae": Column("estimated*", "score", "MAE of the estimates against scores on the whole depth pool."),
}
_POOL_COLUMNS = _COLUMNS | {
    "n_documents": Column("documents", "count", "Number of documents of the pool."),
    "n_judged": Column("judged", "count", "Documents of the pool with a judgment in the collection."),
    "n_relevant": Column("relevant", "count", "Relevant documents of the pool."),
    "recall": Column("recall", "share", "Share of the relevant documents of the whole depth pool."),
    "topic_least": Column("fewest\nof a topic", "count", "Fewest documents of a topic."),
    "topic_most": Column("most\nof a topic", "count", "Most documents of a topic."),
    "run_least": Column("fewest\nof a run", "count", "Fewest documents of the pool that a run retrieves."),
    "run_mean": Column(
        "mean\nof a run", "size", "Mean number of documents of the pool that a run retrieves."
    ),
    "run_most": Column("most\nof a run", "count", "Most documents of the pool that a run retrieves."),
}
_MEAN_COLUMNS = _COLUMNS | {
    "sre": replace(COLUMNS["sre"], decimals=1),
    "sre_star": replace(COLUMNS["sre_star"], decimals=1),
    "kendall_tau_b": Column(
        "τ_b", "coefficient", "Kendall's rank correlation of scores on the pool and on the whole depth pool."
    ),
    "n_swapped": Column("swapped", "size", _COLUMNS["n_swapped"].help, 1),
    "n_new": Column("new", "size", _COLUMNS["n_new"].help, 1),
}
_ESTIMATE_COLUMNS = _COLUMNS | {
    "mae": Column("estimated", "score", "Mean absolute error of the estimates."),
    "coverage_95": replace(COLUMNS["coverage_95"], label="coverage"),
    "pit_95": replace(COLUMNS["pit_95"], label="PIT 95"),
    "pit_50": replace(COLUMNS["pit_50"], label="PIT 50"),
    "width": replace(COLUMNS["width"], label="width"),
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Budgets(WithReportedRuns):
    """Result of `bayespool.compare_budgets`.

    Its tables are ``bias``, a row per measure, strategy, budget and run; ``by_organization``, a row per
    measure, strategy, budget and contributor, an organization or a run, with a reported run; ``pools``, a row
    per strategy and budget, of the pools with all runs; ``summary``, a row per measure, strategy and budget;
    ``means`` of it over budgets; ``ranking`` of strategies by these, as in figure 2 of Lipani et al. (2017),
    and whether it is less than that of the first strategy, as in their table 2; and with estimators
    ``estimates``, a row per run left out, and ``posterior``, a row per strategy, budget and estimator.

    Attributes
    ----------
    settings : BudgetSettings
    n_documents, n_relevant : int
        Documents of the depth pool, and those judged relevant among them.
    run_ids : tuple of str
        The pooled runs.
    significant : mapping of str to ndarray of bool, shape (run, run)
        By measure, the pairs that differ significantly on the whole depth pool.
    """

    command = "budgets"
    title = "Pools of several budgets"
    settings: BudgetSettings
    n_documents: int
    n_relevant: int
    run_ids: tuple[str, ...]
    significant: Mapping[str, BoolArray]
    _rows: pd.DataFrame
    _pools: Mapping[str, pd.DataFrame]
    _estimates: pd.DataFrame | None

    def tables(self) -> tuple[Table, ...]:
        """Return tables ``bias``, ``means``, ``ranking``, ``summary``, ``pools``, ``by_organization``; with
        estimators also ``posterior`` and ``estimates``.
        """
        pools = self._pools["pools"].copy()
        share = pools["n_relevant"] / max(self.n_relevant, 1)
        pools.insert(list(pools.columns).index("n_relevant") + 1, "recall", share)
        view = View(
            title=f"relevant documents found, of {self.n_relevant}, by budget",
            names=("strategy",),
            columns=(self._by_budget("n_relevant"),),
        )
        views = tuple(self._mean_views()), tuple(self._ranking_views()), tuple(self._budget_views())
        tables = (
            Table("bias", "Bias run by run", self._rows.copy(), _COLUMNS),
            Table("means", "Means over budgets", self._means(), _MEAN_COLUMNS, views[0]),
            Table("ranking", "Strategies by their mean bias", self._ranking(), _COLUMNS, views[1]),
            Table("summary", "Summary", self._summary.copy(), _COLUMNS, views[2]),
            Table("pools", "The pools", pools, _POOL_COLUMNS, (view,)),
            Table("by_organization", "Bias by organization", self._by_contributor.copy(), _COLUMNS),
        )
        if self._estimates is None:
            return tables
        posterior, views_of_estimates = self._posterior.copy(), tuple(self._estimate_views())
        return (
            *tables,
            Table("posterior", "Estimates", posterior, _ESTIMATE_COLUMNS, views_of_estimates),
            Table("estimates", "Estimates run by run", self._estimates.copy(), _ESTIMATE_COLUMNS),
        )

    def notes(self) -> tuple[Note, ...]:
        """Return a note on budgets larger than the depth pool, if any."""
        beyond = [f"{budget:,}" for budget in self.settings.budgets if budget > self.n_documents]
        message = f"there are no more documents; everything is judged for {', '.join(beyond)}"
        return (Note("experiment", message),) if beyond else ()

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the pools and on the least biased strategy for each measure."""
        s = self.settings
        truth = "the whole depth pool" if s.truth == "full" else "the strategy's pool with the run in it"
        stop = "" if s.stop is None else f", topics end by {s.describe()['stop']}"
        sentences = [
            f"depth pool to rank {s.repool_to} of {len(self.run_ids)} runs: {self.n_documents} documents, "
            f"{self.n_relevant} relevant, {counted(len(self.query_ids), 'topic')}; each {s.by} left "
            f"out in turn with the same budget{stop}; truth: scores on {truth}"
        ]
        for measure, rows in self._summary.groupby("measure", sort=False):
            best = rows.sort_values(["budget", "mae"], kind="stable").drop_duplicates("budget")
            least, most = best.iloc[0], best.iloc[-1]
            at_most = (
                f"; with {most['budget']:,} that of {most['strategy']} ({number(most['mae'])})"
                if len(best) > 1
                else ""
            )
            sentences.append(
                f"{measure}: with a budget of {least['budget']:,} judgments the pool of {least['strategy']} "
                f"misleads least about runs left out (mean absolute error {number(least['mae'])}){at_most}."
            )
        return tuple(sentences)

    def figures(self) -> tuple[Figure, ...]:
        """Return the figure ``bias``, the bias for each budget."""
        from bayespool.plots import draw_budgets

        caption = "Bias of the pools of each strategy, by budget"
        return (Figure("bias", caption, partial(draw_budgets, self)),)

    def _mean_views(self) -> Iterator[View]:
        legend = (
            f"{sre_star_note(self.settings.test)} With everybody in the pool, against the whole depth pool: "
            "τ_b of the rankings; preserved, the share of the pairs that differ significantly there and "
            "still do; swapped and new ones. Fairness: rank correlation over contributors of their share of "
            "the pool with the bias, positive where those who contribute least suffer most."
        )
        agreement = ("kendall_tau_b", "preserved", "n_swapped", "n_new", "fairness")
        measures = [str(measure) for measure in self.settings.measures]
        for measure in measures:
            n_runs = int(self._summary.loc[self._summary["measure"] == measure, "n_runs"].iloc[0])
            which = best_runs_text(n_runs, len(self.run_ids))
            title, note = (
                f", {which} pooled runs, means over budgets",
                legend if measure == measures[-1] else "",
            )
            columns = ("mae", "bias", "sre", "sre_star", *agreement)
            yield measure_view(measure, title, ("strategy",), columns, note)

    def _ranking_views(self) -> Iterator[View]:
        labels = {name: COLUMNS[name].label for name in BIAS_MEASURES}
        less = {name: f"{label} less than\n{self.settings.labels[0]}" for name, label in labels.items()}
        title = ", rank of the mean over budgets, from 1, the least biased"
        pivots = Pivot(("rank",), "bias_measure", labels), Pivot(("beats_first",), "bias_measure", less)
        for measure in self.settings.measures:
            yield measure_view(measure, title, ("strategy",), pivots)

    def _budget_views(self) -> Iterator[View]:
        for measure, name in itertools.product(self.settings.measures, BIAS_MEASURES):
            title = f", {COLUMNS[name].label} by budget"
            yield measure_view(measure, title, ("strategy",), (self._by_budget(name),))

    def _by_budget(self, column: str) -> Pivot:
        """Return a pivot with one column per budget, for at most eight evenly spaced budgets."""
        budgets = self.settings.budgets
        step = -(-len(budgets) // _MAX_BUDGET_COLUMNS)
        return Pivot((column,), "budget", values=budgets[::-1][::step][::-1])

    def _estimate_views(self) -> Iterator[View]:
        legend = (
            "errors are against scores on the whole depth pool, with ideal rankings of what is judged or "
            "within reach of the runs (as judged*, estimated*: with those of the whole pool); inside: share "
            f"of {level(0.95)} intervals that contain the truth; PIT: share of randomized PIT values in the "
            f"central {level(0.95)} and {level(0.5)}"
        )
        columns = ("mae_as_judged", "mae", "bias", "width", "coverage_95", "pit_95", "pit_50")
        measures = [str(measure) for measure in self.settings.measures]
        for measure in measures:
            rows = self._posterior[self._posterior["measure"] == measure]
            has_ideal = not np.allclose(rows["full_mae"], rows["mae"], rtol=0, atol=1e-12)
            title, names = " of runs left out, estimated from the pool of each budget", _ESTIMATE_KEYS[1:]
            shown = (*columns, "full_mae_as_judged", "full_mae") if has_ideal else columns
            yield measure_view(measure, title, names, shown, legend if measure == measures[-1] else "")

    @cached_property
    def _by_contributor(self) -> pd.DataFrame:
        keys = ["measure", "strategy", "budget", "left_out"]
        bias = (
            reported_rows(self._rows).groupby(keys, sort=False)["error"].agg(["size", "mean"]).reset_index()
        )
        bias = bias.rename(columns={"left_out": "contributor", "size": "n_runs", "mean": "bias"})
        frame = bias.merge(self._pools["contributors"], on=["strategy", "budget", "contributor"])
        columns = ["measure", "strategy", "budget", "contributor", "n_pooled_runs", "n_documents", "share"]
        return frame[[*columns, "n_alone", "n_runs", "bias"]]

    @cached_property
    def _summary(self) -> pd.DataFrame:
        keys = ["measure", "strategy", "budget"]
        contributors = dict(tuple(self._by_contributor.groupby(keys, sort=False)))
        agreement = self._pools["agreement"].set_index(keys)

        place = {run: i for i, run in enumerate(self.run_ids)}

        def summarize(rows: pd.DataFrame) -> dict[str, Any]:
            key = tuple(rows[keys].iloc[0])
            agrees: Any = agreement.loc[key]
            significant = self.significant[key[0]]
            if self.settings.truth == "pooled":
                significant = unpacked(agrees["significant"], len(self.run_ids))
            index = rows["run_id"].map(place).to_numpy()
            scores = rows["truth"].to_numpy(), rows["value"].to_numpy()
            return {
                "n_runs": len(rows),
                **error_columns(rows, "mae", "bias", "sre"),
                "sre_star": system_rank_error(*scores, significant[np.ix_(index, index)]),
                "fairness": _spearman(contributors[key]),
                **{name: agrees[name] for name in _AGREEMENT_COLUMNS},
            }

        frame = summarize_groups(reported_rows(self._rows), keys, summarize)
        preserved = frame["n_preserved"] / frame["n_significant"].replace(0, np.nan)
        frame.insert(list(frame.columns).index("n_preserved"), "preserved", preserved)
        return frame

    def _means(self) -> pd.DataFrame:
        """Return the columns of the summary averaged over budgets, ignoring NaN values."""
        names = ["mae", "bias", "sre", "sre_star", "fairness", "kendall_tau_b", "preserved"]
        rows = self._summary.groupby(["measure", "strategy"], sort=False)
        return rows[[*names, "n_swapped", "n_new"]].mean().reset_index()

    def _ranking(self) -> pd.DataFrame:
        frame = self._summary.melt(
            ["measure", "strategy"], BIAS_MEASURES, var_name="bias_measure", value_name="mean"
        )
        keys = ["measure", "bias_measure"]
        frame = frame.groupby([*keys, "strategy"], sort=False)["mean"].mean().reset_index()
        frame["mean"] = frame["mean"].round(12)  # the order of summation must not break ties
        frame["rank"] = frame.groupby(keys)["mean"].rank(method="min").astype(int)
        first = frame[frame["strategy"] == self.settings.labels[0]].set_index(keys)["mean"]
        frame["beats_first"] = frame["mean"] < frame.join(first.rename("of first"), on=keys)["of first"]
        measures = [str(m) for m in self.settings.measures]
        return in_order(frame, {"measure": measures, "bias_measure": BIAS_MEASURES, "rank": None})

    @cached_property
    def _posterior(self) -> pd.DataFrame:
        """Errors and calibration of the estimates per measure, strategy, budget and estimator."""
        rows = reported_rows(cast("pd.DataFrame", self._estimates))
        return summarize_groups(rows, _ESTIMATE_KEYS, _summarize_estimates)


_ESTIMATE_KEYS = ("measure", "strategy", "budget", "estimator")
_AGREEMENT_COLUMNS = ("kendall_tau_b", "n_significant", "n_preserved", "n_swapped", "n_new")


def _summarize_estimates(rows: pd.DataFrame) -> dict[str, Any]:
    as_judged = error_columns(rows, "mae", "bias", value="as_judged")
    return {
        "n_runs": len(rows),
        **{f"{name}_as_judged": error for name, error in as_judged.items()},
        **error_columns(rows, "mae", "bias"),
        **interval_summary(rows, rows["open"]),
        "full_mae_as_judged": error_columns(rows, "mae", value="as_judged", truth="full")["mae"],
        "full_mae": error_columns(rows, "mae", truth="full")["mae"],
    }


def _spearman(rows: pd.DataFrame) -> float:
    """Return Spearman's correlation between share and bias over contributors; NaN if either is constant."""
    share, bias = (rows[name].rank().to_numpy() for name in ("share", "bias"))
    if len(np.unique(share)) < 2 or len(np.unique(bias)) < 2:
        return float("nan")
    return float(np.corrcoef(share, bias)[0, 1])


def packed(pairs: BoolArray) -> str:
    """Encode a mask of run pairs as hexadecimal text, one bit per pair."""
    return np.packbits(pairs).tobytes().hex()


def unpacked(text: str, n_runs: int) -> BoolArray:
    """Decode text from `packed` to a mask of run pairs, shape (run, run).

    Examples
    --------
    >>> unpacked(packed(np.eye(3, dtype=bool)), 3).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8), count=n_runs * n_runs)
    return bits.reshape(n_runs, n_runs).astype(bool)
