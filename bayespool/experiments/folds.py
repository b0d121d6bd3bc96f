"""Folds of a leave-out experiment: organizations, runs or clusters of runs that retrieve alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import run_overlap, score_bounds
from bayespool.evidence.ideals import reach_of_ideal, values_on_fuller
from bayespool.evidence.overlap import TOP_OF_OVERLAP
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.measures import Measure, Normalized, Values
from bayespool.randomness import key_of


@dataclass(frozen=True, slots=True)
class RunCluster:
    """Pooled runs that retrieve alike.

    Attributes
    ----------
    name : str
        ``cluster 1`` is the largest.
    run_ids : tuple of str
        In the order of the collection.
    organizations : tuple of str
        Of each of the runs.
    stays : str
        Why it cannot be left out of the pool; empty if it can.
    """

    name: str
    run_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    stays: str = ""


def cluster_runs(collection: Collection, n_clusters: int = 5) -> tuple[RunCluster, ...]:
    """Cluster the pooled runs by the documents they retrieve, the largest cluster first.

    Parameters
    ----------
    collection : Collection
        Its pooled runs are clustered; judgments do not matter.
    n_clusters : int, default 5
        How many, or fewer where joins are tied.

    Returns
    -------
    tuple of RunCluster

    Raises
    ------
    InputError
        No pooled run, or ``n_clusters`` below 2.

    Notes
    -----
    Average linkage of 1 − `bayespool.evidence.overlap`. All joins up to a distance are made, and ties ordered
    by the retrieved documents, not by names of runs. A cluster can be left out if it has at least two and at
    most three quarters of the runs, and the others are of two organizations or more, which a posterior needs.
    An organization may have runs in several clusters.

    Examples
    --------
    >>> from bayespool import load_example
    >>> for cluster in cluster_runs(load_example(), 3):
    ...     print(cluster.name, len(cluster.run_ids), sorted(set(cluster.organizations)))
    cluster 1 15 ['coast', 'delta', 'north', 'ridge', 'south', 'west']
    cluster 2 4 ['lake']
    cluster 3 2 ['east']
    """
    if n_clusters < 2:
        raise InputError(f"{n_clusters} clusters leave no run in the pool", hint="2 or more")
    index = np.flatnonzero(collection.pooled)
    if not len(index):
        raise InputError("no pooled run to make clusters of", hint="give the campaign's runs as the pool")
    top = collection.document[index, :, :TOP_OF_OVERLAP].reshape(len(index), -1)
    order = np.lexsort(top.T[::-1])  # equal runs tie, and may come in either order
    label = np.empty(len(index), dtype=np.intp)
    label[order] = _cluster_numbers(1 - run_overlap(collection, index[order]), n_clusters)
    first = {int(c): int(np.flatnonzero(label[order] == c)[0]) for c in np.unique(label)}
    largest_first = sorted(first, key=lambda c: (-int((label == c).sum()), first[c]))
    clusters = []
    for number, c in enumerate(largest_first, 1):
        members = index[label == c]
        clusters.append(
            RunCluster(
                f"cluster {number}",
                tuple(collection.run_ids[i] for i in members),
                tuple(collection.organizations[o] for o in collection.organization[members]),
                _reason_to_stay(collection, members),
            )
        )
    return tuple(clusters)


def _cluster_numbers(distance: npt.NDArray[np.float64], n_clusters: int) -> npt.NDArray[np.intp]:
    """Number of the cluster of each run, shape (run,), by average linkage of distances of shape (run,
    run).
    """
    if len(distance) < 2:
        return np.zeros(len(distance), dtype=np.intp)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    np.fill_diagonal(distance, 0)
    joins = linkage(squareform(distance), method="average")
    joins[:, 2] = np.round(joins[:, 2], 12)  # restore ties that rounding broke
    n_needed = len(distance) - n_clusters
    furthest = joins[n_needed - 1, 2] if n_needed > 0 else 0.0
    return np.asarray(fcluster(joins, furthest, criterion="distance"), dtype=np.intp)


def _reason_to_stay(collection: Collection, members: npt.NDArray[np.intp]) -> str:
    others = np.setdiff1d(np.flatnonzero(collection.pooled), members)
    if len(members) < 2:
        return "a single run"
    if len(members) > 3 * len(others):
        return "more than three quarters of the runs"
    if len(np.unique(collection.organization[others])) < 2:
        return "without it the pool would be of one organization"
    return ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Runs left out together, by organization (empty if of several), run or cluster, the measures to
    estimate, and the runs that make the pool with nobody left out.
    """

    name: str
    organization: str
    run_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    pooled_run_ids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Truth:
    """Values of runs with their own judgments back, and the number of documents still unjudged, which count
    as nonrelevant, shape (run, topic).
    """

    values: Values
    n_unjudged: npt.NDArray[np.int32]


