"""Results of the leave-out experiment on one collection or several: errors, reliability, clusters, types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, partial
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import BoolArray, FloatArray
from bayespool.comparisons import paired_t
from bayespool.comparisons.reliability import Reliability, reliability
from bayespool.comparisons.significance import SIGNIFICANCE_LEVEL, significant_pairs
from bayespool.errors import InputError, known_names, some
from bayespool.evidence.composition import RunCluster
from bayespool.experiments.decisions import (
    DECISIONS,
    LEVELS,
    PAIRS,
    TopicScores,
    decision_clause,
    grade_decisions,
    graded_decisions,
)
from bayespool.experiments.design import error_columns
from bayespool.experiments.graded_runs import (
    DesignResult,
    RowOrder,
    WithReportedRuns,
    best_runs_text,
    in_order,
    measure_view,
    panel_figure,
    sre_star_note,
    stacked,
    summarize_groups,
)
from bayespool.experiments.running import Columns, add_rows
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.measures import Measure, parse_measure
from bayespool.measures.errors import system_rank_error
from bayespool.notes import Note, noted
from bayespool.report.result import Figure, Result
from bayespool.tables.files import records
from bayespool.tables.formatting import counted, number
from bayespool.tables.table import Column, IntervalColumn, Table, View
from bayespool.validation import check_share

_CLUSTERS = {
    "cluster": Column("cluster", "text", "Name of the cluster; the first is the largest."),
    "n_runs": Column("runs", "count", "Number of runs of the cluster."),
    "left_out": Column("left out", "flag", "Whether the cluster was left out of the pool."),
    "stays": Column("why not", "text", "Why the cluster stays in the pool."),
}
_TYPES = {
    "type": Column("type", "text", "The type of runs that was left out."),
    "n_pool_runs": Column("pool\nruns", "count", "Number of runs of the other types, which make the pool."),
}
_TYPE_COLUMNS = ("n_runs", "n_pool_runs", "mae", "rmse", "bias", "sre", "kendall_tau_b", "coverage_95")
_RELIABILITY = {
    "n_topics": Column("topics", "count", "Number of topics that all the runs have."),
    "generalizability": Column("Eρ²", "coefficient", "Reliability of differences between runs."),
    "generalizability_lower": Column("from", "coefficient", "Lower end of the interval of Eρ²."),
    "generalizability_upper": Column("to", "coefficient", "Upper end of the interval of Eρ²."),
    "dependability": Column("Φ", "coefficient", "Reliability of the scores themselves."),
    "dependability_lower": Column("from", "coefficient", "Lower end of the interval of Φ."),
    "dependability_upper": Column("to", "coefficient", "Upper end of the interval of Φ."),
}
_DECIDED = (
    "Significant differences from pooled runs: declared ones whose significance is lost, true ones not found"
)
_DECISIONS = ("expected", "false", "swapped", "missed", "kendall_tau_b", "tau_ap", "rbo")
_REFERENCE = "as-judged"
_ROUNDING = 1e-12
_COLLECTION_COLUMNS = {
    "collection": Column("collection", "text", "Name of the collection."),
    "mae_change": Column("change,\n%", "difference", "Change of the MAE against as-judged, in %.", 1),
}
_OVERALL = {
    "n_collections": Column("collections", "count", "Number of collections in which the MAE is known."),
    "n_best": Column("best", "count", "Collections in which no estimator has a smaller MAE."),
    "n_worst": Column("worst", "count", "Collections in which no estimator has a larger MAE."),
    "geometric_mean": Column("mean MAE", "score", "Geometric mean over collections in which no MAE is 0."),
    "n_averaged": Column("averaged", "count", "Number of these collections."),
}
_ERRORS = ("mae", "mae_change", "rmse", "bias", "sre", "sre_star", "kendall_tau_b", "coverage_95", "width")
_COLUMNS = (_ERRORS, _DECISIONS)
_RELIABILITY_VIEW = View(
    title="reliability of the true scores",
    names=("measure",),
    columns=(
        *("n_topics", "generalizability", IntervalColumn("generalizability_lower", "generalizability_upper")),
        *("dependability", IntervalColumn("dependability_lower", "dependability_upper")),
    ),
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LeaveOutResult(WithReportedRuns, DesignResult):
    """Result from `leave_out`.

    Its tables are ``runs``, a row per measure, estimator and run; ``summary``, a row per measure and
    estimator over the reported runs; ``decisions`` on pairs of runs, graded at several levels and shares of
    draws; ``reliability`` of the true scores by measure; where clusters of runs
    are left out, ``clusters``, a row per pooled run; and where types are, ``types``, a row per type, measure
    and estimator, whose SRE ranks the runs of the type among all others.

    Attributes
    ----------
    settings : LeaveOutSettings
    n_pooled_runs : dict of str to int
        Pooled runs by measure, before ``top`` is applied.
    scores_in_truth : mapping of (str, str) to ndarray of float, shape (topic,)
        True values by measure and run; NaN on topics that the run's score is not over.
    scores_in_pool : mapping of str to mapping of str to float
        By measure and pooled run, the score with all judgments of the pool.
    clusters : tuple of RunCluster
        Of all pooled runs, the largest first, also those that stay in the pool; else empty.
    topic_scores : mapping of str to TopicScores
        By measure, what `decisions` tests.
    """

    title = "Organizations left out of the pool"
    settings: LeaveOutSettings
    n_pooled_runs: Mapping[str, int]
    scores_in_truth: Mapping[tuple[str, str], FloatArray]
    scores_in_pool: Mapping[str, Mapping[str, float]]
    clusters: tuple[RunCluster, ...]
    topic_scores: Mapping[str, TopicScores]
    design: str = "leave-out"

    _where = " left out of the pool"
    _summary_columns = DECISIONS
    _errors = ("mae", "rmse", "bias", "topic_rmse", "sre", "sre_star", "kendall_tau_b", "crps")

    def tables(self) -> tuple[Table, ...]:
        """Return ``runs``, ``summary``, ``decisions``, ``reliability``, and ``clusters`` or ``types``."""
        reliability = self._reliability_frame(), _RELIABILITY, (_RELIABILITY_VIEW,)
        tables = (
            *super().tables(),
            Table("decisions", "Decisions on pairs of runs", self._decision_frame.copy(), DECISIONS),
            Table("reliability", "Reliability of the scores", *reliability),
        )
        if self.settings.is_by_column:
            names, measures = ("type", "estimator"), self.settings.measures
            type_views = tuple(measure_view(m, ", by type", names, _TYPE_COLUMNS) for m in measures)
            return *tables, Table("types", "Types of runs", self._type_frame(), _TYPES, type_views)
        if not self.clusters:
            return tables
        view = View(
            title="clusters of runs",
            names=("cluster",),
            columns=("n_runs", "left_out", "stays"),
            note=";\n".join(self._cluster_texts()),
        )
        return *tables, Table("clusters", "Clusters", self._cluster_frame(), _CLUSTERS, (view,))

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on what was left out, and on bias and the best estimator for each measure."""
        sentences = [self._scope()]
        for measure, sentence in zip(map(str, self.settings.measures), super().sentences(), strict=True):
            if min(len(self.true_scores(measure)), self.n_shared_topics(measure)) < 2:
                missing = "– (it needs two runs and two topics that all of them have)"
                sentences.append(f"{measure}: reliability of the true scores: {missing}")
            rows = records(self._summary[self._summary["measure"] == measure])
            sentences.append(sentence + decision_clause(rows))
        return tuple(sentences)

    def figures(self) -> tuple[Figure, ...]:
        """Return figures ``mae``, ``sre`` and ``decisions``; for each measure ``truth`` and, for posterior
        estimators, ``pit``.
        """
        from bayespool.plots.experiments import draw_mae, plot_decisions

        kinds: dict[Literal["mae", "sre"], str] = {"mae": "Mean absolute error", "sre": "System rank error"}
        figures = []
        for error, name in kinds.items():
            draw = partial(draw_mae, self, error=error)
            figures.append(Figure(error, f"{name} of every estimator", draw))
        panels = [partial(plot_decisions, self, m) for m in self._decisions["measure"].unique()]
        decided: tuple[Figure, ...] = ()
        if panels:
            height = 1.2 + 0.36 * len(self.settings.labels)
            decided = (panel_figure("decisions", _DECIDED, panels, width=5, height=height, shared="x"),)
        return (*figures, *super().figures(), *decided)

    def _summary_views(self) -> Iterator[View]:
        """Yield the views of errors and intervals, and for each measure one of decisions."""
        yield from super()._summary_views()
        for measure in map(str, self.settings.measures):
            graded = self._grades[measure, self.settings.labels[0]]
            title = (
                f", decisions at {SIGNIFICANCE_LEVEL:g} on {graded['n_pairs']:,} pairs with pooled runs, of "
                f"which {graded['n_true']:,} differ in truth, and the ranking"
            )
            yield measure_view(measure, title, ("estimator",), _DECISIONS)

    def _measure_notes(self, measure: Measure) -> tuple[Note, ...]:
        n_shared, n_topics = self.n_shared_topics(measure), len(self.query_ids)
        statistics = "SRE* and reliability are" if self.settings.test == "tukey-hsd" else "reliability is"
        shared = f"{statistics} over the {n_shared} of {n_topics} topics that all these runs have"
        of_topics = (Note("experiment", shared),) * (n_shared < n_topics)
        return (*of_topics, *super()._measure_notes(measure))

    def _scope(self) -> str:
        s = self.settings
        clusters = f"of {len(self.clusters)} clusters of runs that retrieve alike"
        types = f"{s.by} of runs ({', '.join(s.types)})"
        who = types if s.is_by_column else clusters if s.by == "cluster" else s.by
        if who == "organization" and (self._rows["organization"] == self._rows["run_id"]).all():
            who = "run, of an organization of its own,"
        over_qrels = s.denominator == "qrels"
        over = counted(len(self.query_ids), "topic") if over_qrels else "the topics of each run"
        truth = "the run back in the pool alone" if s.truth == "repooled" else "all judgments"
        estimated = s.unseen == "estimated"
        unseen = "there, and estimated, as the papers do" if estimated else "in the estimates, too"
        in_doubt = any(note.kind == "pool-in-doubt" for note in self.pool_notes)
        parts = {
            f"Each {who} left out in turn, mean over {over}": True,
            f"re-pooled to depth {s.repool_to}": s.repool_to is not None,
            f"pools of the best {s.top:g} % of the runs alone": s.top_pool == "kept",
            f"truth: {truth}": True,
            f"documents that the truth does not judge are nonrelevant {unseen}": True,
            "the pool is in doubt": in_doubt,
        }
        return "; ".join(text for text, applies in parts.items() if applies)

    def _legend(self) -> str:
        return f"{super()._legend()} {sre_star_note(self.settings.test)}"

    def _runs_clause(self, measure: str, n_runs: int) -> str:
        """Return a clause on the runs that a table summarizes."""
        n_pooled = self.n_pooled_runs[measure]
        if self.settings.by == "cluster" or self.settings.is_by_column:
            which = best_runs_text(n_runs, self._rows["run_id"].nunique())
            return f"{which} runs left out, of {counted(n_pooled, 'pooled run')}"
        return f"{best_runs_text(n_runs, n_pooled)} pooled runs"

    def _type_frame(self) -> pd.DataFrame:
        """Return the errors by type, measure and estimator."""
        places = {kind: i for i, kind in enumerate(self.settings.types)}
        rows = self._reported.sort_values("fold", key=lambda fold: fold.map(places), kind="stable")
        frame = summarize_groups(rows, ("fold", "measure", "estimator"), self._summarize_type)
        return frame.rename(columns={"fold": "type"})

    def _summarize_type(self, rows: pd.DataFrame) -> dict[str, Any]:
        """Return the errors of a type's runs, whose ranks are among the true scores of the other runs."""
        kind, measure = rows[["fold", "measure"]].iloc[0]
        left_out = set(rows["run_id"])
        others = [score for run, score in self.scores_in_pool[measure].items() if run not in left_out]
        truth, value = (np.append(rows[name].to_numpy(), others) for name in ("truth", "value"))
        n_pool_runs = sum(other != kind for _, other in self.settings.run_types)
        ranks = {"sre": system_rank_error(truth, value), **error_columns(rows, "kendall_tau_b")}
        return self._summarize(rows, {"n_pool_runs": n_pool_runs, **ranks})

    def _cluster_texts(self) -> Iterator[str]:
        """Yield a text with the organizations and first runs of each cluster."""
        for cluster in self.clusters:
            others = {name for other in self.clusters if other is not cluster for name in other.organizations}
            names = set(cluster.organizations)
            n_both = len(names & others)
            text = f"runs of {len(names)} organization{'s' * (len(names) > 1)}"
            if n_both and not cluster.stays:
                text += f" ({n_both} with other runs in the pool)"
            yield f"{cluster.name}: {text}: {some(cluster.run_ids, 6)}"

    def _cluster_frame(self) -> pd.DataFrame:
        rows = [
            (cluster.name, run, organization, len(cluster.run_ids), not cluster.stays, cluster.stays)
            for cluster in self.clusters
            for run, organization in zip(cluster.run_ids, cluster.organizations, strict=True)
        ]
        return pd.DataFrame(
            rows, columns=["cluster", "run_id", "organization", "n_runs", "left_out", "stays"]
        )

    def significant(self, measure: object) -> BoolArray:
        """Return a mask of reported run pairs whose true scores differ significantly at 5 %, shape (run,
        run).

        Topics without a score (``denominator="run"``) of any run are left out of Tukey's test, those without
        one of the pair out of the paired t test.
        """
        scores = self.true_scores(measure)
        if self.settings.test == "tukey-hsd":
            return significant_pairs(_complete_topics(scores), "tukey-hsd")
        p = paired_t(scores) if scores.shape[1] > 1 else np.full((len(scores), len(scores)), np.nan)
        for u in np.flatnonzero(np.isnan(scores).any(axis=1)).tolist():
            for v in range(len(scores)):
                pair = _complete_topics(scores[np.array([u, v])])
                if u != v and pair.shape[1] > 1:
                    p[u, v] = p[v, u] = paired_t(pair)[0, 1]
        with np.errstate(invalid="ignore"):
            return np.asarray(p < SIGNIFICANCE_LEVEL)

    def decisions(self, level: float = SIGNIFICANCE_LEVEL) -> pd.DataFrame:
        """Return the significant differences of pairs of reported runs, by the estimates and in truth.

        Parameters
        ----------
        level : float, default 0.05
            Largest significant p-value of the estimates; in truth it is 0.05.

        Returns
        -------
        pandas.DataFrame
            One row per measure, estimator, family and pair: ``measure``, ``estimator``, ``against``
            (``pool``: the other run stays in the pool, and its score is that of all judgments; ``left out``:
            it is left out, too), ``run_id``, ``other``, ``truth`` (1 where the run is significantly better in
            truth, −1 where the other is, else 0), ``prob_greater`` and ``prob_less`` (shares of draws in
            which the run, or the other, is significantly better; 0 or 1 without draws).

        Notes
        -----
        Paired t tests on all topics of the qrels, with Holm's control over the pairs of a run with the pool,
        as `bayespool.compare` with the run as its baseline, and over all pairs of runs left out. Up to 100
        draws are tested; those of runs of different parts are independent.

        Examples
        --------
        >>> from bayespool import leave_out, load_example
        >>> pairs = leave_out(load_example(), "P@10", estimators="as-judged").decisions()
        >>> pairs.query("against == 'pool'")["truth"].value_counts().to_dict()
        {0: 249, -1: 66, 1: 63}
        """
        check_share("level", level)
        return self._decide(level, self.settings.labels)

    def _decide(self, level: float, labels: Sequence[str]) -> pd.DataFrame:
        columns: Columns = {name: [] for name in PAIRS}
        for measure, scores in self.topic_scores.items():
            runs = self._reported.query("measure == @measure")["run_id"].drop_duplicates().tolist()
            if rows := scores.decide(level, labels, runs):
                add_rows(columns, {"measure": measure, **rows})
        return stacked([columns])

    @cached_property
    def _decisions(self) -> pd.DataFrame:
        return self.decisions()

    @cached_property
    def _grades(self) -> Mapping[Any, Mapping[str, float]]:
        """Decisions on pairs with the pool, by measure and estimator."""
        pairs = self._decisions.query("against == 'pool'")
        groups = {key: rows for key, rows in pairs.groupby(["measure", "estimator"])}
        keys = product(map(str, self.settings.measures), self.settings.labels)
        return {key: grade_decisions(groups.get(key, pairs[:0]), self.settings.announce) for key in keys}

    @cached_property
    def _decision_frame(self) -> pd.DataFrame:
        """Graded decisions: with draws at several shares of them, else at several levels."""
        drawn = set(self._rows.loc[self._rows["ci_prob"].notna(), "estimator"])
        others = [label for label in self.settings.labels if label not in drawn]
        sampled = self._decisions[self._decisions["estimator"].isin(drawn)]
        tested = {level: self._decide(level, others) for level in LEVELS}
        graded = graded_decisions(sampled, tested, self.settings.announce)
        order: RowOrder = {"measure": list(self.topic_scores), "estimator": self.settings.labels}
        return in_order(graded, {**order, "against": ("pool", "left out"), "level": None, "share": None})

    def n_shared_topics(self, measure: object) -> int:
        """Return the number of topics shared by all reported runs, used in Tukey's test and `reliability`."""
        return int(_complete_topics(self.true_scores(measure)).shape[1])

    def true_scores(self, measure: object) -> FloatArray:
        """Return true scores of the reported runs, shape (run, topic); NaN for topics without a score."""
        name = self._measure(measure)
        rows = self._reported
        rows = rows[(rows["measure"] == name) & (rows["estimator"] == self.settings.labels[0])]
        return np.array([self.scores_in_truth[name, run] for run in rows["run_id"]])

    def mae_change(self, measure: object, estimator: str, *, reference: str = "as-judged") -> float:
        """Return the change in MAE from a reference to an estimator in %; NaN if the first MAE is 0."""
        name = self._measure(measure)
        mae = self._summary.set_index(["measure", "estimator"])["mae"]
        if unknown := [label for label in (estimator, reference) if label not in self.settings.labels]:
            raise InputError(
                f"the experiment has no {unknown[0]!r}",
                hint=known_names(unknown[0], self.settings.labels, before="it has "),
            )
        before = float(mae[name, reference])
        return 100 * (float(mae[name, estimator]) / before - 1) if before > 0 else float("nan")

    def reliability(self, measure: object) -> Reliability:
        """Return Eρ² and Φ for the true scores of the reported runs on their shared topics."""
        return reliability(_complete_topics(self.true_scores(measure)), ci_prob=self.settings.ci_prob)

    def errors_by_cutoff(self) -> pd.DataFrame:
        """Return MAE and SRE by cutoff, for measures that differ only in their cutoff.

        Returns
        -------
        pandas.DataFrame
            ``family`` (the measure without its cutoff: ``P(rel=2)``), ``estimator``, ``measure``, ``cutoff``,
            ``mae``, ``sre``: families in the order of the measures, within them estimators in the order of
            the settings, and cutoffs ascending.
        """
        frame = self._summary[["estimator", "measure", "mae", "sre"]].copy()
        frame.insert(0, "family", frame["measure"].str.partition("@")[0])
        frame.insert(3, "cutoff", frame["measure"].map({str(m): m.cutoff for m in self.settings.measures}))
        families = list(dict.fromkeys(frame["family"]))
        return in_order(frame, {"family": families, "estimator": self.settings.labels, "cutoff": None})

    def _reliability_frame(self) -> pd.DataFrame:
        """Return `Reliability` by measure, for measures with at least two runs and two topics."""
        rows = []
        columns = ["measure", "n_runs", *(f.name for f in fields(Reliability))]
        for measure in self.settings.measures:
            scores = self.true_scores(measure)
            if min(_complete_topics(scores).shape) > 1:
                coefficients = asdict(self.reliability(measure))
                rows.append({"measure": str(measure), "n_runs": len(scores)} | coefficients)
        return pd.DataFrame(rows, columns=columns)

    def _measure(self, measure: object) -> str:
        parsed = parse_measure(measure)
        if parsed not in self.settings.measures:
            names = ", ".join(map(str, self.settings.measures))
            raise InputError(f"the experiment has no {parsed}", hint=f"it has {names}")
        return str(parsed)

    @cached_property
    def _significant(self) -> dict[str, BoolArray | None]:
        """Result of `significant` for each measure; None if no two runs can be tested."""
        return {str(m): self.significant(m) if self._is_testable(m) else None for m in self.settings.measures}

    def _is_testable(self, measure: object) -> bool:
        scores = self.true_scores(measure)
        if self.settings.test == "tukey-hsd":
            return bool(min(_complete_topics(scores).shape) > 1)
        scored = (~np.isnan(scores)).astype(int)
        n_topics = scored @ scored.T  # of each pair
        np.fill_diagonal(n_topics, 0)
        return bool(n_topics.max() > 1)

    def _rank_errors(self, rows: pd.DataFrame) -> dict[str, float]:
        truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
        significant = self._significant[rows["measure"].iloc[0]]
        star = np.nan if significant is None else system_rank_error(truth, value, significant)
        graded = self._grades[*rows[["measure", "estimator"]].iloc[0]]
        decided = {name: graded[name] for name in ("expected", "false", "swapped", "missed")}
        ranks = error_columns(rows, "kendall_tau_b", "tau_ap", "rbo")
        return {**error_columns(rows, "sre"), "sre_star": star, **ranks, **decided}


