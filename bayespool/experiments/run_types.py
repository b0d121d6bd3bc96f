"""Leaving a type of runs out of the pool: estimates from runs of other types (Webber & Park 2009, §2.1 and
table 1).

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments.base import (
    ExperimentResult,
    fields_of,
    panel_figure,
    pools_scope,
    summary_of,
    width_column,
)
from bayespool.experiments.design import Part
from bayespool.experiments.graded_runs import notes_of_runs, table_of_runs
from bayespool.experiments.grading import errors_of, interval_summary
from bayespool.experiments.leaving_out import RunsLeftOut, fold_of
from bayespool.experiments.resampling import run_types_of, whole_pool
from bayespool.experiments.running import Running, in_parts
from bayespool.experiments.settings import RunTypesSettings
from bayespool.experiments.storage import Stored
from bayespool.measures.errors import system_rank_error
from bayespool.report.result import Figure
from bayespool.tables.columns import Column
from bayespool.tables.formatting import some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table, View

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = {
    "type": Column("type", "text", "The type of runs that was left out."),
    "n_pool_runs": Column("pool\nruns", "count", "Number of runs of the other types, which make the pool."),
    "bias_quartile_1": Column("1st\nquartile", "difference", "First quartile of estimate − truth."),
    "bias_median": Column("median", "difference", "Median of estimate − truth."),
    "bias_quartile_3": Column("3rd\nquartile", "difference", "Third quartile of estimate − truth."),
}
_ERRORS = ("mae", "rmse", "bias", "sre", "kendall_tau_b")
_OF_POSTERIORS = ("coverage_50", "coverage_80", "coverage_95", "width", "crps")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunTypesResult(ExperimentResult):
    """Result of `leave_types_out`.

    Its tables are ``runs``, a row per left-out type, measure, estimator and run of the type, and ``summary``,
    a row per left-out type, measure and estimator.

    Attributes
    ----------
    settings : RunTypesSettings
    n_runs : mapping of str to int
        Runs of each type in the whole pool.
    true_scores : mapping of str to mapping of str to float
        True score of every pooled run, by measure and run.
    """

    command = "run-types"
    title = "Pools without a type of runs"
    settings: RunTypesSettings
    n_runs: Mapping[str, int]
    true_scores: Mapping[str, Mapping[str, float]]
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        s = self.settings
        measures, estimators = len(s.shared.measures), len(s.shared.estimators)
        description = f"{some_of(s.types, 3)} left out, {measures} measures, {estimators} estimators"
        return one_line("RunTypesResult", description)

    def tables(self) -> tuple[Table, ...]:
        """``runs`` and ``summary``."""
        runs = self._rows.assign(error=self._rows["value"] - self._rows["truth"])
        summary = summary_of(self._rows, ("type", "measure", "estimator"), self._summarize)
        columns = _COLUMNS | width_column(self.settings.ci_prob)
        return (
            Table("runs", "Run by run", runs, columns),
            Table("summary", "Summary", summary, columns, tuple(self._views(summary))),
        )

    def notes(self) -> tuple[str, ...]:
        """Notes on the runs, by measure and left-out type."""
        by_type = self._rows.groupby(["measure", "type"], sort=False)
        return tuple(
            f"{key[0]}, {key[1]} runs: {note}" for key, rows in by_type for note in notes_of_runs(rows)
        )

    def summary(self) -> tuple[str, ...]:
        """What was left out of which pools."""
        return (f"each type left out of the pool in turn; {pools_scope(self)}",)

    def figures(self) -> tuple[Figure, ...]:
        """``run-types`` for each measure."""
        from bayespool.plots import plot_run_types

        figures = []
        for measure in self.settings.measures:
            panels = [partial(plot_run_types, self, measure, kind) for kind in self.settings.types]
            figures.append(
                panel_figure("run-types", "Errors of runs by their type", panels, of=[measure], width=5)
            )
        return tuple(figures)

    def _views(self, summary: pd.DataFrame) -> Iterator[View]:
        for measure in map(str, self.settings.measures):
            for kind in self.settings.types:
                rows = summary[(summary["measure"] == measure) & (summary["type"] == kind)]
                n_runs, n_pool_runs = (int(rows[name].iloc[0]) for name in ("n_runs", "n_pool_runs"))
                yield View(
                    title=f"{measure}, {n_runs} {kind} runs on a pool of {n_pool_runs} others",
                    names=("estimator",),
                    columns=(*_ERRORS, *_OF_POSTERIORS),
                    where={"measure": measure, "type": kind},
                )

    def _summarize(self, rows: pd.DataFrame) -> dict[str, Any]:
        kind, measure = rows[["type", "measure"]].iloc[0]
        truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
        # other runs keep their true scores
        others = [t for run, t in self.true_scores[measure].items() if run not in set(rows["run_id"])]
        quartiles = map(float, np.quantile(value - truth, [0.25, 0.5, 0.75]))
        graded = interval_summary(rows, rows["n_unjudged"] > 0)
        intervals = {n: each for n, each in graded.items() if n != "crps" and not n.startswith("pit_")}
        return {
            "n_runs": len(rows),
            "n_pool_runs": sum(self.n_runs.values()) - self.n_runs[kind],
            **errors_of(rows, "mae", "rmse", "bias"),
            **dict(zip(("bias_quartile_1", "bias_median", "bias_quartile_3"), quartiles, strict=True)),
            "sre": system_rank_error(np.append(truth, others), np.append(value, others)),
            **errors_of(rows, "kendall_tau_b"),
            **intervals,
            "ci_prob": float(rows["ci_prob"].iloc[0]),
            "crps": graded["crps"],
        }


class TypesLeftOut(RunsLeftOut):
    """All runs of a type left out of the pool together."""

    name: ClassVar[str] = "run-types"
    parts_name: ClassVar[str] = "types"
    folder: ClassVar[str] = ""

    def parts(self, collection: Collection, settings: RunTypesSettings) -> tuple[Part, ...]:  # type: ignore[override] # its own
        """A part for each type to leave out."""
        runs = collection.pooled_run_ids
        return tuple(
            fold_of(
                "type", kind, [run for run, own in settings.run_types if own == kind], runs, settings.measures
            )
            for kind in settings.types
        )

    def compute(self, collection: Collection, part: Part, settings: RunTypesSettings) -> Stored:
        """As runs are left out in general."""
        return super().compute(collection, part, settings.shared)


@in_parts(RunTypesSettings, TypesLeftOut)
def leave_types_out(
    collection: Collection, *, settings: RunTypesSettings, running: Running
) -> RunTypesResult:
    """Leave all runs of a type out of the pool, estimate them from the runs of other types, and compare.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    {running}

    Returns
    -------
    RunTypesResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; a run without a type; no pool; a single type.
    {errors}

    Warns
    -----
    {warnings}

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
    >>> result = leave_types_out(example, run_types=kinds, types=["odd"], estimators="as-judged")
    >>> summary = result.to_frame("summary")[["type", "n_runs", "n_pool_runs", "bias"]]
    >>> print(summary.round(3).to_string(index=False))
    type  n_runs  n_pool_runs  bias
     odd       2           19 -0.02
    """
    whole = whole_pool(collection, settings.runs, settings.pool_depth)
    pairs = run_types_of(whole, dict(settings.run_types), whole.pooled_run_ids)
    known = sorted({kind for _, kind in pairs})
    if len(known) < 2:
        raise InputError(
            f"all runs of the pool are of type {known[0]!r}: nothing is left once it is left out",
            hint="give at least two types",
        )
    wanted = tuple(dict.fromkeys(settings.types or known))
    resolved = replace(settings, pool_depth=whole.pool_depth, run_types=pairs, types=wanted)
    design = TypesLeftOut()
    results = design.run(whole, design.parts(whole, resolved), resolved, running, given=collection)
    runs = whole.pooled_run_ids
    means = {str(m): score_bounds(whole, runs, m).low.means().tolist() for m in resolved.measures}
    return RunTypesResult(
        **fields_of(collection, whole, resolved, results),
        n_runs={kind: len([own for _, own in pairs if own == kind]) for kind in known},
        true_scores={measure: dict(zip(runs, scores, strict=True)) for measure, scores in means.items()},
        _rows=table_of_runs(whole, resolved.shared, results, {"type": wanted}),
    )
