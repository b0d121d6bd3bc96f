"""Tables of scores that people read: a row per run, with bounds, estimates and intervals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayespool.corrections import ESTIMATORS
from bayespool.errors import InputError
from bayespool.measures.parsing import is_trec_eval_measure
from bayespool.names import HIERARCHICAL_FORMS, split_effects
from bayespool.notes import Kind, Note, likeness, merged, noted
from bayespool.scoring.columns import BOUNDS, RUN_COLUMNS, SCORE_COLUMNS
from bayespool.tables.formatting import counted, level, percent, some_of
from bayespool.tables.markup import Arrangement
from bayespool.tables.table import COLUMNS, IntervalColumn, Pivot, Table, View, ViewColumn

_MAX_ALIKE = 2  # notes that differ in numbers alone, each in full
UNLABELED = ("value_without", "lower_without", "upper_without")
"""Columns of a posterior's mean and interval without labels of LLM judges."""
_IDEALS = {
    "own": "all judged documents, and unjudged ones of the run itself where they count as relevant",
    "shared": "all judged documents, and unjudged ones of any of these runs where they count as relevant",
    "judged": "the judged documents alone",
}
_THERE = IntervalColumn("population_lower", "population_upper", "on topics\nlike these")
FAR_NOTE = (
    "† unlike the pool: little can be learned from it about this run, and its interval allows for that."
)
"""Footnote on runs marked as unlike the pool."""
_DISTANCES = (
    "How unlike the pooled organizations a run is, in standard deviations between these, and the "
    "probability that "
    "it is of a kind that the pool does not have. Of a run that is far away little can be learned from the "
    "pool, and its interval is wider."
)


def estimators_in(frame: pd.DataFrame) -> dict[str, bool]:
    """Return the estimators in a frame of scores, each mapped to whether it has an interval."""
    return dict(frame["ci_prob"].notna().groupby(frame["estimator"], sort=False).any())


def main_estimator(frame: pd.DataFrame) -> str | None:
    """Return the first posterior estimator, else the first estimator with an interval, if any."""
    with_interval = [name for name, has_interval in estimators_in(frame).items() if has_interval]
    posteriors, others = _posteriors_and_others(with_interval)
    return next(iter(posteriors + others), None)


