"""Strategies by sums of rank weights: discounted gain and reciprocal rank fusion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.errors import InputError
from bayespool.pooling.registry import register_strategy
from bayespool.pooling.retrieved import Retrieved
from bayespool.pooling.strategy import FixedOrder, FloatArray


@register_strategy(
    "dcg", description="by the sum over runs of the discount of DCG", source="Lipani et al. 2017 (ECIR)"
)
@dataclass(frozen=True, kw_only=True)
class DCG(FixedOrder):
    """Documents by the sum over runs of 1 / log₂(rank + 1), their contribution to DCG if relevant."""

    topics_compare = True

    def value(self, topic: Retrieved) -> FloatArray:
        """Sums of discounts, shape (document,)."""
        return topic.total(1 / np.log2(np.arange(2, topic.document.shape[1] + 2)))


@register_strategy(
    "rrf", description="by the sum over runs of 1 / (k + rank)", source="Cormack, Clarke & Büttcher 2009"
)
@dataclass(frozen=True, kw_only=True)
class RRF(FixedOrder):
    """Documents by the sum over runs of 1 / (k + rank), as in reciprocal rank fusion.

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

    def value(self, topic: Retrieved) -> FloatArray:
        """Sums of reciprocals, shape (document,)."""
        return topic.total(1 / (self.k + np.arange(1.0, topic.document.shape[1] + 1)))
