"""The leave-out experiment: organizations, runs or clusters left out of a pool are estimated and graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections.lipani import INDICATORS, AntiPrecision
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import reach_of_ideal, values_on_fuller
from bayespool.evidence.overlap import RunCluster, cluster_runs
from bayespool.experiments.base import fields_of
from bayespool.experiments.design import Design, Graded, Part, Truth
from bayespool.experiments.graded_runs import seconds_of, table_of_runs
from bayespool.experiments.results import LeaveOutResult
from bayespool.experiments.running import Running, in_parts
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.experiments.storage import PartResult
from bayespool.measures import Measure, Normalized, Values

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RunsLeftOut(Design):
    """Runs left out of the pool together: those of an organization, a run alone, or those of a cluster."""

    name: ClassVar[str] = "leave-out"
    parts_name: ClassVar[str] = "folds"
    folder: ClassVar[str] = "folds"
    clusters: tuple[RunCluster, ...] = ()

    def parts(self, collection: Collection, settings: LeaveOutSettings) -> tuple[Part, ...]:
        """Folds, the largest first; by cluster, those that can be left out."""
        if settings.by == "cluster":
            return self._clusters(collection, settings)
        n_best(len(collection.pooled_run_ids), settings.top)
        groups: dict[tuple[str, ...], list[Measure]] = {}
        for measure in settings.measures:
            kept = collection.pooled_run_ids
            if settings.top_pool == "kept":
                kept = best_runs(collection, measure, settings)
            groups.setdefault(kept, []).append(measure)
        folds = []
        for pooled_run_ids, measures in groups.items():
            units: dict[str, list[str]] = {}
            _refuse_runs_without_topics(collection, pooled_run_ids, settings)
            for run in pooled_run_ids:
                own = collection.organization[collection.run_index(run)[0]]
                unit = collection.organizations[own] if settings.by == "organization" else run
                units.setdefault(unit, []).append(run)
            if len(units) < 2:
                raise InputError(
                    f"only one {settings.by} was pooled: nothing is left once it is left out",
                    hint="give more runs, or the organizations of the runs",
                )
            folds += [fold_of("fold", name, runs, pooled_run_ids, measures) for name, runs in units.items()]
        return tuple(sorted(folds, key=lambda fold: -len(fold.run_ids) * len(fold.measures)))

    def _clusters(self, collection: Collection, settings: LeaveOutSettings) -> tuple[Part, ...]:
        runs, measures = collection.pooled_run_ids, settings.measures
        folds = [fold_of("fold", c.name, c.run_ids, runs, measures) for c in self.clusters if not c.stays]
        if not folds:
            sizes = ", ".join(str(len(cluster.run_ids)) for cluster in self.clusters)
            raise InputError(
                f"none of the clusters (of {sizes} runs) can be left out: {self.clusters[0].stays}",
                hint="ask for another number of clusters, or leave out organizations",
            )
        n_best(sum(len(fold.run_ids) for fold in folds), settings.top)
        _refuse_runs_without_topics(collection, runs, settings)
        return tuple(folds)

    def seeds(self, part: Part, settings: LeaveOutSettings) -> tuple[object, ...]:
        """What is left out at a time, and its name."""
        return (settings.by, part.name)

    def topics(self, collection: Collection, part: Part, settings: LeaveOutSettings) -> npt.NDArray[np.bool_]:
        """All topics, or those that the run has documents for."""
        return topics_of(collection, part.run_ids, settings)

    def truth(
        self,
        collection: Collection,
        concealed: Collection,
        part: Part,
        measure: Measure,
        settings: LeaveOutSettings,
    ) -> Truth:
        """Values on the judgments of the collection. With ``truth="repooled"`` each run is put back into the
        pool alone, without judgments that only the other runs of the fold contributed; runs that share an
        ideal ranking are put back together.
        """
        gone = set(collection.pooled_run_ids) - set(part.pool_run_ids) - set(part.run_ids)
        depth = int(collection.depth_of(collection.run_index(part.run_ids)).min())
        deeper, shares = measure.cutoff, False
        if isinstance(measure, Normalized):
            deeper, shares = reach_of_ideal(concealed, measure), measure.ideal == "shared"
        each = settings.truth == "repooled" and len(part.run_ids) > 1 and deeper > depth and not shares
        together = [(run,) for run in part.run_ids] if each else [part.run_ids]
        values, n_unjudged = [], []
        for runs in together:
            away = [*gone, *(set(part.run_ids) - set(runs))]
            back = collection.unpool(away) if away else collection
            values.append(values_on_fuller(concealed, back, runs, measure, settings.estimand).amount)
            n_unjudged.append(score_bounds(back, runs, measure, estimand=settings.estimand).n_unjudged)
        return Truth(Values(np.concatenate(values), measure.unit), np.concatenate(n_unjudged))

    def grade(self, graded: Graded, settings: LeaveOutSettings) -> Mapping[str, Any]:
        """Rows with means over the topics of the run, if scores are."""
        rows = graded.rows()
        if settings.denominator == "run":
            # from the mean of B, so that an estimate without a correction is the float of an equal truth
            added = np.where(graded.counted, graded.estimates.per_topic - graded.bounds.lower, 0)
            rows["value"] = rows["as_judged"] + added.sum(axis=1) / graded.n_topics
        if any(isinstance(estimator, AntiPrecision) for _, estimator in settings.estimators):
            rows |= {name: graded.estimates.indicators.get(name, np.nan) for name in INDICATORS}
        return rows


def fold_of(
    column: str, name: str, runs: Sequence[str], pooled_run_ids: tuple[str, ...], measures: Sequence[Measure]
) -> Part:
    """Some runs left out of the pool of others, under a name in this column."""
    kept = tuple(run for run in pooled_run_ids if run not in set(runs))
    return Part(
        name=name,
        run_ids=tuple(runs),
        pool_run_ids=kept,
        measures=tuple(measures),
        columns=((column, name),),
    )


@in_parts(LeaveOutSettings, RunsLeftOut)
def leave_out(collection: Collection, *, settings: LeaveOutSettings, running: Running) -> LeaveOutResult:
    """Leave each organization (run, cluster of runs) out of the pool, and compare estimates with the truth.

    Parameters
    ----------
    collection : Collection
        With a known pool. Its pooled runs are left out and estimated.
    {options}
    {running}

    Returns
    -------
    LeaveOutResult

    Raises
    ------
    InputError
        Unknown measure, estimator or setting; no pool; a pool of one organization (or run), or none of whose
        clusters can be left out.
    {errors}

    Warns
    -----
    {warnings}

    Notes
    -----
    An estimator gets the collection without the judgments that only the left-out runs contributed, the names
    of the runs, and the measures. Judgments that no pooled run explains stay, unless ``pool_depth`` is given.
    Over an ideal ranking (R, AP, nDCG) the true scores of a fold also count the relevant documents that its
    runs have within reach.

    Clusters are those of `bayespool.evidence.cluster_runs`; runs of clusters that cannot be left out are
    neither estimated nor reported. An organization with runs inside and outside a cluster stays in the pool
    with the latter.

    Examples
    --------
    >>> from bayespool import leave_out, load_example
    >>> result = leave_out(load_example(), "P@10", estimators=["as-judged", "interpolated"])
    >>> print(result.to_frame("summary")[["estimator", "mae", "bias", "sre"]].round(4).to_string(index=False))
       estimator    mae    bias  sre
       as-judged 0.0233 -0.0233 35.0
    interpolated 0.0166  0.0147 23.0
    """
    pooled, design, folds = design_of(collection, settings)
    results = design.run(pooled, folds, settings, running, given=collection)
    return LeaveOutResult(
        **fields_of(collection, pooled, settings, results),
        n_pooled_runs={str(m): len(pooled.pooled_run_ids) for m in settings.measures},
        scores_in_truth=true_scores_of(results),
        seconds=seconds_of(results),
        clusters=design.clusters,
        _rows=_with_reported(table_of_runs(pooled, settings, results), settings),
    )


def design_of(
    collection: Collection, settings: LeaveOutSettings
) -> tuple[Collection, RunsLeftOut, tuple[Part, ...]]:
    """The collection re-pooled to the depth asked for, and what is left out of its pool."""
    if not collection.pooled.any():
        raise InputError(
            "no pooled run to leave out", hint="give the campaign's runs as the pool, or name those pooled"
        )
    pooled = collection if settings.pool_depth is None else collection.truncate_pool(settings.pool_depth)
    clusters = () if settings.n_clusters is None else cluster_runs(pooled, settings.n_clusters)
    design = RunsLeftOut(clusters)
    return pooled, design, design.parts(pooled, settings)


def true_scores_of(results: Sequence[PartResult]) -> dict[tuple[str, str], npt.NDArray[np.float64]]:
    """True values of each measure and run, shape (topic,)."""
    return {
        (measure, run): of_run
        for result in results
        for measure, scores in result.rest["true_scores"].items()
        for run, of_run in zip(result.part.run_ids, np.array(scores), strict=True)
    }


def _with_reported(frame: pd.DataFrame, settings: LeaveOutSettings) -> pd.DataFrame:
    """Rows of all runs with the column ``reported``."""
    reported = np.zeros(len(frame), dtype=bool)
    for _, rows in frame.groupby(["measure", "estimator"], sort=False):
        all_ = settings.top_pool == "kept"  # runs were chosen before they were left out
        best = slice(None) if all_ else best_scores(rows["truth"].to_numpy(), settings.top)
        reported[rows.index[best]] = True
    frame.insert(list(frame.columns).index("truth"), "reported", reported)
    return frame


def _refuse_runs_without_topics(
    collection: Collection, run_ids: tuple[str, ...], settings: LeaveOutSettings
) -> None:
    if not topics_of(collection, run_ids, settings).any(axis=1).all():
        raise InputError("a pooled run has no topic of the qrels", hint='take denominator="qrels"')


def best_runs(collection: Collection, measure: Measure, settings: LeaveOutSettings) -> tuple[str, ...]:
    """The best ``top`` % of the pooled runs by their score on all judgments, in the collection's order."""
    runs = collection.pooled_run_ids
    n_topics = topics_of(collection, runs, settings).sum(axis=1)
    score = score_bounds(collection, runs, measure).low.means(n_topics)
    return tuple(runs[i] for i in best_scores(score, settings.top))


def best_scores(score: npt.NDArray[np.float64], top: float) -> npt.NDArray[np.intp]:
    """Positions of the best ``top`` % of some scores, ascending; ties go to the earlier position."""
    return np.sort(np.argsort(-score, kind="stable")[: n_best(len(score), top)])


def n_best(n_runs: int, top: float) -> int:
    """Number of the best ``top`` % of some runs, rounded half up; `InputError` if it is 0."""
    n_kept = int(top / 100 * n_runs + 0.5)
    if n_kept == 0:
        raise InputError(
            f"the best {top:g} % of {n_runs} runs are no run at all", hint="report on more of them"
        )
    return n_kept


def topics_of(
    collection: Collection, run_ids: tuple[str, ...], settings: LeaveOutSettings
) -> npt.NDArray[np.bool_]:
    """Topics that each run's score is the mean over, shape (run, topic)."""
    index = collection.run_index(run_ids)
    if settings.denominator == "qrels":
        return np.ones((len(index), len(collection.query_ids)), dtype=bool)
    return np.asarray(collection.length[index] > 0)
