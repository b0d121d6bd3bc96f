"""Whether runs are the pool of the judgments: tests of a pool that discovery proposes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import UNJUDGED, Collection
from bayespool.collection.pools import DepthPool, find_sole_contributor
from bayespool.tables.formatting import counted, percent

MOST_LONE_UNJUDGED = 0.15
"""Share of a pool's lone documents that may be unjudged, relative to lone documents below the pool."""

LEAST_EXPLAINED, LEAST_JUDGED = 0.05, 0.9
"""Share of the judgments that a pool explains, or else share of all candidates' ranks that are judged."""

_FEW = 50  # lone documents that say nothing
_USUAL_BELOW = 0.4  # share of lone documents below the pool that is unjudged, where these are few


@dataclass(frozen=True, kw_only=True)
class PoolPlausibility:
    """What speaks for a pool and against it.

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
        """Reasons why the runs are not the pool of the judgments; none for a pool."""
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
    def of(cls, collection: Collection, candidates: npt.NDArray[np.intp]) -> PoolPlausibility:
        """Plausibility of a collection's pool, that of runs to a depth, among candidates."""
        missing, inside = collection.relevance == UNJUDGED, collection.in_pool()
        pooled, depth = np.flatnonzero(collection.pooled), collection.pool_depth
        depths = np.zeros(len(collection.run_ids), dtype=np.int32)
        depths[pooled] = 2 * collection.depth_of(pooled)
        deeper = collection.with_pool(collection.pooled, DepthPool(2 * depth, tuple(depths.tolist())))
        lone = inside & (find_sole_contributor(collection, collection.organization) >= 0)
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