def _complete_topics(scores: FloatArray) -> FloatArray:
    """Return the scores on topics without a missing score, shape (run, topic)."""
    return scores[:, ~np.isnan(scores).any(axis=0)]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LeaveOutSeveralResult(Result):
    """Result from `leave_out_several`.

    Its tables are ``summary``, a row per collection, measure and estimator; ``overall``, a row per measure
    and estimator, with the number of collections where its MAE is the least and the largest, and the
    geometric mean; and ``runs``, a row per collection, measure, estimator and run.

    Attributes
    ----------
    settings : LeaveOutSettings
    results : mapping of str to LeaveOutResult
        By the name of the collection.
    """

    command = "leave-out"
    title = "Organizations left out of several pools"
    settings: LeaveOutSettings
    results: Mapping[str, LeaveOutResult]

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<LeaveOutSeveralResult: {counted(len(self.results), 'collection')}, "
            f"{counted(len(s.measures), 'measure')}, {counted(len(s.estimators), 'estimator')}>"
        )

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override] # derived, where others have a field
        """Metadata with version and settings, and each collection's fingerprint, pool and warnings."""
        names = ("fingerprint", "pool", "warnings")
        return {
            "bayespool": __version__,
            "settings": self.settings.describe(),
            "collections": {
                name: {key: result.metadata[key] for key in names} for name, result in self.results.items()
            },
        }

    def tables(self) -> tuple[Table, ...]:
        """Return the tables ``summary``, ``overall`` and ``runs``."""
        first = next(iter(self.results.values()))
        columns = {
            name: _COLLECTION_COLUMNS | dict(first.table(name).columns) for name in ("summary", "runs")
        }
        return (
            Table("summary", "Summary", self._summary.copy(), columns["summary"], self._views("summary")),
            Table("overall", "Over all collections", self._overall.copy(), _OVERALL, self._views("overall")),
            Table("runs", "Run by run", self._stacked("runs"), columns["runs"]),
        )

    def notes(self) -> tuple[Note, ...]:
        """Return notes on collections left out of geometric means, and the notes on each collection."""
        sizes = self._overall.groupby("measure", sort=False)[["n_averaged", "n_collections"]].max()
        notes = [
            f"{measure}: the geometric mean of the MAE leaves out {of - n} of {of} collections, where it is "
            "0 for an estimator"
            for measure, n, of in sizes.itertuples()
            if n < of
        ]
        each = ((name, note) for name, result in self.results.items() for note in result.notes())
        return (*noted(notes, "experiment"), *(Note(note.kind, f"{name}, {note}") for name, note in each))

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the estimator that is best in most collections, for each measure."""
        s, n = self.settings, len(self.results)
        first = f"Each {s.by} left out in turn, of {n} collection{'s' * (n > 1)}: {', '.join(self.results)}."
        return (first, *(self._sentence(str(measure)) for measure in s.measures))

    def _stacked(self, table: str) -> pd.DataFrame:
        """Return a table with the rows from all collections, named in the first column."""
        frames = [result.to_frame(table) for result in self.results.values()]
        stacked = pd.concat(frames, ignore_index=True)
        stacked.insert(0, "collection", np.repeat(list(self.results), [len(frame) for frame in frames]))
        return stacked

    @cached_property
    def _summary(self) -> pd.DataFrame:
        frame = self._stacked("summary")
        keys = zip(frame["collection"], frame["measure"], frame["estimator"], strict=True)
        has_reference = _REFERENCE in self.settings.labels
        change = [self.results[c].mae_change(m, e) if has_reference else np.nan for c, m, e in keys]
        frame.insert(list(frame.columns).index("mae") + 1, "mae_change", change)
        return frame

    @cached_property
    def _overall(self) -> pd.DataFrame:
        """Geometric means of the MAE and numbers of collections by measure and estimator."""
        labels, measures = list(self.settings.labels), self._summary.groupby("measure", sort=False)
        columns = {
            measure: over_collections(
                rows.pivot(index="collection", columns="estimator", values="mae")[labels]
            )
            for measure, rows in measures
        }
        return pd.concat(columns, names=["measure", "estimator"]).reset_index()

    def _views(self, table: str) -> tuple[View, ...]:
        shown: list[Any] = [(", by collection", ("collection", "estimator"), columns) for columns in _COLUMNS]
        if table == "overall":
            title = ", number of collections where an estimator is best and worst by MAE"
            shown = [(title, ("estimator",), ("n_best", "n_worst", "geometric_mean"))]
        return tuple(measure_view(measure, *view) for measure in self.settings.measures for view in shown)

    def _sentence(self, measure: str) -> str:
        """Return a sentence on the estimator that most often has the smallest MAE under a measure."""
        rows = self._overall[self._overall["measure"] == measure].set_index("estimator")
        keys = ["n_best", "geometric_mean"]
        best = rows.sort_values(keys, ascending=[False, True], kind="stable").index[0]
        n, of = (int(rows.loc[best, name]) for name in ("n_best", "n_collections"))
        text = f"{measure}: {best} has the smallest MAE in {n} of {of} collections, ties included."
        mean = rows["geometric_mean"]
        if best != _REFERENCE and _REFERENCE in mean and mean.notna()[[best, _REFERENCE]].all():
            text += f" The geometric mean of its MAE is {number(mean[best])}"
            text += f" against {number(mean[_REFERENCE])} as judged."
        return text


def over_collections(errors: pd.DataFrame) -> pd.DataFrame:
    """Return columns of ``overall`` by estimator from errors by collection and estimator, NaN if unknown."""
    has_zero = (errors < _ROUNDING).any(axis=1)
    averaged = errors[~has_zero]
    n_averaged = averaged.notna().sum()
    return pd.DataFrame(
        {
            "n_collections": errors.notna().sum(),
            "n_best": errors.le(errors.min(axis=1) + _ROUNDING, axis=0).sum(),
            "n_worst": errors.ge(errors.max(axis=1) - _ROUNDING, axis=0).sum(),
            "geometric_mean": np.exp(np.log(averaged).sum() / n_averaged.where(n_averaged > 0)),
            "n_averaged": n_averaged,
        }
    )
