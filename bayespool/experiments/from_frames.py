"""Tables for figures, and printed notes, from the frames of an experiment's result."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bayespool.measures import Measure

if TYPE_CHECKING:
    import pandas as pd

_ROUNDING = 1e-12


def mae_by_cutoff(summary: pd.DataFrame, measures: Iterable[Measure]) -> pd.DataFrame:
    """Mean absolute errors by cutoff, for families of measures that differ in nothing else.

    Parameters
    ----------
    summary : pandas.DataFrame
        Of `LeaveOutResult.summary_frame`.
    measures : iterable of Measure
        Those of the result.

    Returns
    -------
    pandas.DataFrame
        ``family`` (the measure without its cutoff: ``P(rel=2)``), ``estimator``, ``measure``, ``cutoff``,
        ``mae``: families in the order of the measures, within them estimators in the order of the summary,
        and cutoffs ascending.
    """
    import pandas as pd

    families: dict[str, list[Measure]] = {}
    for measure in measures:
        families.setdefault(family_of(measure), []).append(measure)
    mae = summary.set_index(["estimator", "measure"])["mae"]
    rows = [
        {
            "family": family,
            "estimator": label,
            "measure": str(m),
            "cutoff": m.cutoff,
            "mae": float(mae[label, str(m)]),
        }
        for family, members in families.items()
        for label in dict.fromkeys(summary["estimator"])
        for m in sorted(members, key=lambda m: m.cutoff)
    ]
    return pd.DataFrame(rows)


def family_of(measure: Measure) -> str:
    """Text of a measure without its cutoff.

    Examples
    --------
    >>> from bayespool.measures import parse_measure
    >>> family_of(parse_measure("P(rel=2)@10")), family_of(parse_measure("RBP(p=0.8)"))
    ('P(rel=2)', 'RBP(p=0.8)')
    """
    return str(measure).partition("@")[0]


def n_unknown_documents(frame: pd.DataFrame, measure: object) -> int:
    """Documents in the runs' top n that are unjudged in the truth, too, each run counted once."""
    return int(_one_row_per_run(frame, measure)["n_unknown"].sum())


def n_outside_bounds(frame: pd.DataFrame, measure: object) -> int:
    """Runs whose truth is outside their bounds, possible only where the truth has other judgments than the
    estimates.
    """
    rows = _one_row_per_run(frame, measure)
    above = rows["truth"] > rows["bound_upper"] + _ROUNDING
    return int((above | (rows["truth"] < rows["bound_lower"] - _ROUNDING)).sum())


def notes_of_truth(frame: pd.DataFrame, measure: Measure) -> list[str]:
    """Note that documents of the runs are unjudged in the truth, too; none without such documents."""
    unknown = n_unknown_documents(frame, measure)
    message = (
        f"{unknown} documents of these runs' top {measure.cutoff} are unjudged in truth, too, and count as "
        f"{'unjudged' if measure.reads_unjudged else 'nonrelevant'} there"
    )
    return [message] if unknown else []


def notes_of_runs(frame: pd.DataFrame) -> list[str]:
    """Notes on runs left out, from ``estimator`` and ``note`` of one measure, each once with the number of
    runs.
    """
    notes: dict[tuple[str, str], int] = {}
    for estimator, note in zip(frame["estimator"], frame["note"], strict=True):
        if isinstance(note, str) and note:
            without_numbers = re.sub(r"(?<=unlike the pool) \([^)]*\)", "", note)  # which differ between runs
            notes[estimator, without_numbers] = notes.get((estimator, without_numbers), 0) + 1
    return [f"{estimator}, {n} run{'s' * (n > 1)}: {note}" for (estimator, note), n in notes.items()]


def _one_row_per_run(frame: pd.DataFrame, measure: object) -> pd.DataFrame:
    """The rows of a measure, one per run."""
    return frame[frame["measure"] == str(measure)].drop_duplicates("run_id")
