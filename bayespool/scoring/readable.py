"""Base class of scores and of stored scores: tables arranged for readers, and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from bayespool.corrections.base import is_fitted
from bayespool.evidence import Bounds
from bayespool.measures import Estimates, Measure, Normalized
from bayespool.report.result import Figure, Result
from bayespool.scoring.score_tables import (
    FAR_NOTE,
    conditions,
    far_runs,
    main_estimator,
    missing_topics,
    paper_columns,
    readable,
)
from bayespool.tables.files import variable_name
from bayespool.tables.formatting import counted, difference, interval, level, number, percent
from bayespool.tables.markup import Arrangement, TextTable
from bayespool.tables.table import Pivot, Table, View, extra_interval_scopes

_MAX_SENTENCES = 6
Row = Mapping[str, Any]


def score_sentences(
    frame: pd.DataFrame, measures: Sequence[Measure], n_topics: int, metadata: Mapping[str, Any]
) -> list[str]:
    """Return sentences that describe the runs under each measure, given a data frame of scores."""
    far, sentences = far_runs(frame), []

    def over(*run_ids: str) -> str:
        missing = missing_topics(metadata, run_ids or None)
        return f" over {counted(n_topics, 'topic')}{f' ({missing})' * bool(missing)}"

    def condition(row: Row) -> str:
        run = str(row["run_id"])
        return conditions(metadata, [measure], {run} & far, [run])

    for measure in measures:
        rows = frame[frame["measure"] == str(measure)]
        best_first: list[Row] = main_rows(rows).to_dict("records")  # type: ignore[assignment]
        if len(best_first) == 1 or len(best_first) * len(measures) <= _MAX_SENTENCES:
            for row in best_first:
                clause = _other_posteriors_clause(rows, row)
                sentences.append(_sentence(row, measure, over(row["run_id"]), clause, condition(row)))
            continue
        first, last = best_first[0], best_first[-1]
        shares = [row["unjudged"] for row in best_first]
        kind = "score as judged" if first["ci_prob"] != first["ci_prob"] else "corrected score"
        sentences.append(
            f"{len(best_first)} runs were scored under {measure}{over()}. Between {percent(min(shares))} and "
            f"{percent(max(shares))} of a run's top {measure.cutoff} is unjudged. The highest {kind} is that "
            f"of {first['run_id']}: {_corrected(first, condition(first))}. The lowest is that of "
            f"{last['run_id']}: {_corrected(last, condition(last))}."
            + _in_wider_scope(first, f" of {first['run_id']}")
        )
    texts = (_labels_sentence(main_rows(frame[frame["measure"] == str(m)]), m) for m in measures)
    return [*sentences, *filter(None, texts)]


def _labels_sentence(rows: pd.DataFrame, measure: Measure) -> str:
    """Return a sentence on what labels of LLM judges changed, or empty text where there are none."""
    if "value_without" not in rows or not rows["value_without"].notna().any():
        return ""
    moved, width = rows["value"] - rows["value_without"], (rows["upper"] - rows["lower"]).mean()
    width_without = (rows["upper_without"] - rows["lower_without"]).mean()
    ends = " to ".join(dict.fromkeys((difference(moved.min()), difference(moved.max()))))
    saved = 1 - width / width_without if width_without > 0 else 0.0
    wider = f"{percent(abs(saved))} {'wider' if saved < 0 else 'narrower'}"
    return f"Labels of LLM judges moved {measure} by {ends}, and made intervals {wider} in the mean."


def main_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one measure's rows for the main estimator (or as judged), best run first. The main estimator is
    the first one with intervals.
    """
    main = main_estimator(rows)
    if main is None:
        rows = rows.drop_duplicates("run_id").assign(value=lambda firsts: firsts["as_judged"])
    else:
        rows = rows[rows["estimator"] == main]
    return rows.sort_values(["value", "run_id"], ascending=[False, True])


