"""Rankings × judgments → integer count tables; the only place that asks whether a ranked document is judged.

All tables cover many cutoffs in one pass and have the axes (run, topic, cutoff).
"""

from bayespool.counts.bounds import (
    Bounds,
    bounds,
    condensed_levels,
)
from bayespool.counts.composition import CompositionEffects, composition_effects
from bayespool.counts.confusion import (
    KINDS_OF_DOCUMENTS,
    KindOfDocuments,
    LabelConfusion,
    auc,
    grade_names,
    kappas,
)
from bayespool.counts.held_out import (
    HeldOutCounts,
    held_out_counts,
    held_out_documents,
    held_out_levels,
    states_without_own,
)
from bayespool.counts.ideals import (
    n_relevant_documents,
    ranked_levels,
    reach_of_ideal,
    relevance_levels,
    tally_of,
    tally_within_reach,
    values_on_fuller,
)
from bayespool.counts.judged import JudgmentCounts, condensed_counts, judgment_counts, unjudged_documents
from bayespool.counts.labels import (
    TOP_OF_LABELS,
    GradeCounts,
    LabelLift,
    favored_organizations,
    grade_counts,
    hidden_grades,
    in_top,
    is_other,
    label_lift,
    submitters,
    topic_grades,
)
from bayespool.counts.overlap import TOP_OF_OVERLAP, overlap
from bayespool.counts.states import NONRELEVANT, RELEVANT, UNJUDGED_STATE, Estimand

__all__ = [
    "KINDS_OF_DOCUMENTS",
    "NONRELEVANT",
    "RELEVANT",
    "TOP_OF_LABELS",
    "TOP_OF_OVERLAP",
    "UNJUDGED_STATE",
    "Bounds",
    "CompositionEffects",
    "Estimand",
    "GradeCounts",
    "HeldOutCounts",
    "JudgmentCounts",
    "KindOfDocuments",
    "LabelConfusion",
    "LabelLift",
    "auc",
    "bounds",
    "composition_effects",
    "condensed_counts",
    "condensed_levels",
    "favored_organizations",
    "grade_counts",
    "grade_names",
    "held_out_counts",
    "held_out_documents",
    "held_out_levels",
    "hidden_grades",
    "in_top",
    "is_other",
    "judgment_counts",
    "kappas",
    "label_lift",
    "n_relevant_documents",
    "overlap",
    "ranked_levels",
    "reach_of_ideal",
    "relevance_levels",
    "states_without_own",
    "submitters",
    "tally_of",
    "tally_within_reach",
    "topic_grades",
    "unjudged_documents",
    "values_on_fuller",
]
