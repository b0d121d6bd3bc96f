"""Columns on intervals in a table of runs with known truth, and their summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.experiments.calibration import central_share, covered, crps, pit_range
from bayespool.experiments.uniformity import randomized_pit
from bayespool.measures import Estimates, Values, equal_tailed_interval

if TYPE_CHECKING:
    import pandas as pd

COVERAGE_LEVELS = (50, 80, 95)
"""Levels, in percent, at which coverage is checked whatever ``ci_prob`` is."""


def interval_columns(
    estimates: Estimates,
    truth: Values,
    open_: npt.NDArray[np.bool_],
    *,
    ci_prob: float,
    seed: int,
    n_topics: npt.NDArray[np.intp] | int | None = None,
) -> dict[str, Any]:
    """Columns on the intervals of runs, one entry per run: ``lower``, ``upper``, ``ci_prob``, ``std``,
    ``covered_50``, ``covered_80``, ``covered_95``, ``pit``, ``pit_lower``, ``pit_upper`` and ``crps``.
    Coverage is None and PIT NaN for runs not `open_`, whose intervals are points; `n_topics` is the number of
    topics in each mean.
    """
    draws, n_runs = estimates.draws, len(open_)
    n_all = len(estimates.query_ids)
    n_topics = n_all if n_topics is None else n_topics
    nothing = np.full(n_runs, np.nan)
    std = nothing if estimates.std is None else estimates.std * n_all / n_topics
    if draws is None:
        flags = {f"covered_{level}": [None] * n_runs for level in COVERAGE_LEVELS}
        last = dict.fromkeys(("pit", "pit_lower", "pit_upper", "crps"), nothing)
        return {**dict.fromkeys(("lower", "upper", "ci_prob"), nothing), "std": std, **flags, **last}
    total, true_total = draws.totals(), truth.totals()
    per_mean = draws.per_mean(n_topics)
    low, high = equal_tailed_interval(total, ci_prob)
    inside = {level: covered(total, true_total, level / 100) for level in COVERAGE_LEVELS}
    pit = randomized_pit(total, true_total, np.random.default_rng(seed))
    below, up_to = pit_range(total, true_total)
    return {
        "lower": low / per_mean,
        "upper": high / per_mean,
        "ci_prob": np.full(n_runs, ci_prob),
        "std": std,
        **{
            f"covered_{level}": [bool(hit) if o else None for hit, o in zip(hits, open_, strict=True)]
            for level, hits in inside.items()
        },
        "pit": np.where(open_, pit, np.nan),
        "pit_lower": np.where(open_, below, np.nan),
        "pit_upper": np.where(open_, up_to, np.nan),
        "crps": crps(total, true_total) / per_mean,
    }


def interval_summary(rows: pd.DataFrame, open_: pd.Series) -> dict[str, Any]:
    """Means over an estimator's runs of `interval_columns`: ``n_open``; over these ``coverage_…``, ``pit_…``
    (see `central_share`) and ``width``; ``crps`` over all; NaN without a value.
    """
    graded = rows[open_]
    posterior = bool(rows["ci_prob"].notna().any())
    summary: dict[str, Any] = {"n_open": len(graded)}
    for level in COVERAGE_LEVELS:
        hits = graded[f"covered_{level}"].dropna().astype(bool)
        summary[f"coverage_{level}"] = float(hits.mean()) if len(hits) else np.nan
    for level in COVERAGE_LEVELS:
        summary[f"pit_{level}"] = central_share(graded["pit_lower"], graded["pit_upper"], level / 100)
    summary["width"] = float((graded["upper"] - graded["lower"]).mean()) if posterior else np.nan
    summary["crps"] = float(rows["crps"].mean()) if posterior else np.nan
    return summary
