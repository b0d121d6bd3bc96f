"""Report page of scores: runs with intervals, unjudged shares, methods and diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.measures import Measure
from bayespool.pooling import PoolReport
from bayespool.report.content import Figure, Page, Section, Table, frame_table
from bayespool.report.drawing import Styles, draw_forest
from bayespool.report.making import making_section
from bayespool.report.methods import method_section
from bayespool.report.unjudged import Unjudged, read_unjudged, unjudged_section
from bayespool.scoring import Scores, StoredScores
from bayespool.tables.numbers import percent
from bayespool.tables.printable import printable

if TYPE_CHECKING:
    import pandas as pd

_FIRST_COLUMNS = ("run_id", "query_id", "measure", "as_judged", "bound_lower", "bound_upper", "residual")
_LAST_COLUMNS = ("unjudged", "ci_prob", "note")
_METHOD_ENDINGS = ("_lower", "_upper", "_distance", "_new_kind")
_MAX_RUNS_NAMED, _MAX_SENTENCES, _MAX_TOPIC_ROWS = 4, 6, 600


@dataclass(frozen=True, eq=False)
class _ScoresOfMeasure:
    """Scores under one measure, best run first; ``main`` is the first method with an interval."""

    measure: Measure
    rows: pd.DataFrame
    methods: tuple[str, ...]
    main: str | None
    unjudged: Unjudged | None
    n_topics: int | None

    @property
    def value(self) -> str:
        """Column of the score in sentences."""
        return self.main or "as_judged"

    @property
    def level(self) -> str:
        """Probability of the interval as text."""
        return f"{100 * float(self.rows['ci_prob'].iloc[0]):g} %"

    def share_of(self, run: str) -> float | None:
        """Unjudged share of a run; None where it is unknown."""
        if self.unjudged is None:
            return None
        return float(self.unjudged.of_runs[list(self.unjudged.run_ids).index(run)])


def scores_page(scores: Scores | StoredScores, styles: Styles) -> Page:
    """Page of scores, live or read from a file."""
    metadata = scores.metadata
    made = (method_section(metadata), making_section(metadata))
    title = f"Scores of {_runs(scores.run_ids)}: {', '.join(map(str, scores.measures))}"
    if isinstance(scores, StoredScores) and scores.per_topic:
        explanation = (
            f"The file has a row for each of {len(scores.run_ids)} runs and each topic. Scores of runs "
            "with their "
            "intervals are in a file that is written without --per-topic.",
        )
        return Page(title, explanation, _problems(scores), (_topics_section(scores.frame()), *made))
    shares = read_unjudged(metadata, scores.run_ids, scores.measures)
    measured = [_measured(scores, measure, shares) for measure in scores.measures]
    sections = [
        _runs_section(measured, styles),
        unjudged_section(shares),
        _corrections_section(measured),
        _topics_section(scores.frame(per_topic=True)) if isinstance(scores, Scores) else None,
        _distance_section(measured),
        _pool_section(metadata),
        _diagnostics_section(metadata),
        *made,
    ]
    summary = tuple(
        sentence for group in measured for sentence in _sentences(group, n_measures=len(measured))
    )
    return Page(title, summary, _problems(scores), tuple(s for s in sections if s is not None))


def _runs(run_ids: Sequence[str]) -> str:
    return ", ".join(run_ids) if len(run_ids) <= _MAX_RUNS_NAMED else f"{len(run_ids)} runs"


def _methods(frame: pd.DataFrame) -> tuple[str, ...]:
    """Names of methods among the columns of `Scores.frame`."""
    names = [str(c) for c in frame if c not in _FIRST_COLUMNS + _LAST_COLUMNS]
    derived = {f"{name}{ending}" for name in names for ending in _METHOD_ENDINGS}
    return tuple(name for name in names if name not in derived)


def _measured(
    scores: Scores | StoredScores, measure: Measure, shares: Sequence[Unjudged]
) -> _ScoresOfMeasure:
    frame = scores.frame()
    rows = frame[frame["measure"] == str(measure)]
    methods = _methods(frame)
    with_interval = [m for m in methods if f"{m}_lower" in frame and rows[f"{m}_lower"].notna().any()]
    main = with_interval[0] if with_interval else None
    of_cutoff = [share for share in shares if share.measure.cutoff == measure.cutoff]
    n_topics = (
        len(scores.query_ids) if isinstance(scores, Scores) else len(scores.metadata.get("query_ids", ()))
    )
    return _ScoresOfMeasure(
        measure=measure,
        rows=rows.sort_values([main or "as_judged", "run_id"], ascending=[False, True]),
        methods=methods,
        main=main,
        unjudged=of_cutoff[0] if of_cutoff else None,
        n_topics=n_topics or None,
    )


# --- sentences ---------------------------------------------------------------------------------------------


def _sentences(group: _ScoresOfMeasure, *, n_measures: int = 1) -> list[str]:
    """A sentence per run where there are few, else one on all."""
    rows: list[Mapping[str, Any]] = group.rows.to_dict("records")  # type: ignore[assignment]
    over = "" if group.n_topics is None else f" over {group.n_topics} topics"
    if len(rows) == 1 or len(rows) * n_measures <= _MAX_SENTENCES:
        return [_sentence(group, row, over) for row in rows]
    first, last = rows[0], rows[-1]
    shares = [share for run in group.rows["run_id"] if (share := group.share_of(run)) is not None]
    span = (
        f" Between {percent(min(shares))} and {percent(max(shares))} of a run's top {group.measure.cutoff} "
        "is unjudged."
        if shares
        else ""
    )
    return [
        f"{len(rows)} runs were scored under {group.measure}{over}.{span} The highest "
        f"{'corrected score' if group.main else 'score as judged'} is that of {first['run_id']}: "
        f"{_corrected(group, first)}. The lowest is that of {last['run_id']}: {_corrected(group, last)}."
    ]


def _sentence(group: _ScoresOfMeasure, row: Mapping[str, Any], over: str) -> str:
    run, share = row["run_id"], group.share_of(row["run_id"])
    of_top = f"{percent(share)} of its top {group.measure.cutoff}" if share is not None else "what of it"
    if row["bound_upper"] - row["bound_lower"] < 1e-12:
        known = f"The {group.measure} of {run} is {row['as_judged']:.3f}{over}"
        return f"{known}: nothing that could change it is unjudged."
    if group.main is None:
        return (
            f"The {group.measure} of {run} lies between {row['bound_lower']:.3f} and "
            f"{row['bound_upper']:.3f}{over}, "
            f"whatever the unjudged documents are: {of_top} is unjudged. As judged it is "
            f"{row['as_judged']:.3f}."
        )
    return (
        f"The {group.measure} of {run} is {_corrected(group, row)}, mean{over or ' over all topics'}. As "
        "judged, with "
        f"unjudged documents counted as nonrelevant, it is {row['as_judged']:.3f}; {of_top} is unjudged."
    )


def _corrected(group: _ScoresOfMeasure, row: Mapping[str, Any]) -> str:
    value = f"{row[group.value]:.3f}"
    if group.main is None or np.isnan(row[f"{group.main}_lower"]):
        return value
    ends = f"{row[f'{group.main}_lower']:.3f} to {row[f'{group.main}_upper']:.3f}"
    return f"{value} ({group.level} interval {ends}, {group.main})"


def _problems(scores: Scores | StoredScores) -> tuple[str, ...]:
    """Failed checks, then notes."""
    failed = [
        f"{group['method']}, {group['measure']}: {problem}"
        for group in scores.metadata.get("diagnostics", ())
        for problem in group.get("problems", ())
    ]
    return tuple(dict.fromkeys((*failed, *scores.note_lines)))


# --- sections ----------------------------------------------------------------------------------------------


def _runs_section(measured: Sequence[_ScoresOfMeasure], styles: Styles) -> Section:
    figures, tables = [], []
    for group in measured:
        marked = [m for m in group.methods if m != group.main and group.rows[m].notna().any()]
        drawn = draw_forest(group.rows, group.main, marked, styles)
        for i, (wide, narrow) in enumerate(drawn):
            part = "" if len(drawn) == 1 else f", part {i + 1} of {len(drawn)}"
            caption = (
                f"{group.measure}{part}. The thin line goes from the lowest to the highest score that "
                "judging all documents could lead "
                f"to{'' if group.main is None else f'; the bar is the {group.level} interval'}."
            )
            alternative = f"Forest plot of runs under {group.measure}{part}. {' '.join(_sentences(group))}"
            figures.append(Figure(caption, f"{alternative} The table below has the numbers.", wide, narrow))
        tables.append(_runs_table(group))
    return Section("Runs", "runs", figures=tuple(figures), tables=tuple(tables))


def _runs_table(group: _ScoresOfMeasure) -> Table:
    import pandas as pd

    rows = group.rows
    columns: dict[str, Any] = {"run": rows["run_id"]}
    if group.main is not None:
        columns["corrected"] = rows[group.main]
        columns["interval from"] = rows[f"{group.main}_lower"]
        columns["interval to"] = rows[f"{group.main}_upper"]
    columns["as judged"] = rows["as_judged"]
    if group.unjudged is not None:
        columns["unjudged share"] = [group.share_of(run) for run in rows["run_id"]]
    columns["lower bound"] = rows["bound_lower"]
    columns["upper bound"] = rows["bound_upper"]
    table = _table(f"runs-{_address(group.measure)}", f"{group.measure} of runs", pd.DataFrame(columns))
    note = (
        ""
        if group.main is None
        else f"Corrected is the mean of {group.main}, the interval its {group.level} interval."
    )
    return Table(table.name, table.caption, table.columns, table.rows, note)


def _table(name: str, caption: str, frame: pd.DataFrame) -> Table:
    """Table of a data frame with all of its columns."""
    return frame_table(name, caption, frame, whole=True)


def _corrections_section(measured: Sequence[_ScoresOfMeasure]) -> Section | None:
    """Section that compares the methods, where there are several."""
    tables = []
    for group in measured:
        methods = [m for m in group.methods if group.rows[m].notna().any()]
        if len(methods) > 1:
            frame = group.rows[["run_id", *methods]].rename(columns={"run_id": "run"})
            tables.append(
                _table(f"methods-{_address(group.measure)}", f"{group.measure} by every method", frame)
            )
    if not tables:
        return None
    sentence = "What each published correction and each model makes of the same judgments."
    return Section("Corrections", "corrections", (sentence,), tables=tuple(tables))


def _topics_section(frame: pd.DataFrame) -> Section:
    methods = [m for m in _methods(frame) if f"{m}_lower" in frame]
    tables = []
    for measure in dict.fromkeys(frame["measure"]):
        rows = frame[frame["measure"] == measure]
        if len(rows) > _MAX_TOPIC_ROWS:
            continue
        kept = {"run_id": "run", "query_id": "topic", "as_judged": "as judged"}
        for m in methods[:1]:
            kept |= {m: "corrected", f"{m}_lower": "interval from", f"{m}_upper": "interval to"}
        kept |= {"bound_lower": "lower bound", "bound_upper": "upper bound"}
        renamed = rows[list(kept)].rename(columns=kept)
        tables.append(_table(f"topics-{_address(measure)}", f"{measure} by run and topic", renamed))
    sentences = (
        ()
        if tables
        else ("There are too many runs and topics for a page; --per-topic --output writes them.",)
    )
    return Section("Topics", "topics", sentences, tables=tuple(tables))


def _distance_section(measured: Sequence[_ScoresOfMeasure]) -> Section | None:
    """Section on the runs' distance from the pool, of the first measure that has it."""
    for group in measured:
        name = f"{group.main}_distance"
        if group.main is not None and name in group.rows and group.rows[name].notna().any():
            columns = {"run_id": "run", name: "distance", f"{group.main}_new_kind": "chance of a new kind"}
            frame = group.rows[[c for c in columns if c in group.rows]].rename(columns=columns)
            sentences = (
                "How unlike the pooled organizations a run is, in standard deviations between these, "
                "and the chance "
                "that it is of a kind that the pool does not have. Of a run that is far away little can "
                "be learned "
                "from the pool, and its interval is wider.",
            )
            table = _table("distances", "Distance of runs from the pool", frame.sort_values("distance"))
            return Section("Distance from the pool", "distance", sentences, tables=(table,))
    return None


