"""Strategies by the best ranks of documents: Take@N and Depth@k."""

from __future__ import annotations

from dataclasses import dataclass

from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.retrieved import Retrieved
from bayespool.pooling.strategy import FixedOrder, FloatArray


@register_strategy("take", description="the documents of the best ranks", source="Lipani et al. 2017")
@dataclass(frozen=True, kw_only=True)
class Take(FixedOrder):
    """Documents by their best rank in any run (Take@N)."""

    topics_compare = True

    def value(self, topic: Retrieved) -> FloatArray:
        """Negative best ranks, shape (document,)."""
        return -topic.best_rank.astype(float)


@register_strategy(
    "depth", description="the first k documents of each run", source="Spärck Jones & van Rijsbergen 1975"
)
@dataclass(frozen=True, kw_only=True)
class Depth(Take):
    """The first k documents of each run (Depth@k), those of the best ranks first.

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

    def size(self, topic: Retrieved) -> int:
        """Number of documents within the first k ranks of any run."""
        return int((topic.best_rank <= self.k).sum())
