"""Pools: which documents are judged for a set of contributing runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from bayespool.collection.rankings import within

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

IntArray = npt.NDArray[np.int32]
Runs = npt.NDArray[np.integer] | Sequence[int]


class Pool(Protocol):
    """A kind of pool: which documents would have been judged for any set of contributing runs.

    It knows the runs of a collection by position, contributing or not, and can be evaluated without some of
    them; the collection's ``pooled`` says which contributed. Equal pools have equal ``repr``, which the
    collection's fingerprint includes.
    """

    @property
    def depth(self) -> int:
        """Common depth; 0 if no pool is known."""

    def depth_of(self, runs: Runs) -> IntArray:
        """Depth to which each of these runs was or would have been pooled, shape (run,)."""

    @property
    def is_union(self) -> bool:
        """Whether a pool of several runs is the union of the pools of each."""

    def judged(self, collection: Collection, runs: Runs) -> npt.NDArray[np.bool_]:
        """Pairs that would be judged had exactly these runs contributed, shape (pair,)."""

    def known(self, collection: Collection) -> npt.NDArray[np.int16]:
        """Relevance that a judgment of each pair would have, shape (pair,); negative where unknown."""

    def truncated(self, depth: int) -> Pool:
        """Pool in which nothing below this depth is judged."""

    def of_runs(self, runs: Runs) -> Pool:
        """Pool of a collection of these runs, in this order; a run may occur twice."""


@dataclass(frozen=True, slots=True)
class DepthPool:
    """A pool of each run's first documents.

    Examples
    --------
    >>> pool = DepthPool(10, (10, 10, 5))
    >>> pool.truncated(8)
    DepthPool(depth=8, depths=(8, 8, 5))
    """

    depth: int  # common depth, which applies to unpooled runs; 0 if no pool is known
    depths: tuple[int, ...]  # to which each run of the collection was or would have been pooled

    @classmethod
    def even(cls, depth: int, n_runs: int) -> DepthPool:
        """Pool of one depth for all runs."""
        return cls(depth, (depth,) * n_runs)

    def depth_of(self, runs: Runs) -> IntArray:
        """Depth to which each of these runs was or would have been pooled, shape (run,)."""
        return np.array(self.depths, dtype=np.int32)[np.asarray(runs, dtype=np.intp)]

    @property
    def is_union(self) -> bool:
        """True: a document is judged because of one run alone."""
        return True

    def judged(self, collection: Collection, runs: Runs) -> npt.NDArray[np.bool_]:
        """First documents of these runs, each down to its depth, shape (pair,)."""
        index, depths = np.asarray(runs, dtype=np.intp), self.depth_of(runs)
        inside = np.zeros(
            len(collection.relevance) + 1, dtype=bool
        )  # the last entry is that of −1, no document
        for depth in np.unique(depths):
            inside[within(collection.document, index[depths == depth], depth)] = True
        return inside[:-1]

    def known(self, collection: Collection) -> npt.NDArray[np.int16]:
        """Judgments of the collection, shape (pair,)."""
        return collection.relevance

    def truncated(self, depth: int) -> DepthPool:
        """Pool with no run deeper than this."""
        return DepthPool(min(self.depth, depth), tuple(min(own, depth) for own in self.depths))

    def of_runs(self, runs: Runs) -> DepthPool:
        """Pool of these runs with their depths."""
        return replace(self, depths=tuple(self.depths[int(run)] for run in runs))
