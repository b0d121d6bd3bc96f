"""Evidence of the models: counts of judgments among ranked documents, and predictors of unjudged ones."""

from bayespool.evidence.bounds import Bounds, JudgmentCounts, condensed_counts, judgment_counts, score_bounds
from bayespool.evidence.composition import RunCluster, cluster_runs, composition_effects, run_overlap
from bayespool.evidence.context import DocumentContext
from bayespool.evidence.held_out import HeldOutCounts, held_out_counts
from bayespool.evidence.ideals import (
    MISSING,
    NONRELEVANT,
    RELEVANT,
    Estimand,
    count_within,
    states,
    values_on_fuller,
)
from bayespool.evidence.labels import (
    GradeCounts,
    LabelConfusion,
    LabelLift,
    auc,
    favored_organizations,
    grade_counts,
    kappas,
    label_lift,
)
from bayespool.evidence.predictor_table import (
    DocumentTable,
    document_table,
    hidden_document_table,
)
from bayespool.evidence.predictors import COMPOSITION_PREDICTORS, PREDICTORS, Predictor, register_predictor

__all__ = [
    "COMPOSITION_PREDICTORS",
    "MISSING",
    "NONRELEVANT",
    "PREDICTORS",
    "RELEVANT",
    "Bounds",
    "DocumentContext",
    "DocumentTable",
    "Estimand",
    "GradeCounts",
    "HeldOutCounts",
    "JudgmentCounts",
    "LabelConfusion",
    "LabelLift",
    "Predictor",
    "RunCluster",
    "auc",
    "cluster_runs",
    "composition_effects",
    "condensed_counts",
    "count_within",
    "document_table",
    "favored_organizations",
    "grade_counts",
    "held_out_counts",
    "hidden_document_table",
    "judgment_counts",
    "kappas",
    "label_lift",
    "register_predictor",
    "run_overlap",
    "score_bounds",
    "states",
    "values_on_fuller",
]
