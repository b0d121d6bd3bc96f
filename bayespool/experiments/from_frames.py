"""What figures and printed notes tell of an experiment, computed from the frames of its result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bayespool.measures import Measure

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["mae_by_cutoff", "n_above_bounds", "n_unknown_documents"]

_ROUNDING = 1e-12


def mae_by_cutoff(summary: pd.DataFrame, measures: Iterable[Measure]) -> pd.DataFrame:
    """Mean absolute errors at rising cutoffs.

    Parameters
    ----------
    summary : pandas.DataFrame
        Of `LeaveOutResult.summary_frame`.
    measures : iterable of Measure
        Those of the result. Of several relevance thresholds the smallest is taken.

    Returns
    -------
    pandas.DataFrame
        ``estimator``, ``measure``, ``cutoff``, ``mae``: the estimators in the order of the summary, each with
        its cutoffs from the smallest on.
    """
    import pandas as pd

    measures = tuple(measures)
    rel = min(m.rel for m in measures)
    rising = sorted((m for m in measures if m.rel == rel), key=lambda m: m.cutoff)
    mae = summary.set_index(["estimator", "measure"])["mae"]
    rows = [
        {"estimator": label, "measure": str(m), "cutoff": m.cutoff, "mae": float(mae[label, str(m)])}
        for label in dict.fromkeys(summary["estimator"])
        for m in rising
    ]
    return pd.DataFrame(rows)


def n_unknown_documents(frame: pd.DataFrame, measure: object) -> int:
    """Documents in the runs' top n that are unjudged in truth, too, each run counted once.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of a result of an experiment, with ``measure``, ``run_id`` and ``n_unknown``.
    measure : measure
    """
    return int(_once(frame, measure)["n_unknown"].sum())


def n_above_bounds(frame: pd.DataFrame, measure: object) -> int:
    """Runs whose truth is above their upper bound, which takes other judgments than the estimates have.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of a result of an experiment, with ``measure``, ``run_id``, ``truth`` and ``bound_upper``.
    measure : measure
    """
    rows = _once(frame, measure)
    return int((rows["truth"] > rows["bound_upper"] + _ROUNDING).sum())


def _once(frame: pd.DataFrame, measure: object) -> pd.DataFrame:
    """One row per run."""
    return frame[frame["measure"] == str(measure)].drop_duplicates("run_id")
