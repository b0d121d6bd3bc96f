from .estimators import (
    ALL_ESTIMATORS as ALL_ESTIMATORS,
    DEFAULT_ESTIMATORS as DEFAULT_ESTIMATORS,
    ESTIMATOR_NAMES as ESTIMATOR_NAMES,
    ESTIMATORS as ESTIMATORS,
    PAIRED_ESTIMATORS as PAIRED_ESTIMATORS,
    named_estimators as named_estimators,
    parse_estimator as parse_estimator,
    register_estimator as register_estimator,
    register_model as register_model,
)
from .imputing import Imputations as Imputations, impute as impute
from .judging import JudgingEffect as JudgingEffect, NextJudgments as NextJudgments, judge_next as judge_next
from .judging_influence import Goal as Goal
from .labeling import collect_labels as collect_labels, documents_to_label as documents_to_label
from .pools import CandidatePools as CandidatePools, DocumentsToJudge as DocumentsToJudge
from .prepared import PreparedCollection as PreparedCollection, read_prepared as read_prepared
from .scores import Scores as Scores, StoredScores as StoredScores, read_scores as read_scores
from .scoring import (
    Quantity as Quantity,
    find_targets as find_targets,
    pyterrier_measure as pyterrier_measure,
    score as score,
)
