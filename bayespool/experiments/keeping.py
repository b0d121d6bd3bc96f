"""Estimates and rankings of runs from a share of a collection's judgments, beside those from all."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from bayespool.arrays import Progress
from bayespool.collection import Collection
from bayespool.experiments.design import (
    INTERVAL_COLUMNS,
    Design,
    Graded,
    Part,
    Truth,
    error_columns,
    whole_pool,
)
from bayespool.experiments.graded_runs import (
    ExperimentResult,
    measure_view,
    ordered_table,
    result_fields,
    summarize_groups,
)
from bayespool.experiments.settings import KeptJudgmentsSettings
from bayespool.measures import Measure
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator
from bayespool.randomness import seed_of
from bayespool.reading.samples import Sample, stratum_shares
from bayespool.tables.formatting import counted, number, percent
from bayespool.tables.table import Column, Table, View

_LEAST_COVERAGE = 0.9  # of 95 % intervals, below which a note says so
_KEYS = ("measure", "kept", "estimator")
_COLUMNS = {
    "kept": Column("kept", "share", "Share of each topic's judgments that is kept."),
    "sample": Column("sample", "count", "Number of the random sample; samples of one number are nested."),
    "tau_least": Column("least\nτ_b", "coefficient", "Smallest τ_b of a sample."),
}


class KeptJudgments(Design):
    """Experiment that keeps a random share of each topic's judgments, and scores all runs of the pool."""

    name: ClassVar[str] = "kept"
    version: ClassVar[str] = "1"
    parts_name: ClassVar[str] = "samples"

    def parts(self, collection: Collection, settings: KeptJudgmentsSettings) -> tuple[Part, ...]:
        """Return a part for each share and sample."""
        runs = collection.pooled_run_ids
        return tuple(
            Part(
                name=f"{share:g}-sample-{k}",
                run_ids=runs,
                pool_run_ids=runs,
                measures=settings.measures,
                columns=(("kept", share), ("sample", k)),
                seeds=(share, k),
            )
            for share in settings.keep
            for k in range(1, settings.n_samples + 1)
        )

    def conceal(self, collection: Collection, part: Part, settings: KeptJudgmentsSettings) -> Collection:
        """Return the collection whose judgments are a published random sample of the documents judged."""
        share, k = cast("tuple[float, int]", part.seeds)
        kept = keep_share(collection, share, seed_of(settings.random_seed, self.name, k))
        stratum = np.where(collection.judged, 0, -1).astype(np.int32)
        inclusion = np.where(kept, stratum_shares(stratum, kept, collection.pair_topic), np.nan)
        sample = Sample(inclusion=inclusion, stratum=stratum, candidates=collection.judged)
        return dataclasses.replace(collection.without_judgments(collection.judged & ~kept), sample=sample)

    def truth(
        self,
        collection: Collection,
        concealed: Collection,
        part: Part,
        measure: Measure,
        settings: KeptJudgmentsSettings,
    ) -> Truth:
        """Return the scores on all judgments, which have one ideal ranking for all runs."""
        return super().truth(collection, collection, part, measure, settings)

    def grade(self, graded: Graded, settings: KeptJudgmentsSettings) -> Mapping[str, Any]:
        """Return estimates with intervals, beside the scores on all judgments."""
        rows = graded.rows()
        names = ("kept", "sample", "measure", "estimator", "run_id", "organization", "truth", "value")
        return {name: rows[name] for name in (*names, "n_unjudged", *INTERVAL_COLUMNS)}


