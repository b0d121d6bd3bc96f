"""Result of a leave-out experiment: a row per run and estimator, and errors over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.collection.contents import some
from bayespool.comparisons import paired_t
from bayespool.errors import InputError, known_names
from bayespool.experiments.base import (
    PIT,
    TESTS,
    ExperimentResult,
    panel_figure,
    reported_rows,
    summary_of,
    width_column,
)
from bayespool.experiments.calibration import interval_summary
from bayespool.experiments.clusters import RunCluster
from bayespool.experiments.error_measures import (
    SIGNIFICANCE_LEVEL,
    errors_of,
    significant_pairs,
    system_rank_error,
)
from bayespool.experiments.reliability import Reliability, reliability
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.measures import Measure, parse_measure
from bayespool.report.result import Figure
from bayespool.tables.columns import Column
from bayespool.tables.files import records
from bayespool.tables.formatting import level, number, percent
from bayespool.tables.table import Ends, Table, View

if TYPE_CHECKING:
    import pandas as pd


_ROUNDING = 1e-12


def n_unknown_documents(frame: pd.DataFrame, measure: object) -> int:
    """Documents in the runs' top n that are unjudged in the truth, too, each run counted once."""
    return int(_one_row_per_run(frame, measure)["n_unknown"].sum())


def n_outside_bounds(frame: pd.DataFrame, measure: object) -> int:
    """Runs whose truth is outside their bounds, possible only where the truth has other judgments than the
    estimates.
    """
    rows = _one_row_per_run(frame, measure)
    above = rows["truth"] > rows["bound_upper"] + _ROUNDING
    return int((above | (rows["truth"] < rows["bound_lower"] - _ROUNDING)).sum())


def notes_of_truth(frame: pd.DataFrame, measure: Measure) -> list[str]:
    """Note that documents of the runs are unjudged in the truth, too; none without such documents."""
    unknown = n_unknown_documents(frame, measure)
    message = (
        f"{unknown} documents of these runs' top {measure.cutoff} are unjudged in truth, too, and count as "
        f"{'unjudged' if measure.reads_unjudged else 'nonrelevant'} there"
    )
    return [message] if unknown else []


def notes_of_runs(frame: pd.DataFrame) -> list[str]:
    """Notes on runs left out, from ``estimator`` and ``note`` of one measure, each once with the number of
    runs.
    """
    notes: dict[tuple[str, str], int] = {}
    for estimator, note in zip(frame["estimator"], frame["note"], strict=True):
        if isinstance(note, str) and note:
            without_numbers = re.sub(r"(?<=unlike the pool) \([^)]*\)", "", note)  # which differ between runs
            notes[estimator, without_numbers] = notes.get((estimator, without_numbers), 0) + 1
    return [f"{estimator}, {n} run{'s' * (n > 1)}: {note}" for (estimator, note), n in notes.items()]


def _one_row_per_run(frame: pd.DataFrame, measure: object) -> pd.DataFrame:
    """The rows of a measure, one per run."""
    return frame[frame["measure"] == str(measure)].drop_duplicates("run_id")


