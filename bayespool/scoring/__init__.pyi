from .estimators import (
    ALL_ESTIMATORS as ALL_ESTIMATORS,
)
from .estimators import (
    DEFAULT_ESTIMATORS as DEFAULT_ESTIMATORS,
)
from .estimators import (
    ESTIMATOR_NAMES as ESTIMATOR_NAMES,
)
from .estimators import (
    ESTIMATORS as ESTIMATORS,
)
from .estimators import (
    EstimatorEntry as EstimatorEntry,
)
from .estimators import (
    EstimatorNames as EstimatorNames,
)
from .estimators import (
    named_estimators as named_estimators,
)
from .estimators import (
    parse_estimator as parse_estimator,
)
from .estimators import (
    refuse_idle_priors as refuse_idle_priors,
)
from .estimators import (
    refuse_large_priors as refuse_large_priors,
)
from .estimators import (
    refuse_too_many_draws as refuse_too_many_draws,
)
from .estimators import (
    register_estimator as register_estimator,
)
from .estimators import (
    register_model as register_model,
)
from .imputing import (
    Imputations as Imputations,
)
from .imputing import (
    impute as impute,
)
from .imputing import (
    parse_posterior as parse_posterior,
)
from .imputing import (
    spread_draws as spread_draws,
)
from .judging import (
    Afterwards as Afterwards,
)
from .judging import (
    NextJudgments as NextJudgments,
)
from .judging import (
    judge_next as judge_next,
)
from .judging import (
    sole_measure as sole_measure,
)
from .judging_goals import (
    Goal as Goal,
)
from .judging_goals import (
    check_goal as check_goal,
)
from .pyterrier import (
    Quantity as Quantity,
)
from .pyterrier import (
    pyterrier_measure as pyterrier_measure,
)
from .scores import (
    Scores as Scores,
)
from .scoring import (
    ScoreOptions as ScoreOptions,
)
from .scoring import (
    expect_collection as expect_collection,
)
from .scoring import (
    find_targets as find_targets,
)
from .scoring import (
    refuse_of_judgments as refuse_of_judgments,
)
from .scoring import (
    score as score,
)
from .scoring import (
    warn_of_unused_relevance as warn_of_unused_relevance,
)
from .settings import (
    DemoSettings as DemoSettings,
)
from .settings import (
    ImputeSettings as ImputeSettings,
)
from .settings import (
    JudgeNextSettings as JudgeNextSettings,
)
from .settings import (
    ScoreSettings as ScoreSettings,
)
from .stored import (
    StoredResults as StoredResults,
)
from .stored import (
    StoredScores as StoredScores,
)
from .stored import (
    read_results as read_results,
)
from .stored import (
    read_scores as read_scores,
)
from .stored import (
    with_notes as with_notes,
)
from .stored import (
    with_scores as with_scores,
)
