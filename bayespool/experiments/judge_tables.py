"""Tables on second judges: agreement, absent labels, and widths of intervals with labels."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, Judge
from bayespool.errors import InputError
from bayespool.evidence import Estimand, GradeCounts, LabelConfusion, auc, kappas, label_lift
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.labels import KINDS_OF_DOCUMENTS, grade_names
from bayespool.experiments.running import Running, Work
from bayespool.experiments.settings import JudgesSettings
from bayespool.experiments.storage import Columns, add_rows
from bayespool.measures import Measure
from bayespool.posterior.preparation import DEPTHS
from bayespool.posterior.steps import rungs_of

Row = dict[str, Any]
ALL_JUDGES = "all judges"
"""Name of all judges together."""


class IntervalsWithLabels(Work):
    """Intervals without labels, with those of each judge, and with all, of runs that are scored together."""

    name: ClassVar[str] = "judges"
    parts_name: ClassVar[str] = "scores"

    def compute(
        self, collection: Collection, part: tuple[str, ...], settings: JudgesSettings
    ) -> tuple[Columns, dict[str, Any]]:
        """Rows of the table ``runs`` of `JudgeCheck`, of runs that leave the pool if they are in it."""
        judges: dict[str, tuple[Judge, ...]] = {judge.name: (judge,) for judge in collection.judges}
        if len(judges) > 1:
            judges[ALL_JUDGES] = collection.judges
        reduced, estimator = collection.unpool(part), settings.posterior()
        intervals: dict[tuple[Measure, str], tuple[Any, ...]] = {}
        for name, with_judges in {"": (), **judges}.items():
            labeled = dataclasses.replace(reduced, judges=with_judges)
            for estimates in estimator.estimate(labeled, part, settings.measures):
                ends = estimates.interval(settings.ci_prob)
                intervals[estimates.measure, name] = (estimates.value, *ends)
        own = collection.organization[collection.run_index(part)]
        rows: Columns = {}
        for measure, name in itertools.product(settings.measures, judges):
            row = {
                "measure": str(measure),
                "judge": name,
                "organization": [collection.organizations[o] for o in own],
                "run_id": list(part),
            }
            for which, of_labels in (("without", ""), ("with", name)):
                value, lower, upper = intervals[measure, of_labels]
                of_runs = {"value": value, "lower": lower, "upper": upper, "width": upper - lower}
                row |= {f"{column}_{which}": each for column, each in of_runs.items()}
            add_rows(rows, row | {"ci_prob": settings.ci_prob})
        return rows, {}

    def parts(self, collection: Collection, run_ids: tuple[str, ...]) -> list[tuple[str, ...]]:
        """The runs to score; or without any, those of each organization in turn."""
        if run_ids:
            return [run_ids]
        pooled = np.flatnonzero(collection.pooled)
        own = collection.organization[pooled]
        if len(np.unique(own)) < 2:
            raise InputError(
                "intervals: no run to score, and no second organization in the pool to leave out",
                hint="name runs, or do without intervals",
            )
        return [tuple(collection.run_ids[r] for r in pooled[own == o]) for o in np.unique(own)]


def compare_intervals(
    collection: Collection, run_ids: tuple[str, ...], settings: JudgesSettings, running: Running
) -> tuple[Row, ...]:
    """Rows of the table ``runs``, by measure and judge."""
    work = IntervalsWithLabels()
    results = work.run(collection, work.parts(collection, run_ids), settings, running)
    rows = [
        dict(zip(result.rows, values, strict=True))
        for result in results
        for values in zip(*result.rows.values(), strict=True)
    ]
    order = {key: i for i, key in enumerate(dict.fromkeys((row["measure"], row["judge"]) for row in rows))}
    return tuple(sorted(rows, key=lambda row: order[row["measure"], row["judge"]]))


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


Confusions = Mapping[tuple[Measure, str], LabelConfusion]
"""Judged documents by label and relevance, by measure and judge."""


def find_confusions(collection: Collection, measures: Sequence[Measure]) -> Confusions:
    """Judged documents by label and relevance; measures with the same levels and depth share one object."""
    by_key: dict[tuple[str, tuple[int, ...], int], LabelConfusion] = {}
    confusions = {}
    for measure in measures:
        levels = tuple(rung.rel for rung in rungs_of(collection, measure))
        depth = max(measure.cutoff, DEPTHS["documents"])
        for judge in collection.judges:
            key = judge.name, levels, depth
            if key not in by_key:
                by_key[key] = LabelConfusion.of(collection, judge, levels, cutoff=depth)
            confusions[measure, judge.name] = by_key[key]
    return confusions


def relevant_from(measure: Measure, confusion: LabelConfusion) -> tuple[int, ...]:
    """Thresholds of relevance that a measure reads: its own, or each level for a graded one."""
    return confusion.levels if measure.is_graded else confusion.levels[-1:]


def confusion_rows(confusions: Confusions) -> Iterator[Row]:
    """Rows of the table ``confusion`` of `bayespool.JudgeCheck`."""
    for (measure, judge), confusion in confusions.items():
        for documents in KINDS_OF_DOCUMENTS:
            names = (*grade_names(confusion.judge), "none")
            for name, row in zip(names, getattr(confusion, documents), strict=True):
                for level, n in zip((0, *confusion.levels), row.tolist(), strict=True):
                    first = {"measure": str(measure), "judge": judge, "documents": documents}
                    yield first | {"label": name, "relevance_from": level, "n": n}


def calibration_rows(confusions: Confusions, ci_prob: float) -> Iterator[Row]:
    """Rows of the table ``calibration``."""
    for first, *both in _counted(confusions):
        for documents, counted in zip(KINDS_OF_DOCUMENTS, both, strict=True):
            lower, upper = _wilson(counted.n_relevant, counted.n, ci_prob)
            for g, name in enumerate(grade_names(counted.judge)):
                n, n_relevant = int(counted.n[g]), int(counted.n_relevant[g])
                yield first | {
                    "documents": documents,
                    "label": name,
                    "n": n,
                    "n_relevant": n_relevant,
                    "share": n_relevant / n if n else np.nan,
                    "lower": lower[g],
                    "upper": upper[g],
                    "ci_prob": ci_prob,
                }


def agreement_rows(confusions: Confusions) -> Iterator[Row]:
    """Rows of the table ``agreement``."""
    for first, hidden, other in _counted(confusions):
        known = hidden if np.isnan(auc(other)) else other
        cut = None if np.isnan(auc(known)) or not len(kappas(known)) else int(kappas(known).argmax())
        for documents, counted in zip(KINDS_OF_DOCUMENTS, (hidden, other), strict=True):
            promised = float((counted.n * other.rate).sum()) if other.n.any() else np.nan
            yield first | {
                "documents": documents,
                "n": int(counted.n.sum()),
                "n_relevant": int(counted.n_relevant.sum()),
                "promised": promised,
                "auc": auc(counted),
                "kappa": np.nan if cut is None else float(kappas(counted)[cut]),
                "label_from": np.nan if cut is None else counted.judge.thresholds[cut],
            }


def coverage_rows(
    collection: Collection, run_ids: Sequence[str], confusions: Confusions, estimand: Estimand
) -> Iterator[Row]:
    """Rows of the table ``coverage``."""
    for (measure, judge), confusion in confusions.items():
        unjudged = np.zeros(0, dtype=np.int32)
        if run_ids:
            of_runs = unjudged_documents(collection, run_ids, cutoff=measure.cutoff, estimand=estimand)
            unjudged = np.unique(of_runs[3])
        is_labeled, judged = confusion.judge.is_labeled, collection.judged
        for documents, n, n_labeled in (
            ("judged", judged.sum(), is_labeled[judged].sum()),
            ("hidden", confusion.hidden.sum(), confusion.hidden[:-1].sum()),
            ("unjudged", len(unjudged), is_labeled[unjudged].sum()),
        ):
            yield {
                "measure": str(measure),
                "judge": judge,
                "documents": documents,
                "n": int(n),
                "n_labeled": int(n_labeled),
                "share": float(n_labeled / n) if n else np.nan,
            }


def organization_rows(collection: Collection, measures: Sequence[Measure]) -> Iterator[Row]:
    """Rows of the table ``organizations``."""
    for measure in measures:
        for judge in collection.judges:
            for rung in rungs_of(collection, measure):
                lifts = label_lift(collection, judge, rel=rung.rel, given=rung.given)
                for o in np.flatnonzero(lifts.n):
                    yield {
                        "measure": str(measure),
                        "judge": judge.name,
                        "relevant_from": rung.rel,
                        "given": rung.given,
                        "organization": collection.organizations[o],
                        "n": int(lifts.n[o]),
                        "lift": float(lifts.lift[o]),
                        "se": float(lifts.error[o]),
                        "favored": bool(lifts.is_favored[o]),
                    }


def _counted(confusions: Confusions) -> Iterator[tuple[Row, GradeCounts, GradeCounts]]:
    """First cells of a row, with hidden and other documents by grade."""
    for (measure, judge), confusion in confusions.items():
        for rel in relevant_from(measure, confusion):
            hidden, other = (confusion.by_grade(documents, rel) for documents in KINDS_OF_DOCUMENTS)
            yield {"measure": str(measure), "judge": judge, "relevant_from": rel}, hidden, other


def _wilson(
    count: npt.NDArray[np.int64], n: npt.NDArray[np.int64], ci_prob: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Ends of Wilson's interval of shares, each of shape (grade,); NaN without documents."""
    from statsmodels.stats.proportion import proportion_confint

    lower, upper = np.full(len(n), np.nan), np.full(len(n), np.nan)
    is_positive = n > 0
    lower[is_positive], upper[is_positive] = proportion_confint(
        count[is_positive], n[is_positive], alpha=1 - ci_prob, method="wilson"
    )
    return lower, upper
