"""Depth pools, the protocol for all pools, and the sole contributor to each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from bayespool.arrays import AnyArray, BoolArray, IntArray, LevelArray
from bayespool.collection.rankings import ranked, within
from bayespool.errors import InputError
from bayespool.reading.records import UNJUDGED

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection


Runs = npt.NDArray[np.integer] | Sequence[int]


class Pool(Protocol):
    """Protocol for pools, which determine the judged documents for any set of contributing runs.

    It knows the runs of a collection by position, contributing or not, and can be evaluated without some of
    them; the collection's ``pooled`` marks those that contributed. Equal pools have equal ``repr``, which the
    collection's fingerprint includes.
    """

    @property
    def depth(self) -> int:
        """Common pool depth; 0 if no pool is known."""

    def run_depths(self, runs: Runs) -> IntArray:
        """Return the depth to which each given run was or would be pooled, shape (run,)."""

    @property
    def is_union(self) -> bool:
        """Whether a pool from several runs is the union of the pools from each run."""

    @property
    def looks_at_judgments(self) -> bool:
        """Whether earlier judgments determined which documents were judged next."""

    def judged(self, collection: Collection, runs: Runs) -> BoolArray:
        """Return a mask of documents that would be judged if only these runs contributed, shape (pair,)."""

    def known_relevance(self, collection: Collection) -> LevelArray:
        """Return the known relevance for each document, shape (pair,); negative if unknown."""

    def truncate(self, depth: int) -> Pool:
        """Return the pool truncated to the top ``depth`` ranks."""

    def select_runs(self, runs: Runs) -> Pool:
        """Return the pool for a collection restricted to these runs, in this order."""

    def place_documents(self, place: IntArray, n_pairs: int) -> Pool:
        """Return the pool for a collection that has more documents, which no run retrieves.

        ``place`` has the new pair code of each document, shape (pair,).
        """


@dataclass(frozen=True, slots=True)
class DepthPool:
    """Pool made from the top-ranked documents of each run."""

    depth: int  # common depth, which applies to unpooled runs; 0 if no pool is known
    depths: tuple[int, ...]  # to which each run of the collection was or would have been pooled
    alternative: str = field(default="", repr=False, compare=False)  # another pool that may have been
    doubts: tuple[str, ...] = field(default=(), repr=False, compare=False)  # with runs that are not at hand
    is_union: ClassVar[bool] = True  # a document is judged because of one run alone
    looks_at_judgments: ClassVar[bool] = False  # ranks alone decide

    @classmethod
    def even(cls, depth: int, n_runs: int) -> DepthPool:
        """Return a pool with the same depth for every run."""
        return cls(depth, (depth,) * n_runs)

    def run_depths(self, runs: Runs) -> IntArray:
        """Return the depth to which each given run was or would be pooled, shape (run,)."""
        return np.array(self.depths, dtype=np.int32)[np.asarray(runs, dtype=np.intp)]

    def judged(self, collection: Collection, runs: Runs) -> BoolArray:
        """Return a mask of documents that any of these runs ranks within its pool depth, shape (pair,)."""
        index, depths = np.asarray(runs, dtype=np.intp), self.run_depths(runs)
        inside = np.zeros(len(collection.relevance) + 1, dtype=bool)  # the last is that of −1, no document
        for depth in np.unique(depths):
            inside[within(collection.document, index[depths == depth], depth)] = True
        return inside[:-1]

    def known_relevance(self, collection: Collection) -> LevelArray:
        """Return the collection's judged relevance, shape (pair,)."""
        return collection.relevance

    def truncate(self, depth: int) -> DepthPool:
        """Return the pool with every run's depth limited to ``depth``."""
        depths = tuple(min(own, depth) for own in self.depths)
        return DepthPool(min(self.depth, depth), depths, doubts=self.doubts)

    def select_runs(self, runs: Runs) -> DepthPool:
        """Return the pool restricted to these runs."""
        return replace(self, depths=tuple(self.depths[int(run)] for run in runs))

    def place_documents(self, place: IntArray, n_pairs: int) -> DepthPool:
        """Return the same pool: ranks decide."""
        return self


def place_values(values: AnyArray, fill: float = UNJUDGED, *, place: IntArray, n_pairs: int) -> AnyArray:
    """Return values of documents, shape (…, pair), with one value for the documents of other places."""
    placed = np.full((*values.shape[:-1], n_pairs), fill, dtype=values.dtype)
    placed[..., place] = values
    return placed


def sole_contributor(collection: Collection, by: Literal["organization", "run"] = "organization") -> IntArray:
    """Return the only organization (or run) to contribute each document, shape (pair,); −1 if not unique."""
    if by not in ("organization", "run"):
        raise InputError(f"cannot hold out by {by!r}", hint="organization or run")
    return collection._sole_organization if by == "organization" else collection._sole_run


def find_sole_contributor(collection: Collection, unit: IntArray) -> IntArray:
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


def _needed_contributor(collection: Collection, unit: IntArray) -> IntArray:
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
