"""Results of experiments, and of any design: runs beside their truth, with errors and calibration."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import Progress
from bayespool.collection import Collection
from bayespool.comparisons.significance import SIGNIFICANCE_LEVEL
from bayespool.experiments.design import COVERAGE_LEVELS, COVERED, Design, error_columns, interval_summary
from bayespool.experiments.running import Columns, PartResult
from bayespool.experiments.settings import DesignSettings
from bayespool.measures import Measure
from bayespool.names import Estimand, PairTest
from bayespool.notes import Note
from bayespool.pooling import describe_pool
from bayespool.posterior import PosteriorEstimator
from bayespool.report.result import Figure, Result
from bayespool.tables.files import records, variable_name
from bayespool.tables.formatting import counted, level, number, percent
from bayespool.tables.table import COLUMNS, Column, IntervalColumn, Pivot, Table, View

TESTS = {"tukey-hsd": "Tukey's test", "paired-t": "paired t tests"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExperimentResult(Result):
    """Base class for the result of an experiment.

    Attributes
    ----------
    settings : object
        Settings of the experiment.
    fingerprint : str
        Of the collection.
    pool : str
        Report of the pool.
    query_ids : tuple of str
    pool_notes : tuple of Note
        What to know of the collection's pool before quoting the result.
    warnings : tuple of (str, str)
        Class and text of warnings.
    """

    settings: Any
    fingerprint: str
    pool: str
    query_ids: tuple[str, ...]
    pool_notes: tuple[Note, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        s = self.settings
        sizes = f"{counted(len(s.measures), 'measure')}, {counted(len(s.estimators), 'estimator')}"
        return f"<{type(self).__name__}: {sizes}>"

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override] # derived, where others have a field
        """Metadata with version, fingerprint, pool, settings and warnings."""
        return {
            "bayespool": __version__,
            "fingerprint": self.fingerprint,
            "pool": self.pool,
            "pool_notes": list(self.pool_notes),
            "settings": self.settings.describe(),
            "warnings": [f"{name}: {text}" for name, text in self.warnings],
        }


def result_fields(
    collection: Collection, pooled: Collection, settings: Any, results: Iterable[PartResult] = ()
) -> dict[str, Any]:
    """Return the fields of an `ExperimentResult` on a pool, with the warnings from its parts."""
    return {
        "settings": settings,
        "fingerprint": collection.fingerprint,
        "pool": str(describe_pool(pooled)),
        "pool_notes": describe_pool(collection).notes,
        "query_ids": collection.query_ids,
        "warnings": tuple(dict.fromkeys(caught[:2] for result in results for caught in result.warnings)),
    }


def check_metadata(collection: Collection, **settings: Any) -> dict[str, Any]:
    """Return metadata of a check: version, collection fingerprint, settings and their resolved values."""
    return {"bayespool": __version__, "fingerprint": collection.fingerprint, **settings}


def sre_star_note(test: PairTest) -> str:
    """Return a sentence that explains SRE* and names its significance test."""
    tested = f"{TESTS[test]}, {level(SIGNIFICANCE_LEVEL)}"
    return (
        f"SRE* counts a rank error only if the true scores of the two runs differ significantly ({tested})."
    )


RowOrder = Mapping[str, Sequence[object] | None]
"""Columns to sort by, each with its values in order, or None to sort by value."""


def in_order(frame: pd.DataFrame, keys: RowOrder) -> pd.DataFrame:
    """Return the rows of a data frame sorted by the given columns that it has, and by their orders."""
    columns = [
        (frame[name] if order is None else frame[name].map({x: i for i, x in enumerate(order)})).to_numpy()
        for name, order in keys.items()
        if name in frame
    ]
    return frame.iloc[np.lexsort(columns[::-1])].reset_index(drop=True)


def stacked(parts: Iterable[Columns]) -> pd.DataFrame:
    """Return the rows of all parts as one data frame, where coverage may be missing."""
    columns, *others = parts
    rows = pd.DataFrame({n: [*values, *(x for o in others for x in o[n])] for n, values in columns.items()})
    return rows.astype({name: "boolean" for name in COVERED if name in rows})


def ordered_table(results: Sequence[PartResult], keys: RowOrder) -> pd.DataFrame:
    """Return the rows of all parts as one data frame, sorted as in `in_order`."""
    return in_order(stacked(result.rows for result in results), keys)


def summarize_groups(
    rows: pd.DataFrame, keys: Sequence[str], summarize: Callable[[pd.DataFrame], dict[str, Any]]
) -> pd.DataFrame:
    """Return a data frame with one summary row per combination of the keys."""
    groups = rows.groupby(list(keys), sort=False)
    return pd.DataFrame([dict(zip(keys, key, strict=True)) | summarize(group) for key, group in groups])


PIT = "Where the truth lies in the posterior of each run; flat where intervals are right"
"""Caption for figures of PIT values."""


def named_figure(name: str, caption: str, draw: Callable[[], Any], of: Sequence[object] = ()) -> Figure:
    """Return a figure with its subject ``of``, such as a measure, in its name and caption."""
    subject = f" ({', '.join(map(str, of))})" if of else ""
    return Figure("-".join([name, *map(variable_name, of)]), f"{caption}{subject}", draw)


def panel_figure(
    name: str, caption: str, plots: Sequence[Callable[..., Any]], *, of: Sequence[object] = (), **size: Any
) -> Figure:
    """Return a `named_figure` with one panel per plot."""

    def draw() -> Any:
        from bayespool.plots.style import draw_panels

        return draw_panels(plots, **size)

    return named_figure(name, caption, draw, of)


def measure_view(
    measure: object,
    title: str,
    names: tuple[str, ...],
    columns: tuple[str | IntervalColumn | Pivot, ...],
    note: str = "",
    *,
    keep_empty: bool = False,
    **where: object,
) -> View:
    """Return a view of the rows of one measure, which its title begins with, and of other values."""
    title, where = f"{measure}{title}", {"measure": str(measure)} | where
    return View(title=title, names=names, columns=columns, where=where, note=note, keep_empty=keep_empty)


def best_runs_text(n_runs: int, n_all: int) -> str:
    """Return text that says how many of all runs a table summarizes."""
    return f"all {n_runs}" if n_runs == n_all else f"the best {n_runs} of {n_all}"


def reported_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows for reported runs, or all rows if the experiment reports on every run."""
    return frame[frame["reported"]].reset_index(drop=True) if "reported" in frame else frame


