from .estimators import (
    ALL_ESTIMATORS as ALL_ESTIMATORS,
    DEFAULT_ESTIMATORS as DEFAULT_ESTIMATORS,
    ESTIMATOR_NAMES as ESTIMATOR_NAMES,
    ESTIMATORS as ESTIMATORS,
    EstimatorNames as EstimatorNames,
    named_estimators as named_estimators,
    parse_estimator as parse_estimator,
    refuse_idle_priors as refuse_idle_priors,
    refuse_large_priors as refuse_large_priors,
    refuse_too_many_draws as refuse_too_many_draws,
    register_estimator as register_estimator,
    register_model as register_model,
)
from .imputing import (
    Imputations as Imputations,
    impute as impute,
    parse_posterior as parse_posterior,
    spread_draws as spread_draws,
)
from .judging import (
    Afterwards as Afterwards,
    NextJudgments as NextJudgments,
    judge_next as judge_next,
    sole_measure as sole_measure,
)
from .judging_goals import (
    Goal as Goal,
    check_goal as check_goal,
)
from .pyterrier import (
    Quantity as Quantity,
    pyterrier_measure as pyterrier_measure,
)
from .scores import (
    Scores as Scores,
)
from .scoring import (
    ScoreOptions as ScoreOptions,
    expect_collection as expect_collection,
    find_targets as find_targets,
    refuse_of_judgments as refuse_of_judgments,
    score as score,
    warn_of_unused_relevance as warn_of_unused_relevance,
)
from .settings import (
    DemoSettings as DemoSettings,
    ImputeSettings as ImputeSettings,
    JudgeNextSettings as JudgeNextSettings,
    ScoreSettings as ScoreSettings,
)
from .stored import (
    StoredResults as StoredResults,
    StoredScores as StoredScores,
    read_results as read_results,
    read_scores as read_scores,
    with_notes as with_notes,
    with_scores as with_scores,
)
