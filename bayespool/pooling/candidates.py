"""Candidate pools, and measures for how well each explains the judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from bayespool.arrays import BoolArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.contents import DepthPool
from bayespool.collection.pools import find_sole_contributor, sole_contributor
from bayespool.collection.rankings import blocks, ranked
from bayespool.reading import UNJUDGED
from bayespool.tables.formatting import counted, percent

SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)
"""Maximum shares of unjudged documents in a pooled run, one for each group of candidate pools."""

COST = 3
"""Number of explained judgments needed to offset one unjudged document in a candidate pool."""

_LEAST_RANKS = 64  # that are looked at
_N_STARTS = 2  # depths from which each share begins
_NEAR, _ANOTHER = 0.9, 0.1  # of the best pool's balance; of its runs, and of its depth


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """Set of possibly pooled runs and a pool depth.

    Attributes
    ----------
    depth : int
    share : float, 0–1
        Share of a run's documents down to the depth that may be unjudged.
    runs : tuple of int
        Positions of the runs that keep to it.
    n_explained, n_holes : int
        Judged and unjudged documents that these runs retrieved down to the depth.
    """

    depth: int
    share: float
    runs: tuple[int, ...]
    n_explained: int
    n_holes: int

    @property
    def score(self) -> int:
        """Number of explained judgments minus `COST` times the number of unjudged documents."""
        return self.n_explained - COST * self.n_holes

    def __str__(self) -> str:
        unjudged = f"at most {percent(self.share)} of their documents" if self.share else "no document"
        return f"{counted(len(self.runs), 'run')} to depth {self.depth} with {unjudged} unjudged"

    def of(self, collection: Collection) -> Collection:
        """Return the collection with this candidate as its pool."""
        pooled = np.zeros(len(collection.run_ids), dtype=bool)
        pooled[list(self.runs)] = True
        return collection.with_pool(pooled, self.depth)

    def held_out(self, collection: Collection) -> tuple[int, float]:
        """Return the number of documents from one organization only, and their relevant share (or NaN)."""
        pooled = self.of(collection)
        alone = pooled.judged & (sole_contributor(pooled) >= 0)
        return int(alone.sum()), float(np.mean(collection.relevance[alone] > 0)) if alone.any() else np.nan


def candidate_pools(
    collection: Collection, index: OrderArray, *, depth: int | None = None, shares: Sequence[float] = SHARES
) -> list[CandidatePool]:
    """Return candidate pools with a positive score for the given runs, best first.

    For each share the search goes in turns: runs that keep to the share down to a depth, then the depth at
    which those runs' pool is best, until neither changes.

    Parameters
    ----------
    collection : Collection
    index : ndarray of int
        Positions of the runs.
    depth : int, optional
        The depth where it is known.
    shares : sequence of float
        Shares of a run's documents that may be unjudged. With 1 all runs are pooled.
    """
    if not len(index):
        return []
    missing = missing_pairs(collection)
    n_documents, n_missing = _counts(
        collection, index, missing, max(s for s in (SHARES[-1], *shares) if s < 1), depth or 0
    )
    n_ranks = n_documents.shape[1]
    keeps = {share: n_missing <= share * n_documents for share in shares}
    pair, rank, row = _entries(collection, index, n_ranks)
    candidates: dict[tuple[int, tuple[int, ...]], CandidatePool] = {}

    @cache
    def explained_and_holes(runs: tuple[int, ...]) -> tuple[OrderArray, OrderArray]:
        """Return the numbers of judged and unjudged documents down to each rank, shape (rank,) each."""
        among = np.isin(row, runs)
        best = np.full(len(missing), n_ranks, dtype=np.int32)
        best[pair[among]] = rank[among]  # of a pair's ranks the last, which is its best, stays
        explained, holes = (
            np.bincount(best[kind], minlength=n_ranks + 1)[:-1].cumsum() for kind in (~missing, missing)
        )
        return explained, holes

    def best_depth(runs: tuple[int, ...]) -> int:
        explained, holes = explained_and_holes(runs)
        balance = (explained - COST * holes)[: int(collection.length[index[list(runs)]].max(initial=1))]
        return len(balance) - int(balance[::-1].argmax())  # the deepest of equals

    everyone, longest = tuple(range(len(index))), int(collection.length[index].max(initial=1))
    for share, within in keeps.items():
        for start in [depth] if depth is not None else _starts(within[:, :longest], best_depth(everyone)):
            at, before = start, 0
            while at != before:
                runs = tuple(np.flatnonzero(within[:, min(at, n_ranks) - 1]).tolist())
                if not runs or (at, runs) in candidates:
                    break
                explained, holes = explained_and_holes(runs)
                last = min(at, n_ranks) - 1
                positions = tuple(index[list(runs)].tolist())
                n_explained, n_holes = int(explained[last]), int(holes[last])
                candidates[at, runs] = CandidatePool(at, share, positions, n_explained, n_holes)
                before, at = at, at if depth is not None else best_depth(runs)
    good = [each for each in candidates.values() if each.score > 0]
    return sorted(good, key=lambda each: (-each.score, -len(each.runs), -each.depth))


def find_alternative(candidates: Sequence[CandidatePool]) -> CandidatePool | None:
    """Return the best candidate pool with another depth or number of runs and a similar score, or None.

    Another one differs by more than a tenth. Nothing is as good as a pool without an unjudged document.
    """
    if not candidates or not candidates[0].n_holes:
        return None
    chosen = candidates[0]
    for other in candidates[1:]:
        sizes = ((len(other.runs), len(chosen.runs)), (other.depth, chosen.depth))
        is_another = any(abs(one - best) > _ANOTHER * best for one, best in sizes)
        if is_another and other.score >= _NEAR * chosen.score:
            return other
    return None


def missing_pairs(collection: Collection) -> BoolArray:
    """Return a mask of unjudged documents not listed in the qrels, shape (pair + 1,).

    The last entry is False, for document code −1.
    """
    return np.append(collection.relevance == UNJUDGED, False)


def _starts(within: BoolArray, common_depth: int) -> list[int]:
    """Return depths to start the search from, most common among runs first."""
    n_ranks = within.shape[1]
    deepest = np.where(within.any(axis=1), n_ranks - within[:, ::-1].argmax(axis=1), 0)
    depths, n_runs = np.unique(deepest[deepest > 0], return_counts=True)
    common = depths[np.argsort(-n_runs, kind="stable")][:_N_STARTS].tolist()
    return list(dict.fromkeys([*common, common_depth]))


def rank_counts(collection: Collection, run: int, n_ranks: int, *masks: BoolArray) -> OrderArray:
    """Return numbers of a run's documents at each rank, of all and of each mask, shape (1 + mask, rank).

    Masks have the shape (pair + 1,), and their last entry is False.
    """
    counts = np.zeros((1 + len(masks), n_ranks), dtype=np.intp)
    for topics, depth in blocks(collection.document, run):
        document = collection.document[run, topics, : min(depth, n_ranks)]
        for row, inside in enumerate([document >= 0, *(mask[document] for mask in masks)]):
            counts[row, : document.shape[1]] += inside.sum(axis=0)
    return counts


def _counts(
    collection: Collection, index: OrderArray, missing: BoolArray, share: float, depth: int
) -> tuple[OrderArray, OrderArray]:
    """Return the numbers of documents and of unjudged documents down to each rank, shape (run, rank) each.

    Ranks end where no run keeps to a share.
    """
    n_ranks, asked = collection.document.shape[2], max(_LEAST_RANKS, 2 * depth)
    while True:
        last = min(asked, n_ranks)
        counts = [rank_counts(collection, run, last, missing) for run in index]
        n_documents, n_missing = np.stack(counts, axis=1).cumsum(axis=2)
        goes_on = collection.length[index].max(axis=1, initial=0) > last
        if not (goes_on & (n_missing[:, -1] <= share * n_documents[:, -1])).any():
            return n_documents, n_missing
        asked *= 2


def _entries(collection: Collection, index: OrderArray, n_ranks: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the pair code, rank and row index for each ranked document, deepest rank first."""
    parts = []
    for row, run in enumerate(index):
        document, rank = ranked(collection.document, run)
        inside = (rank < n_ranks) & (document >= 0)
        pair = document[inside]
        parts.append((pair, rank[inside], np.full(len(pair), row, dtype=np.int32)))
    pair, rank, rows = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(-rank, kind="stable")
    return pair[order], rank[order], rows[order]