def _other_posteriors_clause(rows: pd.DataFrame, row: Row) -> str:
    """Return a clause on the other posterior estimates for a row's run, or empty text."""
    same_run = (rows["run_id"] == row["run_id"]) & (rows["estimator"] != row["estimator"])
    has_draws = rows["estimator"].str.startswith("posterior") & rows["ci_prob"].notna()
    others = rows[same_run & has_draws]["value"]
    if not len(others) or not str(row["estimator"]).startswith("posterior"):
        return ""
    if len(others) == 1:
        return f"; the other posterior gives {number(others.iloc[0], 3)}"
    return f"; the other {len(others)} posteriors give {number(others.min(), 3)} to {number(others.max(), 3)}"


def _sentence(row: Row, measure: Measure, over: str, others_clause: str, condition: str) -> str:
    run, as_judged = row["run_id"], number(row["as_judged"], 3)
    unjudged = f"{percent(row['unjudged'])} of its top {measure.cutoff} is unjudged"
    reach = ""  # beyond it judgments may still change an ideal ranking
    if isinstance(measure, Normalized):
        reach = "in its reach" if measure.ideal == "own" else "in reach of the runs"
    if row["ci_prob"] == row["ci_prob"] and row["value"] != row["value"]:
        return f"The {measure} of {run} has no value by {row['estimator']}; a note says why."
    if row["bound_upper"] - row["bound_lower"] < 1e-12:
        nothing = f"nothing {reach or 'that could change it'}"
        return f"The {measure} of {run} is {as_judged}{over}: {nothing} is unjudged.{_in_wider_scope(row)}"
    whatever = f"whatever the unjudged documents {reach} are".replace("  ", " ")
    lower, upper = number(row["bound_lower"], 3), number(row["bound_upper"], 3)
    if row["ci_prob"] != row["ci_prob"]:
        return (
            f"The {measure} of {run} lies between {lower} and {upper}{over}, {whatever}: "
            f"{unjudged}. As judged it is {as_judged}."
        )
    if condition:
        source = "The posterior" if str(row["estimator"]).startswith("posterior") else "The correction"
        return (
            f"The {measure} of {run} is {as_judged} as judged, and lies between {lower} and {upper}{over} "
            f"{whatever}: {unjudged}. {source} gives "
            f"{_corrected(row, condition)}{others_clause}.{_in_wider_scope(row)}"
        )
    return (
        f"The {measure} of {run} is {_corrected(row)}, mean{over}{others_clause}. As judged, with unjudged "
        f"documents counted as nonrelevant, it is {as_judged}; {unjudged}.{_in_wider_scope(row)}"
    )


def _in_wider_scope(row: Row, owner: str = "") -> str:
    """Return sentences on the topic population, with advice for narrower intervals."""
    if row.get("population_by") != "draws":
        return ""
    ends = interval(row["population_lower"], row["population_upper"], 3)
    share = float(row["unjudged_variance"])
    if share != share:
        return f" On topics like these the interval{owner} is {ends}."
    judged, doubled = 1 - np.sqrt(1 - share), 1 - np.sqrt((1 + share) / 2)
    advice = "judge more documents" if judged > doubled else "more topics are needed, not more judgments"
    return (
        f" On topics like these the interval{owner} is {ends}. Judging everything would make it "
        f"{percent(judged)} narrower, as many topics again {percent(doubled)}: {advice}."
    )


def _corrected(row: Row, condition: str = "") -> str:
    value = number(row["value"], 3)
    if row["ci_prob"] != row["ci_prob"]:
        return value
    ends = f"{interval(row['lower'], row['upper'], 3)},"
    if row["lower"] == row["upper"]:
        ends = "without width, as a note explains;"
    condition = f"; {condition}" * bool(condition)
    return f"{value} ({level(row['ci_prob'])} interval {ends} {row['estimator']}{condition})"


_MAX_RUNS_PER_FOREST = 36  # that fit on a printed page
_MAX_RUNS_WITH_MARKS, _MAX_RUNS_WITH_TOPICS, _MAX_TOPICS_DRAWN = 12, 3, 60
_MAX_RUNS_IN_COLUMNS = 8
_CHECKS = (
    "verdict",
    "engine",
    "max_r_hat",
    "min_ess_bulk",
    "min_ess_tail",
    "n_divergences",
    "max_end_error",
    "held_out",
    "n_held_out",
)


