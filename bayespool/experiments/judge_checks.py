"""Checks of second judges: agreement of labels with judgments, favored organizations, unlabeled documents,
and narrower intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from bayespool.collection import Collection, Judge
from bayespool.collection.own import check_own_judgments
from bayespool.errors import InputError
from bayespool.experiments.base import metadata_of
from bayespool.experiments.judge_tables import (
    Confusions,
    IntervalsWithLabels,
    Row,
    agreement_rows,
    calibration_rows,
    compare_intervals,
    confusion_rows,
    coverage_rows,
    find_confusions,
    interval_rows,
    organization_rows,
    relevant_from,
)
from bayespool.experiments.running import Running, in_parts
from bayespool.experiments.settings import JudgesSettings
from bayespool.measures import Measure
from bayespool.posterior.second_judges import judge_problems
from bayespool.report.result import Figure, Result
from bayespool.scoring import find_targets
from bayespool.scoring.scoring import warn_of_unused_relevance
from bayespool.tables.columns import Column
from bayespool.tables.formatting import level, number, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Ends, Spread, Table, View

_CAPTIONS = {
    "agreement": "Agreement of labels with judgments",
    "confusion": "Judged documents by label and relevance",
    "calibration": "Share of relevant documents by label",
    "coverage": "Documents with labels",
    "organizations": "Whom judges favor",
    "intervals": "Mean width of intervals with labels and without",
    "runs": "Intervals run by run",
}
_OF_ALL = {
    "judge": Column("judge", "method", "The judge."),
    "documents": Column(
        "documents",
        "text",
        "Hidden ones, which one organization alone contributed, down to the depth of the evidence, and other "
        "judged ones that some run ranks in its top 30.",
    ),
    "label": Column("label", "text", "A grade of the judge, or none."),
    "relevant_from": Column("relevant\nfrom", "count", "Relevant is a document of this relevance or more."),
    "n": Column("number", "count", "Number of documents."),
    "n_relevant": Column("relevant", "count", "Relevant documents."),
}
_CONFUSION = _OF_ALL | {
    "relevance_from": Column("relevance\nfrom", "count", "0, or where a level of relevance begins."),
}
_CALIBRATION = _OF_ALL | {
    "share": Column("relevant", "chance", "Share of relevant documents."),
    "lower": Column("from", "chance", "Lower end of Wilson's interval of that share."),
    "upper": Column("to", "chance", "Upper end of that interval."),
}
_AGREEMENT = _OF_ALL | {
    "n": Column("labeled", "count", "Labeled documents."),
    "promised": Column("promised", "count", "Relevant ones if each label had the rate of others."),
    "auc": Column(
        "AUC", "chance", "Chance that a relevant document has a higher label than another; ties half."
    ),
    "kappa": Column("κ", "chance", "Cohen's κ of relevance and of a label of label_from or more."),
    "label_from": Column("label\nfrom", "threshold", "Where κ of other documents, if any, is greatest."),
}
_COVERAGE = _OF_ALL | {
    "documents": Column("documents", "text", "Judged, hidden, or unjudged within the cutoff of the runs."),
    "n_labeled": Column("labeled", "count", "Those with labels."),
    "share": Column("share", "share", "Share of those with labels."),
}
_ORGANIZATIONS = _OF_ALL | {
    "given": Column("given", "count", "Lowest relevance of the documents that are compared."),
    "n": Column("documents", "count", "Judged and labeled ones in the top 10 of its runs."),
    "lift": Column(
        "lift", "difference", "How often they have higher labels than others as relevant, less ½."
    ),
    "se": Column("±", "score", "Standard error of the lift."),
    "favored": Column("favored", "flag", "Whether the judge favors the organization."),
}
_INTERVALS = {
    "judge": Column("labels of", "method", "Whose labels are used."),
    "width_without": Column("without", "score", "Width of the interval without labels, in means over runs."),
    "width_with": Column("with", "score", "Width of the interval with the judge's labels."),
    "saved": Column("narrower by", "share", "Share of the width that labels save."),
}
for _which in ("without", "with"):
    _INTERVALS |= {
        f"{_name}_{_which}": Column(f"{_label},\n{_which}", "score", f"{_help} {_which} labels of the judge.")
        for _name, _label, _help in (
            ("value", "estimate", "Estimate"),
            ("lower", "from", "Lower end of the interval"),
            ("upper", "to", "Upper end of the interval"),
        )
    }

_MIN_NOTED_LIFT = 0.005


@dataclass(frozen=True, eq=False, repr=False)
class JudgeCheck(Result):
    """Check of the labels of second judges on a collection.

    Its tables are `agreement` of labels with judgments, `confusion` (judged documents by label and
    relevance), `calibration` (shares of relevant documents by label), `coverage`, `organizations` (whom
    judges favor) and, if asked for, `intervals` and `runs`.

    Attributes
    ----------
    judges : tuple of Judge
    measures : tuple of Measure
    run_ids : tuple of str
        The runs to score; empty where each organization was left out in turn.
    confusions : mapping of (Measure, str) to LabelConfusion
        Judged documents by label and relevance, by measure and judge.
    problems : tuple of str
        Problems of the judges (`bayespool.posterior.judge_problems`).
    metadata : mapping
        Version, fingerprint and settings.
    """

    judges: tuple[Judge, ...]
    measures: tuple[Measure, ...]
    run_ids: tuple[str, ...]
    confusions: Confusions
    problems: tuple[str, ...]
    metadata: Mapping[str, Any]
    _coverage: tuple[Row, ...]
    _organizations: tuple[Row, ...]
    _runs: tuple[Row, ...]

    command = "judges"
    title = "What labels of second judges are worth"

    def __repr__(self) -> str:
        names = some_of((judge.name for judge in self.judges), 3)
        return one_line("JudgeCheck", f"{names}; {some_of(self.measures, 3)}")

    def notes(self) -> tuple[str, ...]:
        """The problems, and the nearest to favored organization of a judge that favors none."""
        lines = list(self.problems)
        for judge in self.judges:
            of_judge = [row for row in self._organizations if row["judge"] == judge.name]
            of_judge = [row for row in of_judge if row["lift"] == row["lift"]]
            is_used = not any(line.startswith(f"judge {judge.name} is not used") for line in self.problems)
            if not of_judge or any(row["favored"] for row in of_judge) or not is_used:
                continue
            most = max(of_judge, key=lambda row: row["lift"])
            message = f"judge {judge.name} favors no organization"
            if most["lift"] >= _MIN_NOTED_LIFT:
                in_100 = f"{number(50 + 100 * most['lift'], 1)} ± {number(100 * most['se'], 1)} of 100 pairs"
                message += (
                    f"; nearest is {most['organization']}: a document in the top 10 of its runs is labeled "
                    f"higher than one of others that is as relevant in {in_100}"
                )
            lines.append(message)
        return tuple(dict.fromkeys(lines))

    def relevant_from(self, measure: Measure) -> tuple[int, ...]:
        """Thresholds of relevance that a measure reads: its own, or each level for a graded one."""
        return relevant_from(measure, self.confusions[measure, self.judges[0].name])

    def table(self, name: str | None = None) -> Table:
        """One of the tables; `InputError` for one that there is not, or only with intervals."""
        if name in ("intervals", "runs") and not self._runs:
            raise InputError(f"no table {name!r}", hint="ask for intervals=True")
        return super().table(name)

    def tables(self) -> tuple[Table, ...]:
        """Agreement, confusion, calibration, coverage, organizations and, if asked for, intervals."""
        import pandas as pd

        groups, judges = self._measures_by_tables(), self.judges
        confusions = [self._confusion_view(group, judge) for group in groups for judge in judges]
        shares = [
            _share_view(group, judge, rel)
            for group in groups
            for judge in judges
            for rel in self.relevant_from(group[0])
        ]
        calibration = calibration_rows(self.confusions, self.metadata["ci_prob"])
        coverage, intervals = map(self._coverage_view, self.measures), map(self._interval_view, self.measures)

        def table(
            name: str, rows: Iterable[Row], columns: Mapping[str, Column], views: Iterable[View] = ()
        ) -> Table:
            return Table(name, _CAPTIONS[name], pd.DataFrame(list(rows)), columns, tuple(views))

        tables = (
            table("agreement", agreement_rows(self.confusions), _AGREEMENT, map(_agreement_view, groups)),
            table("confusion", confusion_rows(self.confusions), _CONFUSION, confusions),
            table("calibration", calibration, _CALIBRATION, shares),
            table("coverage", self._coverage, _COVERAGE, coverage),
            table("organizations", self._organizations, _ORGANIZATIONS),
        )
        if not self._runs:
            return tables
        return (
            *tables,
            table("intervals", interval_rows(self._runs), _INTERVALS, intervals),
            table("runs", self._runs, _INTERVALS),
        )

    def figures(self) -> tuple[Figure, ...]:
        """Shares of relevant documents by label."""
        from bayespool.plots.checks import draw_judges

        caption = "Share of relevant documents by label, of hidden documents and of others"
        return (Figure("labels", f"{caption} ({self.measures[0]})", partial(draw_judges, self)),)

    def _measures_by_tables(self) -> list[list[Measure]]:
        """Measures in groups that count the same documents and so have the same tables."""
        groups: dict[Any, list[Measure]] = {}
        for measure in self.measures:
            counted = tuple(id(self.confusions[measure, judge.name]) for judge in self.judges)
            groups.setdefault((counted, self.relevant_from(measure)), []).append(measure)
        return list(groups.values())

    def _confusion_view(self, measures: list[Measure], judge: Judge) -> View:
        levels = (0, *self.confusions[measures[0], judge.name].levels)
        names = {str(a): f"{a}" if b == a + 1 else f"{a}–{b - 1}" for a, b in pairwise(levels)}
        relevance = Spread(("n",), "relevance_from", labels=names | {str(levels[-1]): f"≥ {levels[-1]}"})
        return View(
            title=f"{_named(measures)}, judge {judge.name}: judged documents by label and relevance",
            names=("label",),
            columns=(Spread((relevance,), "documents", grouped=True),),
            where={"measure": str(measures[0]), "judge": judge.name},
        )

    def _coverage_view(self, measure: Measure) -> View:
        unjudged = f"Unjudged documents are those within rank {measure.cutoff} of the runs to score."
        return View(
            title=f"{measure}: documents with labels",
            names=("judge", "documents"),
            columns=("n", "n_labeled", "share"),
            where={"measure": str(measure)},
            note=unjudged if self.run_ids else "There is no run to score, and so no unjudged document.",
        )

    def _interval_view(self, measure: Measure) -> View:
        n_runs = len({row["run_id"] for row in self._runs})
        whose = "runs to score" if self.run_ids else "pooled runs, each organization left out"
        return View(
            title=f"{measure}: mean width of {level(self.metadata['ci_prob'])} intervals of {n_runs} {whose}",
            names=("judge",),
            columns=("width_without", "width_with", "saved"),
            where={"measure": str(measure)},
        )


def _named(measures: list[Measure]) -> str:
    return ", ".join(map(str, measures))


def _share_view(measures: list[Measure], judge: Judge, rel: int) -> View:
    return View(
        title=f"{_named(measures)}, judge {judge.name}: share of relevance {rel} or more by label",
        names=("label",),
        columns=(Spread(("n", "share", Ends()), "documents", grouped=True),),
        where={"measure": str(measures[0]), "judge": judge.name, "relevant_from": rel},
    )


def _agreement_view(measures: list[Measure]) -> View:
    return View(
        title=f"{_named(measures)}: agreement of labels with judgments",
        names=("judge", "relevant_from"),
        columns=(
            "label_from",
            Spread(("auc",), "documents", label="AUC\n{}"),
            Spread(("kappa",), "documents", label="κ\n{}"),
            Spread(("n_relevant",), "documents", label="relevant,\n{}", values=("hidden",)),
            Spread(("promised",), "documents", label="promised,\n{}", values=("hidden",)),
        ),
        where={"measure": str(measures[0])},
        keep_empty=True,
    )


@in_parts(JudgesSettings, IntervalsWithLabels)
def check_judges(
    collection: Collection,
    *,
    settings: JudgesSettings,
    running: Running,
    run_ids: str | Iterable[str] | None = None,
) -> JudgeCheck:
    """Check the labels of a collection's second judges.

    Parameters
    ----------
    collection : Collection
        With judges (`bayespool.read_collection`, `bayespool.collection.add_judges`).
    {options}
    run_ids : str or iterable of str, optional
        The runs to score, possibly none; default: as of `bayespool.score`.
    {running}

    Returns
    -------
    JudgeCheck

    Raises
    ------
    InputError
        No judge; unknown run or setting; intervals without a run to score or a second organization in the
        pool.
    {errors}

    Warns
    -----
    {warnings}

    Notes
    -----
    Hidden documents are those that the models learn from: judged, and contributed by one organization alone.
    Without it they would be unjudged, like the unjudged documents of a new run. Other judged documents,
    contributed by several organizations or none, are easier.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.collection import add_judges
    >>> from bayespool.collection import labels_from_frame
    >>> example = load_example()
    >>> labels = {q: {} for q in example.query_ids}
    >>> for pair in range(len(example.relevance)):  # right on all documents but every fourth
    ...     level = int(example.relevance[pair] > 0) if pair % 4 else pair % 8 // 4
    ...     labels[example.query_ids[example.pair_topic[pair]]][example.doc_id(pair)] = level
    >>> check = check_judges(add_judges(example, {"llm": labels_from_frame(labels)}), "P@10")
    >>> frame = check.to_frame()[["documents", "n", "n_relevant", "auc", "kappa"]]
    >>> print(frame.round(2).to_string(index=False))
    documents   n  n_relevant  auc  kappa
       hidden 614          63 0.87   0.52
        other 567         220 0.88   0.75
    """
    if not collection.judges:
        raise InputError("the collection has no judge", hint="--judge FILE, or judges= of read_collection")
    parsed, estimand = settings.measures, settings.estimand
    collection, targets = _targets(collection, run_ids, settings)
    warn_of_unused_relevance(collection, parsed)
    confusions = find_confusions(collection, parsed)
    runs: tuple[Row, ...] = ()
    if settings.intervals:
        runs = compare_intervals(collection, targets, settings, running)
    problems = judge_problems(collection, targets, parsed, estimand=estimand)
    return JudgeCheck(
        judges=collection.judges,
        measures=parsed,
        run_ids=targets,
        confusions=confusions,
        problems=problems,
        metadata=metadata_of(
            collection,
            settings,
            judges=[judge.name for judge in collection.judges],
            runs=list(targets),
            passed_over=list(collection.passed_over),
            problems=list(problems),
        ),
        _coverage=tuple(coverage_rows(collection, targets, confusions, estimand)),
        _organizations=tuple(organization_rows(collection, parsed)),
        _runs=runs,
    )


def _targets(
    collection: Collection,
    run_ids: str | Iterable[str] | None,
    settings: JudgesSettings,
) -> tuple[Collection, tuple[str, ...]]:
    """The pool of the requested depth and the runs to score, possibly none."""
    run_ids = (run_ids,) if isinstance(run_ids, str) else None if run_ids is None else tuple(run_ids)
    candidates = collection.unpooled_run_ids if run_ids is None else run_ids
    if not candidates and not settings.unpool:
        depth = settings.pool_depth
        return check_own_judgments(collection if depth is None else collection.truncate_pool(depth)), ()
    return find_targets(collection, run_ids, settings)[:2]
