"""The leave-out experiment: organizations, runs or clusters left out of a pool are estimated and graded,
in one collection or several.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from bayespool.arrays import BoolArray, FloatArray, OrderArray, Progress
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.corrections.lipani import INDICATORS, AntiPrecision
from bayespool.errors import InputError, NoCollectionError
from bayespool.evidence import score_bounds
from bayespool.evidence.composition import RunCluster, cluster_runs
from bayespool.evidence.ideals import ideal_reach
from bayespool.experiments.decisions import TopicScores, on_grid, pack_topic_scores
from bayespool.experiments.design import Design, Graded, Part, Truth, contributors, find_run_types, whole_pool
from bayespool.experiments.graded_runs import result_fields, run_table, total_seconds
from bayespool.experiments.leave_out_results import LeaveOutResult, LeaveOutSeveralResult
from bayespool.experiments.running import unlike_ours
from bayespool.experiments.settings import LEFT_OUT, LeaveOutSettings
from bayespool.measures import Measure, Normalized, Values
from bayespool.names import PairTest, Runs, Unseen
from bayespool.notes import Note
from bayespool.pooling.loading import check_collection_names
from bayespool.posterior import PosteriorEstimator
from bayespool.tables.formatting import counted, some_of


@dataclass(frozen=True)
class RunsLeftOut(Design):
    """Experiment that leaves runs out of the pool: an organization's, a cluster's, a type's or one run."""

    name: ClassVar[str] = "leave-out"
    parts_name: ClassVar[str] = "folds"
    folder: ClassVar[str] = "folds"
    clusters: tuple[RunCluster, ...] = ()

    def progress_text(self, settings: LeaveOutSettings) -> str:
        """Return what the callback on progress is told that parts are."""
        return f"{settings.by}s left out"

    def parts(self, collection: Collection, settings: LeaveOutSettings) -> tuple[Part, ...]:
        """Return the folds, largest first, or in order for clusters and types.

        By cluster, those that can be left out.
        """
        pools: dict[tuple[str, ...], list[Measure]] = {}
        for measure in settings.measures:
            candidates = collection.pooled_run_ids
            if settings.top_pool == "kept":
                candidates = best_runs(
                    collection, measure, top=settings.top, denominator=settings.denominator
                )
            pools.setdefault(candidates, []).append(measure)
        folds = []
        for pooled_run_ids, measures in pools.items():
            units = self._units(collection, pooled_run_ids, settings)
            if settings.top_pool == "all":
                n_best(sum(map(len, units.values())), settings.top)
            if not scored_topics(collection, pooled_run_ids, settings.denominator).any(axis=1).all():
                raise InputError("a pooled run has no topic of the qrels", hint='take denominator="qrels"')
            folds += [
                Part(
                    name=name,
                    run_ids=tuple(runs),
                    pool_run_ids=tuple(run for run in pooled_run_ids if run not in set(runs)),
                    measures=tuple(measures),
                    columns=(("fold", name),),
                )
                for name, runs in units.items()
            ]
        if settings.by == "cluster" or settings.is_by_column:
            return tuple(folds)
        return tuple(sorted(folds, key=lambda fold: -len(fold.run_ids) * len(fold.measures)))

    def _units(
        self, collection: Collection, run_ids: tuple[str, ...], settings: LeaveOutSettings
    ) -> Mapping[str, Sequence[str]]:
        """Return the runs left out together, by name of their organization, cluster, type or run."""
        if settings.is_by_column:
            return {kind: [r for r, of in settings.run_types if of == kind] for kind in settings.types}
        if settings.by == "cluster":
            if units := {c.name: c.run_ids for c in self.clusters if not c.stays}:
                return units
            sizes = ", ".join(str(len(cluster.run_ids)) for cluster in self.clusters)
            raise InputError(
                f"none of the clusters (of {sizes} runs) can be left out: {self.clusters[0].stays}",
                hint="ask for another number of clusters, or leave out organizations",
            )
        return contributors(collection, "run" if settings.by == "run" else "organization", run_ids, least=2)

    def seeds(self, part: Part, settings: LeaveOutSettings) -> tuple[object, ...]:
        """Return the names that seed a fold: the kind of unit left out and its name."""
        return ("organization" if settings.is_by_column else settings.by, part.name)

    def topics(self, collection: Collection, part: Part, settings: LeaveOutSettings) -> BoolArray:
        """Return a mask of all topics, or of the topics for which the run retrieved documents."""
        return scored_topics(collection, part.run_ids, settings.denominator)

    def judged_in_truth(self, collection: Collection, part: Part, settings: LeaveOutSettings) -> BoolArray:
        """Return a mask of documents judged in the truth, or of all documents for ``unseen="estimated"``."""
        if settings.unseen == "estimated":
            return np.ones(len(collection.relevance), dtype=bool)
        return super().judged_in_truth(collection, part, settings)

    def truth(
        self,
        collection: Collection,
        concealed: Collection,
        part: Part,
        measure: Measure,
        settings: LeaveOutSettings,
    ) -> Truth:
        """Return the true scores of the runs left out, from the collection's judgments.

        With ``truth="repooled"`` each run is put back into the pool alone, without judgments that only the
        other runs of the fold contributed; runs that share an ideal ranking are put back together.
        """
        absent = set(collection.pooled_run_ids) - set(part.pool_run_ids) - set(part.run_ids)
        depth = int(collection.run_depths(collection.run_index(part.run_ids)).min())
        deeper, shares = measure.cutoff, False
        if isinstance(measure, Normalized):
            deeper, shares = ideal_reach(concealed, measure), measure.ideal == "shared"
        each = settings.truth == "repooled" and len(part.run_ids) > 1 and deeper > depth and not shares
        together = [(run,) for run in part.run_ids] if each else [part.run_ids]
        truths = []
        for runs in together:
            away = [*absent, *(set(part.run_ids) - set(runs))]
            back = collection.unpool(away) if away else collection
            truths.append(super().truth(back, concealed, replace(part, run_ids=runs), measure, settings))
        values = np.concatenate([truth.values.amount for truth in truths])
        n_unjudged = np.concatenate([truth.n_unjudged for truth in truths])
        return Truth(Values(values, measure.unit), n_unjudged)

    def grade(self, graded: Graded, settings: LeaveOutSettings) -> Mapping[str, Any]:
        """Return result columns, with means over the run's own topics for ``denominator="run"``."""
        rows = graded.rows()
        rows["topic_scores"] = pack_topic_scores(graded.estimates, graded.bounds.low.scores())
        if settings.denominator == "run":
            # from the mean of B, so that an estimate without a correction is the float of an equal truth
            added = np.where(graded.counted, graded.estimates.per_topic - graded.bounds.lower, 0)
            rows["value"] = rows["as_judged"] + added.sum(axis=1) / graded.n_topics
        if any(isinstance(estimator, AntiPrecision) for _, estimator in settings.estimators):
            rows |= {name: graded.estimates.indicators.get(name, np.nan) for name in INDICATORS}
        return rows


