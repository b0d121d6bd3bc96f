"""Sole contributors of documents to the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection.rankings import ranked
from bayespool.errors import InputError

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

IntArray = npt.NDArray[np.int32]


def sole_contributor(collection: Collection, by: Literal["organization", "run"] = "organization") -> IntArray:
    """Organization (or run) that alone contributed each document to the pool, shape (pair,); −1 for
    several or none.
    """
    if by not in ("organization", "run"):
        raise InputError(f"cannot hold out by {by!r}", hint="organization or run")
    if by == "organization":
        return collection._sole_organization
    return find_sole_contributor(collection, np.arange(len(collection.run_ids), dtype=np.int32))


def find_sole_contributor(collection: Collection, unit: IntArray) -> IntArray:
    """`sole_contributor` by any unit, whose index each run has, shape (run,)."""
    if not collection.pooling.is_union:
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


def _needed_contributor(collection: Collection, unit: IntArray) -> IntArray:
    """Unit without which the pool lacks each document, shape (pair,); of several the one that ranks it
    best.
    """
    pooled, inside = np.flatnonzero(collection.pooled), collection.pool()
    n_pairs, n_ranks = len(collection.relevance), collection.document.shape[2]
    best = np.full(n_pairs, n_ranks, dtype=np.int32)
    owner = np.full(n_pairs, -1, dtype=np.int32)
    for u in np.unique(unit[pooled]):
        lost = inside & ~collection.pool(pooled[unit[pooled] != u])
        rank = np.full(n_pairs + 1, n_ranks, dtype=np.int32)
        for run in pooled[unit[pooled] == u]:
            document, ranks = ranked(collection.document, run)
            rank[document] = np.minimum(rank[document], ranks)
        better = lost & (rank[:-1] < best)
        best[better], owner[better] = rank[:-1][better], u
    added = np.flatnonzero(collection.added_for >= 0)
    owner[added] = unit[collection.added_for[added]]
    owner.flags.writeable = False
    return owner