def leave_out_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """Sentences on the bias as judged and the best estimator, from the rows of one measure of the table
    ``summary``.

    Examples
    --------
    >>> plain = {"measure": "P@10", "estimator": "as-judged", "n_runs": 20, "bias": -0.03, "rmse": 0.04}
    >>> best = {"estimator": "posterior-combined", "bias": 0.001, "rmse": 0.01, "coverage_95": 0.95}
    >>> rows = [plain | {"coverage_95": float("nan")}, plain | best]
    >>> for clause in leave_out_sentence(rows).split(". "):
    ...     print(clause)
    P@10, over 20 runs left out of the pool: as judged a run is underestimated by 0.0300 on average
    posterior-combined comes nearest to the truth (root mean square error 0.0100 against 0.0400 as judged)
    The 95 % intervals of posterior-combined hold the truth of 95.0 % of the runs with anything unjudged.
    """
    best = min(rows, key=lambda row: float(row["rmse"]))
    plain = [row for row in rows if row["estimator"] == "as-judged"]
    text = f"{best['measure']}, over {best['n_runs']} runs left out of the pool:"
    if plain:
        side = "underestimated" if plain[0]["bias"] < 0 else "overestimated"
        text += f" as judged a run is {side} by {number(abs(plain[0]['bias']))} on average."
    if plain and best is plain[0]:
        text += f" No estimator comes nearer to the truth (root mean square error {number(best['rmse'])})."
    else:
        text += (
            f" {best['estimator']} comes nearest to the truth (root mean square error {number(best['rmse'])}"
        )
        text += f" against {number(plain[0]['rmse'])} as judged)." if plain else ")."
    covered = [row for row in rows if row["coverage_95"] == row["coverage_95"]]
    for row in covered[:1]:
        text += (
            f" The {level(0.95)} intervals of {row['estimator']} hold the truth of "
            f"{percent(row['coverage_95'])} of the runs with anything unjudged."
        )
    return text


