"""Result of a leave-out experiment: a row per run and estimator, and summaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.comparisons import paired_t
from bayespool.comparisons.significance import tukey_significant
from bayespool.errors import InputError, known_names
from bayespool.experiments.clusters import RunCluster
from bayespool.experiments.error_measures import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    root_mean_squared_error,
    system_rank_error,
)
from bayespool.experiments.from_frames import n_outside_bounds, notes_of_runs, notes_of_truth
from bayespool.experiments.intervals import interval_summary
from bayespool.experiments.reliability import Reliability, reliability
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.measures import Measure, parse_measure
from bayespool.tables.reprs import Shown

if TYPE_CHECKING:
    import pandas as pd

_ALPHA = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOutResult(Shown):
    """Result of `leave_out`.

    Attributes
    ----------
    settings : LeaveOutSettings
    fingerprint : str
        Of the collection.
    pool : str
        Report of the pool.
    query_ids : tuple of str
    n_pooled_runs : dict of str to int
        Pooled runs by measure, before ``top`` is applied.
    scores_in_truth : mapping of (str, str) to ndarray of float, shape (topic,)
        True values by measure and run; NaN on topics that the run's score is not over.
    warnings : tuple of (str, str)
        Class and text of the warnings of all folds.
    seconds : mapping of str to float
        Processor time by stage, summed over folds; stored folds count with their original time.
    clusters : tuple of RunCluster
        Of all pooled runs, the largest first, also those that stay in the pool; else empty.
    """

    settings: LeaveOutSettings
    fingerprint: str
    pool: str
    query_ids: tuple[str, ...]
    n_pooled_runs: Mapping[str, int]
    scores_in_truth: Mapping[tuple[str, str], npt.NDArray[np.float64]]
    warnings: tuple[tuple[str, str], ...]
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

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the reported runs, a line each."""
        return tuple(f"{m}: {note}" for m in self.settings.measures for note in self.notes_of(m))

    def notes_of(self, measure: Measure) -> tuple[str, ...]:
        """Notes under one measure."""
        frame = self.frame()
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

    def to_frame(self, *, reported_only: bool = True) -> pd.DataFrame:
        """One row per measure, estimator and run, in the order of the settings and the collection.

        Parameters
        ----------
        reported_only : bool, default True
            Only the best ``top`` % of the runs; otherwise all estimated runs.

        Returns
        -------
        pandas.DataFrame
            ``fold`` (what was left out), ``organization``, ``run_id``, ``measure``, ``estimator``,
            ``reported`` (among the best), ``truth``, ``value`` (the estimate), ``lower`` and ``upper`` (ends
            of its interval, NaN for a point correction), ``ci_prob``, ``std``, ``as_judged`` (uncorrected:
            unjudged documents are not relevant), ``bound_lower`` and ``bound_upper`` (over all completions of
            the judgments, see `bayespool.evidence.Bounds`), ``n_unjudged`` (in the top n, over all topics),
            ``n_unknown`` (unjudged in truth, too), ``topic_rmse`` (root mean squared error over topics),
            ``covered_50``, ``covered_80``, ``covered_95`` (whether the truth is inside the interval of that
            level, ends included; missing where nothing is unjudged, and for point corrections), ``pit``
            (randomized; NaN likewise), ``pit_lower`` and ``pit_upper`` (the range that it is drawn from),
            ``crps`` (in units of the score), ``distance`` and ``new_kind`` (see
            `bayespool.measures.estimates.Estimates`), and ``note``.
        """
        rows = self._rows[self._rows["reported"]] if reported_only else self._rows
        return rows.reset_index(drop=True)

    frame = to_frame

    @cached_property
    def _summary(self) -> pd.DataFrame:
        import pandas as pd

        frame = self.frame()
        rows = [
            self._summarize(
                frame[(frame["measure"] == str(measure)) & (frame["estimator"] == label)], str(measure), label
            )
            for measure in self.settings.measures
            for label in self.settings.labels
        ]
        return pd.DataFrame(rows)

    def summary_frame(self) -> pd.DataFrame:
        """One row per measure and estimator, over the reported runs.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``estimator``, ``n_runs``, ``mae``, ``rmse``, ``bias`` (estimate − truth),
            ``topic_rmse`` (over all runs and topics), ``sre``, ``sre_star`` (NaN where no two runs could be
            tested), ``kendall_tau_b``, ``n_open`` (runs with anything unjudged); for posteriors, over these,
            ``coverage_50``, ``coverage_80``, ``coverage_95`` (share of intervals that hold the truth, ends
            included), ``pit_50``, ``pit_80``, ``pit_95`` (share of randomized PIT values in the central 50,
            80, 95 %, expected over their random part), ``width`` (mean width of the ``ci_prob`` intervals),
            ``ci_prob``, and ``crps`` (mean over all reported runs, comparable with a point correction's MAE).
        """
        return self._summary.copy()

    def clusters_frame(self) -> pd.DataFrame:
        """One row per pooled run, cluster by cluster; none where no clusters are left out.

        Returns
        -------
        pandas.DataFrame
            ``cluster``, ``run_id``, ``organization``, ``n_runs`` (of the cluster), ``left_out`` (whether it
            was), and ``stays`` (why not).
        """
        import pandas as pd

        rows = [
            (cluster.name, run, organization, len(cluster.run_ids), not cluster.stays, cluster.stays)
            for cluster in self.clusters
            for run, organization in zip(cluster.run_ids, cluster.organizations, strict=True)
        ]
        columns = ["cluster", "run_id", "organization", "n_runs", "left_out", "stays"]
        return pd.DataFrame(rows, columns=columns)

    def significant(self, measure: object) -> npt.NDArray[np.bool_]:
        """Pairs of reported runs whose true scores differ significantly at 5 %, shape (run, run).

        Topics without a score (``denominator="run"``) of any run are left out of Tukey's test, those without
        one of the pair out of the paired t test.
        """
        scores = self.true_scores(measure)
        if self.settings.test == "tukey-hsd":
            scores = _complete_topics(scores)
            return tukey_significant(scores, _ALPHA) if scores.shape[1] > 1 else _no_pair(scores)
        p = paired_t(scores) if scores.shape[1] > 1 else np.full((len(scores), len(scores)), np.nan)
        for u in np.flatnonzero(np.isnan(scores).any(axis=1)).tolist():
            for v in range(len(scores)):
                pair = _complete_topics(scores[np.array([u, v])])
                if u != v and pair.shape[1] > 1:
                    p[u, v] = p[v, u] = paired_t(pair)[0, 1]
        with np.errstate(invalid="ignore"):
            return np.asarray(p < _ALPHA)

    def n_shared_topics(self, measure: object) -> int:
        """Number of topics of all reported runs, which Tukey's test and `reliability` use."""
        return int(_complete_topics(self.true_scores(measure)).shape[1])

    def true_scores(self, measure: object) -> npt.NDArray[np.float64]:
        """True scores of the reported runs, shape (run, topic), in the order of `frame`; NaN where none."""
        name = self._measure(measure)
        rows = self.frame()
        rows = rows[(rows["measure"] == name) & (rows["estimator"] == self.settings.labels[0])]
        return np.array([self.scores_in_truth[name, run] for run in rows["run_id"]])

    def mae_change(self, measure: object, estimator: str, *, reference: str = "lower-bound") -> float:
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

    def reliability_frame(self) -> pd.DataFrame:
        """`Reliability` by measure, with ``measure`` and ``n_runs``, where there are two runs and topics."""
        import dataclasses

        import pandas as pd

        rows = []
        columns = ["measure", "n_runs", *(f.name for f in dataclasses.fields(Reliability))]
        for measure in self.settings.measures:
            scores = self.true_scores(measure)
            if min(_complete_topics(scores).shape) > 1:
                coefficients = dataclasses.asdict(self.reliability(measure))
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

    def _summarize(self, rows: pd.DataFrame, measure: str, label: str) -> dict[str, Any]:
        truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
        significant = self._significant[measure]
        summary: dict[str, Any] = {
            "measure": measure,
            "estimator": label,
            "n_runs": len(rows),
            "mae": mean_absolute_error(truth, value),
            "rmse": root_mean_squared_error(truth, value),
            "bias": mean_error(truth, value),
            "topic_rmse": float(np.sqrt((rows["topic_rmse"].to_numpy() ** 2).mean())),
            "sre": system_rank_error(truth, value),
            "sre_star": np.nan if significant is None else system_rank_error(truth, value, significant),
            "kendall_tau_b": kendall_tau_b(truth, value),
        }
        posterior = bool(rows["ci_prob"].notna().any())
        graded = interval_summary(rows, rows["n_unjudged"] > 0)
        score = graded.pop("crps")
        summary |= graded | {"ci_prob": self.settings.ci_prob if posterior else np.nan, "crps": score}
        return summary


def _complete_topics(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scores on the topics that every run has, shape (run, topic)."""
    return scores[:, ~np.isnan(scores).any(axis=0)]


def _no_pair(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    return np.zeros((len(scores), len(scores)), dtype=bool)
