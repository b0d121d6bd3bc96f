"""Scores as a wide frame: a row per run and measure, a column per estimator."""

from __future__ import annotations

from typing import Any

import pandas as pd

from bayespool.scoring import Scores, StoredScores
from bayespool.scoring.columns import RUN_COLUMNS
from bayespool.tables import TextTable

_OF_RUN = [column.name for column in RUN_COLUMNS]
_OF_ESTIMATOR = ["lower", "upper", "std", "distance", "new_kind"]


def wide(scores: Scores | StoredScores, *, per_topic: bool = False) -> pd.DataFrame:
    """Bounds, then each estimator with its interval, standard deviation and distance where it has them."""
    frame = widened(scores.to_frame(per_topic=per_topic))
    notes = {(run, str(measure)): "; ".join(texts) for (run, measure), texts in scores.run_notes.items()}
    rows = zip(frame["run_id"], frame["measure"], strict=True)
    return frame.assign(note=[notes[row] for row in rows])


def note_of(scores: Scores, run_id: str, measure: Any) -> str:
    """What to note of a run under a measure, in one text."""
    return "; ".join(scores.run_notes[run_id, measure])


def widened(frame: pd.DataFrame) -> pd.DataFrame:
    """A long frame of scores made wide."""
    keys = ["run_id", *(["query_id"] if "query_id" in frame else []), "measure"]
    made = frame.drop_duplicates(keys)[[*keys, *_OF_RUN]].set_index(keys)
    for name, rows in frame.groupby("estimator", sort=False):
        of_one: Any = rows.set_index(keys)
        made[name] = of_one["value"]
        for column in _OF_ESTIMATOR:
            is_spread = column == "std" and of_one["ci_prob"].notna().any()
            if column in of_one and of_one[column].notna().any() and not is_spread:
                made[f"{name}_{column}"] = of_one[column]
    made["ci_prob"] = frame.groupby(keys, sort=False)["ci_prob"].max()
    return made.reset_index()


def headings(text: TextTable) -> list[str]:
    """Headings of a table's columns, each on one line."""
    return [column.title for column in text.columns]
