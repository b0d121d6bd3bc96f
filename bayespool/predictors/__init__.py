"""What is known of a document before it is judged: where runs rank it, and how good the run at hand is.

Models with predictors learn from hidden documents with them, and predict unjudged ones. Whatever a predictor
is computed from, the held-out organization took no part in it. One file per family, one line in `registry`
for each.
"""

from bayespool.predictors.context import AmongOthers, DocumentContext
from bayespool.predictors.labels import (
    LabelRatios,
    label_predictors,
    label_ratios,
    label_slopes,
    usable_judges,
)
from bayespool.predictors.predictor import Predictor
from bayespool.predictors.registry import (
    COMPOSITION_PREDICTORS,
    PREDICTORS,
    evidence_predictors,
    register_predictor,
)
from bayespool.predictors.table import (
    DocumentTable,
    document_table,
    hidden_document_table,
    unjudged_document_table,
    with_predictors,
)
from bayespool.predictors.unlabeled import without_some_labels

__all__ = [
    "COMPOSITION_PREDICTORS",
    "PREDICTORS",
    "AmongOthers",
    "DocumentContext",
    "DocumentTable",
    "LabelRatios",
    "Predictor",
    "document_table",
    "evidence_predictors",
    "hidden_document_table",
    "label_predictors",
    "label_ratios",
    "label_slopes",
    "register_predictor",
    "unjudged_document_table",
    "usable_judges",
    "with_predictors",
    "without_some_labels",
]