class WithReportedRuns(ExperimentResult):
    """Result whose summaries cover only the best ``top`` % of runs."""

    def to_frame(self, table: str | None = None, *, reported_only: bool = False) -> pd.DataFrame:
        """Return one of the tables (default: the first) as a data frame.

        Parameters
        ----------
        table : str, optional
        reported_only : bool, default False
            Of runs only the best ``top`` %, which summaries are over.
        """
        frame = super().to_frame(table)
        return reported_rows(frame) if reported_only else frame


def n_unknown_documents(frame: pd.DataFrame, measure: object) -> int:
    """Return the number of documents in the runs' top n that are unjudged even in the truth.

    Each run counts once.
    """
    return int(frame[frame["measure"] == str(measure)].drop_duplicates("run_id")["n_unknown"].sum())


def truth_notes(frame: pd.DataFrame, measure: Measure) -> list[Note]:
    """Return a note on the runs' documents that are unjudged even in the truth, if any."""
    unknown = n_unknown_documents(frame, measure)
    was, them = ("was", "it") if unknown == 1 else ("were", "them")
    message = (
        f"{counted(unknown, 'document')} in these runs' top {measure.cutoff} {was} never judged; the truth "
        f"counts {them} as {'unjudged' if measure.reads_unjudged else 'nonrelevant'}"
    )
    return [Note("experiment", message)] if unknown else []


def run_notes(frame: pd.DataFrame) -> list[Note]:
    """Return distinct notes from the estimators on runs, each with the number of runs concerned."""
    notes = Counter(
        (estimator, re.sub(r"(?<=unlike the pool) \([^)]*\)", "", note))  # without what differs between runs
        for estimator, note in zip(frame["estimator"], frame["note"], strict=True)
        if isinstance(note, str) and note
    )
    return [
        Note("estimator", f"{estimator}, {n} run{'s' * (n > 1)}: {note}")
        for (estimator, note), n in notes.items()
    ]


_FAR_OFF = 0.1  # of the share of truths in intervals
_WHOM = " These were pooled, and left out because they are judged; runs unlike them may fare worse."


