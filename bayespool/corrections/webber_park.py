"""Score adjustment by leaving pooled systems out, or from common topics (Webber & Park 2009)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    FloatArray,
    PointCorrection,
    SharedCorrection,
    has_open_ranks,
    hidden_at_levels,
    joined,
    lacks_pool,
)
from bayespool.corrections.registry import register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.held_out import held_out_levels
from bayespool.evidence.ideals import ranked_levels, relevance_levels, tally_of
from bayespool.measures import Measure, Normalized, Tally
from bayespool.tables.formatting import some_of


@register_estimator(
    "systems-adjustment",
    label="systems\nadjust.",
    source="Webber & Park 2009, algorithm 1",
    citations=("webber-park-2009",),
)
@dataclass(frozen=True, kw_only=True)
class SystemsAdjustment(SharedCorrection):
    """Add the mean loss of pooled systems that are left out (Webber & Park 2009, algorithm 1).

    The estimate is u + a, where a is the mean over the pooled systems s of (pooled − held-out mean score of
    s). Topics share this adjustment of the mean in proportion to their Δ. Without another pooled run the
    value is NaN.

    Documents that leave the pool with s leave the ideal rankings, too, so that under a measure over an ideal
    ranking a system may gain by being left out, and the adjustment may be negative.

    Parameters
    ----------
    by : {"run", "organization"}
        What leaves the pool with s: the run alone, as in the paper, or its organization.
    substitute : bool, default True
        Whether the target takes the held-out system's place in the pool, the paper's refinement.
    within_bounds : bool, default True
        Keep every value inside [B, T], beyond the paper: an adjustment beyond the residual is certainly
        wrong, and a fully judged run has nothing to adjust. Under a measure over an ideal ranking it is
        [least, T] within [least, most] (`bayespool.evidence.Bounds`). A note says where it was cut. ``False``
        is algorithm 1 as published, with the same a on every topic.
    """

    by: Literal["run", "organization"] = "run"
    substitute: bool = True
    within_bounds: bool = True

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """`correct` for several measures, with one search for the documents hidden with each system."""
        depth = max(b.measure.cutoff for b in all_bounds)
        pooled = np.array(collection.pooled_run_ids)
        adjustment = np.zeros((len(all_bounds), len(all_bounds[0].run_ids)))
        for row, run in enumerate(all_bounds[0].run_ids):
            substitute = run if self.substitute else None
            level, hidden = held_out_levels(collection, depth, by=self.by, substitute=substitute)
            others = pooled != run
            if not others.any():
                continue
            judged, kept = level[others], np.where(hidden[others], np.int16(-1), level[others])
            hidden_at = functools.cache(
                functools.partial(hidden_at_levels, collection, by=self.by, substitute=substitute)
            )
            for b, bounds in enumerate(all_bounds):
                measure, levels = bounds.measure, relevance_levels(collection, bounds.measure)
                before, after = (measure.amounts(measure.read(ranked)) for ranked in (judged, kept))
                if isinstance(measure, Normalized):
                    tally = tally_of(collection, levels)
                    left = Tally(tally.n - hidden_at(levels)[others, :, 1:], tally.levels)
                    before = measure.normalize(before, tally)
                    after = measure.normalize(after, left)
                adjustment[b, row] = ((before - after) / bounds.low.unit).mean()
        everywhere = np.ones(len(collection.query_ids), dtype=bool)
        corrected = []
        for bounds, of_measure in zip(all_bounds, adjustment, strict=True):
            of_measure[lacks_pool(collection, bounds)] = np.nan
            corrected.append(_adjusted(bounds, of_measure, everywhere, within_bounds=self.within_bounds))
        return corrected


@register_estimator(
    "topics-adjustment",
    label="topics\nadjust.",
    source="Webber & Park 2009, algorithm 2",
    citations=("webber-park-2009",),
)
@dataclass(frozen=True, kw_only=True)
class TopicsAdjustment(PointCorrection):
    """Add the run's own mean loss on topics where it is fully judged (Webber & Park 2009, algorithm 2).

    On the common topics both the run's full score and its score without the documents that it alone
    contributed are known; the mean difference a is added to its mean unpooled score. Var(a) = (N − n)/N ·
    s²/n with s² the variance of the n differences (equations 3, 4 and 7). For a to help with about 68 %
    confidence its standard error must be under a itself (equation 6), and a note says where it is not. The
    documents that the run alone contributed leave the ideal rankings, too.

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

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """B + a on the other topics, the full score on the common ones."""
        named = self.common_query_ids
        unknown = [q for q in named if q not in collection.query_ids]
        if unknown or not named:
            known = some_of(map(repr, collection.query_ids), 3)
            raise InputError(
                f"common topics {unknown or 'none'} are not among the topics of the qrels",
                hint=f"the qrels have {known}",
            )
        common = np.array([q in named for q in collection.query_ids])
        n_common, n_topics = int(common.sum()), len(common)
        adjustment, std = np.zeros(len(bounds.run_ids)), np.full(len(bounds.run_ids), np.nan)
        for row, run in enumerate(bounds.run_ids):
            unpooled = _without_own(collection, run, common, bounds.measure)
            difference = bounds.lower[row, common] - unpooled[common]
            adjustment[row] = difference.mean()
            if n_common > 1:
                variance = difference.var(ddof=1)
                std[row] = np.sqrt((n_topics - n_common) / n_topics * variance / n_common)
        # mean unpooled score + a: on the common topics the two add up to the mean full score
        adjustment[lacks_pool(collection, bounds)] = np.nan
        corrected = _adjusted(bounds, adjustment, ~common, within_bounds=self.within_bounds)
        holes: npt.NDArray[np.bool_] = np.any(bounds.n_unjudged[:, common], axis=1)
        idle: npt.NDArray[np.bool_] = ~(std < np.abs(adjustment)) & has_open_ranks(bounds)
        notes = tuple(
            joined(
                note,
                has_holes and "common topics are not fully judged",
                is_idle and "its standard error is not below the adjustment (equation 6)",
            )
            for note, has_holes, is_idle in zip(corrected.notes, holes.tolist(), idle.tolist(), strict=True)
        )
        return Corrected(corrected.per_topic, std, notes)