_CLUSTERS = {
    "cluster": Column("cluster", "text", "Name of the cluster; the first is the largest."),
    "n_runs": Column("runs", "count", "Number of runs of the cluster."),
    "left_out": Column("left out", "flag", "Whether the cluster was left out of the pool."),
    "stays": Column("why not", "text", "Why the cluster stays in the pool."),
}
_RELIABILITY = {
    "n_topics": Column("topics", "count", "Number of topics that all the runs have."),
    "generalizability": Column("Eρ²", "coefficient", "Reliability of differences between runs."),
    "generalizability_lower": Column("from", "coefficient", "Lower end of the interval of Eρ²."),
    "generalizability_upper": Column("to", "coefficient", "Upper end of the interval of Eρ²."),
    "dependability": Column("Φ", "coefficient", "Reliability of the scores themselves."),
    "dependability_lower": Column("from", "coefficient", "Lower end of the interval of Φ."),
    "dependability_upper": Column("to", "coefficient", "Upper end of the interval of Φ."),
}
_RELIABILITY_VIEW = View(
    title="reliability of the true scores",
    names=("measure",),
    columns=(
        *("n_topics", "generalizability", Ends("generalizability_lower", "generalizability_upper")),
        *("dependability", Ends("dependability_lower", "dependability_upper")),
    ),
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LeaveOutResult(ExperimentResult):
    """Result of `leave_out`.

    Its tables are ``runs``, a row per measure, estimator and run; ``summary``, a row per measure and
    estimator over the reported runs; ``reliability`` of the true scores by measure; and, where clusters of
    runs are left out, ``clusters``, a row per pooled run.

    Attributes
    ----------
    settings : LeaveOutSettings
    n_pooled_runs : dict of str to int
        Pooled runs by measure, before ``top`` is applied.
    scores_in_truth : mapping of (str, str) to ndarray of float, shape (topic,)
        True values by measure and run; NaN on topics that the run's score is not over.
    seconds : mapping of str to float
        Processor time by stage, summed over folds; stored folds count with their original time.
    clusters : tuple of RunCluster
        Of all pooled runs, the largest first, also those that stay in the pool; else empty.
    """

    command = "leave-out"
    title = "Organizations left out of the pool"
    settings: LeaveOutSettings
    n_pooled_runs: Mapping[str, int]
    scores_in_truth: Mapping[tuple[str, str], npt.NDArray[np.float64]]
    seconds: Mapping[str, float]
    clusters: tuple[RunCluster, ...]
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<LeaveOutResult: {self._rows['fold'].nunique()} {s.by}s left out, "
            f"{self._rows['run_id'].nunique()} runs, {len(s.measures)} measures, "
            f"{len(s.estimators)} estimators>"
        )

    def tables(self) -> tuple[Table, ...]:
        """``runs``, ``summary``, ``reliability`` and, where clusters are left out, ``clusters``."""
        of_runs = {"fold": Column("left out", "text", "The organization, run or cluster that was left out.")}
        width, views = width_column(self.settings.ci_prob), tuple(self._summary_views())
        reliability = self._reliability_frame(), _RELIABILITY, (_RELIABILITY_VIEW,)
        tables = (
            Table("runs", "Run by run", self._rows.copy(), of_runs),
            Table("summary", "Summary", self._summary.copy(), width, views),
            Table("reliability", "Reliability of the scores", *reliability),
        )
        if not self.clusters:
            return tables
        view = View(
            title="clusters of runs",
            names=("cluster",),
            columns=("n_runs", "left_out", "stays"),
            note=";\n".join(self._cluster_texts()),
        )
        return *tables, Table("clusters", "Clusters", self._cluster_frame(), _CLUSTERS, (view,))

    def to_frame(self, table: str | None = None, *, reported_only: bool = False) -> pd.DataFrame:
        """Data frame of one of the tables, by default ``runs``.

        Parameters
        ----------
        table : str, optional
        reported_only : bool, default False
            Of ``runs`` only the best ``top`` % of the runs, which the summary is over.
        """
        frame = super().to_frame(table)
        return reported_rows(frame) if reported_only else frame

    def notes(self) -> tuple[str, ...]:
        """Notes on the reported runs, by measure."""
        return tuple(f"{m}: {note}" for m in self.settings.measures for note in self._notes_of(m))

    def summary(self) -> tuple[str, ...]:
        """What was left out, and by measure the bias as judged and the best estimator."""
        rows = records(self._summary)
        sentences = [self._scope()]
        for measure in map(str, self.settings.measures):
            if min(len(self.true_scores(measure)), self.n_shared_topics(measure)) < 2:
                missing = "– (it needs two runs and two topics that all of them have)"
                sentences.append(f"{measure}: reliability of the true scores: {missing}")
            sentences.append(leave_out_sentence([row for row in rows if row["measure"] == measure]))
        return tuple(sentences)

    def figures(self) -> tuple[Figure, ...]:
        """``mae``; for each measure ``truth`` and, of posteriors, ``pit``."""
        from bayespool.plots import plot_pit, plot_truth
        from bayespool.plots.experiments import draw_mae

        posteriors = self._summary.loc[self._summary["ci_prob"].notna(), "estimator"].unique()
        truth = "Estimates against true scores; on the diagonal an estimate is right"
        figures = [Figure("mae", "Mean absolute error of every estimator", partial(draw_mae, self))]
        for m in self.settings.measures:
            panels = [partial(plot_truth, self, m, label) for label in self.settings.labels]
            figures.append(panel_figure("truth", truth, panels, of=[m]))
            if len(posteriors):
                panels = [partial(plot_pit, self, m, label) for label in posteriors]
                figures.append(panel_figure("pit", PIT, panels, of=[m], height=3))
        return tuple(figures)

    @property
    def _reported(self) -> pd.DataFrame:
        return reported_rows(self._rows)

    def _notes_of(self, measure: Measure) -> tuple[str, ...]:
        frame = self._reported
        frame = frame[frame["measure"] == str(measure)]
        lines = []
        n_shared, n_topics = self.n_shared_topics(measure), len(self.query_ids)
        if n_shared < n_topics:
            statistics = "SRE* and reliability are" if self.settings.test == "tukey-hsd" else "reliability is"
            lines.append(f"{statistics} over the {n_shared} of {n_topics} topics that all these runs have")
        lines += notes_of_truth(frame, measure)
        if outside := n_outside_bounds(frame, measure):
            lines.append(
                f"the truth of {outside} runs is outside their bounds: all judgments count in it, and in the "
                "estimates documents below the pool depth stay nonrelevant; take the truth of the run back "
                "in the pool alone (repooled), or the complete estimand"
            )
        return (*lines, *notes_of_runs(frame))

    def _scope(self) -> str:
        settings = self.settings
        who: str = settings.by
        if who == "organization" and (self._rows["organization"] == self._rows["run_id"]).all():
            who = "run, of an organization of its own,"
        if who == "cluster":
            who = f"of {len(self.clusters)} clusters of runs that retrieve alike"
        of_all = settings.denominator == "qrels"
        over = f"{len(self.query_ids)} topics" if of_all else "the topics of each run"
        parts = [f"Each {who} left out in turn, mean over {over}"]
        if settings.pool_depth is not None:
            parts.append(f"re-pooled to depth {settings.pool_depth}")
        if settings.top_pool == "kept":
            parts.append(f"pools of the best {settings.top:g} % of the runs alone")
        parts.append(
            "truth: the run back in the pool alone"
            if settings.truth == "repooled"
            else "truth: all judgments"
        )
        below = "stay nonrelevant" if settings.estimand == "pooled" else "are estimated, too"
        parts.append(f"unjudged documents below the pool depth {below}")
        return "; ".join(parts)

    def _summary_views(self) -> Iterator[View]:
        """Errors, and intervals where there are posteriors, by measure; the last has the legend."""
        legend = (
            "SRE: by how many places estimates miss their runs' true ranks, summed over runs. SRE* counts "
            "only runs passed over that differ significantly in truth "
            f"({TESTS[self.settings.test]}, {level(SIGNIFICANCE_LEVEL)})."
        )
        errors = ("mae", "rmse", "bias", "topic_rmse", "sre", "sre_star", "kendall_tau_b", "crps")
        intervals = [f"{name}_{share}" for name in ("coverage", "pit") for share in (50, 80, 95)]
        measures = [str(measure) for measure in self.settings.measures]
        for measure in measures:
            rows = self._summary[self._summary["measure"] == measure]
            posteriors = rows[rows["ci_prob"].notna()]
            yield View(
                title=f"{measure}, {self._runs_clause(measure, int(rows['n_runs'].iloc[0]))}",
                names=("estimator",),
                columns=errors,
                where={"measure": measure},
                note=legend if measure == measures[-1] else "",
            )
            if len(posteriors):
                n_open = int(posteriors["n_open"].iloc[0])
                yield View(
                    title=f"{measure}, intervals of {n_open} runs with anything unjudged",
                    names=("estimator",),
                    columns=(*intervals, "width"),
                    where={"measure": measure, "ci_prob": self.settings.ci_prob},
                )

    def _runs_clause(self, measure: str, n_runs: int) -> str:
        """Clause on the runs that a table summarizes."""
        n_pooled = self.n_pooled_runs[measure]
        if self.clusters:
            n_left_out = sum(len(cluster.run_ids) for cluster in self.clusters if not cluster.stays)
            which = f"all {n_runs}" if n_runs == n_left_out else f"the best {n_runs} of {n_left_out}"
            return f"{which} runs left out, of {n_pooled} pooled runs"
        which = f"all {n_runs}" if n_runs == n_pooled else f"the best {n_runs} of {n_pooled}"
        return f"{which} pooled runs"

    def _cluster_texts(self) -> Iterator[str]:
        """Organizations and first runs of each cluster."""
        for cluster in self.clusters:
            others = {name for other in self.clusters if other is not cluster for name in other.organizations}
            own = set(cluster.organizations)
            n_both = len(own & others)
            text = f"runs of {len(own)} organization{'s' * (len(own) > 1)}"
            if n_both and not cluster.stays:
                text += f" ({n_both} with other runs in the pool)"
            yield f"{cluster.name}: {text}: {some(cluster.run_ids, 6)}"

    @cached_property
    def _summary(self) -> pd.DataFrame:
        return summary_of(self._reported, ("measure", "estimator"), self._summarize)

    def _cluster_frame(self) -> pd.DataFrame:
        import pandas as pd

        rows = [
            (cluster.name, run, organization, len(cluster.run_ids), not cluster.stays, cluster.stays)
            for cluster in self.clusters
            for run, organization in zip(cluster.run_ids, cluster.organizations, strict=True)
        ]
        return pd.DataFrame(
            rows, columns=["cluster", "run_id", "organization", "n_runs", "left_out", "stays"]
        )

    def significant(self, measure: object) -> npt.NDArray[np.bool_]:
        """Pairs of reported runs whose true scores differ significantly at 5 %, shape (run, run).

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

    def n_shared_topics(self, measure: object) -> int:
        """Number of topics of all reported runs, which Tukey's test and `reliability` use."""
        return int(_complete_topics(self.true_scores(measure)).shape[1])

    def true_scores(self, measure: object) -> npt.NDArray[np.float64]:
        """True scores of the reported runs, shape (run, topic), in the order of the runs; NaN where none."""
        name = self._measure(measure)
        rows = self._reported
        rows = rows[(rows["measure"] == name) & (rows["estimator"] == self.settings.labels[0])]
        return np.array([self.scores_in_truth[name, run] for run in rows["run_id"]])

    def mae_change(self, measure: object, estimator: str, *, reference: str = "as-judged") -> float:
        """Change of the MAE from a reference's to an estimator's, in percent; NaN if the former is 0."""
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
        """Eρ² and Φ of the true scores of the reported runs, on the topics they share."""
        return reliability(_complete_topics(self.true_scores(measure)), ci_prob=self.settings.ci_prob)

    def mae_by_cutoff(self) -> pd.DataFrame:
        """Mean absolute errors by cutoff, for families of measures that differ in nothing else.

        Returns
        -------
        pandas.DataFrame
            ``family`` (the measure without its cutoff: ``P(rel=2)``), ``estimator``, ``measure``, ``cutoff``,
            ``mae``: families in the order of the measures, within them estimators in the order of the
            settings, and cutoffs ascending.
        """
        import pandas as pd

        families: dict[str, list[Measure]] = {}
        for measure in self.settings.measures:
            families.setdefault(str(measure).partition("@")[0], []).append(measure)
        mae = self._summary.set_index(["estimator", "measure"])["mae"]
        rows = [
            (family, label, str(m), m.cutoff, float(mae[label, str(m)]))
            for family, members in families.items()
            for label in self.settings.labels
            for m in sorted(members, key=lambda m: m.cutoff)
        ]
        return pd.DataFrame(rows, columns=["family", "estimator", "measure", "cutoff", "mae"])

    def _reliability_frame(self) -> pd.DataFrame:
        """`Reliability` by measure, where there are two runs and topics."""
        import pandas as pd

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
            known = ", ".join(map(str, self.settings.measures))
            raise InputError(f"the experiment has no {parsed}", hint=f"it has {known}")
        return str(parsed)

    @cached_property
    def _significant(self) -> dict[str, npt.NDArray[np.bool_] | None]:
        """`significant` by measure; None where no two runs can be tested."""
        return {str(m): self.significant(m) if self._is_testable(m) else None for m in self.settings.measures}

    def _is_testable(self, measure: object) -> bool:
        scores = self.true_scores(measure)
        if self.settings.test == "tukey-hsd":
            return bool(min(_complete_topics(scores).shape) > 1)
        scored = (~np.isnan(scores)).astype(int)
        n_topics = scored @ scored.T  # of each pair
        np.fill_diagonal(n_topics, 0)
        return bool(n_topics.max() > 1)

    def _summarize(self, rows: pd.DataFrame) -> dict[str, Any]:
        truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
        significant = self._significant[rows["measure"].iloc[0]]
        summary: dict[str, Any] = {
            "n_runs": len(rows),
            **errors_of(rows, "mae", "rmse", "bias"),
            "topic_rmse": float(np.sqrt((rows["topic_rmse"].to_numpy() ** 2).mean())),
            **errors_of(rows, "sre"),
            "sre_star": np.nan if significant is None else system_rank_error(truth, value, significant),
            **errors_of(rows, "kendall_tau_b"),
        }
        posterior = bool(rows["ci_prob"].notna().any())
        graded = interval_summary(rows, rows["n_unjudged"] > 0)
        score = graded.pop("crps")
        summary |= graded | {"ci_prob": self.settings.ci_prob if posterior else np.nan, "crps": score}
        return summary


def _complete_topics(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scores on the topics that every run has, shape (run, topic)."""
    return scores[:, ~np.isnan(scores).any(axis=0)]
