"""P@n of the list that is left when unjudged documents are dropped (Sakai 2007; Webber & Park 2009, §2).

References
----------
T. Sakai (2007). Alternatives to bpref. SIGIR 2007, 71–78.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayespool.collection import Collection
from bayespool.corrections.base import Corrected, PointCorrection
from bayespool.counts import JudgmentCounts, condensed_counts
from bayespool.registry import register_estimator

__all__ = ["CondensedList"]


@register_estimator(
    "condensed-list",
    label="con-\ndensed",
    description="P@n of the ranking without its unjudged documents",
    source="Sakai 2007; Webber & Park 2009, §2",
    default=True,
)
@dataclass(frozen=True, kw_only=True)
class CondensedList(PointCorrection):
    """P@n after dropping every unjudged document of the ranking; a short list is padded with nonrelevant
    ones.

    Overestimates: what replaces an unjudged document was retrieved by others, too, and is the likelier to be
    relevant. The judged documents of the top n stay, so that the value lies between B and T. Both estimands
    coincide; the upper bound of ``"pooled"`` is smaller than T and may be exceeded.
    """

    @property
    def name(self) -> str:
        """``condensed-list``."""
        return "condensed-list"

    def correct(self, collection: Collection, counts: JudgmentCounts, rel: int) -> Corrected:
        """Share of relevant ones among the first n judged documents."""
        condensed = condensed_counts(collection, counts.run_ids, cutoffs=counts.cutoffs, rel=rel)
        return Corrected(condensed / np.array(counts.cutoffs))
