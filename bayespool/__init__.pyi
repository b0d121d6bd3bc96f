__version__: str

from .auditing import Audit as Audit, audit as audit, audit_judges as audit_judges, read_audit as read_audit
from .collection import Collection as Collection, build_collection as build_collection
from .comparisons import (
    Comparison as Comparison,
    ComparisonPlan as ComparisonPlan,
    Gate as Gate,
    Leaderboard as Leaderboard,
    Reversals as Reversals,
    compare as compare,
    compare_table as compare_table,
    count_reversals as count_reversals,
    gate as gate,
    plan_comparison as plan_comparison,
    score_several as score_several,
)
from .corrections import register_estimator as register_estimator
from .defaults import rc_context as rc_context, rcParams as rcParams
from .evidence import (
    Predictor as Predictor,
    composition_effects as composition_effects,
    condensed_counts as condensed_counts,
    held_out_counts as held_out_counts,
    judgment_counts as judgment_counts,
    register_predictor as register_predictor,
)
from .experiments import (
    Budgets as Budgets,
    Card as Card,
    JudgeCheck as JudgeCheck,
    LeaveOutResult as LeaveOutResult,
    LeaveOutSeveralResult as LeaveOutSeveralResult,
    ModelChecks as ModelChecks,
    SimulationSettings as SimulationSettings,
    check_judges as check_judges,
    check_models as check_models,
    compare_budgets as compare_budgets,
    describe_collection as describe_collection,
    leave_out as leave_out,
    leave_out_several as leave_out_several,
    load_example as load_example,
    prepare as prepare,
    simulate as simulate,
)
from .measures import (
    Estimates as Estimates,
    Measure as Measure,
    Precision as Precision,
    Values as Values,
    parse_measure as parse_measure,
    register_measure as register_measure,
)
from .pooling import (
    describe_pool as describe_pool,
    discover_pool as discover_pool,
    read_collection as read_collection,
    read_collections as read_collections,
)
from .posterior import (
    Completion as Completion,
    PosteriorEstimator as PosteriorEstimator,
    complete as complete,
    fit as fit,
    model_graph as model_graph,
)
from .question import Question as Question
from .reading import (
    UNJUDGED as UNJUDGED,
    qrels_from_frame as qrels_from_frame,
    read_organizations as read_organizations,
    read_qrels as read_qrels,
    read_run as read_run,
    read_runs as read_runs,
    run_from_frame as run_from_frame,
)
from .report import StoredResult as StoredResult, read_result as read_result, write_report as write_report
from .scoring import (
    Imputations as Imputations,
    NextJudgments as NextJudgments,
    PreparedCollection as PreparedCollection,
    Scores as Scores,
    StoredScores as StoredScores,
    collect_labels as collect_labels,
    documents_to_label as documents_to_label,
    impute as impute,
    judge_next as judge_next,
    pyterrier_measure as pyterrier_measure,
    read_prepared as read_prepared,
    read_scores as read_scores,
    register_model as register_model,
    score as score,
)