def leave_out_sentence(rows: Sequence[Mapping[str, Any]], where: str = " left out of the pool") -> str:
    """Return sentences on the bias as judged and the best estimator for one measure.

    `rows` are rows of the table ``summary``; `where` describes their runs.

    Examples
    --------
    >>> plain = {"measure": "P@10", "estimator": "as-judged", "n_runs": 20, "bias": -0.03, "rmse": 0.04}
    >>> best = {"estimator": "ratio", "bias": 0.001, "rmse": 0.01, "coverage_95": 0.95}
    >>> best |= {"coverage_95_se": 0.02, "n_organizations": 8}
    >>> rows = [plain | {"coverage_95": float("nan")}, plain | best]
    >>> for clause in leave_out_sentence(rows).split(". "):
    ...     print(clause)
    P@10, over 20 runs left out of the pool: as judged a run is underestimated by 0.0300 on average
    ratio comes nearest to the truth (root mean square error 0.0100 against 0.0400 as judged)
    The 95 % intervals of ratio contain the truth of 95.0 ± 2.0 % of the pooled runs with anything unjudged \
(mean over 8 organizations)
    These were pooled, and left out because they are judged; runs unlike them may fare worse.
    """
    best = min(rows, key=lambda row: (math.isnan(row["rmse"]), row["rmse"]))
    plain = [row for row in rows if row["estimator"] == "as-judged"]
    text = f"{best['measure']}, over {counted(best['n_runs'], 'run')}{where}:"
    if math.isnan(best["rmse"]):
        return f"{text} no estimator has a value."
    if plain:
        side = "underestimated" if plain[0]["bias"] < 0 else "overestimated"
        text += f" as judged a run is {side} by {number(abs(plain[0]['bias']))} on average."
    error = f"root mean square error {number(best['rmse'])}"
    if len(rows) == 1:
        text += f" the root mean square error of {best['estimator']} is {number(best['rmse'])}."
    elif plain and best is plain[0]:
        text += f" No estimator comes nearer to the truth ({error})."
    else:
        against = f" against {number(plain[0]['rmse'])} as judged" if plain else ""
        text += f" {best['estimator']} comes nearest to the truth ({error}{against})."
    covered = [row for row in rows if row["coverage_95"] == row["coverage_95"]]
    for row in covered[:1]:
        are_pooled = where.endswith("of the pool")
        runs = "the pooled runs" if are_pooled else "the runs"
        share = percent(row["coverage_95"], row["coverage_95_se"] or math.nan)  # 0 is no certainty
        text += (
            f" The {level(0.95)} intervals of {row['estimator']} contain the truth of {share} of {runs} with "
            f"anything unjudged (mean over {counted(row['n_organizations'], 'organization')})"
            f"{_narrower_clause(row)}."
        )
        text += _WHOM * are_pooled
    return text


