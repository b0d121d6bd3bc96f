"""A pool that a strategy made, for a budget: who would have had which documents judged."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, DepthPool, IntArray
from bayespool.errors import InputError
from bayespool.pooling.choosing import choose
from bayespool.pooling.registry import parse_strategy, strategy_text
from bayespool.pooling.strategy import Strategy

__all__ = ["StrategyPool", "with_strategy_pool"]

Runs = npt.NDArray[np.integer] | Sequence[int]


@dataclass(frozen=True, eq=False, repr=False)
class StrategyPool:
    """A pool of the documents that a strategy judges for a budget.

    Without some of its runs the strategy is asked again, for the same budget: other documents then take the
    place of theirs. Equal settings and judgments have an equal ``repr``.

    Attributes
    ----------
    strategy : Strategy
    budget : int or None
        Documents over all topics; None where the strategy itself says how many.
    depth : int
        Depth of the deepest depth pool of the contributing runs that is no larger: what stands for the pool
        depth where one is asked for.
    labels : ndarray of int16, shape (pair,)
        What assessors say of each document, as far as that is known; negative elsewhere.
    run_depth : int or None
        Ranks of a run that may be judged at most.
    shares : {"equal", "global"}
    rel : int
        Smallest relevance that counts, for an adaptive strategy.
    random_seed : int
    """

    strategy: Strategy
    budget: int | None
    depth: int
    labels: npt.NDArray[np.int16]
    run_depth: int | None = None
    shares: Literal["equal", "global"] = "equal"
    rel: int = 1
    random_seed: int = 1
    _asked: dict[bytes, npt.NDArray[np.bool_]] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        known = hashlib.blake2b(np.ascontiguousarray(self.labels).data, digest_size=8).hexdigest()
        return (
            f"StrategyPool({strategy_text(self.strategy)}, budget={self.budget}, "
            f"run_depth={self.run_depth}, shares={self.shares!r}, rel={self.rel}, "
            f"random_seed={self.random_seed}, labels={known})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_asked": {}}

    @property
    def is_union(self) -> bool:
        """It is not: documents compete for the budget."""
        return False

    def depth_of(self, runs: Runs) -> IntArray:
        """The depth that stands for the pool's, shape (run,)."""
        return np.full(len(np.asarray(runs)), self.depth, dtype=np.int32)

    def judged(self, collection: Collection, runs: Runs) -> npt.NDArray[np.bool_]:
        """What the strategy judges of these runs, shape (pair,); nothing without a run."""
        index = np.unique(np.asarray(runs, dtype=np.intp))
        key = hashlib.blake2b(
            repr((tuple(collection.run_ids[r] for r in index), collection.query_ids)).encode(), digest_size=16
        ).digest()
        if key not in self._asked:
            inside = np.zeros(len(collection.relevance), dtype=bool)
            if len(index):
                chosen = choose(
                    collection,
                    self.strategy,
                    self.budget,
                    run_index=index,
                    depth=self.run_depth,
                    shares=self.shares,
                    rel=self.rel,
                    random_seed=self.random_seed,
                    labels=self.labels,
                )
                inside[chosen.pair] = True
            inside.flags.writeable = False
            self._asked[key] = inside
        return self._asked[key]

    def known(self, collection: Collection) -> npt.NDArray[np.int16]:
        """What assessors say of each document."""
        return self.labels

    def truncated(self, depth: int) -> StrategyPool:
        """Not to be had.

        Raises
        ------
        InputError
            Always: such a pool has no depth to be cut at.
        """
        raise InputError(
            f"a pool by {self.strategy.name} cannot be cut at a depth", hint="make one of a smaller budget"
        )

    def of_runs(self, runs: Runs) -> StrategyPool:
        """The same: runs are told by their names."""
        return self


def with_strategy_pool(
    collection: Collection,
    strategy: str | Strategy,
    budget: int | None = None,
    *,
    run_depth: int | None = None,
    shares: Literal["equal", "global"] = "equal",
    rel: int = 1,
    random_seed: int = 1,
    labels: npt.NDArray[np.int16] | None = None,
) -> Collection:
    """The collection with a pool that a strategy makes of its pooled runs.

    Parameters
    ----------
    collection : Collection
    strategy : str or Strategy
    budget : int, optional
        As for `choose`.
    run_depth : int, optional
        Ranks of a run that may be judged at most; default: the depth of the pool so far, below which nobody
        knows what would have been found.
    shares, rel, random_seed
        As for `choose`.
    labels : ndarray of int16, shape (pair,), optional
        What assessors say of each document. Default: the judgments of the collection, those that are not in
        the new pool among them, so that an experiment can ask it again without some runs.

    Returns
    -------
    Collection
        Without the judgments of the former pool that are not in the new one, and with the labels of what is
        in it. Judgments that no pooled run explained, and added ones, stay.

    Raises
    ------
    InputError
        As for `choose`.

    Examples
    --------
    >>> from bayespool import load_example
    >>> example = load_example()
    >>> smaller = with_strategy_pool(example, "take", 400)
    >>> int(smaller.judged.sum()), int(smaller.unpool(organization="north").judged.sum())
    (400, 400)
    """
    known = collection.relevance if labels is None else labels
    pooled = np.flatnonzero(collection.pooled)
    pool = StrategyPool(
        strategy=parse_strategy(strategy),
        budget=budget,
        depth=0,
        labels=known,
        run_depth=run_depth or collection.pool_depth or None,
        shares=shares,
        rel=rel,
        random_seed=random_seed,
    )
    inside = pool.judged(collection, pooled)
    sized = dataclasses.replace(pool, depth=_equal_depth(collection, pooled, int(inside.sum())))
    sized._asked.update(pool._asked)
    kept = collection.without_judgments(collection.pool() & ~inside & (collection.added_for < 0))
    return kept.with_pool(collection.pooled, sized).unpool(())  # nobody leaves; what is known comes in


def _equal_depth(collection: Collection, runs: npt.NDArray[np.intp], size: int) -> int:
    """Depth of the deepest depth pool of runs that has no more documents."""
    low, high = 0, collection.document.shape[2]
    while low < high:
        middle = (low + high + 1) // 2
        pool = DepthPool.even(middle, len(collection.run_ids))
        small = int(pool.judged(collection, runs).sum()) <= size
        low, high = (middle, high) if small else (low, middle - 1)
    return low
