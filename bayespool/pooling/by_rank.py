"""Strategies by the ranks of documents: Take@N."""

from __future__ import annotations

from dataclasses import dataclass

from bayespool.pooling.registry import register_strategy
from bayespool.pooling.retrieved import Retrieved
from bayespool.pooling.strategy import FixedOrder, FloatArray

__all__ = ["Take"]


@register_strategy("take", description="the documents of the best ranks", source="Lipani et al. 2017")
@dataclass(frozen=True, kw_only=True)
class Take(FixedOrder):
    """Documents by the best rank that a run gives them (Take@N)."""

    def value(self, topic: Retrieved) -> FloatArray:
        """The negative of the best rank."""
        return -topic.best_rank.astype(float)
