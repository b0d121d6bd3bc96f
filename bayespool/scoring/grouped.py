"""Scores by group of topics, and means of groups with equal weight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayespool.arrays import AnyArray, FloatArray
from bayespool.evidence import Bounds
from bayespool.measures import Estimates, Measure
from bayespool.measures.groups import ALL_TOPICS, MEAN_OF_GROUPS, Groups, groups_text
from bayespool.measures.populations import estimate_groups, estimate_population
from bayespool.names import Scope
from bayespool.scoring.score_tables import conditions, main_estimator, missing_topics
from bayespool.tables.formatting import interval, level, number
from bayespool.tables.table import Column, IntervalColumn, Pivot, Table, View

GROUP_COLUMNS = {
    "group": Column("group", "text", "Group of topics; mean of groups: with equal weight."),
    "n_topics": Column("topics", "count", "Number of topics."),
    "groups_lower": Column("groups from", "score", "Lower end of the interval on groups like these."),
    "groups_upper": Column("groups to", "score", "Upper end of the interval on groups like these."),
}
_THERE = {
    scope: IntervalColumn(f"{scope}_lower", f"{scope}_upper", f"on {kind}\nlike these")
    for scope, kind in (("population", "topics"), ("groups", "groups"))
}
_MAX_RUNS = 6


def groups_table(frame: pd.DataFrame, groups: Groups, metadata: Mapping[str, Any]) -> Table:
    """Return the table ``groups``: a row per run, measure, estimator and part, which is a group of topics,
    the mean of groups or all topics.
    """
    views = []
    for measure, rows in frame.groupby("measure", sort=False):
        estimator = main_estimator(rows) or str(rows["estimator"].iloc[0])
        has_interval = bool(rows.loc[rows["estimator"] == estimator, "ci_prob"].notna().any())
        whole: tuple[Any, ...] = ("as_judged",)
        whole += ("value", IntervalColumn()) if has_interval else ()
        whole += tuple(column for column in _THERE.values() if column.lower in frame)
        texts = [missing_topics(metadata), conditions(metadata, [measure])]
        title = f"{measure} by group of topics, and mean of {len(groups.names)} groups with equal weight"
        asked: dict[str, Any] = {"title": "; ".join(filter(None, [title, *texts]))}
        asked |= {"where": {"measure": measure, "estimator": estimator}}
        if frame["run_id"].nunique() <= _MAX_RUNS:
            views.append(View(names=("group", "run_id"), columns=("n_topics", *whole), **asked))
            continue
        value = "value" if has_interval else "as_judged"
        columns = (
            Pivot((value,), "group", values=groups.names),
            Pivot(whole, "group", values=(MEAN_OF_GROUPS, ALL_TOPICS), grouped=True),
        )
        views.append(View(names=("run_id",), columns=columns, sort=f"-{value}", **asked))
    return Table("groups", "Scores by group of topics", frame, GROUP_COLUMNS, tuple(views))


def groups_frame(
    bounds: Mapping[Measure, Bounds],
    estimates: Iterable[Estimates],
    groups: Groups,
    *,
    scope: Scope,
    ci_prob: float,
    random_seed: int,
) -> pd.DataFrame:
    """Return the frame of `groups_table`."""
    rows = (
        columns
        for e in estimates
        for columns in _columns(bounds[e.measure], e, groups, scope, ci_prob, random_seed)
    )
    return pd.concat(map(pd.DataFrame, rows), ignore_index=True)


def _columns(
    bounds: Bounds, e: Estimates, groups: Groups, scope: Scope, ci_prob: float, random_seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the columns of an estimator, by group."""

    def parts(values: AnyArray) -> FloatArray:  # by group, mean of groups and mean of topics
        whole = [groups.mean(values)[..., None], values.mean(axis=-1)[..., None]]
        return np.concatenate([groups.by_group(values), *whole], axis=-1)

    columns = {"as_judged": parts(bounds.low.scores()), "bound_lower": parts(bounds.least.scores())}
    columns |= {"bound_upper": parts(bounds.most.scores())}
    here = estimate_groups(e, groups, ci_prob=ci_prob)
    over = (e.value, *e.interval(ci_prob))
    columns |= _joined(("value", "lower", "upper"), here, over)
    if scope != "these-topics":
        _, *ends = estimate_groups(e, groups, "population", ci_prob, random_seed=random_seed)
        there = estimate_population(e, ci_prob, random_seed=random_seed)
        columns |= _joined(("population_lower", "population_upper"), ends, (there.lower, there.upper))
        if scope == "groups":  # a sample of the mean of groups alone
            _, *ends = estimate_groups(e, groups, "groups", ci_prob, random_seed=random_seed)
            for name, end in zip(("groups_lower", "groups_upper"), ends, strict=True):
                columns[name] = np.full_like(columns["value"], np.nan)
                columns[name][:, -2] = end[:, -1]
    n_topics = [*groups.n_topics.tolist(), len(groups.labels), len(groups.labels)]
    for k, (name, n) in enumerate(zip((*groups.names, MEAN_OF_GROUPS, ALL_TOPICS), n_topics, strict=True)):
        keys: dict[str, Any] = {"run_id": np.array(e.run_ids, dtype=object), "measure": str(e.measure)}
        keys |= {"estimator": e.estimator, "group": name, "n_topics": n}
        keys |= {"ci_prob": np.nan if e.draws is None else ci_prob}
        yield keys | {column: values[:, k] for column, values in columns.items()}


def _joined(
    names: Sequence[str], by_group: Sequence[FloatArray], over: Sequence[FloatArray]
) -> dict[str, FloatArray]:
    """Return columns by group and of the mean of groups, with that of all topics joined to them."""
    pairs = zip(names, by_group, over, strict=True)
    return {name: np.column_stack([values, whole]) for name, values, whole in pairs}


def group_sentences(frame: pd.DataFrame, groups: Groups, scope: Scope) -> Iterator[str]:
    """Yield a sentence for each measure on means of groups: of few runs all, else the highest."""
    for measure, rows in frame.groupby("measure", sort=False):
        estimator = main_estimator(rows)
        by, value = (estimator, "value") if estimator else (rows["estimator"].iloc[0], "as_judged")
        rows = rows[rows["estimator"] == by].sort_values(value, ascending=False, kind="stable")
        means, over = (rows[rows["group"] == name] for name in (MEAN_OF_GROUPS, ALL_TOPICS))
        n = int(over["n_topics"].iloc[0])
        shown = means if len(means) <= _MAX_RUNS else means[:1]
        texts = []
        for row in shown.to_dict("records"):
            ends = "as judged"
            if estimator:
                ends = f"{level(row['ci_prob'])} interval {interval(row['lower'], row['upper'], 3)}, {by}"
            if there := _THERE.get(scope):
                label = there.label.replace("\n", " ")
                ends += f"; {label} {interval(row[there.lower], row[there.upper], 3)}"
            texts.append(f"{row['run_id']} is {number(row[value], 3)} ({ends})")
        which = (
            f"the {measure}"
            if len(shown) == len(means)
            else f"the highest of {len(means)} runs, the {measure}"
        )
        text = f"As a mean of {groups_text(groups)}, {which} of {', that of '.join(texts)}"
        highest = ", ".join(
            f"{row['run_id']} {number(row[value], 3)}" for row in over[: len(shown)].to_dict("records")
        )
        yield f"{text}; over all {n} topics: {highest}."