MOST_LONE_UNJUDGED = 0.15
"""Maximum unjudged share among documents from one organization, relative to that below the pool depth."""

LEAST_EXPLAINED, LEAST_JUDGED = 0.05, 0.9
"""Minimum share of judgments explained by a pool, or of candidates' documents judged down to its depth."""

_FEW = 50  # lone documents that say nothing
_USUAL_BELOW = 0.4  # share of lone documents below the pool that is unjudged, where these are few


@dataclass(frozen=True, kw_only=True)
class PoolPlausibility:
    """Evidence for and against a candidate pool.

    A document that one organization alone retrieved down to the pool depth is judged because of that
    organization. Where runs were not pooled, it is judged hardly more often than one below the depth.

    Attributes
    ----------
    n_organizations, n_candidates : int
        Organizations with a pooled run, and with a run that may have been pooled.
    n_lone : int
        Documents that one organization alone has down to the depth.
    lone_unjudged, below_unjudged : float
        Share of them that is unjudged, and of those that one organization alone has below, down to twice the
        depth.
    explained : float
        Share of the judgments whose documents the pooled runs have down to the depth.
    judged : float
        Share of judged documents among those of all candidates down to the depth.
    """

    n_organizations: int
    n_candidates: int
    n_lone: int
    lone_unjudged: float
    below_unjudged: float
    explained: float
    judged: float

    @property
    def objections(self) -> tuple[str, ...]:
        """Reasons to reject the pool; empty if it is plausible."""
        reasons = []
        if self.n_lone >= _FEW and self.n_organizations == 1 < self.n_candidates:
            reasons.append("its runs are of one organization")
        if self.n_lone >= _FEW and self.lone_unjudged > MOST_LONE_UNJUDGED * self.below_unjudged:
            reasons.append(
                f"{percent(self.lone_unjudged)} of the {counted(self.n_lone, 'document')} that one "
                f"organization alone has down to there are unjudged, and {percent(self.below_unjudged)} below"
            )
        if self.explained < LEAST_EXPLAINED and self.judged < LEAST_JUDGED:
            reasons.append(
                f"it explains {percent(self.explained)} of the judgments, and {percent(self.judged)} of what "
                "all runs have down to there is judged"
            )
        return tuple(reasons)

    @classmethod
    def of(cls, collection: Collection, candidates: OrderArray) -> PoolPlausibility:
        """Return the plausibility of a collection's depth pool, given the candidate runs."""
        missing, inside = collection.relevance == UNJUDGED, collection.in_pool()
        pooled, depth = np.flatnonzero(collection.pooled), collection.pool_depth
        depths = np.zeros(len(collection.run_ids), dtype=np.int32)
        depths[pooled] = 2 * collection.run_depths(pooled)
        deeper = collection.with_pool(collection.pooled, DepthPool(2 * depth, tuple(depths.tolist())))
        lone = inside & (sole_contributor(collection) >= 0)
        below = deeper.in_pool() & ~inside & (find_sole_contributor(deeper, deeper.organization) >= 0)
        everywhere = collection.document[candidates, :, :depth]
        n_documents = int((everywhere >= 0).sum())
        n_judged = int((~missing).sum())
        return cls(
            n_organizations=len(np.unique(collection.organization[pooled])),
            n_candidates=len(np.unique(collection.organization[candidates])),
            n_lone=int(lone.sum()),
            lone_unjudged=float(missing[lone].mean()) if lone.any() else 0.0,
            below_unjudged=float(missing[below].mean()) if below.sum() >= _FEW else _USUAL_BELOW,
            explained=float((inside & ~missing).sum() / max(1, n_judged)),
            judged=1 - float(np.append(missing, False)[everywhere].sum() / max(1, n_documents)),
        )
