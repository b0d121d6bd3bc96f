"""Types of runs left out of the pool in turn (Webber & Park 2009, §2.1 and table 1).

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments.base import summary_of
from bayespool.experiments.grading import errors_of, interval_summary
from bayespool.experiments.resampling import run_types_of
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.measures.errors import system_rank_error
from bayespool.tables.columns import Column
from bayespool.tables.table import Table, View

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = {
    "type": Column("type", "text", "The type of runs that was left out."),
    "n_pool_runs": Column("pool\nruns", "count", "Number of runs of the other types, which make the pool."),
}
_SHOWN = ("n_runs", "n_pool_runs", "mae", "rmse", "bias", "sre", "kendall_tau_b", "coverage_95")


def with_types(whole: Collection, settings: LeaveOutSettings) -> LeaveOutSettings:
    """Return the settings with the type of each pooled run, and the types to leave out."""
    pairs = run_types_of(whole, dict(settings.run_types), whole.pooled_run_ids)
    known = sorted({kind for _, kind in pairs})
    if len(known) < 2:
        raise InputError(
            f"all runs of the pool are of type {known[0]!r}: nothing is left once it is left out",
            hint="give at least two types",
        )
    return replace(settings, run_types=pairs, types=settings.types or tuple(known))


def runs_by_type(settings: LeaveOutSettings) -> dict[str, list[str]]:
    """Return the pooled runs of each type to leave out."""
    return {kind: [run for run, own in settings.run_types if own == kind] for kind in settings.types}


def errors_by_type(whole: Collection, settings: LeaveOutSettings, rows: pd.DataFrame) -> pd.DataFrame:
    """Summarize reported runs by type, measure and estimator; ranks are among the true scores of others."""
    runs, n_runs = whole.pooled_run_ids, Counter(kind for _, kind in settings.run_types)
    true = {str(m): score_bounds(whole, runs, m).low.means() for m in settings.measures}

    def summarize(rows: pd.DataFrame) -> dict[str, Any]:
        kind, measure = rows[["fold", "measure"]].iloc[0]
        others = true[measure][~np.isin(runs, rows["run_id"])]
        truth, value = (np.append(rows[name].to_numpy(), others) for name in ("truth", "value"))
        graded = interval_summary(rows, rows["n_unjudged"] > 0)
        return {
            "n_runs": len(rows),
            "n_pool_runs": len(runs) - n_runs[kind],
            **errors_of(rows, "mae", "rmse", "bias"),
            "sre": system_rank_error(truth, value),
            **errors_of(rows, "kendall_tau_b"),
            **{name: share for name, share in graded.items() if not name.startswith("pit_")},
            "ci_prob": float(rows["ci_prob"].iloc[0]),
        }

    by_type = rows.sort_values("fold", key=lambda fold: fold.map(settings.types.index), kind="stable")
    return summary_of(by_type, ("fold", "measure", "estimator"), summarize).rename(columns={"fold": "type"})


def table_by_type(errors: pd.DataFrame) -> Table:
    """Return the table ``types`` of `errors_by_type`, with a view for each measure."""
    views = [
        View(title=f"{m}, by type", names=("type", "estimator"), columns=_SHOWN, where={"measure": m})
        for m in errors["measure"].unique()
    ]
    return Table("types", "Types of runs", errors.copy(), _COLUMNS, tuple(views))
