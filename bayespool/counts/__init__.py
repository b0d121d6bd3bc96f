"""Rankings × judgments → integer count tables; the only place that asks whether a ranked document is judged.

All tables cover many cutoffs in one pass and have the axes (run, topic, cutoff).
"""

from bayespool.counts.composition import CompositionEffects, composition_effects
from bayespool.counts.held_out import (
    HeldOutCounts,
    held_out_counts,
    held_out_documents,
    states_without_own,
)
from bayespool.counts.judged import JudgmentCounts, condensed_counts, judgment_counts, unjudged_documents
from bayespool.counts.states import NONRELEVANT, RELEVANT, UNJUDGED_STATE, Estimand

__all__ = [
    "NONRELEVANT",
    "RELEVANT",
    "UNJUDGED_STATE",
    "CompositionEffects",
    "Estimand",
    "HeldOutCounts",
    "JudgmentCounts",
    "composition_effects",
    "condensed_counts",
    "held_out_counts",
    "held_out_documents",
    "judgment_counts",
    "states_without_own",
    "unjudged_documents",
]
