"""Result of the experiment on budgets: a row per run, and summaries by strategy and budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError
from bayespool.experiments.budget_folds import unpacked
from bayespool.experiments.budget_settings import BudgetSettings
from bayespool.experiments.error_measures import mean_absolute_error, mean_error, system_rank_error
from bayespool.experiments.intervals import interval_summary
from bayespool.tables.reprs import Shown

if TYPE_CHECKING:
    import pandas as pd

BIAS_MEASURES = ("mae", "sre", "sre_star")
"""Columns of `Budgets.summary_frame` that measure the bias of a pool."""


@dataclass(frozen=True, eq=False, repr=False)
class Budgets(Shown):
    """Result of `bayespool.budgets`.

    Attributes
    ----------
    settings : BudgetSettings
    fingerprint : str
        Of the collection.
    pool : str
        Report of the depth pool that strategies choose from.
    query_ids : tuple of str
    n_documents, n_relevant : int
        Documents of the depth pool, and those judged relevant among them.
    run_ids : tuple of str
        The pooled runs.
    significant : mapping of str to ndarray of bool, shape (run, run)
        By measure, the pairs that differ significantly on the whole depth pool.
    warnings : tuple of (str, str)
        Class and text of the estimators' warnings.
    """

    settings: BudgetSettings
    fingerprint: str
    pool: str
    query_ids: tuple[str, ...]
    n_documents: int
    n_relevant: int
    run_ids: tuple[str, ...]
    significant: Mapping[str, npt.NDArray[np.bool_]]
    warnings: tuple[tuple[str, str], ...]
    _rows: pd.DataFrame
    _pools: pd.DataFrame
    _contributors: pd.DataFrame
    _agreement: pd.DataFrame
    _estimates: pd.DataFrame | None

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<Budgets: {len(s.strategies)} strategies, {len(s.budgets)} budgets, "
            f"{len(s.measures)} measures, {self._rows['left_out'].nunique()} {s.by}s left out>"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that every output repeats, a line each: budgets larger than the depth pool."""
        beyond = [f"{budget:,}" for budget in self.settings.budgets if budget > self.n_documents]
        message = f"there are no more documents; everything is judged for {', '.join(beyond)}"
        return (message,) if beyond else ()

    def to_frame(self, *, reported_only: bool = True) -> pd.DataFrame:
        """One row per measure, strategy, budget and run.

        Parameters
        ----------
        reported_only : bool, default True
            Only the best ``top`` % of the runs; otherwise all pooled runs.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``strategy``, ``budget``, ``run_id``, ``organization``, ``left_out`` (with the run),
            ``reported`` (among the best), ``full`` (score on the whole depth pool), ``pooled`` (on the
            budget's judgments with all runs in the pool), ``value`` (with the run left out), ``truth``
            (``full`` or ``pooled``, by the setting), ``error`` (value − truth).
        """
        rows = self._rows[self._rows["reported"]] if reported_only else self._rows
        return rows.reset_index(drop=True)

    frame = to_frame

    def pool_frame(self) -> pd.DataFrame:
        """One row per strategy and budget, for the pools with all runs.

        Returns
        -------
        pandas.DataFrame
            ``strategy``, ``budget``, ``n_documents``, ``n_judged`` (with a judgment in the collection),
            ``n_relevant``, ``found`` (share of the depth pool's relevant documents), ``topic_least`` and
            ``topic_most`` (documents of a topic), ``run_least``, ``run_mean`` and ``run_most`` (documents of
            the pool that a run retrieves down to the pool depth).
        """
        share = self._pools["n_relevant"] / max(self.n_relevant, 1)
        frame = self._pools.copy()
        frame.insert(list(frame.columns).index("n_relevant") + 1, "found", share)
        return frame

    def contributor_frame(self) -> pd.DataFrame:
        """One row per measure, strategy, budget and contributor, an organization or a run.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``strategy``, ``budget``, ``contributor``, ``n_pooled_runs``, ``n_documents`` (that
            it retrieves, of the pool with all runs), ``share`` (of that pool), ``n_alone`` (that no other
            contributor retrieves), ``n_runs`` (its reported runs), ``bias`` (their mean error when it is left
            out; negative where the pool is unfavorable to it). A contributor without a reported run has no
            row.
        """
        keys = ["measure", "strategy", "budget", "left_out"]
        bias = self.frame().groupby(keys, sort=False)["error"].agg(["size", "mean"]).reset_index()
        bias = bias.rename(columns={"left_out": "contributor", "size": "n_runs", "mean": "bias"})
        frame = bias.merge(self._contributors, on=["strategy", "budget", "contributor"])
        columns = ["measure", "strategy", "budget", "contributor", "n_pooled_runs", "n_documents", "share"]
        return frame[[*columns, "n_alone", "n_runs", "bias"]]

    @cached_property
    def _summary(self) -> pd.DataFrame:
        import pandas as pd

        keys = ["measure", "strategy", "budget"]
        contributors = dict(tuple(self.contributor_frame().groupby(keys, sort=False)))
        agreement = self._agreement.set_index(keys)
        rows = []
        for key, of_runs in self.frame().groupby(keys, sort=False):
            agrees: Any = agreement.loc[tuple(key)]  # type: ignore[index]
            rows.append(
                dict(zip(keys, key, strict=True))
                | self._errors(of_runs, agrees["significant"])
                | {"fairness": _spearman(contributors[key])}
                | {name: agrees[name] for name in _AGREEMENT_COLUMNS}
            )
        frame = pd.DataFrame(rows)
        preserved = frame["n_preserved"] / frame["n_significant"].replace(0, np.nan)
        frame.insert(list(frame.columns).index("n_preserved"), "preserved", preserved)
        return frame

    def summary_frame(self) -> pd.DataFrame:
        """One row per measure, strategy and budget.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``strategy``, ``budget``; over the reported runs ``n_runs``, ``mae``, ``bias`` (mean
            error), ``sre``, ``sre_star``; over contributors ``fairness``, Spearman's correlation of a
            contributor's share of the pool with the bias against it (positive where those who contribute
            least suffer most; NaN where either is constant); over all pooled runs, on the pool with all runs
            against the whole depth pool: ``kendall_tau_b``, ``n_significant`` (pairs of runs that differ
            significantly on the depth pool), ``preserved`` and ``n_preserved`` (share and number of those
            significant here in the same direction), ``n_reversed`` (in the opposite direction) and ``n_new``
            (significant here alone).
        """
        return self._summary.copy()

    def mean_frame(self) -> pd.DataFrame:
        """One row per measure and strategy: `summary_frame` as means over the budgets.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``strategy``, ``mae``, ``bias``, ``sre``, ``sre_star``, ``fairness``,
            ``kendall_tau_b``, ``preserved``, ``n_reversed``, ``n_new``; NaN values are left out of the means.
        """
        names = ["mae", "bias", "sre", "sre_star", "fairness", "kendall_tau_b", "preserved"]
        rows = self._summary.groupby(["measure", "strategy"], sort=False)
        return rows[[*names, "n_reversed", "n_new"]].mean().reset_index()

    def ranking_frame(self) -> pd.DataFrame:
        """One row per measure, bias measure and strategy, as in figure 2 of Lipani et al. (2017).

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``bias_measure`` (one of `BIAS_MEASURES`), ``strategy``, ``mean`` (over budgets),
            ``rank`` (from 1, the least biased; ties share the smallest).
        """
        frame = self._summary.melt(
            ["measure", "strategy"], BIAS_MEASURES, var_name="bias_measure", value_name="mean"
        )
        keys = ["measure", "bias_measure"]
        frame = frame.groupby([*keys, "strategy"], sort=False)["mean"].mean().reset_index()
        frame["mean"] = frame["mean"].round(12)  # the order of summation must not break ties
        frame["rank"] = frame.groupby(keys)["mean"].rank(method="min").astype(int)
        places = {str(m): i for i, m in enumerate(self.settings.measures)}
        order = np.lexsort(
            [frame["rank"], frame["bias_measure"].map(BIAS_MEASURES.index), frame["measure"].map(places)]
        )
        return frame.iloc[order].reset_index(drop=True)

    def estimate_frame(self, *, reported_only: bool = True) -> pd.DataFrame:
        """One row per measure, strategy, budget, estimator and run left out.

        Parameters
        ----------
        reported_only : bool, default True
            As in `to_frame`.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``strategy``, ``budget``, ``estimator``, ``run_id``, ``organization``, ``left_out``,
            ``reported``, ``full`` (score on the whole depth pool), ``truth`` (the same, except that an ideal
            ranking has only documents that an estimator covers), ``as_judged`` (score with the budget's
            judgments), ``value`` (the estimate), ``error`` (value − truth), ``open`` (whether the run has an
            unjudged document), ``lower``, ``upper`` and ``ci_prob`` (95 % interval), ``std``, ``covered_50``,
            ``covered_80``, ``covered_95``, ``pit``, ``pit_lower``, ``pit_upper`` and ``crps``, as in
            `LeaveOutResult.frame`.

        Raises
        ------
        InputError
            The experiment has no estimator.
        """
        if self._estimates is None:
            raise InputError(
                "the experiment has no estimators", hint='budgets(…, estimators="posterior-combined")'
            )
        rows = self._estimates
        return (rows[rows["reported"]] if reported_only else rows).reset_index(drop=True)

    def posterior_frame(self) -> pd.DataFrame:
        """One row per measure, strategy, budget and estimator: errors and calibration of the estimates.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``strategy``, ``budget``, ``estimator``, ``n_runs``, ``mae_as_judged`` and
            ``bias_as_judged`` (of scores with the budget's judgments), ``mae`` and ``bias`` (of the
            estimates), ``n_open`` (runs with an unjudged document); over these ``coverage_50``,
            ``coverage_80``, ``coverage_95``, ``pit_50``, ``pit_80``, ``pit_95`` and ``width`` of the 95 %
            interval, as in `LeaveOutResult.summary_frame`; ``crps``; ``full_mae_as_judged`` and ``full_mae``,
            against the score on the whole depth pool, which differs only for measures over an ideal ranking.

        Raises
        ------
        InputError
            The experiment has no estimator.
        """
        import pandas as pd

        keys = ["measure", "strategy", "budget", "estimator"]
        summaries = []
        for key, rows in self.estimate_frame().groupby(keys, sort=False):
            names = ("truth", "value", "as_judged", "full")
            truth, value, as_judged, full = (rows[name].to_numpy() for name in names)
            summaries.append(
                dict(zip(keys, key, strict=True))
                | {
                    "n_runs": len(rows),
                    "mae_as_judged": mean_absolute_error(truth, as_judged),
                    "bias_as_judged": mean_error(truth, as_judged),
                    "mae": mean_absolute_error(truth, value),
                    "bias": mean_error(truth, value),
                }
                | interval_summary(rows, rows["open"])
                | {
                    "full_mae_as_judged": mean_absolute_error(full, as_judged),
                    "full_mae": mean_absolute_error(full, value),
                }
            )
        return pd.DataFrame(summaries)

    def _errors(self, of_runs: pd.DataFrame, in_pool: str) -> dict[str, Any]:
        truth, value = of_runs["truth"].to_numpy(), of_runs["value"].to_numpy()
        n_runs = len(self.run_ids)
        significant = self.significant[of_runs["measure"].iloc[0]]
        if self.settings.truth == "pooled":
            significant = unpacked(in_pool, n_runs)
        place = {run: i for i, run in enumerate(self.run_ids)}
        index = of_runs["run_id"].map(place).to_numpy()
        return {
            "n_runs": len(of_runs),
            "mae": mean_absolute_error(truth, value),
            "bias": mean_error(truth, value),
            "sre": system_rank_error(truth, value),
            "sre_star": system_rank_error(truth, value, significant[np.ix_(index, index)]),
        }


_AGREEMENT_COLUMNS = ("kendall_tau_b", "n_significant", "n_preserved", "n_reversed", "n_new")


def _spearman(rows: pd.DataFrame) -> float:
    """Spearman's correlation of share and bias over contributors; NaN where either is constant."""
    share, bias = (rows[name].rank().to_numpy() for name in ("share", "bias"))
    if len(np.unique(share)) < 2 or len(np.unique(bias)) < 2:
        return float("nan")
    return float(np.corrcoef(share, bias)[0, 1])
