"""Score adjustment by leaving pooled systems out, or from common topics (Webber & Park 2009).

References
----------
W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections.base import Corrected, FloatArray, PointCorrection, lacks_pool
from bayespool.counts import JudgmentCounts, held_out_counts, judgment_counts
from bayespool.errors import InputError

__all__ = ["SystemsAdjustment", "TopicsAdjustment"]


@dataclass(frozen=True, kw_only=True)
class SystemsAdjustment(PointCorrection):
    """Add the mean loss that pooled systems suffer when they are left out (Webber & Park 2009, algorithm 1).

    The estimate is u + a, where a is the mean over the pooled systems s of (pooled − held-out mean score of
    s). It is an adjustment of the mean; topics share it in proportion to their Δ. Without another pooled run
    the value is NaN.

    Parameters
    ----------
    by : {"run", "organization"}
        What leaves the pool with s: the run alone, as in the paper, or its organization.
    substitute : bool, default True
        Whether the target takes the held-out system's place in the pool, the paper's refinement.
    within_bounds : bool, default True
        Keep every value inside [B, T], which the paper does not ask for: an adjustment beyond the residual is
        known to be wrong, and a run that is fully judged has nothing to adjust. A note says where it was cut.
        ``False`` gives algorithm 1 to the letter, with the same a on every topic.
    """

    by: Literal["run", "organization"] = "run"
    substitute: bool = True
    within_bounds: bool = True

    @property
    def name(self) -> str:
        """``systems-adjustment``."""
        return "systems-adjustment"

    def correct(self, collection: Collection, counts: JudgmentCounts, rel: int) -> Corrected:
        """B + a on each topic."""
        adjustment = np.zeros((len(counts.run_ids), len(counts.cutoffs)))
        for row, run in enumerate(counts.run_ids):
            held_out = held_out_counts(
                collection,
                cutoffs=counts.cutoffs,
                rel=rel,
                by=self.by,
                substitute=run if self.substitute else None,
            )
            others = np.array([other != run for other in held_out.run_ids], dtype=bool)
            if others.any():
                lost = held_out.n_hidden_relevant[others] / np.array(counts.cutoffs)
                adjustment[row] = lost.mean(axis=(0, 1))
        adjustment[lacks_pool(collection, counts)] = np.nan
        everywhere = np.ones(len(counts.query_ids), dtype=bool)
        return _adjusted(counts, adjustment, everywhere, within_bounds=self.within_bounds)


@dataclass(frozen=True, kw_only=True)
class TopicsAdjustment(PointCorrection):
    """Add the run's own mean loss on topics where it is fully judged (Webber & Park 2009, algorithm 2).

    On the common topics the run's full score and the score it would have without the documents that it alone
    contributed are both known; the mean difference a is added to its mean unpooled score. Var(a) = (N − n)/N
    · s²/n with s² the variance of the n differences (equations 3, 4 and 7); for a to help with about 68 %
    confidence its standard error must be under a itself (equation 6), and the note says so where it is not.

    Parameters
    ----------
    common_query_ids : tuple of str, or str
        The common topics. All that the run retrieved on them down to the cutoff should be judged.
    within_bounds : bool, default True
        Keep every run's value inside [B, T] (see `SystemsAdjustment`).
    """

    common_query_ids: tuple[str, ...] | str
    within_bounds: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.common_query_ids, str):
            object.__setattr__(self, "common_query_ids", (self.common_query_ids,))

    @property
    def name(self) -> str:
        """``topics-adjustment``."""
        return "topics-adjustment"

    def correct(self, collection: Collection, counts: JudgmentCounts, rel: int) -> Corrected:
        """B + a on the other topics, the full score on the common ones."""
        named = self.common_query_ids
        unknown = [q for q in named if q not in collection.query_ids]
        if unknown or not named:
            raise InputError(f"common topics {unknown or 'none'} are not among the topics of the qrels")
        common = np.array([q in named for q in collection.query_ids])
        n_common, n_topics = int(common.sum()), len(common)
        shape = (len(counts.run_ids), len(counts.cutoffs))
        adjustment, std = np.zeros(shape), np.full(shape, np.nan)
        for row, run in enumerate(counts.run_ids):
            unpooled = judgment_counts(
                _without(collection, run, common), run, cutoffs=counts.cutoffs, rel=rel
            )
            difference = counts.lower[row, common] - unpooled.lower[0, common]
            adjustment[row] = difference.mean(axis=0)
            if n_common > 1:
                variance = difference.var(axis=0, ddof=1)
                std[row] = np.sqrt((n_topics - n_common) / n_topics * variance / n_common)
        # mean unpooled score + a: on the common topics the two add up to the mean full score
        adjustment[lacks_pool(collection, counts)] = np.nan
        corrected = _adjusted(counts, adjustment, ~common, within_bounds=self.within_bounds)
        holes: npt.NDArray[np.bool_] = np.any(counts.n_unjudged[:, common], axis=1)
        idle: npt.NDArray[np.bool_] = ~(std < adjustment) & np.any(counts.n_unjudged, axis=1)
        notes = tuple(
            tuple(
                "; ".join(
                    [note] * bool(note)
                    + ["common topics are not fully judged"] * bool(holes[r, c])
                    + ["its standard error is not below the adjustment (equation 6)"] * bool(idle[r, c])
                )
                for r, note in enumerate(of_cutoff)
            )
            for c, of_cutoff in enumerate(corrected.notes)
        )
        return Corrected(corrected.per_topic, std, notes)


def _adjusted(
    counts: JudgmentCounts, adjustment: FloatArray, topics: npt.NDArray[np.bool_], *, within_bounds: bool
) -> Corrected:
    """B plus an adjustment of the mean over some topics, of shape (run, cutoff).

    Within bounds, the topics get it in proportion to their Δ, at most Δ itself; else each gets the same.
    """
    if not within_bounds:
        corrected = counts.lower + np.where(topics[:, None], adjustment[:, None, :], 0)
        return Corrected(corrected, notes=tuple(("",) * len(adjustment) for _ in counts.cutoffs))
    residual = np.where(topics[:, None], counts.residual, 0)
    room = residual.sum(axis=1)
    wanted = adjustment * topics.sum()
    share = np.where(room > 0, np.minimum(wanted / np.where(room > 0, room, 1), 1), 0)
    share = np.where(np.isnan(adjustment), np.nan, share)
    cut: npt.NDArray[np.bool_] = np.logical_and(wanted > room + 1e-12, room > 0)
    notes = tuple(
        tuple("adjustment cut to the upper bound" if cut[r, c] else "" for r in range(len(cut)))
        for c in range(len(counts.cutoffs))
    )
    return Corrected(counts.lower + residual * share[:, None, :], notes=notes)


def _without(collection: Collection, run: str, topics: npt.NDArray[np.bool_]) -> Collection:
    """The collection without the judgments on some topics that no pooled run but ``run`` accounts for."""
    others = np.flatnonzero(collection.pooled & (np.array(collection.run_ids) != run))
    unaccounted = topics[collection.pair_topic] & ~collection.pool(others)
    return collection.without_judgments(unaccounted)
