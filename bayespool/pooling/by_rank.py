"""Strategies that sort documents by best rank (Take@N, Depth@k) or summed rank weights (DCG, RRF)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.strategy import FixedOrder, TopicRankings


@register_strategy("take", citations=("lipani-etal-2017",))
@dataclass(frozen=True, kw_only=True)
class Take(FixedOrder):
    """Strategy that judges documents by their best rank in any run (Take@N)."""

    topics_compare = True

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the negative best rank for each document, shape (document,)."""
        return -topic.best_rank.astype(float)


@register_strategy("depth", citations=("sparck-jones-van-rijsbergen-1975",))
@dataclass(frozen=True, kw_only=True)
class Depth(Take):
    """Strategy that judges the top k documents from each run (Depth@k), best ranks first.

    Its size is that of the pool, so that it needs no budget. A smaller budget may end within a depth.

    Parameters
    ----------
    k : int, default 100
        Ranks of a run that are judged, 1 or more; the default is that of most TREC campaigns.
    """

    k: int = 100

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"a depth of {self.k}", hint="give 1 or more")

    def size(self, topic: TopicRankings) -> int:
        """Return the number of documents in the top k ranks of any run."""
        return int((topic.best_rank <= self.k).sum())


@register_strategy("dcg", source="Lipani et al. 2017 (ECIR)", citations=("lipani-etal-2017-ecir",))
@dataclass(frozen=True, kw_only=True)
class DiscountedGain(FixedOrder):
    """Strategy that sorts documents by Σ 1 / log₂(rank + 1) over runs, their possible DCG contribution."""

    topics_compare = True

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the sum of rank discounts for each document, shape (document,)."""
        return topic.total(1 / np.log2(np.arange(2, topic.document.shape[1] + 2)))


@register_strategy("rrf", citations=("cormack-clarke-buttcher-2009",))
@dataclass(frozen=True, kw_only=True)
class RRF(FixedOrder):
    """Strategy that sorts documents by Σ 1 / (k + rank) over runs (reciprocal rank fusion).

    Parameters
    ----------
    k : int, default 60
        The larger, the less the first ranks stand out; 0 or more. The default is the paper's.
    """

    k: int = 60

    topics_compare = True

    def __post_init__(self) -> None:
        if self.k < 0:
            raise InputError(f"reciprocal rank fusion with k = {self.k}", hint="give 0 or more")

    def value(self, topic: TopicRankings) -> FloatArray:
        """Return the reciprocal rank fusion score for each document, shape (document,)."""
        return topic.total(1 / (self.k + np.arange(1.0, topic.document.shape[1] + 1)))
