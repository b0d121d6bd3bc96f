"""Checks of LLM judges: agreement of labels with judgments, favored organizations, unlabeled documents,
and narrower intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Unpack

import pandas as pd

from bayespool.arrays import Progress
from bayespool.collection import Collection, Judge
from bayespool.collection.collection import expect_collection
from bayespool.collection.own import check_own_judgments
from bayespool.errors import InputError
from bayespool.experiments.design import contributors, run_organizations
from bayespool.experiments.graded_runs import check_metadata, measure_view, ordered_table
from bayespool.experiments.judge_agreement import (
    Confusions,
    Row,
    agreement_rows,
    calibration_rows,
    confusion_rows,
    coverage_rows,
    describe_favor,
    draw_topics,
    find_confusions,
    find_verdict,
    organization_rows,
    ranking_rows,
    relevant_from,
    replicate_rows,
)
from bayespool.experiments.judge_disputes import disputed_documents, disputed_topics, find_disputes
from bayespool.experiments.running import Columns, Stored, Task, add_rows
from bayespool.experiments.settings import parsed_fields
from bayespool.measures import Measure
from bayespool.names import By, Estimand
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.notes import judge_problems
from bayespool.report.result import Figure, Result
from bayespool.scoring import find_targets
from bayespool.scoring.asked import Asked, AskedKeywords
from bayespool.scoring.cautions import warn_of_unused_relevance
from bayespool.tables.formatting import level, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, IntervalColumn, Pivot, Table, View
from bayespool.validation import described

ALL_JUDGES = "all judges"
"""Name for all judges combined."""


@dataclass(frozen=True, kw_only=True)
class JudgesSettings:
    """Settings of a check of judges, whose change invalidates stored intervals."""

    measures: tuple[Measure, ...]
    estimator: PosteriorEstimator
    unpool: tuple[str, ...] = ()
    unpool_by: By = "organization"
    repool_to: int | None = None
    estimand: Estimand = "complete"
    intervals: bool = False
    ci_prob: float = 0.95
    random_seed: int = 1

    def describe(self) -> dict[str, Any]:
        """Return the settings as JSON types."""
        return described(**vars(self))


class IntervalsWithLabels(Task):
    """Posterior intervals without labels, with the labels of each judge and with those of all judges."""

    name: ClassVar[str] = "judges"
    parts_name: ClassVar[str] = "scores"

    def compute(self, collection: Collection, part: tuple[str, ...], settings: JudgesSettings) -> Stored:
        """Return rows of the table ``runs`` for runs that are scored together.

        They leave the pool if they are in it.
        """
        judges: dict[str, tuple[Judge, ...]] = {judge.name: (judge,) for judge in collection.judges}
        if len(judges) > 1:
            judges[ALL_JUDGES] = collection.judges
        reduced, estimator = collection.unpool(part), settings.estimator
        intervals: dict[tuple[Measure, str], Row] = {}
        for name, with_judges in {"": (), **judges}.items():
            labeled, which = replace(reduced, judges=with_judges), "with" if name else "without"
            for estimates in estimator.estimate(labeled, part, settings.measures):
                lower, upper = estimates.interval(settings.ci_prob)
                ends = {"value": estimates.value, "lower": lower, "upper": upper, "width": upper - lower}
                intervals[estimates.measure, name] = {f"{key}_{which}": ends[key] for key in ends}
        organizations = run_organizations(collection, part)
        rows: Columns = {}
        for measure, name in product(settings.measures, judges):
            row: Row = {"measure": str(measure), "judge": name, "organization": organizations}
            row |= {"run_id": list(part), **intervals[measure, ""], **intervals[measure, name]}
            add_rows(rows, row | {"ci_prob": settings.ci_prob})
        return rows, {}

    def parts(self, collection: Collection, run_ids: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return groups of runs to score: the requested runs, or each organization's pooled runs."""
        if run_ids:
            return [run_ids]
        units = contributors(collection, "organization")
        if len(units) < 2:
            raise InputError(
                "intervals: no run to score, and no second organization in the pool to leave out",
                hint="name runs, or do without intervals",
            )
        return [units[name] for name in collection.organizations if name in units]


