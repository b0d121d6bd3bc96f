"""Leaving a type of runs out of the pool: estimates from runs of other types (Webber & Park 2009, §2.1 and
table 1).

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError, known_names
from bayespool.evidence import score_bounds
from bayespool.experiments.caught_warnings import warn_once
from bayespool.experiments.error_measures import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    root_mean_squared_error,
    system_rank_error,
)
from bayespool.experiments.fold_results import FoldResult
from bayespool.experiments.folds import Fold
from bayespool.experiments.from_frames import notes_of_runs
from bayespool.experiments.intervals import COVERAGE_LEVELS
from bayespool.experiments.leaving_out import run_folds
from bayespool.experiments.preparing import Estimators, experiment_settings, parts_description
from bayespool.experiments.resampling import ordered_table, run_types_of, whole_pool
from bayespool.experiments.settings import LeaveOutSettings, Runs, RunTypesSettings
from bayespool.experiments.storage import FoldStore, at_work, description_of
from bayespool.options import documented
from bayespool.pooling import describe_pool
from bayespool.posterior.keywords import ExperimentOptions
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.scoring.scoring import warn_of_unused_relevance
from bayespool.tables.printable import some_of
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class RunTypesResult(Shown):
    """Result of `leave_types_out`.

    Attributes
    ----------
    settings : RunTypesSettings
    fingerprint : str
        Of the collection.
    pool : str
        Report of the whole pool.
    query_ids : tuple of str
    n_runs : mapping of str to int
        Runs of each type in the whole pool.
    true_scores : mapping of str to mapping of str to float
        True score of every pooled run, by measure and run.
    warnings : tuple of (str, str)
        Class and text of the warnings.
    """

    settings: RunTypesSettings
    fingerprint: str
    pool: str
    query_ids: tuple[str, ...]
    n_runs: Mapping[str, int]
    true_scores: Mapping[str, Mapping[str, float]]
    warnings: tuple[tuple[str, str], ...]
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        s = self.settings
        measures, estimators = len(s.shared.measures), len(s.shared.estimators)
        description = f"{some_of(s.types, 3)} left out, {measures} measures, {estimators} estimators"
        return one_line("RunTypesResult", description)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the runs, a line each, by measure and left-out type."""
        by_type = self._rows.groupby(["measure", "type"], sort=False)
        return tuple(
            f"{key[0]}, {key[1]} runs: {note}" for key, rows in by_type for note in notes_of_runs(rows)
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per left-out type, measure, estimator and run of the type.

        Returns
        -------
        pandas.DataFrame
            ``type``, then the columns of `LeaveOutResult.frame` but ``fold`` and ``reported``; last ``error``
            (value − truth).
        """
        return self._rows.assign(error=self._rows["value"] - self._rows["truth"])

    frame = to_frame

    def summary_frame(self) -> pd.DataFrame:
        """One row per left-out type, measure and estimator.

        Returns
        -------
        pandas.DataFrame
            ``type``, ``measure``, ``estimator``, ``n_runs``, ``n_pool_runs`` (of the other types), ``mae``,
            ``rmse``, ``bias`` (estimate − truth), ``bias_quartile_1``, ``bias_median``, ``bias_quartile_3``
            (of the runs' errors), ``sre`` (each estimate among the true scores of all other runs),
            ``kendall_tau_b`` (among the runs of the type), and for posteriors ``n_open`` (runs with anything
            unjudged), ``coverage_50``, ``coverage_80``, ``coverage_95`` (share of their intervals that hold
            the truth, ends included), ``width`` (mean, of the ``ci_prob`` intervals), ``ci_prob`` and
            ``crps``.
        """
        import pandas as pd

        keys = ["type", "measure", "estimator"]
        rows = []
        for key, group in self._rows.groupby(keys, sort=False):
            kind, measure = str(key[0]), str(key[1])
            others = {r: t for r, t in self.true_scores[measure].items() if r not in set(group["run_id"])}
            n_pool_runs = sum(self.n_runs.values()) - self.n_runs[kind]
            row = dict(zip(keys, key, strict=True)) | {"n_runs": len(group), "n_pool_runs": n_pool_runs}
            rows.append(row | _summarize(group, np.array(list(others.values()))))
        return pd.DataFrame(rows)


@documented(RunTypesSettings)
def leave_types_out(
    collection: Collection,
    measures: object = "P@10",
    *,
    run_types: Mapping[str, str],
    types: Sequence[str] | None = None,
    estimators: Estimators = "all",
    runs: Runs = "pooled",
    pool_depth: int | None = None,
    ci_prob: float = 0.95,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[ExperimentOptions],
) -> RunTypesResult:
    """Leave all runs of a type out of the pool, estimate them from the runs of other types, and compare.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    folder : path, optional
        Store finished types there, and continue from stored types.
    n_jobs : int, optional
        Processes, as of `leave_out`.
    progress : callable, optional
        Called with the number of finished types and their total.
    **settings
        Settings of the named estimators that have them.

    Returns
    -------
    RunTypesResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; a run without a type; no pool; a single type.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call continues from the stored types.

    Warns
    -----
    ExperimentChangedWarning
        ``folder`` holds types of other settings, or unreadable ones.
    InputWarning
        No document has the relevance that a measure asks for.
    JudgeWarning
        Labels of a second judge are not used, for all runs or an organization's.

    Notes
    -----
    As in `leave_out`, a true score is that of the run alone put back into the pool, unjudged documents below
    the pool depth stay nonrelevant, and an estimator gets the collection without the judgments that only the
    left-out runs contributed. An organization with runs of several types stays in the pool with the others.

    Examples
    --------
    >>> from bayespool import load_example
    >>> example = load_example()
    >>> kinds = {run: "odd" if run.startswith("north") else "usual" for run in example.pooled_run_ids}
    >>> result = leave_types_out(example, run_types=kinds, types=["odd"], estimators="lower-bound")
    >>> summary = result.summary_frame()[["type", "n_runs", "n_pool_runs", "bias"]]
    >>> print(summary.round(3).to_string(index=False))
    type  n_runs  n_pool_runs  bias
     odd       2           19 -0.02
    """
    requested = experiment_settings(
        RunTypesSettings,
        measures,
        estimators,
        run_types=run_types,
        types=types,
        runs=runs,
        pool_depth=pool_depth,
        ci_prob=ci_prob,
        random_seed=random_seed,
        settings=settings,
    )
    warn_of_unused_relevance(collection, requested.measures)
    warn_of_judges(collection, (), requested.measures)
    whole = whole_pool(collection, runs, pool_depth)
    pairs = run_types_of(whole, run_types, whole.pooled_run_ids)
    known = sorted({kind for _, kind in pairs})
    if len(known) < 2:
        raise InputError(
            f"all runs of the pool are of type {known[0]!r}: nothing is left once it is left out",
            hint="give at least two types",
        )
    wanted = tuple(dict.fromkeys(requested.types or known))
    if unknown := [kind for kind in wanted if kind not in known]:
        raise InputError(
            f"no run of the pool has the type {unknown[0]!r}", hint=known_names(unknown[0], known)
        )
    resolved = dataclasses.replace(requested, pool_depth=whole.pool_depth, run_types=pairs, types=wanted)
    shared = resolved.shared
    of_type = {kind: tuple(run for run, other in pairs if other == kind) for kind in known}
    folds = [Fold(k, "", of_type[k], resolved.measures, whole.pooled_run_ids) for k in wanted]
    store = None
    if folder is not None:
        described = description_of("run-types", collection, parts_description(resolved))
        store = FoldStore(Path(folder) / "run-types", described)
    with at_work(store):
        finished = run_folds(whole, folds, shared, store, n_jobs, progress)
    warn_once([result.warnings for result in finished], "types")
    return RunTypesResult(
        settings=resolved,
        fingerprint=collection.fingerprint,
        pool=str(describe_pool(whole)),
        query_ids=whole.query_ids,
        n_runs={kind: len(members) for kind, members in of_type.items()},
        true_scores=_true_scores(whole, shared),
        warnings=tuple(dict.fromkeys(pair for result in finished for pair in result.warnings)),
        _rows=_table(whole, shared, finished),
    )


def _true_scores(whole: Collection, settings: LeaveOutSettings) -> dict[str, dict[str, float]]:
    """True mean scores of all runs of the whole pool, by measure and run."""
    runs = whole.pooled_run_ids
    scores = {}
    for measure in settings.measures:
        mean = score_bounds(whole, runs, measure).low.means()
        scores[str(measure)] = dict(zip(runs, mean.tolist(), strict=True))
    return scores


def _table(whole: Collection, settings: LeaveOutSettings, folds: Sequence[FoldResult]) -> pd.DataFrame:
    """Rows of all types in the requested order (stored rows may have another), with each run's
    organization.
    """
    keys = {
        "fold": [result.fold.name for result in folds],
        "measure": [str(m) for m in settings.measures],
        "estimator": settings.labels,
        "run_id": whole.run_ids,
    }
    frame = ordered_table([result.rows for result in folds], keys)
    index = whole.run_index(frame["run_id"])
    frame["organization"] = np.array(whole.organizations, dtype=object)[whole.organization[index]]
    for name in [name for name in frame.columns if name.startswith("covered_")]:
        frame[name] = frame[name].astype("boolean")
    return frame.rename(columns={"fold": "type"})


def _summarize(rows: pd.DataFrame, others: npt.NDArray[np.float64]) -> dict[str, Any]:
    truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
    posterior, open_ = bool(rows["ci_prob"].notna().any()), rows[rows["n_unjudged"] > 0]
    quartiles = np.quantile(value - truth, [0.25, 0.5, 0.75])
    summary: dict[str, Any] = {
        "mae": mean_absolute_error(truth, value),
        "rmse": root_mean_squared_error(truth, value),
        "bias": mean_error(truth, value),
        **dict(
            zip(("bias_quartile_1", "bias_median", "bias_quartile_3"), map(float, quartiles), strict=True)
        ),
        # other runs keep their true scores
        "sre": system_rank_error(np.append(truth, others), np.append(value, others)),
        "kendall_tau_b": kendall_tau_b(truth, value),
        "n_open": len(open_),
    }
    for level in COVERAGE_LEVELS:
        hits = open_[f"covered_{level}"].dropna().astype(bool)
        summary[f"coverage_{level}"] = float(hits.mean()) if len(hits) else np.nan
    summary["width"] = float((open_["upper"] - open_["lower"]).mean()) if posterior else np.nan
    summary["ci_prob"] = float(rows["ci_prob"].iloc[0])
    summary["crps"] = float(rows["crps"].mean()) if posterior else np.nan
    return summary