class ReadableScores(Result):
    """Base class for new and stored scores, with tables arranged for readers."""

    command = "score"
    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]

    def read(self, arrangement: Arrangement | None = None) -> tuple[TextTable, ...]:
        """Return the table of scores, and others that people read with it."""
        scores = readable(self.table(), self.metadata, arrangement)
        width = Arrangement(width=arrangement.width) if arrangement else None
        by_group = (table for table in self.tables() if table.name == "groups")
        return tuple(self.marked(text) for table in (scores, *by_group) for text in table.read(width))

    @property
    def far_runs(self) -> set[str]:
        """Runs that are unlike the pool."""
        return far_runs(self.table("scores").frame)

    def marked(self, text: TextTable) -> TextTable:
        """Return a table with a dagger next to runs unlike the pool."""
        return text.marked(far_runs(self.table().frame), "†", FAR_NOTE)

    def text(self, suffix: str, arrangement: Arrangement | None = None) -> str:
        """Return the tables as text for a .tex, .md or .html file, with columns that fit on a page."""
        arrangement = arrangement or Arrangement()
        if arrangement.columns is None:
            names = paper_columns(self.table().frame, self.metadata, arrangement.width)
            arrangement = replace(arrangement, columns=names)
        return super().text(suffix, arrangement)

    def figures(self) -> tuple[Figure, ...]:
        """Return figures: forest plots, topics if runs are few, unjudged shares, distance from the pool."""
        from bayespool.plots import draw_topics, plot_distance, plot_unjudged

        tables = {table.name: table.frame for table in self.tables()}
        figures = []
        if (frame := tables.get("scores")) is not None:
            for measure in self.measures:
                figures += _forests(self, measure, frame[frame["measure"] == str(measure)])
        are_few = len(self.run_ids) <= _MAX_RUNS_WITH_TOPICS and len(self.query_ids) <= _MAX_TOPICS_DRAWN
        if "topics" in tables and are_few:
            for measure in dict.fromkeys(tables["topics"]["measure"]):
                name = f"topics-{variable_name(measure)}"
                caption = f"{measure} of the runs by topic; bars and lines as above"
                figures.append(Figure(name, caption, partial(draw_topics, self, measure)))
        if "unjudged" in tables:
            for cutoff in dict.fromkeys(tables["unjudged"]["cutoff"]):
                rows = tables["unjudged"][tables["unjudged"]["cutoff"] == cutoff]
                caption = f"Unjudged share of the top {cutoff}, by run and topic"
                draw = partial(_figure_of, partial(plot_unjudged, self, cutoff))
                text = f"{caption}. {_most_unjudged(rows)}"
                figures.append(Figure(f"unjudged-{cutoff}", caption, draw, text))
        if frame is not None and (has_distance := frame["distance"].notna()).any():
            draw = partial(_figure_of, partial(plot_distance, self, frame["measure"][has_distance].iloc[0]))
            figures.append(Figure("distance", "Distance of the runs from the pool", draw))
        return tuple(figures)


def checks_table(metadata: Mapping[str, Any]) -> Table:
    """Return a table of diagnostic checks on draws for each estimator and measure."""
    rows = [
        {
            "estimator": check["estimator"],
            "measure": check["measure"],
            "verdict": "; ".join(check["problems"]) or "passed",
        }
        | {name: check[name] for name in _CHECKS if name in check}
        for check in metadata.get("diagnostics", ())
    ]
    return Table("checks", "Checks of the draws", pd.DataFrame(rows).dropna(axis=1, how="all"))


def indicators_table(all_estimates: Sequence[Estimates]) -> Table:
    """Return a table of estimators' indicators for runs, by measure and run."""
    frame = _known_of_runs(all_estimates, lambda name: not is_fitted(name))
    return Table("indicators", "Indicators of corrections", frame)


def constants_table(all_estimates: Sequence[Estimates]) -> Table:
    """Return a table of the constants that corrections fitted, by measure and run.

    Those that are the same for all runs come first, and are what people read.
    """
    frame = _known_of_runs(all_estimates, is_fitted)
    if "rmse" not in frame or not frame["rmse"].notna().any():
        return Table("constants", "Fitted constants", frame)
    frame = frame.sort_values("rmse", key=lambda rmse: rmse.isna(), kind="stable", ignore_index=True)
    view = View(
        title="Constants fitted to the pool",
        names=("measure", "estimator"),
        columns=(*frame.columns[frame.columns.str.startswith("constant_")], "rmse"),
        top=len(frame.dropna(subset="rmse").drop_duplicates(["measure", "estimator"])),
    )
    return Table("constants", "Fitted constants", frame, views=(view,))