def _mean_widths(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``intervals``, with mean interval widths over runs."""
    groups = runs.groupby(["measure", "judge"], sort=False)
    means = groups[["width_without", "width_with", "ci_prob"]].mean()
    means.insert(0, "n_runs", groups.size())
    without, width = means["width_without"], means["width_with"]
    means.insert(3, "saved", (1 - width / without).where(without > 0))
    return means.reset_index()


_SHARED = {
    "judge": Column("judge", "text", "The judge."),
    "documents": Column(
        "documents", "text", "Hidden ones of one organization, or other judged ones of a top 30."
    ),
    "label": Column("label", "text", "A grade of the judge, or none."),
    "relevant_from": Column("relevant\nfrom", "count", "Relevant is a document of this relevance or more."),
    "n": Column("number", "count", "Number of documents."),
    "n_relevant": Column("relevant", "count", "Relevant documents."),
    "relevance_from": Column("relevance\nfrom", "count", "0, or where a level of relevance begins."),
    "share": Column("relevant", "chance", "Share of relevant documents."),
    "lower": Column("from", "chance", "Lower end of Wilson's interval of that share."),
    "upper": Column("to", "chance", "Upper end of that interval."),
}
_AGREEMENT = _SHARED | {
    "n": Column("labeled", "count", "Labeled documents."),
    "promised": Column("promised", "count", "Relevant ones expected by the rates of the other documents."),
    "auc": Column("AUC", "chance", "Probability that a relevant document is labeled higher; ties half."),
    "auc_lower": Column("AUC,\nfrom", "chance", "Lower end of its interval, over topics."),
    "auc_upper": Column("AUC,\nto", "chance", "Upper end of that interval."),
    "kappa": Column("κ", "chance", "Cohen's κ of relevance and of a label of label_from or more."),
    "kappa_lower": Column("κ,\nfrom", "chance", "Lower end of its interval, over topics."),
    "kappa_upper": Column("κ,\nto", "chance", "Upper end of that interval."),
    "weighted_kappa": Column("weighted\nκ", "chance", "κ of all levels, with quadratic weights."),
    "weighted_kappa_lower": Column("weighted κ,\nfrom", "chance", "Lower end of its interval, over topics."),
    "weighted_kappa_upper": Column("weighted κ,\nto", "chance", "Upper end of that interval."),
    "label_from": Column("label\nfrom", "threshold", "Where κ of other documents, if any, is greatest."),
}
_RANKING = _SHARED | {
    "n_runs": Column("runs", "count", "Runs of the pool."),
    "kendall_tau_b": Column("τ", "chance", "Kendall's τ_b of the runs by labels and by judgments."),
    "kendall_tau_b_lower": Column("τ, from", "chance", "Lower end of its interval, over topics."),
    "kendall_tau_b_upper": Column("τ, to", "chance", "Upper end of that interval."),
    "tau_ap": Column("τ_AP", "chance", "τ_AP, in which the top of the ranking weighs more."),
    "tau_ap_lower": Column("τ_AP, from", "chance", "Lower end of its interval, over topics."),
    "tau_ap_upper": Column("τ_AP, to", "chance", "Upper end of that interval."),
    "tau_of_best": Column("τ of the\nbest", "chance", "τ_b of the runs that are the ten best by judgments."),
    "tau_of_best_lower": Column("τ of the best,\nfrom", "chance", "Lower end of its interval, over topics."),
    "tau_of_best_upper": Column("τ of the best,\nto", "chance", "Upper end of that interval."),
    "false": Column("false", "chance", "Significant differences by labels that judgments do not have."),
    "false_lower": Column("false,\nfrom", "chance", "Lower end of its interval, over topics."),
    "false_upper": Column("false,\nto", "chance", "Upper end of that interval."),
    "missed": Column("missed", "chance", "Significant differences by judgments that labels do not have."),
    "missed_lower": Column("missed,\nfrom", "chance", "Lower end of its interval, over topics."),
    "missed_upper": Column("missed,\nto", "chance", "Upper end of that interval."),
}
_REPLICATES = _SHARED | {
    "n_replicates": Column("times", "count", "How often the judge was asked."),
    "same": Column("same\nlabel", "share", "Of two answers on a document, how often they are the same."),
    "auc_one": Column("AUC of\none", "chance", "AUC of the labels of one time, in the mean."),
    "auc": Column("AUC of\nmean", "chance", "AUC of the mean labels, which the models use."),
    "gain": Column("gain", "difference", "Difference of the two."),
    "gain_lower": Column("gain,\nfrom", "difference", "Lower end of its interval, over topics."),
    "gain_upper": Column("gain,\nto", "difference", "Upper end of that interval."),
}
_COVERAGE = _SHARED | {
    "documents": Column("documents", "text", "Judged, hidden, or unjudged within the cutoff of the runs."),
    "n_labeled": Column("labeled", "count", "Those with labels."),
    "share": Column("share", "share", "Share of those with labels."),
}
_ORGANIZATIONS = _SHARED | {
    "given": Column("given", "count", "Lowest relevance of the documents that are compared."),
    "n": Column("documents", "count", "Judged and labeled ones in the top 10 of its runs."),
    "false_negative_rate": Column("missed", "share", "Relevant documents labeled below ``label_from``."),
    "false_negative_rate_lower": Column("missed,\nfrom", "share", "Lower end of its interval, over topics."),
    "false_negative_rate_upper": Column("missed,\nto", "share", "Upper end of that interval."),
    "false_positive_rate": Column("false", "share", "Nonrelevant documents labeled ``label_from`` or more."),
    "false_positive_rate_lower": Column("false,\nfrom", "share", "Lower end of its interval, over topics."),
    "false_positive_rate_upper": Column("false,\nto", "share", "Upper end of that interval."),
    "lift": Column("lift", "difference", "Probability of a higher label than others as relevant, less ½."),
    "se": Column("±", "score", "Standard error of the lift."),
    "usual": Column("usual", "difference", "Median lift of all organizations."),
    "limit": Column("limit", "difference", "Lift over which the judge favors the organization."),
    "favored": Column("favored", "flag", "Whether the judge favors the organization."),
}
_DISPUTED = _SHARED | {
    "query_id": Column("topic", "text", "Topics or documents that differ most come first."),
    "n": Column("documents", "count", "Judged and labeled ones in the top 30 of a run."),
    "difference": Column("levels\napart", "count", "Sum of the levels between label and judgment."),
    "expected": Column("expected", "count", "That sum by the same labels on the other topics."),
    "p_value": Column("p", "p-value", "Of so large a sum, adjusted (Benjamini and Hochberg)."),
    "disputed": Column("disputed", "flag", "Whether that is under 0.05."),
    "doc_id": Column("document", "text", "A judged document."),
    "relevance": Column("judged", "count", "Its judgment."),
    "label": Column("label", "threshold", "Its label."),
    "chance": Column("probability", "chance", "Of a judgment as far from the label on other topics."),
}
_INTERVALS = {
    "judge": Column("labels of", "text", "Whose labels are used."),
    "width_without": Column("without", "score", "Width of the interval without labels, in means over runs."),
    "width_with": Column("with", "score", "Width of the interval with the judge's labels."),
    "saved": Column("narrower by", "share", "Share of the width that labels save."),
    "value_without": Column("estimate,\nwithout", "score", "Estimate without labels of the judge."),
    "lower_without": Column("from,\nwithout", "score", "Lower end of the interval without labels."),
    "upper_without": Column("to,\nwithout", "score", "Upper end of the interval without labels."),
    "value_with": Column("estimate,\nwith", "score", "Estimate with labels of the judge."),
    "lower_with": Column("from,\nwith", "score", "Lower end of the interval with labels."),
    "upper_with": Column("to,\nwith", "score", "Upper end of the interval with labels."),
}

_TABLES = {
    "agreement": ("Agreement of labels with judgments", _AGREEMENT),
    "ranking": ("Runs ranked and tested by labels alone", _RANKING),
    "replicates": ("Judges that were asked several times", _REPLICATES),
    "confusion": ("Judged documents by label and relevance", _SHARED),
    "calibration": ("Share of relevant documents by label", _SHARED),
    "coverage": ("Documents with labels", _COVERAGE),
    "organizations": ("Whom judges favor", _ORGANIZATIONS),
    "disputed_topics": ("Topics on which judge and assessors differ", _DISPUTED),
    "disputed_documents": ("Documents on which judge and assessors differ most", _DISPUTED),
    "intervals": ("Mean width of intervals with labels and without", _INTERVALS),
    "runs": ("Intervals run by run", _INTERVALS),
}
"""Captions and columns of the tables."""

_HEADS = (
    "Documents of this relevance or more are relevant, and labels of this or more say so: where κ of other "
    "documents is greatest. Hidden documents are those that one organization alone contributed, like the "
    "unjudged ones of a new run; other ones a run has in its top 30. Promised: relevant documents that the "
    "labels would have if they were worth as much as on the other ones."
)
_N_SHOWN = 5  # disputed topics and documents in the terminal


@dataclass(frozen=True, eq=False, repr=False)
class JudgeCheck(Result):
    """Result from `bayespool.check_judges`, a check of LLM judges' labels on a collection.

    Its tables are `agreement` of labels with judgments, `ranking` (runs ranked and tested by labels),
    `replicates` (judges asked several times), `confusion` (judged documents by label and relevance),
    `calibration` (shares of relevant documents by label), `coverage`, `organizations` (whom judges favor, and
    on whom they err), `disputed_topics`, `disputed_documents` and, if asked for, `intervals` and `runs`.

    Attributes
    ----------
    judges : tuple of Judge
    measures : tuple of Measure
    run_ids : tuple of str
        The runs to score; empty where each organization was left out in turn.
    confusions : mapping of (Measure, str) to LabelConfusion
        Judged documents by label and relevance, by measure and judge.
    problems : tuple of Note
        Problems of the judges (`bayespool.posterior.judge_problems`).
    metadata : mapping
        Version, fingerprint and settings.
    """

    judges: tuple[Judge, ...]
    measures: tuple[Measure, ...]
    run_ids: tuple[str, ...]
    confusions: Confusions
    problems: tuple[Note, ...]
    metadata: Mapping[str, Any]
    _frames: Mapping[str, pd.DataFrame]

    command = "judges"
    begins_with_sentences = True
    title = "What labels of LLM judges are worth"

    def __repr__(self) -> str:
        names = some_of((judge.name for judge in self.judges), 3)
        return one_line("JudgeCheck", f"{names}; {some_of(self.measures, 3)}")

    def notes(self) -> tuple[Note, ...]:
        """Return problems, and for each judge the organization closest to being favored, or what is usual."""
        lines, unused = list(self.problems), [n.values[0] for n in self.problems if n.kind == "judge-unused"]
        known = self._frames["organizations"].dropna(subset=["lift"])
        for judge, rows in known.groupby("judge", sort=False):
            if judge not in unused:
                lines.append(Note("judge", describe_favor(rows, str(judge))))
        return tuple(dict.fromkeys(lines))

    def sentences(self) -> tuple[str, ...]:
        """Return for each judge what its labels may be used for, under the first measure."""
        return tuple(find_verdict(self._frames, str(self.measures[0]), judge.name) for judge in self.judges)

    def table(self, name: str | None = None) -> Table:
        """Return one of the tables, or raise `InputError` if it is unknown or needs intervals."""
        if name in _TABLES and name not in self._frames:
            raise InputError(f"no table {name!r}", hint="ask for intervals=True")
        return super().table(name)

    def tables(self) -> tuple[Table, ...]:
        """Return tables on agreement, confusion, calibration, coverage, organizations and, if requested,
        intervals.
        """
        groups = self._measures_by_tables()
        pairs = list(product(groups, self.judges))
        views: dict[str, Iterable[View]] = {
            "agreement": map(_agreement_view, groups),
            "ranking": (_ranking_view(measure) for measure in self.measures if len(self._frames["ranking"])),
            "replicates": (_replicate_view(group) for group in groups if len(self._frames["replicates"])),
            "confusion": (self._confusion_view(*pair) for pair in pairs),
            "calibration": (
                _share_view(group, judge, rel)
                for group, judge in pairs
                for rel in relevant_from(group.measure, self.confusions[group.measure, judge.name])
            ),
            "coverage": map(self._coverage_view, self.measures),
            "disputed_topics": (_topics_view(*pair) for pair in pairs),
            "disputed_documents": (_documents_view(*pair) for pair in pairs),
            "intervals": map(self._interval_view, self.measures if "runs" in self._frames else ()),
        }
        return tuple(
            Table(name, _TABLES[name][0], frame.copy(), _TABLES[name][1], tuple(views.get(name, ())))
            for name, frame in self._frames.items()
        )

    def figures(self) -> tuple[Figure, ...]:
        """Return a figure with the share of relevant documents for each label."""
        from bayespool.plots.experiments import draw_judges

        caption = "Share of relevant documents by label, of hidden documents and of others"
        return (Figure("labels", f"{caption} ({self.measures[0]})", partial(draw_judges, self)),)

    def _measures_by_tables(self) -> list[_Group]:
        """Return groups of measures that count the same documents and so have the same tables."""
        groups: dict[Any, list[Measure]] = {}
        for measure in self.measures:
            confusions = [self.confusions[measure, judge.name] for judge in self.judges]
            key = tuple(map(id, confusions)), relevant_from(measure, confusions[0])
            groups.setdefault(key, []).append(measure)
        about = [", ".join(map(str, group)) for group in groups.values()] if len(groups) > 1 else [""]
        return [_Group(group[0], text) for group, text in zip(groups.values(), about, strict=True)]

    def _confusion_view(self, group: _Group, judge: Judge) -> View:
        levels = (0, *self.confusions[group.measure, judge.name].levels)
        names = {str(a): f"{a}" if b == a + 1 else f"{a}–{b - 1}" for a, b in pairwise(levels)}
        relevance = Pivot(("n",), "relevance_from", labels=names | {str(levels[-1]): f"≥ {levels[-1]}"})
        title = f"judge {judge.name}: judged documents by label and relevance"
        return group.view(title, ("label",), (Pivot((relevance,), "documents", grouped=True),), judge=judge)

    def _coverage_view(self, measure: Measure) -> View:
        note = f"Unjudged documents are those within rank {measure.cutoff} of the runs to score."
        note = note if self.run_ids else "There is no run to score, and so no unjudged document."
        names, columns = ("judge", "documents"), ("n", "n_labeled", "share")
        return measure_view(measure, ": documents with labels", names, columns, note)

    def _interval_view(self, measure: Measure) -> View:
        n_runs = self._frames["runs"]["run_id"].nunique()
        runs = "runs to score" if self.run_ids else "pooled runs, each organization left out"
        title = f": mean width of {level(self.metadata['ci_prob'])} intervals of {n_runs} {runs}"
        return measure_view(measure, title, ("judge",), ("width_without", "width_with", "saved"))


class _Group(NamedTuple):
    """Measures of the same tables, the first of them, and their names where there are other groups."""

    measure: Measure
    about: str

    def view(
        self,
        title: str,
        names: tuple[str, ...],
        columns: tuple[str | IntervalColumn | Pivot, ...],
        judge: Judge | None = None,
        **where: object,
    ) -> View:
        """Return a view of the group's rows, of a judge's if there is one."""
        title = f"{self.about}: {title}" if self.about else title[:1].upper() + title[1:]
        of_judge = {} if judge is None else {"judge": judge.name}
        where = {"measure": str(self.measure)} | of_judge | where
        return View(title=title, names=names, columns=columns, where=where)


def _share_view(group: _Group, judge: Judge, rel: int) -> View:
    title = f"judge {judge.name}: share of relevance {rel} or more by label"
    columns = (Pivot(("n", "share", IntervalColumn()), "documents", grouped=True),)
    return group.view(title, ("label",), columns, judge, relevant_from=rel)


def _replicate_view(group: _Group) -> View:
    names = ("judge", "relevant_from", "documents")
    columns = ("n_replicates", "same", "auc_one", "auc", *_with_interval("gain", signed=True))
    return group.view("judges that were asked several times", names, columns)


def _topics_view(group: _Group, judge: Judge) -> View:
    title = f"judge {judge.name}: topics on which it differs from the assessors"
    columns = ("n", "difference", "expected", "p_value")
    return replace(group.view(title, ("query_id",), columns, judge, disputed=True), top=_N_SHOWN)


def _documents_view(group: _Group, judge: Judge) -> View:
    title = f"judge {judge.name}: documents to look at again"
    columns = ("relevance", "label", "chance")
    return replace(group.view(title, ("query_id", "doc_id"), columns, judge), top=_N_SHOWN)


def _agreement_view(group: _Group) -> View:
    names = ("judge", "relevant_from", "label_from", "documents")
    columns = (*_with_interval("auc"), *_with_interval("kappa"), "n_relevant", "promised")
    view = group.view("agreement of labels with judgments", names, columns)
    return replace(view, note=_HEADS, keep_empty=True)


def _ranking_view(measure: Measure) -> View:
    names = "kendall_tau_b", "tau_ap", "false", "missed"
    columns = tuple(part for name in names for part in _with_interval(name))
    return measure_view(measure, ": runs ranked and tested by labels alone", ("judge",), columns)


def _with_interval(name: str, *, signed: bool = False) -> tuple[str, IntervalColumn]:
    return name, IntervalColumn(f"{name}_lower", f"{name}_upper", signed=signed)


def check_judges(
    collection: Collection,
    measures: object = "P@10",
    *,
    estimators: str | PosteriorEstimator = "posterior-combined",
    intervals: bool = False,
    run_ids: str | Iterable[str] | None = None,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> JudgeCheck:
    """Check the labels from a collection's LLM judges against its judgments.

    Parameters
    ----------
    collection : Collection
        With judges (`bayespool.read_collection`, `bayespool.collection.add_judges`).
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    estimators : str or PosteriorEstimator, default "posterior-combined"
        The posterior of the intervals, by name: 'posterior-ratio'.
    intervals : bool, default False
        Also how much narrower intervals are with the labels. Of the runs to score, or where there is none of
        each organization left out. It takes a posterior for each judge, and one without.
    run_ids : str or iterable of str, optional
        The runs to score, possibly none; default: as of `bayespool.score`.
    folder : path, optional
        Finished scores are stored in its subfolder ``judges/``, and not worked out again by a later call.
    n_jobs : int, optional
        Processes; −1 for one per core. Default 1, or as set by a ``joblib.parallel_config`` around the call.
        Results are the same to the byte for any number, and on a Dask cluster.
    progress : callable, optional
        Called with the number of finished scores, stored ones included, and their total.
    **asked
        Keywords of every question: `bayespool.Question`.

    Returns
    -------
    JudgeCheck

    Raises
    ------
    InputError
        No judge; unknown run or setting; intervals without a run to score or a second organization in the
        pool.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call goes on from the stored scores.

    Warns
    -----
    ExperimentChangedWarning
        ``folder`` holds scores of other settings, or unreadable ones.

    Notes
    -----
    Hidden documents are those that the models learn from: judged, and contributed by one organization alone.
    Without it they would be unjudged, like the unjudged documents of a new run. Other judged documents,
    contributed by several organizations or none, are easier.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.collection import add_judges
    >>> from bayespool.reading import labels_from_frame
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
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    given = {
        **vars(question),
        "measures": question.asked_measures,
        "intervals": intervals,
        "estimator": question.sole_posterior,
    }
    settings = JudgesSettings(**parsed_fields(JudgesSettings, given))
    parsed = settings.measures
    expect_collection(collection)
    if not collection.judges:
        raise InputError("the collection has no judge", hint="--judge FILE, or judges= of read_collection")
    collection, targets = _targets(collection, run_ids, settings)
    warn_of_unused_relevance(collection, parsed)
    names = [judge.name for judge in collection.judges]
    confusions, prob = find_confusions(collection, parsed), settings.ci_prob
    times, frames = draw_topics(len(collection.query_ids), question.random_seed), {}
    disputes = find_disputes(collection, confusions)
    for table, rows in (
        ("agreement", agreement_rows(collection, confusions, times, prob)),
        ("ranking", ranking_rows(collection, parsed, times, prob)),
        ("replicates", replicate_rows(collection, confusions, times, prob)),
        ("confusion", confusion_rows(confusions)),
        ("calibration", calibration_rows(confusions, prob)),
        ("coverage", coverage_rows(collection, targets, confusions, question.estimand)),
        ("organizations", organization_rows(collection, confusions, times, prob)),
        ("disputed_topics", disputed_topics(disputes)),
        ("disputed_documents", disputed_documents(disputes)),
    ):
        columns: Columns = {}
        for row in rows:
            add_rows(columns, row)
        frames[table] = pd.DataFrame(columns)
    if intervals:
        work = IntervalsWithLabels()
        parts = work.parts(collection, targets)
        results = work.run(collection, parts, settings, folder=folder, n_jobs=n_jobs, progress=progress)
        judge_order = {"judge": [*names, ALL_JUDGES]}
        runs = ordered_table(results, {"measure": list(map(str, parsed)), **judge_order})
        frames |= {"intervals": _mean_widths(runs), "runs": runs}
    problems = judge_problems(collection, targets, parsed, estimand=question.estimand)
    resolved = {"judges": names, "runs": list(targets), "passed_over": list(collection.ignored_judgments)}
    used = {name: value for name, value in settings.describe().items() if intervals or name != "estimator"}
    return JudgeCheck(
        judges=collection.judges,
        measures=parsed,
        run_ids=targets,
        confusions=confusions,
        problems=problems,
        metadata=check_metadata(collection, **used, **resolved, problems=list(problems)),
        _frames=frames,
    )


def _targets(
    collection: Collection, run_ids: str | Iterable[str] | None, settings: JudgesSettings
) -> tuple[Collection, tuple[str, ...]]:
    """Return the collection pooled to the requested depth, and the runs to score (possibly none)."""
    run_ids = (run_ids,) if isinstance(run_ids, str) else None if run_ids is None else tuple(run_ids)
    candidates = collection.unpooled_run_ids if run_ids is None else run_ids
    if not candidates and not settings.unpool:
        depth = settings.repool_to
        return check_own_judgments(collection if depth is None else collection.truncate_pool(depth)), ()
    unpool, by, depth = settings.unpool, settings.unpool_by, settings.repool_to
    return find_targets(collection, run_ids, unpool=unpool, unpool_by=by, repool_to=depth)[:2]
