"""Copies: runs to score that count as a run of the pool, and organizations of the pool that count as one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from bayespool.arrays import FloatArray, IntArray, OrderArray
from bayespool.collection.build import EncodedRun
from bayespool.collection.collection import Collection


def find_copies(collection: Collection, run_ids: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return those of the named runs that rank as a pooled run, each with the first such run.

    Rankings are the same if they agree as far as both go, and either both end there or both reach the depth
    to which the run was pooled. Pooled runs are no copies.
    """
    pooled = np.flatnonzero(collection.pooled)
    first = collection.document[:, :, :1]
    copies = []
    for run in collection.run_index(run_ids):
        alike = pooled[(first[pooled] == first[run]).all(axis=(1, 2))]
        original = next((r for r in alike if _is_copy(collection, run, r)), None)
        if original is not None and not collection.pooled[run]:
            copies.append((collection.run_ids[run], collection.run_ids[original]))
    return tuple(copies)


def _is_copy(collection: Collection, run: int, original: int) -> bool:
    own, others = collection.length[run], collection.length[original]
    both, depth = np.minimum(own, others), int(collection.run_depths(np.array([original]))[0])
    if not np.all((own == others) | (both >= depth)):
        return False
    ranks = int(both.max(initial=0))
    inside = np.arange(ranks) < both[:, None]
    ranked = (collection.document[r, :, :ranks] for r in (run, original))
    return bool(np.all((next(ranked) == next(ranked)) | ~inside))


def adopt_copies(collection: Collection) -> Collection:
    """Return the collection with runs to score that rank as a pooled run in its organization, and a note."""
    copies = find_copies(collection, collection.given_run_ids)
    if not copies:
        return collection
    organization = collection.organization.copy()
    runs, originals = (collection.run_index(names) for names in zip(*copies, strict=True))
    organization[runs] = organization[originals]
    notes = (f"{run} ranks as {original} of the pool, and counts as that run" for run, original in copies)
    return dataclasses.replace(
        collection,
        organization=organization,
        copied_runs=copies,
        scope_notes=(*collection.scope_notes, *notes),
    )


def replace_copies(
    runs: Sequence[EncodedRun], pool: Sequence[EncodedRun], *, prefix: bool = False
) -> list[EncodedRun]:
    """Return runs with each that has name and rankings of a run of the pool replaced by that one.

    With ``prefix`` the run of the pool may be cut, so that its rankings are the beginnings.
    """
    of_pool = {run.run_id: run for run in pool}
    return [
        of_pool[run.run_id]
        if run.run_id in of_pool and _begins_with(run, of_pool[run.run_id], prefix=prefix)
        else run
        for run in runs
    ]


def _begins_with(run: EncodedRun, original: EncodedRun, *, prefix: bool) -> bool:
    length, kept = np.asarray(run.length), np.asarray(original.length)
    cut = int(kept.max(initial=0))
    if not np.array_equal(np.minimum(length, cut) if prefix else length, kept):
        return False
    rank = np.concatenate([np.arange(n) for n in length])
    is_kept = rank < np.repeat(kept, length)
    return np.array_equal(_in_order(run)[is_kept], _in_order(original))


def _in_order(run: EncodedRun) -> IntArray:
    """Return the documents of a run, those that tie by descending number."""
    if run.tied is None:
        return run.document
    return run.document[np.lexsort((-run.document.astype(np.int64), np.cumsum(~run.tied)))]


TOP_OF_OVERLAP = 10
"""Number of top ranks compared to measure the overlap between runs."""

_COMMON_MULTIPLE = 2520  # of the lengths 1 to 10, so that overlaps are exact


def run_overlap(collection: Collection, run_index: OrderArray) -> FloatArray:
    """Return the share of common documents in the top ten for each pair of runs, shape (run, run).

    Means over topics, between 0 and 1, symmetric. On a topic the number of common documents over ten, or over
    the length of the longer ranking where both are shorter. A topic that one of the runs lacks counts 0;
    topics that both lack do not count. Two runs without documents have the overlap 1.

    Parameters
    ----------
    collection : Collection
    run_index : ndarray of int, shape (run,)
    """
    n_runs = len(run_index)
    shared, n_topics = np.zeros((2, n_runs, n_runs), dtype=np.int64)
    for t in range(len(collection.query_ids)):
        top = collection.document[run_index, t, :TOP_OF_OVERLAP]
        documents, column = np.unique(top, return_inverse=True)
        has = np.zeros((n_runs, len(documents)), dtype=np.float32)
        has[np.arange(n_runs)[:, None], column.reshape(top.shape)] = 1
        has = has[:, documents >= 0]
        length = has.sum(axis=1)
        longer = np.maximum(length[:, None], length).astype(np.int64)
        shared += (has @ has.T).astype(np.int64) * (_COMMON_MULTIPLE // np.maximum(longer, 1))
        n_topics += longer > 0
    share: FloatArray = shared / (_COMMON_MULTIPLE * np.maximum(n_topics, 1))
    return np.where(n_topics > 0, share, 1.0)


_COPIED_SHARE = 0.9  # of a run's top ten that a run of the other organization has, too
_MIN_DOCUMENTS = 10  # of a run: short ones may be alike by chance


def find_copied_organizations(collection: Collection) -> tuple[tuple[str, ...], ...]:
    """Return groups of organizations of the pool that are copies, in the collection's order.

    An organization is a copy of another, the first such, if each of its pooled runs has nine tenths of its
    top ten in common with a pooled run of the other (`run_overlap`).
    """
    joined = collection.memo.joined  # its runs to score change nothing
    pool = collection if joined is None else joined.pool
    return pool.memo.once("copied organizations", lambda: _copied_organizations(pool))


def _copied_organizations(collection: Collection) -> tuple[tuple[str, ...], ...]:
    """Return groups of organizations that are copies, from the overlaps of all pooled runs."""
    index = np.flatnonzero(collection.pooled)
    present, own = np.unique(collection.organization[index], return_inverse=True)
    if len(present) < 2:
        return ()
    alike = run_overlap(collection, index) >= _COPIED_SHARE
    alike[collection.length[index].sum(axis=1) < _MIN_DOCUMENTS] = False
    is_of = own == np.arange(len(present))[:, None]
    lacking = is_of.astype(int) @ ~(alike @ is_of.T)  # runs of one organization that the other has not
    np.fill_diagonal(lacking, 1)
    group = np.arange(len(present))
    for o in np.flatnonzero(~lacking.all(axis=1)):
        group[group == group[o]] = group[(lacking[o] == 0).argmax()]
    names = [collection.organizations[o] for o in present]
    groups = (tuple(names[o] for o in np.flatnonzero(group == g)) for g in dict.fromkeys(group.tolist()))
    return tuple(copies for copies in groups if len(copies) > 1)


def join_copied_organizations(collection: Collection) -> Collection:
    """Return the collection with organizations that are copies as one, under the name of the first."""
    organization = collection.organization.copy()
    groups = find_copied_organizations(collection)
    for names in groups:
        first, *others = (collection.organizations.index(name) for name in names)
        organization[np.isin(organization, others)] = first
    return dataclasses.replace(collection, organization=organization) if groups else collection
