"""Candidate pools, and how well each explains the judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import UNJUDGED, Collection
from bayespool.collection.pools import sole_contributor
from bayespool.collection.rankings import blocks, ranked
from bayespool.tables.formatting import counted, percent

SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)
"""Shares of a run's documents that may be unjudged, one for each group of candidates."""

COST = 3
"""Judgments that a pool has to explain for each of its documents that is unjudged."""

_LEAST_RANKS = 64  # that are looked at
_N_STARTS = 2  # depths from which each share begins
_NEAR, _ANOTHER = 0.9, 0.1  # of the best pool's balance; of its runs, and of its depth


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """Runs that may have been pooled, and a depth.

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
    def balance(self) -> int:
        """Judgments explained, less three for each unjudged document: what the choice among pools is by."""
        return self.n_explained - COST * self.n_holes

    def __str__(self) -> str:
        unjudged = f"at most {percent(self.share)} of their documents" if self.share else "no document"
        return f"{counted(len(self.runs), 'run')} to depth {self.depth} with {unjudged} unjudged"

    def of(self, collection: Collection) -> Collection:
        """The collection with this pool."""
        pooled = np.zeros(len(collection.run_ids), dtype=bool)
        pooled[list(self.runs)] = True
        return collection.with_pool(pooled, self.depth)

    def held_out(self, collection: Collection) -> tuple[int, float]:
        """Judged documents that one organization alone brought, and the share of relevant ones (or NaN)."""
        pooled = self.of(collection)
        alone = pooled.judged & (sole_contributor(pooled) >= 0)
        return int(alone.sum()), float(np.mean(collection.relevance[alone] > 0)) if alone.any() else np.nan


def candidate_pools(
    collection: Collection,
    index: npt.NDArray[np.intp],
    *,
    depth: int | None = None,
    shares: Sequence[float] = SHARES,
) -> list[CandidatePool]:
    """Candidate pools of some runs, the best first; empty if none explains three judgments per hole.

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
    entries = _Entries.of(collection, index, n_ranks)
    candidates: dict[tuple[int, tuple[int, ...]], CandidatePool] = {}
    tables: dict[tuple[int, ...], tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] = {}

    def table(runs: tuple[int, ...]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        if runs not in tables:
            tables[runs] = entries.explained_and_holes(runs, missing)
        return tables[runs]

    def best_depth(runs: tuple[int, ...]) -> int:
        explained, holes = table(runs)
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
                explained, holes = table(runs)
                last = min(at, n_ranks) - 1
                positions = tuple(index[list(runs)].tolist())
                n_explained, n_holes = int(explained[last]), int(holes[last])
                candidates[at, runs] = CandidatePool(at, share, positions, n_explained, n_holes)
                before, at = at, at if depth is not None else best_depth(runs)
    good = [each for each in candidates.values() if each.balance > 0]
    return sorted(good, key=lambda each: (-each.balance, -len(each.runs), -each.depth))


def alternative_to(candidates: Sequence[CandidatePool]) -> CandidatePool | None:
    """The best candidate whose depth or number of runs differs by more than a tenth, if it is nearly as good.

    Nothing is as good as a pool without an unjudged document.
    """
    if not candidates or not candidates[0].n_holes:
        return None
    chosen = candidates[0]
    for other in candidates[1:]:
        sizes = ((len(other.runs), len(chosen.runs)), (other.depth, chosen.depth))
        is_another = any(abs(one - best) > _ANOTHER * best for one, best in sizes)
        if is_another and other.balance >= _NEAR * chosen.balance:
            return other
    return None


def missing_pairs(collection: Collection) -> npt.NDArray[np.bool_]:
    """Pairs outside the pool by the judgments, shape (pair + 1,); the last is that of −1, no document."""
    return np.append(collection.relevance == UNJUDGED, False)


def _starts(within: npt.NDArray[np.bool_], of_all: int) -> list[int]:
    """Commonest deepest ranks down to which runs keep to a share, and the best depth of all runs."""
    n_ranks = within.shape[1]
    deepest = np.where(within.any(axis=1), n_ranks - within[:, ::-1].argmax(axis=1), 0)
    depths, n_runs = np.unique(deepest[deepest > 0], return_counts=True)
    common = depths[np.argsort(-n_runs, kind="stable")][:_N_STARTS].tolist()
    return list(dict.fromkeys([*common, of_all]))


def _counts(
    collection: Collection,
    index: npt.NDArray[np.intp],
    missing: npt.NDArray[np.bool_],
    share: float,
    depth: int,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Documents and missing ones down to each rank, shape (run, rank), to where no run keeps to a share."""
    n_ranks, asked = collection.document.shape[2], max(_LEAST_RANKS, 2 * depth)
    while True:
        last = min(asked, n_ranks)
        n_documents, n_missing = np.zeros((2, len(index), last), dtype=np.intp)
        for row, run in enumerate(index):
            for topics, n in blocks(collection.document, run):
                document = collection.document[run, topics, : min(n, last)]
                n_documents[row, : document.shape[1]] += (document >= 0).sum(axis=0)
                n_missing[row, : document.shape[1]] += missing[document].sum(axis=0)
        n_documents, n_missing = n_documents.cumsum(axis=1), n_missing.cumsum(axis=1)
        goes_on = collection.length[index].max(axis=1, initial=0) > last
        if not (goes_on & (n_missing[:, -1] <= share * n_documents[:, -1])).any():
            return n_documents, n_missing
        asked *= 2


@dataclass(frozen=True, slots=True)
class _Entries:
    """Documents of runs, from the lowest rank to the highest, three arrays of shape (entry,)."""

    pair: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    row: npt.NDArray[np.int32]
    n_pairs: int
    n_ranks: int

    @classmethod
    def of(cls, collection: Collection, index: npt.NDArray[np.intp], n_ranks: int) -> _Entries:
        parts = []
        for row, run in enumerate(index):
            document, rank = ranked(collection.document, run)
            inside = (rank < n_ranks) & (document >= 0)
            pair = document[inside]
            parts.append((pair, rank[inside], np.full(len(pair), row, dtype=np.int32)))
        pair, rank, of_run = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(-rank, kind="stable")
        return cls(pair[order], rank[order], of_run[order], len(collection.relevance), n_ranks)

    def explained_and_holes(
        self, rows: tuple[int, ...], missing: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Judged and unjudged pairs that some runs have down to each rank, two arrays of shape (rank,)."""
        is_asked = np.zeros(int(self.row.max(initial=-1)) + 1, dtype=bool)
        is_asked[list(rows)] = True
        among = is_asked[self.row]
        best = np.full(self.n_pairs, self.n_ranks, dtype=np.int32)
        best[self.pair[among]] = self.rank[among]  # of a pair's ranks the last, which is its best, stays
        is_missing = missing[:-1]
        judged, holes = (
            np.bincount(best[kind], minlength=self.n_ranks + 1)[:-1].cumsum()
            for kind in (~is_missing, is_missing)
        )
        return judged, holes