def _narrower_clause(row: Mapping[str, Any]) -> str:
    """Return a clause on intervals of 50 and 80 % that are far from what they say, else empty text.

    Examples
    --------
    >>> _narrower_clause({"n_organizations": 53, "coverage_50": 0.264, "coverage_80": 0.75})
    ', those of 50 % of 26.4 % (too narrow)'
    """
    clauses = []
    for name, promised in (("coverage_50", 0.5), ("coverage_80", 0.8)):
        share = row.get(name, promised)
        by_chance = 2 * math.sqrt(promised * (1 - promised) / max(row.get("n_organizations", 0), 1))
        if abs(share - promised) > max(by_chance, _FAR_OFF):
            verdict = "narrow" if share < promised else "wide"
            clauses.append(f", those of {level(promised)} of {percent(share)} (too {verdict})")
    return "".join(clauses)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DesignResult(ExperimentResult):
    """Result from `run_design`: estimates for runs next to the true scores.

    Its tables are ``runs``, a row per part, measure, estimator and run, and ``summary``, a row per measure
    and estimator.

    Attributes
    ----------
    settings : DesignSettings
    design : str
        Name of the design.
    seconds : mapping of str to float
        Processor time by stage, summed over parts; stored parts count with their original time.
    """

    title = "Runs estimated while judgments are concealed"
    settings: Any
    design: str
    seconds: Mapping[str, float]
    _rows: pd.DataFrame

    _where: ClassVar[str] = ""
    _summary_columns: ClassVar[Mapping[str, Column]] = {}
    _errors: ClassVar[tuple[str, ...]] = ("mae", "rmse", "bias", "topic_rmse", "sre", "kendall_tau_b", "crps")

    @property
    def command(self) -> str:  # type: ignore[override] # a name, where others have a constant
        """Name of the design."""
        return self.design

    def tables(self) -> tuple[Table, ...]:
        """Return the tables ``runs`` and ``summary``."""
        run_columns = {
            "part": Column("part", "text", "The part of the experiment."),
            "fold": Column("left out", "text", "The organization, run or cluster that was left out."),
        }
        label = f"width of\n{level(self.settings.ci_prob)}"
        width = {"width": replace(COLUMNS["width"], label=label), **self._summary_columns}
        views = tuple(self._summary_views())
        return (
            Table("runs", "Run by run", self._rows.copy(), run_columns),
            Table("summary", "Summary", self._summary.copy(), width, views),
        )

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the pool, and on the reported runs for each measure."""
        notes = [note.of(str(m)) for m in self.settings.measures for note in self._measure_notes(m)]
        return (*self.pool_notes, *notes)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the bias as judged and the best estimator for each measure."""
        rows = records(self._summary)
        return tuple(
            leave_out_sentence([row for row in rows if row["measure"] == str(measure)], self._where)
            for measure in self.settings.measures
        )

    def figures(self) -> tuple[Figure, ...]:
        """Return figures ``truth`` for each measure and, for posterior estimators, ``pit``."""
        from bayespool.plots import plot_pit, plot_truth

        posteriors = self._summary.loc[self._summary["ci_prob"].notna(), "estimator"].unique()
        truth = "Estimates against true scores; on the diagonal an estimate is right"
        figures = []
        for m in self.settings.measures:
            labels = [label for label in self.settings.labels if label != "as-judged"]  # in every panel
            panels = [partial(plot_truth, self, m, label) for label in labels or self.settings.labels]
            figures.append(panel_figure("truth", truth, panels, of=[m]))
            if len(posteriors):
                panels = [partial(plot_pit, self, m, label) for label in posteriors]
                figures.append(panel_figure("pit", PIT, panels, of=[m], height=3))
        return tuple(figures)

    @property
    def _reported(self) -> pd.DataFrame:
        return reported_rows(self._rows)

    def _measure_notes(self, measure: Measure) -> tuple[Note, ...]:
        frame = self._reported
        frame = frame[frame["measure"] == str(measure)]
        return (*truth_notes(frame, measure), *run_notes(frame))

    def _summary_views(self) -> Iterator[View]:
        """Yield views of errors and, for posterior estimators, intervals for each measure."""
        intervals = [f"{name}_{share}" for name in ("coverage", "pit") for share in COVERAGE_LEVELS]
        measures = [str(measure) for measure in self.settings.measures]
        for measure in measures:
            rows = self._summary[self._summary["measure"] == measure]
            posteriors = rows[rows["ci_prob"].notna()]
            title = f", {self._runs_clause(measure, int(rows['n_runs'].iloc[0]))}"
            note = self._legend() if measure == measures[-1] else ""
            yield measure_view(measure, title, ("estimator",), self._errors, note)
            if len(posteriors):
                n_open = counted(int(posteriors["n_open"].iloc[0]), "run")
                title, columns = f", intervals of {n_open} with anything unjudged", (*intervals, "width")
                level_ = {"ci_prob": self.settings.ci_prob}
                yield measure_view(measure, title, ("estimator",), columns, **level_)

    def _legend(self) -> str:
        return "SRE: by how many places estimates miss their runs' true ranks, summed over runs."

    def _runs_clause(self, measure: str, n_runs: int) -> str:
        """Return a clause on the runs that a table summarizes."""
        return f"{counted(n_runs, 'run')} of {self.design}"

    @cached_property
    def _summary(self) -> pd.DataFrame:
        return summarize_groups(self._reported, ("measure", "estimator"), self._summarize)

    def _summarize(self, rows: pd.DataFrame, ranks: Mapping[str, float] | None = None) -> dict[str, Any]:
        posterior = bool(rows["ci_prob"].notna().any())
        graded = interval_summary(rows, rows["n_unjudged"] > 0)
        return {
            "n_runs": len(rows),
            **error_columns(rows, "mae", "rmse", "bias"),
            "topic_rmse": float(np.sqrt((rows["topic_rmse"].to_numpy() ** 2).mean())),
            **(self._rank_errors(rows) if ranks is None else ranks),
            **{name: value for name, value in graded.items() if name != "crps"},
            "ci_prob": self.settings.ci_prob if posterior else np.nan,
            "crps": graded["crps"],
        }

    def _rank_errors(self, rows: pd.DataFrame) -> dict[str, float]:
        return error_columns(rows, "sre", "kendall_tau_b")


