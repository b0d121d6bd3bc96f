"""Count judgments among ranked documents, and describe unjudged documents by what is known of them: the
evidence of the models.

Tables of counts cover many cutoffs in one pass and have the axes (run, topic, cutoff). Whatever a predictor
of a document is computed from, the held-out organization took no part in it.
"""

from bayespool.evidence.bounds import Bounds, condensed_levels, score_bounds
from bayespool.evidence.composition import CompositionEffects, composition_effects
from bayespool.evidence.confusion import (
    KINDS_OF_DOCUMENTS,
    KindOfDocuments,
    LabelConfusion,
    auc,
    grade_names,
    kappas,
)
from bayespool.evidence.context import AmongOthers, DocumentContext
from bayespool.evidence.held_out import (
    HeldOutCounts,
    held_out_counts,
    held_out_documents,
    held_out_levels,
    states_without_own,
)
from bayespool.evidence.ideals import (
    n_relevant_documents,
    ranked_levels,
    reach_of_ideal,
    relevance_levels,
    tally_of,
    tally_within_reach,
    values_on_fuller,
)
from bayespool.evidence.judged import JudgmentCounts, condensed_counts, judgment_counts, unjudged_documents
from bayespool.evidence.labels import (
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
from bayespool.evidence.overlap import TOP_OF_OVERLAP, run_overlap
from bayespool.evidence.predictor import Predictor
from bayespool.evidence.predictor_table import (
    DocumentTable,
    document_table,
    hidden_document_table,
    unjudged_document_table,
    with_predictors,
)
from bayespool.evidence.predictors import (
    COMPOSITION_PREDICTORS,
    PREDICTORS,
    evidence_predictors,
    register_predictor,
)
from bayespool.evidence.predictors_of_labels import (
    LabelRatios,
    label_predictors,
    label_ratios,
    label_slopes,
    usable_judges,
)
from bayespool.evidence.states import NONRELEVANT, RELEVANT, UNJUDGED_STATE, Estimand
from bayespool.evidence.unlabeled import without_some_labels

__all__ = [
    "COMPOSITION_PREDICTORS",
    "KINDS_OF_DOCUMENTS",
    "NONRELEVANT",
    "PREDICTORS",
    "RELEVANT",
    "TOP_OF_LABELS",
    "TOP_OF_OVERLAP",
    "UNJUDGED_STATE",
    "AmongOthers",
    "Bounds",
    "CompositionEffects",
    "DocumentContext",
    "DocumentTable",
    "Estimand",
    "GradeCounts",
    "HeldOutCounts",
    "JudgmentCounts",
    "KindOfDocuments",
    "LabelConfusion",
    "LabelLift",
    "LabelRatios",
    "Predictor",
    "auc",
    "composition_effects",
    "condensed_counts",
    "condensed_levels",
    "document_table",
    "evidence_predictors",
    "favored_organizations",
    "grade_counts",
    "grade_names",
    "held_out_counts",
    "held_out_documents",
    "held_out_levels",
    "hidden_document_table",
    "hidden_grades",
    "in_top",
    "is_other",
    "judgment_counts",
    "kappas",
    "label_lift",
    "label_predictors",
    "label_ratios",
    "label_slopes",
    "n_relevant_documents",
    "ranked_levels",
    "reach_of_ideal",
    "register_predictor",
    "relevance_levels",
    "run_overlap",
    "score_bounds",
    "states_without_own",
    "submitters",
    "tally_of",
    "tally_within_reach",
    "topic_grades",
    "unjudged_document_table",
    "unjudged_documents",
    "usable_judges",
    "values_on_fuller",
    "with_predictors",
    "without_some_labels",
]
