"""Runs to score whose rankings are those of a run of the pool, and which count as that run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from bayespool.arrays import IntArray
from bayespool.collection.build import EncodedRun
from bayespool.collection.contents import Collection


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