def _posteriors_and_others(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of posterior estimators and those of other estimators."""
    posteriors = [name for name in names if name.startswith("posterior")]
    return posteriors, [name for name in names if name not in posteriors]


def check_arrangement(arrangement: Arrangement, estimators: Sequence[str]) -> None:
    """Raise `InputError` for unknown columns or sort keys in an arrangement."""
    names = [*SCORE_COLUMNS, *estimators]
    arrangement.check(["all", *names], ["run", *(name for name in names if name != "estimates")])


def far_runs(frame: pd.DataFrame) -> set[str]:
    """Return ids of runs that any estimator marks as unlike the pool (`PoolDistance.is_far`)."""
    from bayespool.posterior.distance import PoolDistance

    if not {"distance", "new_kind"} <= set(frame):
        return set()
    distance, new_kind, unjudged = (
        frame[name].to_numpy(dtype=float) for name in ("distance", "new_kind", "unjudged")
    )
    is_open = frame["bound_upper"] > frame["bound_lower"]
    return set(frame.loc[PoolDistance(distance, new_kind).is_far(unjudged) & is_open, "run_id"])


def paper_columns(
    frame: pd.DataFrame, metadata: Mapping[str, Any], width: Literal["page", "column"] = "page"
) -> list[str]:
    """Return names of columns that fit the page of a paper, or one column of a two-column page.

    In one column both bounds are among them without a pool alone.
    """
    has_interval, has_pool = estimators_in(frame).values(), _has_pool(metadata)
    if width == "column" and any(has_interval):
        judged = ["unjudged"] if frame["measure"].nunique() == 1 else []
        bounds = [] if has_pool else ["bound-lower", "bound-upper"]
        return ["as-judged", *bounds, *judged, "mean", "interval"]
    names = [column.asked_as for column in RUN_COLUMNS if column.is_shown]
    names += ["mean", "interval"] if any(has_interval) else []
    return [*names, *(["estimates"] if not all(has_interval) else [])]


def conditions(
    metadata: Mapping[str, Any],
    measures: Iterable[object],
    far: Iterable[str] = (),
    run_ids: Iterable[str] | None = None,
) -> str:
    """Return the conditions of posteriors for all outputs: pool, its depth, runs unlike it; mostly empty."""
    return "; ".join(list_conditions(metadata, measures, far, run_ids))


def list_conditions(
    metadata: Mapping[str, Any],
    measures: Iterable[object],
    far: Iterable[str] = (),
    run_ids: Iterable[str] | None = None,
) -> list[Note]:
    """Return the conditions of posteriors, each with its reason where there is one, for some of the runs."""
    pool, notes = metadata.get("pool", {}), list[Note]()
    if pool.get("n_organizations", 2) < 2:
        kind: Kind = "one-organization" if pool.get("n_pooled_runs") else "no-pool"
        which = "no pool" if kind == "no-pool" else "a pool of one organization"
        basis = pool.get("evidence") or "priors alone"
        asked = [str(each["name"]) for each in metadata.get("estimators", ({"name": "posterior"},))]
        has_value = any(name.startswith("posterior") for name in asked)
        if basis == "priors alone" and (sparse := metadata.get("sparse_measures")):
            has_value &= not all(str(measure) in sparse for measure in measures)
        notes.append(Note(kind, f"{which}, {f'posteriors on {basis}' if has_value else 'no posterior'}"))
    elif doubts := pool.get("doubts"):
        notes.append(Note("pool-in-doubt", f"the pool is in doubt: {', and '.join(doubts)}"))
    depth = 0 if pool.get("strategy") else pool.get("depth", 0)
    cutoffs = [text for measure in measures if (text := str(measure).rpartition("@")[2]).isdigit()]
    if max(map(int, cutoffs), default=0) > depth > 0 and metadata.get("estimand", "complete") == "complete":
        notes.append(Note("below-pool-depth", f"extrapolated below the pool depth of {depth}"))
    if names := tuple(far):
        notes.append(Note("unlike-pool", f"{some_of(names, 3)} unlike the pool"))
    passages = metadata.get("passages", {})
    if cut := [run for run in passages if run_ids is None or run in set(run_ids)]:
        shares = (f"{percent(passages[run])} of the top of {run}" for run in cut)
        text = f"{some_of(shares, 3)} judged only if a suffix of ids were cut"
        notes.append(Note("ids-match-when-cut", text))
    return notes


def is_on_priors(metadata: Mapping[str, Any]) -> bool:
    """Return whether posteriors rest on their priors, as without a pool: then only one named decides."""
    pool = metadata.get("pool", {})
    return pool.get("n_organizations", 2) < 2 and "priors" in (pool.get("evidence") or "priors")


def missing_topics(metadata: Mapping[str, Any], run_ids: Iterable[str] | None = None) -> str:
    """Return how many topics runs lack, which count as 0; mostly empty.

    Examples
    --------
    >>> metadata = {"query_ids": ["1", "2", "3"], "missing_topics": {"a": ["2"], "b": ["1", "2"]}}
    >>> missing_topics(metadata), missing_topics(metadata, ["b", "c"])
    ('1 of 3 topics missing from a, 2 from b, counted as 0', '2 of 3 topics missing from b, counted as 0')
    """
    by_run = metadata.get("missing_topics", {})
    lacking = {run: len(by_run[run]) for run in by_run if run_ids is None or run in set(run_ids)}
    if not lacking:
        return ""
    topics = f" of {counted(len(metadata['query_ids']), 'topic')} missing"
    (first, n), *others = lacking.items()
    parts = [f"{n}{topics} from {first}", *(f"{n} from {run}" for run, n in others)]
    return f"{some_of(parts, 3)}, counted as 0"


def scope_of(metadata: Mapping[str, Any], measures: Iterable[object], *, per_topic: bool = False) -> str:
    """Return heading text on the topics and the estimand, with conditions."""
    n = len(metadata.get("query_ids", ()))
    deep = metadata.get("estimand", "complete") == "complete"
    extra = "" if deep else ", unjudged documents below the pool depth nonrelevant"
    clauses = [text for text in (missing_topics(metadata), conditions(metadata, measures)) if text]
    return "; ".join([f"{'on each of' if per_topic else 'mean over'} {counted(n, 'topic')}{extra}", *clauses])


def readable(
    table: Table,
    metadata: Mapping[str, Any],
    arrangement: Arrangement | None = None,
    *,
    best_first: bool = False,
) -> Table:
    """Add the view that people read: a row per run (on a topic) and measure, a column per estimator.

    ``metadata`` are those of the scores; ``best_first`` sorts rows within a measure by the first posterior.
    """
    arrangement, frame = arrangement or Arrangement(), table.frame
    estimators = estimators_in(frame)
    check_arrangement(arrangement, list(estimators))
    keys = ["run_id", *["query_id"] * ("query_id" in frame)]
    rows_of = {str(measure): rows for measure, rows in frame.groupby("measure", sort=False)}
    orders = {measure: _order(rows, keys, arrangement) for measure, rows in rows_of.items()}
    if arrangement.sort or arrangement.top:
        ordered = [order.merge(rows_of[measure], on=keys) for measure, order in orders.items()]
        frame = pd.concat(ordered)[list(frame)]
    n_shown, n_all = (len(rows[keys].drop_duplicates()) for rows in (frame, table.frame))
    some = f", {n_shown} of {n_all} {'runs' if len(keys) == 1 else 'rows'}" if n_shown < n_all else ""
    parts = _parts_for(arrangement, table.frame)
    drawn = [name for name, has_interval in estimators.items() if has_interval and best_first]
    view = View(
        title=f"{' and '.join(rows_of)}, {scope_of(metadata, rows_of, per_topic=len(keys) > 1)}{some}",
        names=(*keys, *["measure"] * (len(rows_of) > 1)),
        columns=parts,
        where={} if len(rows_of) > 1 else {"measure": next(iter(rows_of))},
        sort=f"-{drawn[0]}" if drawn else "",
        spare=_spare(frame, metadata) if arrangement.columns is None else (),
        note=_legend(frame, parts, metadata),
    )
    return replace(table, frame=frame, views=(view,))


def distance_views(frame: pd.DataFrame) -> tuple[View, ...]:
    """Return a view of runs' distances from the pool for the first estimator that has them, if any."""
    rows = frame[frame["distance"].notna()]
    if rows.empty:
        return ()
    return (
        View(
            title="Distance of runs from the pool",
            names=("run_id",),
            columns=("distance", "new_kind"),
            where={name: str(rows[name].iloc[0]) for name in ("measure", "estimator")},
            sort="-distance",
            note=_DISTANCES,
        ),
    )


def _intervals(frame: pd.DataFrame) -> tuple[str | IntervalColumn, ...]:
    """Return the columns beside a mean: its interval, those of a wider scope, and the mean without labels."""
    without = UNLABELED[:1] if UNLABELED[0] in frame else ()
    if "population_by" in frame:
        return (IntervalColumn(), _THERE, "unjudged_variance", *without)
    return (IntervalColumn(), *without)


def _lambda(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the column of λ, of the anti-precision correction, if there is one."""
    return ("lambda",) if "lambda" in frame else ()


def _parts(frame: pd.DataFrame, names: Sequence[str]) -> tuple[ViewColumn, ...]:
    """Return the columns of a view, given names from `SCORE_COLUMNS`, estimators, ``default`` or ``all``."""
    values = frame[frame["value"].notna()] if frame["value"].notna().any() else frame
    estimators = estimators_in(values)
    points = tuple(name for name, has_interval in estimators.items() if not has_interval)
    drawn = tuple(name for name, has_interval in estimators.items() if has_interval)
    ends = _intervals(frame)
    there = [_THERE] * ("population_by" in frame and not drawn)
    of_points: tuple[str | IntervalColumn, ...] = ("value", *_lambda(frame), *there)
    parts: list[ViewColumn] = []
    for name in names:
        if name in ("all", "default"):
            of_runs = [c.asked_as for c in RUN_COLUMNS if c.is_shown or name == "all"]
            beside = {HIERARCHICAL_FORMS.get(name) for name in points}
            answers = (name for name in drawn if name not in beside)
            parts += _parts(frame, list(dict.fromkeys((*of_runs, *answers, *estimators))))
        elif name in BOUNDS:
            parts.append(BOUNDS[name])
        elif name == "estimates":
            parts.append(_spread(("value", *_lambda(frame)), points))
        elif name == "mean":
            parts.append(_spread(("value", *ends) if "interval" in names else ("value",), drawn))
        elif name == "interval":
            prob = frame["ci_prob"].max()
            parts += [] if "mean" in names else [_spread(ends, drawn, f"{level(prob)}\ninterval")]
        elif name in ("lambda", "distance", "new-kind"):
            column = name.replace("-", "_")
            rows_with_value = frame[frame[column].notna()] if column in frame else frame[:0]
            parts.append(_spread((column,), tuple(estimators_in(rows_with_value)), COLUMNS[column].label))
        else:
            parts.append(_spread(("value", *ends) if name in drawn else of_points, (name,)))
    return tuple(parts)


def _spread(
    columns: tuple[str | IntervalColumn, ...], estimators: tuple[str, ...], label: str = "{}"
) -> Pivot:
    labels = {name: _heading(name) for name in estimators}
    return Pivot(columns, "estimator", labels, label, values=estimators)


def _heading(estimator: str) -> str:
    r"""Return the heading of an estimator's column, with the settings of a variant on a line of their own.

    Examples
    --------
    >>> _heading("topics-adjustment(base='condensed-list', n_draws=100)")
    'topics\nadjust.\n(condensed-list, n_draws=100)'
    >>> _heading("posterior-ratio + (1 | type)")
    'posterior\nratio\n+ (1 | type)'
    """
    base, effects = split_effects(estimator)
    name, _, settings = base.partition("(")
    label = ESTIMATORS[name].label if name in ESTIMATORS else name.replace("posterior-", "posterior\n")
    values = re.sub(r"\w+='([^']*)'", r"\1", settings)  # a text says enough without its name
    return "\n".join([label, *[f"({values}"] * bool(values), *[f"+ {effects}"] * bool(effects)])


def _parts_for(arrangement: Arrangement, frame: pd.DataFrame) -> tuple[ViewColumn, ...]:
    """Return the columns of an arrangement's view, with a short heading for a sole mean in narrow tables."""
    parts = _parts(frame, arrangement.columns or ("default",))
    mean = ("value", IntervalColumn())
    means = [part for part in parts if isinstance(part, Pivot) and part.columns == mean]
    if arrangement.width != "column" or len(means) != 1 or len(means[0].values or ()) != 1:
        return parts
    short = replace(means[0], labels=dict.fromkeys(means[0].values or (), "mean"))
    return tuple(short if part is means[0] else part for part in parts)


def _order(rows: pd.DataFrame, keys: list[str], arrangement: Arrangement) -> pd.DataFrame:
    """Return the sorted row names for one measure, limited to the requested top rows."""
    key = arrangement.sort or ("mean" if arrangement.top is not None else None)
    if key is None or key == "run":
        names = rows[keys].drop_duplicates()
        names = names if key is None else names.sort_values("run_id", kind="stable")
    else:
        estimators = estimators_in(rows)
        first = main_estimator(rows) or next(iter(estimators))
        estimator_rows = rows[rows["estimator"] == (key if key in estimators else first)]
        column = "value" if key in estimators or key == "mean" else BOUNDS.get(key, key.replace("-", "_"))
        if key == "interval":
            numbers = estimator_rows["upper"] - estimator_rows["lower"]
        elif column in estimator_rows and estimator_rows[column].notna().any():
            numbers = estimator_rows[column]
        else:
            raise InputError(f"cannot sort by {key!r}: these scores have no such column")
        names = estimator_rows[keys].iloc[np.argsort(-np.nan_to_num(numbers, nan=-np.inf), kind="stable")]
    return names if arrangement.top is None else names.head(arrangement.top)


def _spare(frame: pd.DataFrame, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that a narrow terminal does without: corrections, then bounds with a pool."""
    has_interval = estimators_in(frame)
    points = [
        BOUNDS.get(name, name)
        for name, has in has_interval.items()
        if not has and HIERARCHICAL_FORMS.get(name) not in has_interval
    ]
    lambdas = [f"{name} lambda" for name in has_interval] if "lambda" in frame else []
    bounds = [c.name for c in reversed(RUN_COLUMNS) if c.is_spare and _has_pool(metadata)]
    last = ["as_judged"] * _has_pool(metadata)
    return (*lambdas, *(points if any(has_interval.values()) else []), *bounds, *last)


def ideal_sentence(ideals: Mapping[str, str]) -> str:
    """Return a sentence of a legend on the ideal rankings of measures, by name; empty without any.

    Examples
    --------
    >>> ideal_sentence({"nDCG(ideal='judged')@10": "judged"})
    "Ideal ranking of nDCG(ideal='judged')@10: the judged documents alone."
    """
    of = {ideal: [m for m, its in ideals.items() if its == ideal] for ideal in _IDEALS}
    clauses = [f"of {', '.join(names)}: {_IDEALS[ideal]}" for ideal, names in of.items() if names]
    return f"Ideal ranking {'; '.join(clauses)}." if clauses else ""


def _legend(frame: pd.DataFrame, parts: Sequence[ViewColumn], metadata: Mapping[str, Any]) -> str:
    """Return sentences that explain the columns of a table."""
    shown, has_bounds = _shown(parts), "bound_lower" in parts
    drawn = [name for name, has in estimators_in(frame).items() if has and name in shown]
    posteriors, others = _posteriors_and_others(drawn)
    is_theirs = metadata.get("order") != "rank" and all(map(is_trec_eval_measure, frame["measure"].unique()))
    sentences = {
        f"As judged: unjudged documents are nonrelevant{', as trec_eval has it' if is_theirs else ''}.": (
            "as_judged" in parts
        ),
        "The score lies between the bounds, however the run's own unjudged documents are judged.": has_bounds,
        ideal_sentence(metadata.get("ideals", {})): True,
        **{column.legend: column.name in parts for column in RUN_COLUMNS},
        "λ: the indicator of pool bias, above 0 where anti-precision corrects.": (
            "lambda" in frame and frame.loc[frame["estimator"].isin(shown), "lambda"].notna().any()
        ),
        f"Posterior mean and interval ({', '.join(posteriors)}): only unjudged documents are uncertain.": (
            posteriors
        ),
        f"Intervals of corrections ({', '.join(others)}) are over which topics or documents were judged.": (
            others
        ),
        "On topics like these, intervals of corrections are a bootstrap over topics only.": (
            "population_by" in frame and not drawn
        ),
        "Topics like these: the topics are a sample, too; due to unjudged: the share of that variance "
        "which judging all documents would take away.": posteriors and "population_by" in frame,
    }
    return " ".join(sentence for sentence, is_needed in sentences.items() if sentence and is_needed)


def _shown(parts: Sequence[ViewColumn]) -> set[Any]:
    """Return the names of estimators shown in columns."""
    return {name for part in parts if isinstance(part, Pivot) for name in part.values or ()}


def _has_pool(metadata: Mapping[str, Any]) -> bool:
    """Return whether runs were scored by a pool."""
    return bool(metadata.get("pool", {}).get("n_pooled_runs", 1))


def notes_of(
    metadata: Mapping[str, Any],
    run_notes: Mapping[tuple[str, Any], Sequence[Note]],
    run_ids: Sequence[str],
    measures: Sequence[object],
) -> list[Note]:
    """Return notes on a collection, then those on runs that these do not say already."""
    but_depth = {**metadata, "estimand": "pooled"}  # what is below the pool depth is no note on it
    of_pool = {note for measure in measures for note in list_conditions(but_depth, [measure])}
    others = {key: [note for note in notes if note not in of_pool] for key, notes in run_notes.items()}
    return [*noted(metadata.get("pool_notes", ()), "scope"), *note_lines(others, run_ids, measures)]


def note_lines(
    run_notes: Mapping[tuple[str, Any], Sequence[Note]], run_ids: Sequence[str], measures: Sequence[object]
) -> list[Note]:
    """Return notes on runs, each once with its runs and measures, the gravest first, then those on most
    runs. Notes of more than two runs that differ in numbers alone are one, with the range of the numbers.
    """
    alike: dict[tuple[str, object], list[tuple[str, Note]]] = {}
    for (run, measure), notes in run_notes.items():
        for note in dict.fromkeys(notes):
            alike.setdefault((str(measure), likeness(note)), []).append((run, note))
    runs_of: dict[tuple[str, Note], list[str]] = {}
    for (measure, _), pairs in alike.items():
        whole = merged([note for _, note in pairs]) if len(pairs) > _MAX_ALIKE else None
        for run, note in pairs:
            runs_of.setdefault((measure, whole or note), []).append(run)
    measures_of: dict[tuple[tuple[str, ...], Note], list[str]] = {}
    for (measure, note), runs in runs_of.items():
        measures_of.setdefault((tuple(runs), note), []).append(measure)
    together: dict[tuple[int, tuple[str, ...], tuple[str, ...]], list[Note]] = {}
    for (who, note), where in measures_of.items():
        together.setdefault((note.severity, who, tuple(where)), []).append(note)
    lines = []
    for (_, who, of), texts in sorted(together.items(), key=lambda item: (item[0][0], -len(item[0][1]))):
        names = "all runs" if 1 < len(who) == len(run_ids) else some_of(who)
        under = "" if len(of) == len(measures) else f" ({', '.join(of)})"
        lines.append(Note(texts[0].kind, f"{names}: {'; '.join(texts)}{under}"))
    return lines