def make_folds(
    collection: Collection, settings: LeaveOutSettings, clusters: Iterable[RunCluster] = ()
) -> tuple[Fold, ...]:
    """Folds of an experiment, the largest first; by cluster, those of `clusters` that can be left out."""
    if settings.by == "cluster":
        return _folds_of_clusters(collection, settings, tuple(clusters))
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
            organization = _organization(collection, run)
            units.setdefault(organization if settings.by == "organization" else run, []).append(run)
        if len(units) < 2:
            raise InputError(
                f"only one {settings.by} was pooled: nothing is left once it is left out",
                hint="give more runs, or the organizations of the runs",
            )
        folds += [
            Fold(name, _organization(collection, runs[0]), tuple(runs), tuple(measures), pooled_run_ids)
            for name, runs in units.items()
        ]
    return tuple(sorted(folds, key=lambda fold: -len(fold.run_ids) * len(fold.measures)))


def _folds_of_clusters(
    collection: Collection, settings: LeaveOutSettings, clusters: tuple[RunCluster, ...]
) -> tuple[Fold, ...]:
    pooled_run_ids = collection.pooled_run_ids
    folds = [
        Fold(cluster.name, "", cluster.run_ids, settings.measures, pooled_run_ids)
        for cluster in clusters
        if not cluster.stays
    ]
    if not folds:
        sizes = ", ".join(str(len(cluster.run_ids)) for cluster in clusters)
        raise InputError(
            f"none of the clusters (of {sizes} runs) can be left out: {clusters[0].stays}",
            hint="ask for another number of clusters, or leave out organizations",
        )
    n_best(sum(len(fold.run_ids) for fold in folds), settings.top)
    _refuse_runs_without_topics(collection, pooled_run_ids, settings)
    return tuple(folds)


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


def without(collection: Collection, fold: Fold) -> Collection:
    """The collection as if the runs of the fold had not been pooled, which estimators get."""
    gone = set(collection.pooled_run_ids) - set(fold.pooled_run_ids)
    return collection.unpool([*gone, *fold.run_ids])


def true_values(
    collection: Collection, reduced: Collection, fold: Fold, measure: Measure, settings: LeaveOutSettings
) -> Truth:
    """Values of the fold's runs on the judgments of the collection; ideal rankings have the documents of the
    estimate's (`bayespool.evidence.ideals.values_on_fuller`). With ``truth="repooled"`` each run is put back
    into the pool alone, without judgments that only the other runs of the fold contributed; runs that share
    an ideal ranking are put back together.
    """
    gone = set(collection.pooled_run_ids) - set(fold.pooled_run_ids)
    depth = int(collection.depth_of(collection.run_index(fold.run_ids)).min())
    deeper, shares = measure.cutoff, False
    if isinstance(measure, Normalized):
        deeper, shares = reach_of_ideal(reduced, measure), measure.ideal == "shared"
    each = settings.truth == "repooled" and len(fold.run_ids) > 1 and deeper > depth and not shares
    parts = [(run,) for run in fold.run_ids] if each else [fold.run_ids]
    whole = collection.unpool(gone) if gone else collection
    values, n_unjudged = [], []
    for part in parts:
        away = set(fold.run_ids) - set(part) if each else ()
        back = collection.unpool([*gone, *away]) if away else whole
        values.append(values_on_fuller(reduced, back, part, measure, settings.estimand).amount)
        n_unjudged.append(score_bounds(back, part, measure, estimand=settings.estimand).n_unjudged)
    return Truth(Values(np.concatenate(values), measure.unit), np.concatenate(n_unjudged))


def seed_of(*names: object) -> int:
    """Seed of 32 bits from names."""
    return key_of(*names, n_bytes=4)


def _organization(collection: Collection, run: str) -> str:
    return collection.organizations[int(collection.organization[collection.run_index(run)[0]])]
