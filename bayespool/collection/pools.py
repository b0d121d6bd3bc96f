"""The sole contributor to each document of a pool."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bayespool.arrays import IntArray
from bayespool.collection.contents import Contents
from bayespool.collection.rankings import ranked
from bayespool.errors import InputError

SOLE = "sole contributor"
"""Name in a collection's memo."""


def sole_contributor(collection: Contents, by: Literal["organization", "run"] = "organization") -> IntArray:
    """Return the only organization (or run) to contribute each document, shape (pair,); −1 if not unique."""
    if by not in ("organization", "run"):
        raise InputError(f"cannot hold out by {by!r}", hint="organization or run")
    is_run = by == "run"
    unit = np.arange(len(collection.run_ids), dtype=np.int32) if is_run else collection.organization
    return collection.memo.once(SOLE, lambda: find_sole_contributor(collection, unit), by)


def find_sole_contributor(collection: Contents, unit: IntArray) -> IntArray:
    """Return the only unit to contribute each document, shape (pair,); ``unit`` has a unit index per run."""
    if not collection.pool.is_union:
        return _needed_contributor(collection, unit)
    n_contributors = np.zeros(len(collection.relevance), dtype=np.int32)
    owner = np.full(len(collection.relevance), -1, dtype=np.int32)
    contributors = collection.contributors
    for u in np.unique(unit[contributors]):
        inside = collection.contributed(contributors[unit[contributors] == u])
        n_contributors += inside
        owner[inside] = u
    sole: IntArray = np.where(n_contributors == 1, owner, np.int32(-1))
    sole.flags.writeable = False
    return sole


def _needed_contributor(collection: Contents, unit: IntArray) -> IntArray:
    """Return the unit without which each document leaves the pool, shape (pair,); −1 if none.

    If several units would do, it is the one that ranks the document best.
    """
    pooled, inside = np.flatnonzero(collection.pooled), collection.in_pool()
    n_pairs, n_ranks = len(collection.relevance), collection.document.shape[2]
    best = np.full(n_pairs, n_ranks, dtype=np.int32)
    owner = np.full(n_pairs, -1, dtype=np.int32)
    for u in np.unique(unit[pooled]):
        lost = inside & ~collection.in_pool(pooled[unit[pooled] != u])
        rank = np.full(n_pairs + 1, n_ranks, dtype=np.int32)
        for run in pooled[unit[pooled] == u]:
            document, ranks = ranked(collection.document, run)
            rank[document] = np.minimum(rank[document], ranks)
        better = lost & (rank[:-1] < best)
        best[better], owner[better] = rank[:-1][better], u
    added = np.flatnonzero(collection.attributed_run >= 0)
    owner[added] = unit[collection.attributed_run[added]]
    owner.flags.writeable = False
    return owner