def _pool_section(metadata: Mapping[str, Any]) -> Section | None:
    pool = dict(metadata.get("pool", {}))
    try:
        depths = tuple(tuple(pair) for pair in pool.pop("depths", ()))
        report = PoolReport(**pool | {"depths": depths, "nearly": tuple(pool.pop("nearly", ()))})
    except TypeError:
        return None  # written by another version
    return Section("The pool", "pool", tuple(f"{line.strip()}." for line in report.text().splitlines()))


def _diagnostics_section(metadata: Mapping[str, Any]) -> Section | None:
    import pandas as pd

    checks = list(metadata.get("diagnostics", ()))
    if not checks:
        return None
    rows = [
        {key: value for key, value in check.items() if key != "problems"}
        | {"verdict": "; ".join(check["problems"]) or "passed"}
        for check in checks
    ]
    frame = pd.DataFrame(rows).dropna(axis=1, how="all")
    n_failed = sum(bool(check["problems"]) for check in checks)
    sentence = (
        "Every check of the draws passed." if not n_failed else f"{n_failed} of {len(checks)} checks failed."
    )
    table = _table("checks", "Checks of the draws", frame)
    return Section("Diagnostics", "diagnostics", (sentence,), tables=(table,))


def _address(measure: object) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in printable(str(measure)))
