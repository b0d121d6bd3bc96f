"""What a pool is: who would have had which documents judged."""

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
    """A kind of pool: says for any set of contributing runs which documents would have been judged.

    It knows the runs of a collection by their positions, and each of them whether it contributed or not, so
    that a pool can be asked again without some of its runs. Who did contribute is the collection's
    ``pooled``. A pool is a value: equal ones have equal ``repr``, which the collection's fingerprint takes.
    """

    @property
    def depth(self) -> int:
        """The common depth; 0 where no pool is known."""

    def depth_of(self, runs: Runs) -> IntArray:
        """Depth to which each of these runs was or would have been pooled, shape (run,)."""

    @property
    def is_union(self) -> bool:
        """Whether what several runs contribute is what each of them does."""

    def judged(self, collection: Collection, runs: Runs) -> npt.NDArray[np.bool_]:
        """Pairs that would be judged had exactly these runs contributed, shape (pair,)."""

    def known(self, collection: Collection) -> npt.NDArray[np.int16]:
        """Relevance that a judgment of each pair would have, shape (pair,); negative where nobody knows."""

    def truncated(self, depth: int) -> Pool:
        """The pool had nobody been judged below this depth."""

    def of_runs(self, runs: Runs) -> Pool:
        """The pool of a collection with these runs, in this order; a run may stand there twice."""


@dataclass(frozen=True, slots=True)
class DepthPool:
    """A pool of each run's first documents.

    Attributes
    ----------
    depth : int
        The common depth, which a run that was not in the pool would have been pooled to; 0 where no pool is
        known.
    depths : tuple of int, one per run
        Depth to which each run of the collection was pooled, or would have been.

    Examples
    --------
    >>> pool = DepthPool(10, (10, 10, 5))
    >>> pool.truncated(8)
    DepthPool(depth=8, depths=(8, 8, 5))
    """

    depth: int
    depths: tuple[int, ...]

    @classmethod
    def even(cls, depth: int, n_runs: int) -> DepthPool:
        """A pool of one depth."""
        return cls(depth, (depth,) * n_runs)

    def depth_of(self, runs: Runs) -> IntArray:
        """Depth to which each of these runs was or would have been pooled, shape (run,)."""
        return np.array(self.depths, dtype=np.int32)[np.asarray(runs, dtype=np.intp)]

    @property
    def is_union(self) -> bool:
        """It is."""
        return True

    def judged(self, collection: Collection, runs: Runs) -> npt.NDArray[np.bool_]:
        """The first documents of these runs, each down to its depth, shape (pair,)."""
        index, depths = np.asarray(runs, dtype=np.intp), self.depth_of(runs)
        inside = np.zeros(len(collection.relevance) + 1, dtype=bool)  # the last answers for −1, no document
        for depth in np.unique(depths):
            inside[within(collection.document, index[depths == depth], depth)] = True
        return inside[:-1]

    def known(self, collection: Collection) -> npt.NDArray[np.int16]:
        """The judgments of the collection."""
        return collection.relevance

    def truncated(self, depth: int) -> DepthPool:
        """No run deeper than this."""
        return DepthPool(min(self.depth, depth), tuple(min(own, depth) for own in self.depths))

    def of_runs(self, runs: Runs) -> DepthPool:
        """The depths of these runs."""
        return replace(self, depths=tuple(self.depths[int(run)] for run in runs))
