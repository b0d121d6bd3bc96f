"""Pools made by a pooling strategy, which chooses again where some of their runs are absent."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IntArray, LevelArray
from bayespool.collection import Collection
from bayespool.collection.contents import Contents, DepthPool, place_values
from bayespool.errors import InputError
from bayespool.pooling.choosing import PoolPlan, PoolSelection, choose
from bayespool.pooling.registry import strategy_text
from bayespool.pooling.sampling import Sampling
from bayespool.pooling.strategy import Strategy, retrieved_by
from bayespool.reading.samples import Sample

Runs = npt.NDArray[np.integer] | Sequence[int]


@dataclass(frozen=True, eq=False, repr=False)
class StrategyPool:
    """Pool made from the documents that a strategy judges within a budget.

    Without some of its runs the strategy chooses again, for the same budget: other documents then replace
    theirs, and a sample has other inclusion probabilities. Equal settings and judgments have an equal
    ``repr``. `StrategyPool.of` makes one.

    Attributes
    ----------
    plan : PoolPlan
        Strategy, budget and everything else that decides which documents are judged.
    depth : int
        Depth of the deepest depth pool of the contributing runs that is not larger, used where code needs a
        pool depth.
    labels : ndarray of int16, shape (pair,)
        Known relevance of each document; negative where unknown.
    """

    plan: PoolPlan
    depth: int
    labels: LevelArray
    is_union: ClassVar[bool] = False  # documents compete for the budget
    _choices: dict[bytes, tuple[BoolArray, PoolSelection | None]] = field(default_factory=dict, init=False)

    @classmethod
    def of(
        cls,
        collection: Contents,
        runs: Runs,
        strategy: str | Strategy | PoolPlan,
        budget: int | None = None,
        *,
        labels: LevelArray | None = None,
    ) -> StrategyPool:
        """Return the pool that a strategy makes from the given runs.

        Parameters
        ----------
        collection : Collection
        runs : array of int
            Positions of the contributing runs.
        strategy, budget
            As for `PoolPlan.of`, with its errors and those of `choose`; without a stopping rule, which does
            not tell the pool of fewer runs.
        labels : ndarray of int16, shape (pair,), optional
            Default: the judgments of the collection.
        """
        plan = PoolPlan.of(strategy, budget)
        if plan.stop is not None:
            raise InputError("a pool with a stopping rule", hint="state the strategy and its budget")
        pool = cls(plan=plan, depth=0, labels=collection.relevance if labels is None else labels)
        n_documents = int(pool.judged(collection, runs).sum())
        deep = replace(pool, depth=_equal_depth(collection, runs, n_documents))
        deep._choices.update(pool._choices)  # they do not depend on the depth
        return deep

    def __repr__(self) -> str:
        digest = hashlib.blake2b(np.ascontiguousarray(self.labels).data, digest_size=8).hexdigest()
        plan = self.plan
        return (
            f"StrategyPool({strategy_text(plan.strategy)}, budget={plan.budget}, "
            f"run_depth={plan.run_depth}, shares={plan.shares!r}, rel={plan.rel}, "
            f"random_seed={plan.random_seed}, labels={digest})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_choices": {}}

    def __str__(self) -> str:
        """Return the pool plan as text."""
        return str(self.plan)

    @property
    def looks_at_judgments(self) -> bool:
        """Whether earlier judgments determine which documents are judged next (adaptive strategy)."""
        return self.plan.strategy.is_adaptive

    @property
    def is_sample(self) -> bool:
        """Whether documents are judged with known probabilities."""
        return isinstance(self.plan.strategy, Sampling)

    def run_depths(self, runs: Runs) -> IntArray:
        """Return the equivalent pool depth for each run, shape (run,), the same for all."""
        return np.full(len(np.asarray(runs)), self.depth, dtype=np.int32)

    def judged(self, collection: Contents, runs: Runs) -> BoolArray:
        """Return a mask of documents the strategy judges if only these runs contribute, shape (pair,)."""
        return self._choose_once(collection, runs)[0]

    def inclusion(self, collection: Contents, runs: Runs) -> FloatArray:
        """Return each judgment's inclusion probability if only these runs contribute, shape (pair,).

        `Sampling.inclusion` for a document of the sample. 1 for a judgment outside the sample (an added one,
        or one that these runs do not explain) and where the strategy is not a sample. NaN for documents
        without a judgment, in the sample or not.
        """
        _, chosen = self._choose_once(collection, runs)
        inclusion = np.where(collection.judged, 1.0, np.nan)
        if chosen is not None:
            inclusion[chosen.pair] *= chosen.inclusion
        return inclusion

    def candidates(self, collection: Contents, runs: Runs) -> BoolArray:
        """Return a mask of documents in the top ``run_depth`` ranks of these runs, shape (pair,)."""
        depth = self.plan.run_depth or collection.document.shape[2]
        return DepthPool.even(depth, len(collection.run_ids)).judged(collection, runs)

    def strata(self, collection: Contents, runs: Runs) -> IntArray | None:
        """Return each document's sampling stratum, from 0, in the pool of these runs alone, shape (pair,).

        −1 for a document that none of these runs retrieves within ``run_depth``; None where the strategy
        samples no strata.
        """
        stratum = np.full(len(collection.relevance), -1, dtype=np.int32)
        index, plan = np.asarray(runs, dtype=np.intp), self.plan
        for topic in retrieved_by(collection, index, depth=plan.run_depth, random_seed=plan.random_seed):
            topic_stratum = plan.strategy.stratum(topic) if isinstance(plan.strategy, Sampling) else None
            if topic_stratum is None:
                return None
            stratum[topic.pair] = topic_stratum
        return stratum

    def sample(self, collection: Contents, runs: Runs) -> Sample:
        """Return the sample that the strategy would select if only these runs contributed."""
        inclusion = np.where(
            self.judged(collection, runs) & collection.judged, self.inclusion(collection, runs), np.nan
        )
        stratum = self.strata(collection, runs)
        return Sample(
            inclusion=inclusion,
            stratum=stratum,
            candidates=self.candidates(collection, runs),
            as_trec_eval=stratum is not None and int(stratum.max(initial=0)) == 0,
            is_published=False,
        )

    def _choose_once(self, collection: Contents, runs: Runs) -> tuple[BoolArray, PoolSelection | None]:
        """Return the judged documents for a set of runs, cached for each set."""
        index = np.unique(np.asarray(runs, dtype=np.intp))
        key = hashlib.blake2b(
            repr((tuple(collection.run_ids[r] for r in index), collection.query_ids)).encode(), digest_size=16
        ).digest()
        if key not in self._choices:
            inside, chosen = np.zeros(len(collection.relevance), dtype=bool), None
            if len(index):
                chosen = choose(collection, self.plan, run_index=index, labels=self.labels)
                inside[chosen.pair] = True
            inside.flags.writeable = False
            self._choices[key] = inside, chosen
        return self._choices[key]

    def known_relevance(self, collection: Contents) -> LevelArray:
        """Return the known relevance for each document, shape (pair,); negative if unknown."""
        return self.labels

    def truncate(self, depth: int) -> StrategyPool:
        """Raise `InputError`, since a strategy pool has no depth to truncate."""
        raise InputError(
            f"a pool by {self.plan.strategy.name} cannot be cut at a depth",
            hint="make one of a smaller budget",
        )

    def select_runs(self, runs: Runs) -> StrategyPool:
        """Return the same pool, which identifies runs by name."""
        return self

    def place_documents(self, place: IntArray, n_pairs: int) -> StrategyPool:
        """Return the pool for a collection with more documents, whose relevance it does not know."""
        return replace(self, labels=place_values(self.labels, place=place, n_pairs=n_pairs))


def pool_of_strategy(
    collection: Collection,
    strategy: str | Strategy | PoolPlan,
    budget: int | None = None,
    *,
    pooled_run_ids: Iterable[str] | None = None,
) -> Collection:
    """Declare that a collection's pool was made by a strategy, without changing judgments.

    Parameters
    ----------
    collection : Collection
    strategy, budget
        As for `PoolPlan.of`.
    pooled_run_ids : iterable of str, optional
        The runs that contributed; default: all.

    Raises
    ------
    InputError
        As for `choose` and `PoolPlan`; an unknown run.

    Examples
    --------
    >>> from bayespool import describe_pool, load_example
    >>> example = load_example()
    >>> plan = "take(budget=500, run_depth=5)"
    >>> pooled = pool_of_strategy(example, plan, pooled_run_ids=example.pooled_run_ids)
    >>> str(describe_pool(pooled)).split(" (")[0]
    '21 of 23 runs pooled by take, budget 500, runs to rank 5'
    """
    index = collection.run_index(pooled_run_ids)
    pool = StrategyPool.of(collection, index, strategy, budget)
    return collection.with_pool(np.isin(np.arange(len(collection.run_ids)), index), pool)


def with_strategy_pool(
    collection: Collection,
    strategy: str | Strategy | PoolPlan,
    budget: int | None = None,
    *,
    labels: LevelArray | None = None,
) -> Collection:
    """Return the collection judged as if a strategy had made the pool from its pooled runs.

    ``labels``, of shape (pair,), are the known relevance (default: the collection's judgments).
    """
    # Judgments of the former pool outside the new one go; unexplained and added ones stay. ``labels`` default
    # to all judgments, so that an experiment can choose again without some runs.
    pooled = np.flatnonzero(collection.pooled)
    plan = PoolPlan.of(strategy, budget)
    plan = replace(plan, run_depth=plan.run_depth or collection.pool_depth or None)
    pool = StrategyPool.of(collection, pooled, plan, labels=labels)
    inside = pool.judged(collection, pooled)
    kept = collection.without_judgments(collection.in_pool() & ~inside & ~collection.is_own)
    return kept.with_pool(collection.pooled, pool).unpool(())  # to take in known labels


def _equal_depth(collection: Contents, runs: Runs, size: int) -> int:
    """Return the largest depth at which a depth pool from these runs has at most ``size`` documents."""

    def n_documents(depth: int) -> int:
        return int(DepthPool.even(depth, len(collection.run_ids)).judged(collection, runs).sum())

    return bisect_right(range(1, collection.document.shape[2] + 1), size, key=n_documents)
