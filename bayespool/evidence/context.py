"""Inputs of predictors; arrays that several predictors use are computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.rankings import ranked
from bayespool.evidence.composition import composition_effects
from bayespool.evidence.held_out import states_without_own
from bayespool.evidence.ideals import BELOW, MISSING, NONRELEVANT, RELEVANT, UNJUDGED_STATE
from bayespool.evidence.learned_fusion import LearnedFusion, learned_fusion

_ABSENT_RANK_FACTOR = 2  # times the longest pooled ranking: rank of a document that no other run retrieves
_NEIGHBOR_DEPTH = 100  # ranks
_TOP_DEPTH_RANGE = (10, 30)  # ranks; the pool depth is clipped to this range


class AmongOthers(NamedTuple):
    """Ranks of documents in the pooled runs of other organizations, arrays of shape (document,)."""

    n_runs: FloatArray  # number of those runs, at least 1
    n_retrieving: FloatArray  # number of those that retrieve the document at any depth
    best_rank: FloatArray  # among them; twice the longest pooled ranking where none retrieves the document
    # sum of precision/log₂(1 + rank), 0 for a run that does not retrieve it; a run's precision is that of its
    # own contribution to the pool
    fusion: FloatArray


@dataclass(frozen=True, eq=False)
class DocumentContext:
    """Documents to compute predictors of, and the runs that retrieved them.

    A document's values depend neither on the other documents nor on unpooled runs other than its own.

    Attributes
    ----------
    collection : Collection
    run, topic : ndarray of int, shape (document,)
        The run that retrieved the document, as an index into the collection's runs, and the topic.
    rank : ndarray of int, shape (document,)
        Its rank there, from 1, at most ``depth``.
    pair : ndarray of int32, shape (document,)
        Its code.
    depth : int
        Largest possible rank of the documents.
    rel, given : int
        Smallest relevance that counts as relevant, and of documents that count.
    cutoff : int
        Cutoff of the measure, for predictors about P@n itself.
    """

    collection: Collection
    run: OrderArray
    topic: OrderArray
    rank: OrderArray
    pair: IntArray
    depth: int
    rel: int
    given: int
    cutoff: int

    @cached_property
    def runs(self) -> OrderArray:
        """The runs that retrieved any of the documents, each once."""
        return np.unique(self.run)

    @cached_property
    def row(self) -> OrderArray:
        """Position in ``runs`` of each document's run, shape (document,)."""
        return np.searchsorted(self.runs, self.run)

    @cached_property
    def state(self) -> npt.NDArray[np.int8]:
        """States of the first documents of each run with its organization held out, shape (run, topic, rank).

        There are max(``depth``, 100) ranks; shorter runs are filled with missing documents.
        """
        # the shape must not depend on how long other runs are: sums over neighbors would round differently
        reach = max(self.depth, _NEIGHBOR_DEPTH)
        state = states_without_own(self.collection, self.runs, reach, rel=self.rel, given=self.given)
        lacking = reach - state.shape[2]
        return np.pad(state, ((0, 0), (0, 0), (0, lacking)), constant_values=np.int8(MISSING))

    @cached_property
    def relevant(self) -> BoolArray:
        """Where ``state`` is relevant, shape (run, topic, rank)."""
        mask: BoolArray = self.state == RELEVANT
        return mask

    @cached_property
    def nonrelevant(self) -> BoolArray:
        """Where ``state`` is nonrelevant, shape (run, topic, rank)."""
        mask: BoolArray = self.state == NONRELEVANT
        return mask

    @cached_property
    def top(self) -> int:
        """Number of top ranks that represent a run as a whole: the pool depth, clipped to 10 to 30."""
        return int(np.clip(self.collection.pool_depth, *_TOP_DEPTH_RANGE))

    @cached_property
    def top_relevant(self) -> IndexArray:
        """Relevant documents in the ``top`` of each run, shape (run, topic)."""
        return _count(self.relevant[:, :, : self.top])

    @cached_property
    def top_nonrelevant(self) -> IndexArray:
        """Nonrelevant documents in the ``top`` of each run, shape (run, topic)."""
        return _count(self.nonrelevant[:, :, : self.top])

    @cached_property
    def top_unjudged(self) -> IndexArray:
        """Unjudged documents in the ``top`` of each run, shape (run, topic)."""
        return _count(self.state[:, :, : self.top] == UNJUDGED_STATE)

    @cached_property
    def top_judged(self) -> IndexArray:
        """Judged documents of any relevance in the ``top`` of each run, shape (run, topic)."""
        top = self.state[:, :, : self.top]
        return _count((top == RELEVANT) | (top == NONRELEVANT) | (top == BELOW))

    @cached_property
    def among_others(self) -> AmongOthers:
        """Ranks of the documents in the pooled runs of other organizations."""
        collection, pair = self.collection, self.pair
        own = collection.organization[self.run]
        pooled = np.flatnonzero(collection.pooled)
        top = dict(zip(pooled.tolist(), collection.depth_of(pooled).tolist(), strict=True))
        state = np.append(collection.relevance, np.int16(-1))
        rank_of = np.zeros(len(collection.relevance) + 1, dtype=np.int32)
        n_runs, n_retrieving = np.zeros(len(pair)), np.zeros(len(pair))
        longest = max(1, int(collection.length[pooled].max(initial=0)))
        fusion, best = np.zeros(len(pair)), np.full(len(pair), float(_ABSENT_RANK_FACTOR * longest))
        gain = np.append(0.0, 1 / np.log2(np.arange(2, collection.document.shape[2] + 2)))
        for run in pooled:
            document, ranks = ranked(collection.document, run)
            rank_of[document] = ranks + 1
            rank_of[-1] = 0
            rank = np.where(own == collection.organization[run], 0, rank_of[pair])
            rank_of[document] = 0
            judged = state[collection.document[run, :, : min(_TOP_DEPTH_RANGE[1], top[int(run)])]]
            precision = ((judged >= self.rel).sum(axis=1) + 0.5) / ((judged >= self.given).sum(axis=1) + 1)
            n_runs += own != collection.organization[run]
            n_retrieving += rank > 0
            fusion += gain[rank] * precision[self.topic]
            best = np.where(rank > 0, np.minimum(best, rank), best)
        return AmongOthers(np.maximum(n_runs, 1), n_retrieving, best, fusion)

    @cached_property
    def learned_odds(self) -> FloatArray:
        """Log odds that the judged documents teach of the pooled runs of other organizations."""
        return self._learned.log_odds(self.run, self.topic, self.pair)

    @cached_property
    def own_lines(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shift, slope and mean of `learned_odds` at which they fit each run's judged documents, by row."""
        return self._learned.own_lines(self.runs)

    @property
    def _learned(self) -> LearnedFusion:
        return learned_fusion(self.collection, rel=self.rel, given=self.given)

    @cached_property
    def composition(self) -> tuple[FloatArray, FloatArray]:
        """Change of the pooled runs' P@n and P̄@n on the topic when composed with the document's run.

        Two arrays of shape (document,); the run's organization is out of the pool.
        """
        collection = self.collection
        delta_precision, delta_antiprecision = np.zeros(len(self.run)), np.zeros(len(self.run))
        of_organization = collection.organization[self.run]
        for o in np.unique(of_organization):
            reduced = collection.unpool(organization=collection.organizations[o])
            rows = np.flatnonzero(of_organization == o)
            runs, row = np.unique(self.run[rows], return_inverse=True)
            effects = composition_effects(
                reduced,
                [collection.run_ids[r] for r in runs],
                cutoffs=self.cutoff,
                rel=self.rel,
                given=self.given,
            )
            delta_precision[rows] = effects.delta_precision[row, self.topic[rows], 0]
            delta_antiprecision[rows] = effects.delta_antiprecision[row, self.topic[rows], 0]
        return delta_precision, delta_antiprecision


def _count(mask: BoolArray) -> IndexArray:
    """Number of true values along the last axis."""
    return np.asarray(mask.sum(axis=-1))