def leave_out(
    collection: Collection,
    measures: object = "P@10",
    *,
    estimators: object = "all",
    posterior_settings: str | PosteriorEstimator | None = None,
    by: str = "organization",
    n_clusters: int | None = None,
    types: str | Iterable[str] | None = None,
    runs: Runs = "pooled",
    top: float = 100,
    top_pool: Literal["all", "kept"] = "all",
    truth: Literal["repooled", "full"] = "repooled",
    unseen: Unseen = "nonrelevant",
    denominator: Literal["qrels", "run"] = "qrels",
    repool_to: int | None = None,
    test: PairTest = "tukey-hsd",
    announce: float = 0.8,
    ci_prob: float | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LeaveOutResult:
    """Leave each organization (run, cluster, type of runs) out of the pool and compare estimates with the
    truth.

    Parameters
    ----------
    collection : Collection
        With a known pool. Its pooled runs are left out and estimated.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    estimators : str, Estimator, sequence or mapping of them, default "all"
        'default', 'all', 'pairs', or names with settings in parentheses: background(e=0.05). The first three
        are `bayespool.scoring.DEFAULT_ESTIMATORS`, `bayespool.scoring.ALL_ESTIMATORS` and
        `bayespool.scoring.PAIRED_ESTIMATORS`; a mapping is of labels to estimators.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.
    by : str, default "organization"
        What is left out of the pool at a time: organization, run, cluster, or a column of attributes of
        runs, such as type. An organization's runs resemble each other, so that leaving out one run alone
        understates the bias that the run of a new organization would suffer. A cluster is of runs that
        retrieve alike, of any organizations: left out, they are unlike the pool. Of a column, runs of one
        value are left out together, such as all manual ones (`Collection.with_attributes`).
    n_clusters : int, optional
        Number of clusters, where they are left out: by default 5; fewer where joins are tied.
    types : str or iterable of str, optional
        Values of the column to leave out, in turn; default: all.
    runs : {"pooled", "all"}, default "pooled"
        The pooled runs take part, or all: what is unjudged in truth is then not relevant. The second is the
        rule of Webber & Park.
    top : float, default 100
        Report on this percentage of the runs left out, the best by true score. They are chosen measure by
        measure, their number rounded half up, the earlier of equal ones taken; buggy runs are then left
        aside, as in earlier work. The others still make the pool.
    top_pool : {"all", "kept"}, default "all"
        Whether the other runs' contributions stay in the pool, or the best make it alone (kept). With kept,
        as the published tool has it, runs are chosen by their scores on all judgments, and estimated only
        where they are among the best.
    truth : {"repooled", "full"}, default "repooled"
        What is true: a run's score with it alone back in the pool, or on all judgments (full). The two differ
        only below the pool depth, where full counts documents that other runs of the organization brought. A
        document that the truth judges is estimated.
    unseen : {"nonrelevant", "estimated"}, default "nonrelevant"
        Whether documents that the truth does not judge are nonrelevant in estimates, too, or estimated. The
        papers estimate them, so that an estimate is of something else than the truth.
    denominator : {"qrels", "run"}, default "qrels"
        Scores are means over the topics of the qrels, or over those that the run has documents for. The
        second is what the published tool does.
    repool_to : int, optional
        Re-pool to this depth first: judgments of documents that no pooled run has down to it go.
    test : {"tukey-hsd", "paired-t"}, default "tukey-hsd"
        Significance test of a pair. It says what is significant in SRE*.
    announce : float, default 0.8
        Least share of completed judgments in which a difference has to be significant to be declared so.
        From 0.5 to 1; without draws a test decides.
    ci_prob : float, optional
        Probability of the intervals; default: 0.95, or what `bayespool.rcParams` has. They are equal-tailed.
        Coverage is also given at 50, 80 and 95 %.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    folder : path, optional
        Folder for finished folds, from which a later call goes on: they are in its subfolder ``folds/``.
    n_jobs : int, optional
        Number of processes; −1 for one per core, by default 1 or as set by ``joblib.parallel_config``.
        Results are the same to the byte for any number, and on a Dask cluster.
    progress : callable, optional
        Called with a text, the number of finished folds, stored ones included, and their total.

    Returns
    -------
    LeaveOutResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; no pool; a pool of one organization (run, type), or none
        of whose clusters can be left out; a run without a type.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call goes on from the stored folds.

    Warns
    -----
    ExperimentChangedWarning
        ``folder`` holds folds of other settings, or unreadable ones.
    InputWarning
        No document has the relevance that a measure asks for.
    JudgeWarning
        Labels of an LLM judge are not used, for all runs or an organization's.

    Notes
    -----
    An estimator gets the collection without the judgments that only the left-out runs contributed, the names
    of the runs, and the measures. Judgments that no pooled run explains stay, unless ``repool_to`` is given.
    Over an ideal ranking (R, AP, nDCG) the true scores of a fold also count the relevant documents that its
    runs have within reach.

    Clusters are those of `bayespool.evidence.cluster_runs`; runs of clusters that cannot be left out are
    neither estimated nor reported. An organization with runs inside and outside a cluster stays in the pool
    with the latter; so does one with runs of several types. Where types are left out, or ``runs="all"`` take
    part, judgments that none of them explains go, and the pool is of one depth.

    Examples
    --------
    >>> from bayespool import leave_out, load_example
    >>> result = leave_out(load_example(), "P@10", estimators=["as-judged", "interpolated"])
    >>> print(result.to_frame("summary")[["estimator", "mae", "bias", "sre"]].round(4).to_string(index=False))
       estimator    mae    bias  sre
       as-judged 0.0233 -0.0233 35.0
    interpolated 0.0166  0.0147 23.0
    """
    settings = LeaveOutSettings.parse(locals())
    return leave_out_resolved(collection, settings, folder=folder, n_jobs=n_jobs, progress=progress)


def leave_out_resolved(
    collection: Collection, settings: LeaveOutSettings, **execution: Any
) -> LeaveOutResult:
    """Run `leave_out` with parsed settings."""
    pooled, settings, design, folds = resolve_design(collection, settings)
    results = design.run(pooled, folds, settings, **execution, given=collection)
    runs = pooled.pooled_run_ids
    in_pool = {str(m): score_bounds(pooled, runs, m).low for m in settings.measures}
    rows, is_chosen = run_table(pooled, settings, results), settings.top_pool == "kept"  # before the folds
    packed: dict[str, dict[str, dict[str, str]]] = {m: {e: {} for e in settings.labels} for m in in_pool}
    keys = zip(rows["measure"], rows["estimator"], rows["run_id"], rows.pop("topic_scores"), strict=True)
    for measure, label, run, text in keys:
        packed[measure][label][run] = text
    try:
        true_scores = {
            (measure, run): run_scores
            for result in results
            for measure, scores in result.rest["true_scores"].items()
            for run, run_scores in zip(result.part.run_ids, np.array(scores), strict=True)
        }
        seconds = total_seconds(results)
    except (AttributeError, TypeError, ValueError):  # of stored work, such as not as many as runs
        if execution.get("folder") is None:
            raise
        raise unlike_ours(Path(execution["folder"]) / design.subfolder(settings)) from None
    pools: dict[str, dict[str, tuple[str, ...]]] = {measure: {} for measure in in_pool}
    for part in folds:
        for measure in map(str, part.measures):
            pools[measure] |= dict.fromkeys(part.run_ids, part.pool_run_ids)
    fields = result_fields(collection, pooled, settings, results)
    if others := pooled.unpooled_run_ids:
        text = f"{counted(len(others), 'run')} not in the pool, and not left out: {some_of(others, 20)}"
        fields["pool_notes"] += (Note("experiment", text),)
    return LeaveOutResult(
        **fields,
        n_pooled_runs={str(m): len(runs) for m in settings.measures},
        scores_in_truth=true_scores,
        seconds=seconds,
        clusters=design.clusters,
        _rows=with_reported(rows, ["measure", "estimator"], "truth", settings.top, every=is_chosen),
        scores_in_pool={m: dict(zip(runs, v.means().tolist(), strict=True)) for m, v in in_pool.items()},
        topic_scores={
            measure: TopicScores(
                packed[measure],
                {run: on_grid(scores) for (of, run), scores in true_scores.items() if of == measure},
                dict(zip(runs, on_grid(values.scores()), strict=True)),
                pools[measure],
            )
            for measure, values in in_pool.items()
        },
    )


def resolve_design(
    collection: Collection, settings: LeaveOutSettings
) -> tuple[Collection, LeaveOutSettings, RunsLeftOut, tuple[Part, ...]]:
    """Return the re-pooled collection, its resolved settings, the design and the folds."""
    expect_collection(collection)
    if not collection.pooled.any():
        raise InputError(
            "no pooled run to leave out", hint="give the campaign's runs as the pool, or name those pooled"
        )
    pooled = collection
    if settings.is_by_column or settings.runs == "all":
        pooled = whole_pool(collection, settings.runs, settings.repool_to)
        settings = replace(settings, repool_to=pooled.pool_depth)
    elif settings.repool_to is not None:
        pooled = collection.truncate_pool(settings.repool_to)
    if settings.is_by_column:
        settings = _with_types(pooled, settings)
    clusters = () if settings.n_clusters is None else cluster_runs(pooled, settings.n_clusters)
    design = RunsLeftOut(clusters)
    return pooled, settings, design, design.parts(pooled, settings)


def _with_types(whole: Collection, settings: LeaveOutSettings) -> LeaveOutSettings:
    """Return the settings with the type of each pooled run and the types to leave out."""
    pairs = find_run_types(whole, settings.by, LEFT_OUT)
    kinds = sorted({kind for _, kind in pairs})
    if len(kinds) < 2:
        raise InputError(
            f"all runs of the pool are of {settings.by} {kinds[0]!r}: nothing is left once it is left out",
            hint="give at least two values",
        )
    return replace(settings, run_types=pairs, types=settings.types or tuple(kinds))


def with_reported(
    frame: pd.DataFrame, keys: Sequence[str], score: str, top: float, *, every: bool = False
) -> pd.DataFrame:
    """Return the rows with a column ``reported`` that marks the best runs in each group, or every run."""
    reported = np.full(len(frame), every)
    for _, rows in frame.groupby(list(keys), sort=False):
        reported[rows.index[best_positions(rows[score].to_numpy(), top)]] = True
    frame.insert(list(frame.columns).index(score), "reported", reported)
    return frame


def best_runs(
    collection: Collection, measure: Measure, *, top: float, denominator: str = "qrels"
) -> tuple[str, ...]:
    """Return the best ``top`` % of pooled runs by their score on all judgments, in pool order."""
    runs = collection.pooled_run_ids
    n_topics = scored_topics(collection, runs, denominator).sum(axis=1)
    score = score_bounds(collection, runs, measure).low.means(n_topics)
    return tuple(runs[i] for i in best_positions(score, top))


def best_positions(score: FloatArray, top: float) -> OrderArray:
    """Return ascending indices of the best ``top`` % of scores; ties go to the earlier index."""
    return np.sort(np.argsort(-score, kind="stable")[: n_best(len(score), top)])


def n_best(n_runs: int, top: float) -> int:
    """Return the number of runs in the best ``top`` %, rounded half up, or raise `InputError` if it is 0."""
    n_kept = int(top / 100 * n_runs + 0.5)
    if n_kept == 0:
        raise InputError(
            f"the best {top:g} % of {n_runs} runs are no run at all", hint="report on more of them"
        )
    return n_kept


def scored_topics(collection: Collection, run_ids: tuple[str, ...], denominator: str) -> BoolArray:
    """Return a mask of the topics in each run's mean score, shape (run, topic)."""
    index = collection.run_index(run_ids)
    if denominator == "qrels":
        return np.ones((len(index), len(collection.query_ids)), dtype=bool)
    return np.asarray(collection.length[index] > 0)


def leave_out_several(
    collections: Mapping[str, Collection],
    measures: object = "P@10",
    *,
    estimators: object = "all",
    posterior_settings: str | PosteriorEstimator | None = None,
    by: str = "organization",
    n_clusters: int | None = None,
    types: str | Iterable[str] | None = None,
    runs: Runs = "pooled",
    top: float = 100,
    top_pool: Literal["all", "kept"] = "all",
    truth: Literal["repooled", "full"] = "repooled",
    unseen: Unseen = "nonrelevant",
    denominator: Literal["qrels", "run"] = "qrels",
    repool_to: int | None = None,
    test: PairTest = "tukey-hsd",
    announce: float = 0.8,
    ci_prob: float | None = None,
    random_seed: int = 1,
    folder: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LeaveOutSeveralResult:
    """Leave organizations (runs, clusters of runs) out of the pools in several collections.

    It is `bayespool.leave_out` on each collection, with tables by collection and over all of them: where an
    estimator's MAE is the least and the largest, and geometric means.

    Parameters
    ----------
    collections : mapping of str to Collection
        By name, such as `bayespool.read_collections` gives them.
    measures, estimators, posterior_settings, by, n_clusters, types, runs, top, top_pool, truth, unseen, \
denominator, repool_to, test, announce, ci_prob, random_seed : optional
        As in `bayespool.leave_out`.
    folder : path, optional
        Finished folds are stored in its subfolders, one for each collection, and not worked out again by a
        later call.
    n_jobs : int, optional
        Processes, as in `bayespool.leave_out`.
    progress : callable, optional
        Called with a text, the number of finished folds of all collections, stored ones included, and their
        total.

    Returns
    -------
    LeaveOutSeveralResult

    Raises
    ------
    InputError
        No collection, a name that no folder can have, or what `bayespool.leave_out` refuses.
    OutputError
        ``folder`` cannot be written.
    WorkerError
        A worker process died. With a folder the same call goes on from the stored folds.

    Warns
    -----
    BayespoolWarning
        Those of `bayespool.leave_out`.

    Notes
    -----
    Ties count for each of the estimators in ``n_best`` and ``n_worst``. A geometric mean is over the
    collections in which no estimator's error is 0.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.experiments import leave_out_several
    >>> example = load_example()
    >>> collections = {"depth 10": example, "depth 5": example.truncate_pool(5)}
    >>> result = leave_out_several(collections, "P@5", estimators=["as-judged", "background"])
    >>> columns = ["collection", "estimator", "mae", "mae_change"]
    >>> print(result.to_frame()[columns].round(4).to_string(index=False))
    collection  estimator    mae  mae_change
      depth 10  as-judged 0.0167      0.0000
      depth 10 background 0.0145    -13.0286
       depth 5  as-judged 0.0567      0.0000
       depth 5 background 0.0496    -12.5294
    """
    settings = LeaveOutSettings.parse(locals())
    if not collections:
        raise NoCollectionError("no collection", hint="give a mapping of names to collections")
    check_collection_names(collections)
    n_folds = {}
    for name, collection in collections.items():
        with _named(name):
            n_folds[name] = len(resolve_design(collection, settings)[3])
    results: dict[str, LeaveOutResult] = {}
    for name, collection in collections.items():
        n_before = sum(n_folds[former] for former in results)

        def show(text: str, n_done: int = 0, _: int = 0, /, n_before: int = n_before) -> None:
            if progress is not None:
                progress(text, n_before + n_done, sum(n_folds.values()))

        with _named(name):
            place = None if folder is None else Path(folder) / name
            results[name] = leave_out_resolved(
                collection, settings, folder=place, n_jobs=n_jobs, progress=show
            )
    return LeaveOutSeveralResult(settings=settings, results=results)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Add the collection's name as a note to errors raised in this context."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the collection {name!r}")
        raise
