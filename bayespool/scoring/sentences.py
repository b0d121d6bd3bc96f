"""Scores in sentences: one for each run where there are few, else one for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.measures import Measure, Normalized
from bayespool.scoring.score_tables import main_estimator
from bayespool.tables.formatting import counted, interval, level, number, percent

if TYPE_CHECKING:
    import pandas as pd

_MAX_SENTENCES = 6
_LITTLE = 0.005  # share of a variance
Row = Mapping[str, Any]


def score_sentences(
    frame: pd.DataFrame, measures: Sequence[Measure], n_topics: int, condition: str = ""
) -> list[str]:
    """Sentences on the runs under each measure, from a frame of scores, with the condition of the pool."""
    return [
        sentence
        for measure in measures
        for sentence in _sentences(
            frame[frame["measure"] == str(measure)], measure, n_topics, len(measures), condition
        )
    ]


def main_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one measure by the first estimator with intervals, or as judged; best run first."""
    main = main_estimator(rows)
    if main is None:
        rows = rows.drop_duplicates("run_id").assign(value=lambda firsts: firsts["as_judged"])
    else:
        rows = rows[rows["estimator"] == main]
    return rows.sort_values(["value", "run_id"], ascending=[False, True])


def _sentences(
    rows: pd.DataFrame, measure: Measure, n_topics: int, n_measures: int, condition: str
) -> list[str]:
    best_first: list[Row] = main_rows(rows).to_dict("records")  # type: ignore[assignment]
    over = f" over {counted(n_topics, 'topic')}"
    if len(best_first) == 1 or len(best_first) * n_measures <= _MAX_SENTENCES:
        return [_sentence(row, measure, over, _of_others(rows, row), condition) for row in best_first]
    first, last = best_first[0], best_first[-1]
    shares = [row["unjudged"] for row in best_first]
    kind = "score as judged" if first["ci_prob"] != first["ci_prob"] else "corrected score"
    return [
        f"{len(best_first)} runs were scored under {measure}{over}. Between {percent(min(shares))} and "
        f"{percent(max(shares))} of a run's top {measure.cutoff} is unjudged. The highest {kind} is that of "
        f"{first['run_id']}: {_corrected(first, condition)}. The lowest is that of {last['run_id']}: "
        f"{_corrected(last, condition)}." + _in_wider_scope(first, f" of {first['run_id']}")
    ]


def _of_others(rows: pd.DataFrame, row: Row) -> str:
    """Clause on what other posteriors give for the run of a row, empty without any."""
    same_run = (rows["run_id"] == row["run_id"]) & (rows["estimator"] != row["estimator"])
    has_draws = rows["estimator"].str.startswith("posterior") & rows["ci_prob"].notna()
    others = rows[same_run & has_draws]["value"]
    if not len(others) or not str(row["estimator"]).startswith("posterior"):
        return ""
    if len(others) == 1:
        return f"; the other posterior gives {number(others.iloc[0], 3)}"
    return f"; the other {len(others)} posteriors give {number(others.min(), 3)} to {number(others.max(), 3)}"


def _sentence(row: Row, measure: Measure, over: str, of_others: str, condition: str) -> str:
    run, as_judged = row["run_id"], number(row["as_judged"], 3)
    unjudged = f"{percent(row['unjudged'])} of its top {measure.cutoff} is unjudged"
    own = not isinstance(measure, Normalized)  # an ideal ranking may gain documents that others retrieve
    if row["bound_upper"] - row["bound_lower"] < 1e-12:
        known = f"The {measure} of {run} is {as_judged}{over}"
        nothing = "nothing that could change it is unjudged" if own else "nothing in its reach is unjudged"
        return f"{known}: {nothing}.{_in_wider_scope(row)}"
    if row["ci_prob"] != row["ci_prob"]:
        lower, upper = number(row["bound_lower"], 3), number(row["bound_upper"], 3)
        return (
            f"The {measure} of {run} lies between {lower} and {upper}{over}, whatever the unjudged documents "
            f"{'' if own else 'in its reach '}are: {unjudged}. As judged it is {as_judged}."
        )
    if condition:
        lower, upper = number(row["bound_lower"], 3), number(row["bound_upper"], 3)
        return (
            f"The {measure} of {run} is {as_judged} as judged, and lies between {lower} and {upper}{over} "
            f"whatever the unjudged documents are: {unjudged}. The posterior gives "
            f"{_corrected(row, condition)}{of_others}.{_in_wider_scope(row)}"
        )
    return (
        f"The {measure} of {run} is {_corrected(row)}, mean{over}{of_others}. As judged, with unjudged "
        f"documents counted as nonrelevant, it is {as_judged}; {unjudged}.{_in_wider_scope(row)}"
    )


def _in_wider_scope(row: Row, whose: str = "") -> str:
    """Sentences on another assessor or the population of topics, and on what would narrow the interval."""
    if row.get("another_value", np.nan) == row.get("another_value"):
        return _by_another(row, whose.removeprefix(" of ") or "it")
    if row.get("population_by") != "draws":
        return ""
    ends = interval(row["population_lower"], row["population_upper"], 3)
    share = float(row["unjudged_variance"])
    if share != share:
        return f" On topics like these the interval{whose} is {ends}."
    judged, doubled = 1 - np.sqrt(1 - share), 1 - np.sqrt((1 + share) / 2)
    advice = "judge more documents" if judged > doubled else "more topics are needed, not more judgments"
    return (
        f" On topics like these the interval{whose} is {ends}. Judging everything would make it "
        f"{percent(judged)} narrower, as many topics again {percent(doubled)}: {advice}."
    )


def _by_another(row: Row, whose: str) -> str:
    """Sentences on another assessor."""
    ends = interval(row["another_lower"], row["another_upper"], 3)
    text = (
        f" Another assessor of the same kind would have given {whose} "
        f"{number(row['another_value'], 3)} (interval {ends})."
    )
    share = float(row["unjudged_variance"])
    if share != share:
        return text
    if share < _LITTLE:
        return f"{text} Nearly all of the variance is due to the assessor, not to unjudged documents."
    return (
        f"{text} Judging everything once would make that {percent(1 - np.sqrt(1 - share))} narrower; the "
        f"assessor accounts for {percent(1 - share)} of the variance."
    )


def _corrected(row: Row, condition: str = "") -> str:
    value = number(row["value"], 3)
    if row["ci_prob"] != row["ci_prob"]:
        return value
    ends = interval(row["lower"], row["upper"], 3)
    condition = f"; {condition}" * bool(condition)
    return f"{value} ({level(row['ci_prob'])} interval {ends}, {row['estimator']}{condition})"