def _adjusted(
    bounds: Bounds, adjustment: FloatArray, topics: npt.NDArray[np.bool_], *, within_bounds: bool
) -> Corrected:
    """B plus an adjustment, shape (run,), of the mean over some topics: the same on each, or, within bounds,
    in proportion to how far the value may rise or fall.
    """
    if not within_bounds:
        corrected = bounds.lower + np.where(topics, adjustment[:, None], 0)
        return Corrected(corrected, notes=("",) * len(adjustment))
    low, unit = bounds.low.amount, bounds.low.unit
    upward = (np.minimum(bounds.high.amount, bounds.most.amount) - low) / unit
    downward = (low - bounds.least.amount) / unit
    room = np.where((adjustment < 0)[:, None], downward, upward)
    room = np.where(topics & (bounds.n_unjudged > 0), np.maximum(room, 0), 0)
    total = room.sum(axis=1)
    wanted = np.abs(adjustment) * topics.sum()
    share = np.where(total > 0, np.minimum(wanted / np.where(total > 0, total, 1), 1), 0)
    share = np.where(np.isnan(adjustment), np.nan, share) * np.where(adjustment < 0, -1, 1)
    cut: npt.NDArray[np.bool_] = np.logical_and(wanted > total + 1e-12, total > 0)
    ends = np.where(adjustment < 0, "lower", "upper")
    notes = tuple(
        f"adjustment cut to the {end} bound" if was_cut else ""
        for end, was_cut in zip(ends, cut, strict=True)
    )
    return Corrected(bounds.lower + room * share[:, None], notes=notes)


def _without_own(
    collection: Collection, run: str, topics: npt.NDArray[np.bool_], measure: Measure
) -> FloatArray:
    """Values of a run without its own judgments on some topics, shape (topic,)."""
    index = collection.run_index(run)
    others = np.flatnonzero(collection.pooled & (np.array(collection.run_ids) != run))
    own = collection.in_pool(index)
    top = collection.document[index, :, : measure.cutoff]
    own[top[top >= 0]] = True
    smaller = collection.without_judgments(own & topics[collection.pair_topic] & ~collection.in_pool(others))
    tally = tally_of(smaller, relevance_levels(collection, measure))
    level = ranked_levels(smaller, index, measure.cutoff)
    values: FloatArray = measure.values(measure.read(level), tally).scores()[0]
    return values