def keep_share(collection: Collection, share: float, seed: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of a random share of each topic's judged documents, rounded up, shape (pair,)."""
    judged, topic = np.flatnonzero(collection.judged), collection.pair_topic
    order = judged[np.lexsort((np.random.default_rng(seed).random(len(judged)), topic[judged]))]
    n = np.bincount(topic[judged], minlength=len(collection.query_ids))
    place = np.arange(len(order)) - (np.cumsum(n) - n)[topic[order]]
    kept = np.zeros(len(collection.relevance), dtype=bool)
    kept[order] = place < np.ceil(share * n - 1e-9)[topic[order]]
    return kept


def keep_judgments(
    collection: Collection,
    measures: object = "nDCG@10",
    *,
    keep: Iterable[float] = (0.1, 0.2, 0.5),
    estimators: object = None,
    posterior_settings: str | PosteriorEstimator | None = None,
    n_samples: int = 5,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> KeptJudgmentsResult:
    """Keep a share of the judgments at random, score all pooled runs, and compare with all judgments.

    Parameters
    ----------
    collection : Collection
        With a known pool; with an LLM judge for scores with its labels.
    measures : measure or iterable of measures, default "nDCG@10"
    keep : iterable of float in (0, 1], default (0.1, 0.2, 0.5)
        Shares of each topic's judgments to keep, rounded up: 0.1,0.2,0.5. A smaller share is part of a larger
        one.
    estimators : str, Estimator, sequence or mapping of them, optional
        Default: as-judged, with an LLM judge judge-filled, and posterior-combined, which completes the
        judgments for all runs together.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors among them: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.
    n_samples : int, default 5
        Random samples of each share.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    folder : path, optional
        Folder for finished samples, from which a later call goes on: they are in its subfolder ``kept/``.
    n_jobs : int, optional
        Number of processes; −1 for one per core, by default 1 or as set by ``joblib.parallel_config``.
    progress : callable, optional
        Called with a text, the number of finished samples, stored ones included, and their total.

    Returns
    -------
    KeptJudgmentsResult

    Raises
    ------
    InputError
        Unknown measure, estimator or setting, no pool, a share outside (0, 1].
    OutputError
        ``folder`` cannot be written.

    Warns
    -----
    BayespoolWarning
        Those of `bayespool.leave_out`.

    Notes
    -----
    Estimators know that the judgments are a random sample of the documents that were judged; others count as
    nonrelevant. τ_b and τ_AP correlate the ranking of all pooled runs with that by all judgments.

    Examples
    --------
    >>> from bayespool import load_example
    >>> kept = keep_judgments(load_example(), "P@10", keep=[0.5, 1], estimators="as-judged")
    >>> print(kept.to_frame("summary")[["kept", "mae", "kendall_tau_b"]].round(3).to_string(index=False))
     kept   mae  kendall_tau_b
      0.5 0.221          0.739
      1.0 0.000          1.000
    """
    asked = ("as-judged", "judge-filled", "posterior-combined") if estimators is None else estimators
    settings = KeptJudgmentsSettings.parse(locals() | {"estimators": asked})
    whole = whole_pool(collection, "pooled", None)
    if estimators is None and not whole.judges:
        others = tuple(pair for pair in settings.estimators if pair[0] != "judge-filled")
        settings = dataclasses.replace(settings, estimators=others)
    whole = whole.without_judgments(~whole.in_pool())
    design = KeptJudgments()
    parts = design.parts(whole, settings)
    results = design.run(
        whole, parts, settings, folder=folder, n_jobs=n_jobs, progress=progress, given=collection
    )
    order = {"measure": [str(m) for m in settings.measures], "kept": None, "sample": None}
    rows = ordered_table(results, {**order, "estimator": settings.labels, "run_id": whole.run_ids})
    return KeptJudgmentsResult(
        **result_fields(collection, whole, settings, results),
        n_judged=int(whole.judged.sum()),
        n_pooled_runs=len(whole.pooled_run_ids),
        _rows=rows,
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class KeptJudgmentsResult(ExperimentResult):
    """Result of `keep_judgments`.

    Its tables are ``summary``, a row per measure, share and estimator, means over samples; ``samples``, a row
    per sample of each; and ``runs``, a row per run of each.

    Attributes
    ----------
    settings : KeptJudgmentsSettings
    n_judged, n_pooled_runs : int
        Judged documents of the pool, and its runs.
    """

    command = "budgets"
    title = "A share of the judgments"
    settings: KeptJudgmentsSettings
    n_judged: int
    n_pooled_runs: int
    _rows: pd.DataFrame

    def tables(self) -> tuple[Table, ...]:
        """Return the tables ``summary``, ``samples`` and ``runs``."""
        views = tuple(self._views())
        return (
            Table("summary", "Summary", self._summary(), _COLUMNS, views),
            Table("samples", "Sample by sample", self._samples.copy(), _COLUMNS),
            Table("runs", "Run by run", self._rows.copy(), _COLUMNS),
        )

    def notes(self) -> tuple[Note, ...]:
        """Return the notes on the pool, and on intervals that are too narrow."""
        notes = list(self.pool_notes)
        for (measure, name), rows in self._summary().groupby(["measure", "estimator"], sort=False):
            worst = rows.sort_values("coverage_95").iloc[0]
            if worst["coverage_95"] < _LEAST_COVERAGE:
                text = (
                    f"{measure} by {name}: 95 % intervals contain only "
                    f"{percent(worst['coverage_95'])} of the scores on all judgments with "
                    f"{_share(worst['kept'])} kept: all runs of a sample err together, so that with few "
                    "judgments or samples intervals may contain much less than 95 %"
                )
                notes.append(Note("held-out", text))
        return tuple(notes)

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each measure on all shares, the first alone and others in parentheses."""
        sentences = []
        for measure, rows in self._summary().groupby("measure", sort=False):
            kept = _in_parentheses(map(_share, rows["kept"].unique()))
            taus, errors = [], []
            for name, its_rows in rows.groupby("estimator", sort=False):
                how = "as judged" if name == "as-judged" else f"by {name!s}"
                taus.append(f"{_in_parentheses(number(x, 3) for x in its_rows['kendall_tau_b'])} {how}")
                errors.append(f"{_in_parentheses(map(number, its_rows['mae']))} {how}")
            sentences.append(
                f"{measure}: with {kept} of {self.n_judged:,} judgments kept, τ_b "
                f"with the ranking of {counted(self.n_pooled_runs, 'run')} by all judgments is "
                f"{' and '.join(taus)}; mean absolute errors are {' and '.join(errors)}"
            )
        return tuple(sentences)

    def _views(self) -> Iterator[View]:
        columns = ("kendall_tau_b", "tau_least", "tau_ap", "mae", "bias", "coverage_95", "width")
        for measure in self.settings.measures:
            title = f", {counted(self.n_pooled_runs, 'run')}, {counted(self.settings.n_samples, 'sample')}"
            yield measure_view(measure, title, ("kept", "estimator"), columns)

    @cached_property
    def _samples(self) -> pd.DataFrame:
        def summarize(rows: pd.DataFrame) -> dict[str, Any]:
            open_, width = rows[rows["n_unjudged"] > 0], rows["upper"] - rows["lower"]
            return {
                **error_columns(rows, "kendall_tau_b", "tau_ap", "mae", "bias"),
                "coverage_95": float(open_["covered_95"].astype(float).mean()) if len(open_) else np.nan,
                "width": float(width.mean()),
            }

        return summarize_groups(self._rows, ("measure", "kept", "sample", "estimator"), summarize)

    def _summary(self) -> pd.DataFrame:
        means = self._samples.drop(columns="sample").groupby(list(_KEYS), sort=False)
        frame = means.mean().reset_index()
        least = means["kendall_tau_b"].min().to_numpy()
        frame.insert(list(frame.columns).index("tau_ap"), "tau_least", least)
        return frame


def _share(x: float) -> str:
    """Return a share as it was asked for, in percent."""
    return f"{100 * x:g} %"


def _in_parentheses(texts: Iterable[str]) -> str:
    """Return the first text, and the others behind it in parentheses."""
    first, *others = texts
    return f"{first} ({', '.join(others)})" if others else first
