"""Intervals with and without the labels of second judges."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, Judge
from bayespool.errors import InputError, warn_caller
from bayespool.measures import Measure
from bayespool.posterior import PosteriorEstimator

Row = dict[str, Any]
_Floats = npt.NDArray[np.float64]
IntervalsByJudge = Mapping[tuple[Measure, str], tuple[_Floats, _Floats, _Floats]]
"""Values and ends of intervals of runs, by measure and judge; the empty name means no judge."""

ALL_JUDGES = "all judges"
"""Name of all judges together."""


def compare_intervals(
    collection: Collection,
    run_ids: tuple[str, ...],
    measures: tuple[Measure, ...],
    estimator: PosteriorEstimator,
    *,
    ci_prob: float,
    report: Callable[[str], None] | None = None,
) -> tuple[Row, ...]:
    """Rows of the table ``runs`` of `JudgeCheck.frame`: values and intervals without labels, with those of
    each judge, and with all; without runs to score, each organization is left out in turn.
    """
    parts = _parts(collection, run_ids)
    judges: dict[str, tuple[Judge, ...]] = {judge.name: (judge,) for judge in collection.judges}
    if len(judges) > 1:
        judges[ALL_JUDGES] = collection.judges
    label_sets = {"": (), **judges}
    rows: dict[tuple[Measure, str], list[Row]] = {(m, name): [] for m in measures for name in judges}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number, (reduced, runs) in enumerate(parts, 1):
            intervals = {}
            part = "" if run_ids else f": organization {number} of {len(parts)} left out"
            for name, with_judges in label_sets.items():
                if report is not None:
                    report(f"estimating {f'with {name}' if name else 'without labels'}{part}")
                labeled = dataclasses.replace(reduced, judges=with_judges)
                for estimates in estimator.estimate(labeled, runs, measures):
                    intervals[estimates.measure, name] = (estimates.value, *estimates.interval(ci_prob))
            for measure, name in rows:
                rows[measure, name] += _rows(collection, runs, measure, name, intervals, ci_prob)
    _warn_once(caught)
    return tuple(row for group in rows.values() for row in group)


def interval_rows(rows: Sequence[Row]) -> list[Row]:
    """Rows of the table ``intervals``: means over those of runs."""
    table = []
    for measure, judge in dict.fromkeys((row["measure"], row["judge"]) for row in rows):
        of_judge = [row for row in rows if (row["measure"], row["judge"]) == (measure, judge)]
        without, width = (
            float(np.mean([row[f"width_{w}"] for row in of_judge])) for w in ("without", "with")
        )
        table.append(
            {
                "measure": measure,
                "judge": judge,
                "n_runs": len(of_judge),
                "width_without": without,
                "width_with": width,
                "saved": 1 - width / without if without else np.nan,
                "ci_prob": of_judge[0]["ci_prob"],
            }
        )
    return table


def _parts(collection: Collection, run_ids: tuple[str, ...]) -> list[tuple[Collection, tuple[str, ...]]]:
    """Groups of runs to score together, each with the pool without them."""
    if run_ids:
        return [(collection, run_ids)]
    pooled = np.flatnonzero(collection.pooled)
    own = collection.organization[pooled]
    if len(np.unique(own)) < 2:
        raise InputError(
            "intervals: no run to score, and no second organization in the pool to leave out",
            hint="name runs, or do without intervals",
        )
    groups = [tuple(collection.run_ids[r] for r in pooled[own == o]) for o in np.unique(own)]
    return [(collection.unpool(runs), runs) for runs in groups]


def _rows(
    collection: Collection,
    run_ids: Sequence[str],
    measure: Measure,
    judge: str,
    intervals: IntervalsByJudge,
    ci_prob: float,
) -> list[Row]:
    of_runs = collection.organization[collection.run_index(run_ids)]
    before_and_after = (zip(*intervals[measure, name], strict=True) for name in ("", judge))
    columns = zip(run_ids, of_runs, *before_and_after, strict=True)
    return [
        {
            "measure": str(measure),
            "judge": judge,
            "organization": collection.organizations[o],
            "run_id": run,
            **_columns("without", *before),
            **_columns("with", *after),
            "ci_prob": ci_prob,
        }
        for run, o, before, after in columns
    ]


def _columns(suffix: str, value: float, lower: float, upper: float) -> Row:
    values = {"value": value, "lower": lower, "upper": upper, "width": upper - lower}
    return {f"{name}_{suffix}": float(x) for name, x in values.items()}


def _warn_once(caught: Sequence[warnings.WarningMessage]) -> None:
    """Issue warnings again, one for those that differ in numbers only."""
    texts = {
        (warning.category, re.sub(r"\d+", "0", str(warning.message))): str(warning.message)
        for warning in caught
    }
    for (category, _), text in texts.items():
        warn_caller(text, category)