def _known_of_runs(all_estimates: Sequence[Estimates], is_column: Callable[[str], bool]) -> pd.DataFrame:
    """Return estimators' indicators with these names, a row per measure, estimator and run."""
    frames = [pd.DataFrame()]
    for e in all_estimates:
        if known := {name: values for name, values in e.indicators.items() if is_column(name)}:
            names = {"run_id": e.run_ids, "measure": str(e.measure), "estimator": e.estimator}
            frames.append(pd.DataFrame({**names, **known, "value": e.value}))
    return pd.concat(frames, ignore_index=True)


def unjudged_table(run_ids: Sequence[str], query_ids: Sequence[str], all_bounds: Sequence[Bounds]) -> Table:
    """Return a table with the share of unjudged documents in the top ranks, by cutoff, run and topic."""
    share_of = {bounds.measure.cutoff: bounds.unjudged_on_topics for bounds in all_bounds}
    rows = [
        (run, query_id, cutoff, share)
        for cutoff, shares in share_of.items()
        for (run, query_id), share in zip(product(run_ids, query_ids), shares.ravel(), strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["run_id", "query_id", "cutoff", "unjudged"])
    views = tuple(
        View(
            title=f"Unjudged share of the top {cutoff}",
            names=("query_id",),
            columns=(Pivot(("unjudged",), "run_id"),),
            where={"cutoff": cutoff},
            note=_most_unjudged(frame[frame["cutoff"] == cutoff]),
        )
        for cutoff in share_of
    )
    few = len(run_ids) <= _MAX_RUNS_IN_COLUMNS
    return Table("unjudged", "Unjudged shares", frame, views=views if few else ())


def _most_unjudged(rows: pd.DataFrame) -> str:
    """Return sentences on the unjudged shares for one cutoff."""
    runs, topic_shares = rows["run_id"].unique(), rows.groupby("query_id", sort=False)["unjudged"].mean()
    who = f"these {len(runs)} runs" if len(runs) > 1 else runs[0]
    return (
        f"Of the top {rows['cutoff'].iloc[0]} of {who}, {percent(rows['unjudged'].mean())} is unjudged. "
        f"The topic with most is {topic_shares.idxmax()} ({percent(topic_shares.max())}); on "
        f"{(topic_shares == 0).sum()} of {counted(len(topic_shares), 'topic')} everything is judged."
    )


def _forests(scores: ReadableScores, measure: Measure, rows: pd.DataFrame) -> list[Figure]:
    """Return forest plots for a measure, with at most 36 runs each, best first."""
    from bayespool.plots import plot_forest

    best, bar = main_rows(rows), ""
    if best["ci_prob"].notna().any():
        bar = f"; the bar is the {level(best['ci_prob'].iloc[0])} interval"
        bar += "".join(f", the light one that of {words}" for words in extra_interval_scopes(rows).values())
    parts = np.array_split(np.array(best["run_id"], dtype=object), -(-len(best) // _MAX_RUNS_PER_FOREST))
    sentences = score_sentences(rows, [measure], len(scores.query_ids), scores.metadata)
    figures = []
    for i, part in enumerate(parts):
        which = f", part {i + 1} of {len(parts)}" if len(parts) > 1 else ""
        plot = partial(
            plot_forest,
            scores,
            measure,
            order=list(part),
            corrections=len(best) <= _MAX_RUNS_WITH_MARKS,
            truth=scores.metadata.get("truth", {}).get(str(measure)),
        )
        figures.append(
            Figure(
                f"forest-{variable_name(measure)}{f'-{i + 1}' if which else ''}",
                f"{measure}{which}. The thin line goes from the lowest to the highest score that judging "
                f"the run's own unjudged documents could give{bar}.",
                partial(_figure_of, plot),
                alternative=f"Forest plot of runs under {measure}{which}. {' '.join(sentences)}",
            )
        )
    return figures


def _figure_of(plot: Any) -> Any:
    """Return the figure that contains the axes returned by a plot function."""
    return plot().figure
