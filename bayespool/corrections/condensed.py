"""The measure of the ranking without unjudged documents (Sakai 2007; Webber & Park 2009, §2)."""

from __future__ import annotations

from dataclasses import dataclass

from bayespool.collection import Collection
from bayespool.corrections.base import Corrected, PointCorrection
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.bounds import condensed_levels
from bayespool.evidence.ideals import judged_tally, relevance_levels


@register_estimator(
    "condensed-list",
    label="con\xad\ndensed",
    source="Sakai 2007; Webber & Park 2009, §2",
    citations=("sakai-2007", "webber-park-2009"),
)
@dataclass(frozen=True, kw_only=True)
class CondensedList(PointCorrection):
    """Measure computed on the condensed list, which drops unjudged documents from the ranking.

    With average precision it is AP′, with discounted gain nDCG′; ideal rankings are made of the judged
    documents.

    Overestimates: the document that replaces an unjudged one was retrieved by others, too, and is likelier to
    be relevant. The judged documents of the top n stay, so that the value lies between B and T. Only a
    measure over an ideal ranking may exceed T, which leaves judged documents where they are. Both estimands
    coincide; the upper bound of ``"pooled"`` is smaller than T and may be exceeded.
    """

    def correct(self, collection: Collection, bounds: Bounds) -> Corrected:
        """Return scores for the condensed lists."""
        measure = bounds.measure
        condensed = condensed_levels(collection, bounds.run_ids, measure.cutoff)
        tally = judged_tally(collection, relevance_levels(collection, measure))
        return Corrected(measure.values(condensed, tally).scores())
