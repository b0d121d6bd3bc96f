"""The measure of the list without unjudged documents (Sakai 2007; Webber & Park 2009, §2).

References
----------
T. Sakai (2007). Alternatives to bpref. SIGIR 2007, 71–78.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayespool.collection import Collection
from bayespool.corrections.base import Corrected, PointCorrection
from bayespool.counts import Bounds, condensed_levels
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
    """The measure after dropping every unjudged document of the ranking; nonrelevant ones pad a short list.

    Overestimates: what replaces an unjudged document was retrieved by others, too, and is the likelier to be
    relevant. The judged documents of the top n stay, so that the value lies between B and T. Both estimands
    coincide; the upper bound of ``"pooled"`` is smaller than T and may be exceeded.
    """

    @property
    def name(self) -> str:
        """``condensed-list``."""
        return "condensed-list"

    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """The measure of the first judged documents."""
        condensed = condensed_levels(collection, found.run_ids, found.measure.cutoff)
        return Corrected(found.measure.values(condensed).scores())
