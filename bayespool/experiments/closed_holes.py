"""Runs with holes that people closed later: estimates from the first judgments, graded against later ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bayespool.arrays import Progress
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.collection.contents import find_pairs
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments.design import Design, Part, contributors
from bayespool.experiments.graded_runs import DesignResult, result_fields, run_table, total_seconds
from bayespool.experiments.settings import DesignSettings
from bayespool.measures import Precision
from bayespool.names import Estimand
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.work import keep_work
from bayespool.reading import Judgments, gather_qrels
from bayespool.reading.records import relevance_codes
from bayespool.tables.formatting import counted, percent

HOLES_AT_FIRST, HOLES_LATER = 0.05, 0.02
"""Share of a graded run's top n that is unjudged: more than the first at first, at most the second later."""


@dataclass(frozen=True, eq=False)
class ClosedHoles(Design):
    """Experiment that scores runs by the first judgments, with later ones as the truth."""

    run_ids: tuple[str, ...]  # runs whose holes were closed
    seen: Collection  # as it was judged at first, one for all parts, so that the pool is fitted once

    name: ClassVar[str] = "closed-holes"
    parts_name: ClassVar[str] = "organizations"

    def parts(self, collection: Collection, settings: DesignSettings) -> Iterator[Part]:
        """Yield a part for each organization of runs whose holes were closed."""
        for name, run_ids in contributors(collection, "organization", self.run_ids).items():
            yield Part(
                name=name,
                run_ids=run_ids,
                pool_run_ids=collection.pooled_run_ids,
                measures=settings.measures,
                columns=(("fold", name),),
            )

    def conceal(self, collection: Collection, part: Part, settings: DesignSettings) -> Collection:
        """Return the collection as it was judged at first."""
        keep_work(self.seen)
        return self.seen

    def seeds(self, part: Part, settings: DesignSettings) -> tuple[object, ...]:
        """Return the same names for all parts, which go on from the same fits."""
        return (self.name,)

    def describe(self, settings: DesignSettings) -> dict[str, Any]:
        """Return the settings with a digest of what was judged at first."""
        first = hashlib.blake2b(np.packbits(self.seen.judged).tobytes(), digest_size=8).hexdigest()
        return super().describe(settings) | {"judged at first": first}


def closed_runs(first: Collection, later: Collection, cutoff: int) -> tuple[str, ...]:
    """Return the runs with holes in their top ``cutoff`` at first that later judgments closed."""
    runs, measure = first.run_ids, Precision(cutoff)
    share, left = (score_bounds(of, runs, measure).unjudged_share for of in (first, later))
    closed = (share > HOLES_AT_FIRST) & (left <= HOLES_LATER)
    return tuple(run for run, is_closed in zip(runs, closed, strict=True) if is_closed)


class ClosedHolesResult(DesignResult):
    """Result of `grade_later`."""

    title = "Runs with holes that people closed later"
    _where = " with holes that were closed later"

    def _runs_clause(self, measure: str, n_runs: int) -> str:
        return f"{counted(n_runs, 'run')}{self._where}"


def grade_later(
    collection: Collection,
    later: Judgments,
    measures: object = "P@10",
    *,
    estimators: object = "all",
    posterior_settings: str | PosteriorEstimator | None = None,
    estimand: Estimand = "complete",
    ci_prob: float | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> DesignResult:
    """Grade estimates of runs with unjudged documents against judgments that people made later.

    Runs with more than 5 % of their top n unjudged, of which later judgments leave at most 2 %, are scored
    as newcomers: they are not in the pool, and the judgments of their documents stay. n is the deepest
    cutoff of the measures.

    Parameters
    ----------
    collection : Collection
        With the first judgments and a known pool.
    later : Judgments
        Judgments that leave at most 2 % of the top n unjudged where more than 5 % were at first. Documents
        judged at first keep their first relevance.
    measures, estimators, posterior_settings, ci_prob, random_seed, folder, n_jobs, progress : optional
        As in `bayespool.leave_out`.
    estimand : {"complete", "pooled"}, default "complete"

    Returns
    -------
    DesignResult
        With a part for each organization.

    Raises
    ------
    InputError
        No pool, or no run with holes that later judgments closed.
    """
    settings = DesignSettings.parse(locals())
    expect_collection(collection)
    cutoff = max(measure.cutoff for measure in settings.measures)
    truth = _with_later(collection, later)
    runs = closed_runs(collection, truth, cutoff)
    if not runs:
        shares = f"more than {percent(HOLES_AT_FIRST)} of the top {cutoff} unjudged at first and at most "
        shares += f"{percent(HOLES_LATER)} later"
        raise InputError(f"no run has {shares}", hint="ask for a measure of fewer ranks")
    pooled = truth.pooled.copy()
    pooled[truth.run_index(runs)] = False
    if not pooled.any():
        raise InputError("no pooled run is left to learn from", hint="give the campaign's runs as the pool")
    truth = truth.with_pool(pooled, truth.pool)
    seen = truth.without_judgments(~collection.judged).judged_at_most(truth.judged)
    design = ClosedHoles(runs, seen)
    parts = tuple(design.parts(truth, settings))
    results = design.run(truth, parts, settings, folder=folder, n_jobs=n_jobs, progress=progress)
    fields = result_fields(collection, seen, settings, results)
    fields["pool_notes"] += (Note("experiment", f"estimated with these runs out of it: {fields['pool']}"),)
    return ClosedHolesResult(
        **fields,
        design=design.name,
        seconds=total_seconds(results),
        _rows=run_table(truth, settings, results, {"fold": [part.name for part in parts]}),
    )


def _with_later(collection: Collection, later: Judgments) -> Collection:
    """Return the collection with later judgments of documents that were unjudged at first."""
    qrels = gather_qrels(later)
    pair = find_pairs(collection, qrels.query_id, qrels.doc_id)
    codes, _ = relevance_codes(qrels.relevance, collection.negatives.meaning)
    known = (pair >= 0) & (codes >= 0)
    known[known] &= ~collection.judged[pair[known]]
    relevance = collection.relevance.copy()
    relevance[pair[known]] = codes[known]
    return replace(collection, relevance=relevance)