def run_table(
    collection: Collection, settings: Any, results: Sequence[PartResult], first: RowOrder | None = None
) -> pd.DataFrame:
    """Return one row per run and estimator, sorted by the columns in `first`, measure, estimator and run."""
    order: RowOrder = {"measure": [str(m) for m in settings.measures], "estimator": settings.labels}
    order = {**(first or {}), **order, "run_id": collection.run_ids}
    return ordered_table(results, order)


def total_seconds(results: Sequence[PartResult]) -> dict[str, float]:
    """Return the processor time per stage, summed over parts."""
    stages = dict.fromkeys(stage for result in results for stage in result.rest["seconds"])
    return {stage: sum(result.rest["seconds"].get(stage, 0.0) for result in results) for stage in stages}


def run_design(
    collection: Collection,
    design: Design,
    measures: object = "P@10",
    *,
    estimators: object = "all",
    posterior_settings: str | PosteriorEstimator | None = None,
    estimand: Estimand = "pooled",
    ci_prob: float | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> DesignResult:
    """Run a user-defined experiment that compares estimates with concealed judgments.

    Parameters
    ----------
    collection : Collection
        The truth.
    design : Design
        What is concealed, and which runs are estimated then.
    measures : measure or iterable of measures, default "P@10"
    estimators : str, Estimator, sequence or mapping of them, default "all"
        Names with settings in parentheses, or estimators by their labels.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors: ``"draws=4000, engine=nuts"``.
    estimand : {"complete", "pooled"}, default "pooled"
        Whether unjudged documents below the pool depth are estimated (complete) or stay nonrelevant.
    ci_prob : float, optional
        Probability of the intervals; default: 0.95, or what `bayespool.rcParams` has. They are equal-tailed.
        Coverage is also given at 50, 80 and 95 %.
    random_seed : int, default 1
        The same inputs and seed give the same bytes.
    folder : path, optional
        Folder for finished parts, from which a later call goes on.
    n_jobs : int, optional
        Number of processes; −1 for one per core, by default 1 or as set by ``joblib.parallel_config``.
    progress : callable, optional
        Called with a text, the number of finished parts, stored ones included, and their total.

    Returns
    -------
    DesignResult

    Raises
    ------
    InputError
        Unknown measure, estimator or setting.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died.

    Warns
    -----
    BayespoolWarning
        Those of `bayespool.leave_out`.

    Examples
    --------
    Two organizations left out at a time:

    >>> from itertools import combinations
    >>> from bayespool import load_example
    >>> from bayespool.experiments import Design, Part, run_design
    >>> class Pairs(Design):
    ...     name, version = "pairs", "1"
    ...
    ...     def parts(self, collection, settings):
    ...         for pair in combinations(["east", "lake", "north"], 2):
    ...             out = [r for r in collection.pooled_run_ids if r.startswith(pair)]
    ...             kept = [r for r in collection.pooled_run_ids if r not in out]
    ...             yield Part(name=" and ".join(pair), run_ids=out, pool_run_ids=kept)
    >>> result = run_design(load_example(), Pairs(), "P@10", estimators=["as-judged", "interpolated"])
    >>> print(result.to_frame("summary")[["estimator", "n_runs", "mae"]].round(4).to_string(index=False))
       estimator  n_runs    mae
       as-judged      16 0.0253
    interpolated      16 0.0165
    """
    settings = DesignSettings.parse(locals())
    parts = [
        part if part.measures else replace(part, measures=settings.measures)
        for part in design.parts(collection, settings)
    ]
    results = design.run(collection, parts, settings, folder=folder, n_jobs=n_jobs, progress=progress)
    order: RowOrder = {"part": [part.name for part in parts]}
    return DesignResult(
        **result_fields(collection, collection, settings, results),
        design=design.name,
        seconds=total_seconds(results),
        _rows=run_table(collection, settings, results, order),
    )
