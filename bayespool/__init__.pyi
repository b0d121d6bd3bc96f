__version__: str

from .collection import (
    UNJUDGED as UNJUDGED,
)
from .collection import (
    Collection as Collection,
)
from .collection import (
    build_collection as build_collection,
)
from .collection import (
    qrels_from_frame as qrels_from_frame,
)
from .collection import (
    read_organizations as read_organizations,
)
from .collection import (
    read_qrels as read_qrels,
)
from .collection import (
    read_run as read_run,
)
from .collection import (
    read_runs as read_runs,
)
from .collection import (
    run_from_frame as run_from_frame,
)
from .comparisons import (
    Comparison as Comparison,
)
from .comparisons import (
    Reversals as Reversals,
)
from .comparisons import (
    compare as compare,
)
from .comparisons import (
    reversals as reversals,
)
from .corrections import (
    register_estimator as register_estimator,
)
from .evidence import (
    Predictor as Predictor,
)
from .evidence import (
    composition_effects as composition_effects,
)
from .evidence import (
    condensed_counts as condensed_counts,
)
from .evidence import (
    held_out_counts as held_out_counts,
)
from .evidence import (
    judgment_counts as judgment_counts,
)
from .evidence import (
    register_predictor as register_predictor,
)
from .experiments import (
    Budgets as Budgets,
)
from .experiments import (
    JudgeCheck as JudgeCheck,
)
from .experiments import (
    LeaveOutResult as LeaveOutResult,
)
from .experiments import (
    ModelChecks as ModelChecks,
)
from .experiments import (
    SimulationSettings as SimulationSettings,
)
from .experiments import (
    budgets as budgets,
)
from .experiments import (
    check_judges as check_judges,
)
from .experiments import (
    check_models as check_models,
)
from .experiments import (
    compare_engines as compare_engines,
)
from .experiments import (
    fit_container as fit_container,
)
from .experiments import (
    leave_out as leave_out,
)
from .experiments import (
    load_example as load_example,
)
from .experiments import (
    self_calibrate as self_calibrate,
)
from .experiments import (
    simulate as simulate,
)
from .measures import (
    Estimates as Estimates,
)
from .measures import (
    Measure as Measure,
)
from .measures import (
    Precision as Precision,
)
from .measures import (
    Values as Values,
)
from .measures import (
    parse_measure as parse_measure,
)
from .measures import (
    register_measure as register_measure,
)
from .pooling import (
    describe_pool as describe_pool,
)
from .pooling import (
    discover_pool as discover_pool,
)
from .pooling import (
    read_collection as read_collection,
)
from .posterior import (
    Completion as Completion,
)
from .posterior import (
    complete as complete,
)
from .report import (
    write_report as write_report,
)
from .scoring import (
    Imputations as Imputations,
)
from .scoring import (
    NextJudgments as NextJudgments,
)
from .scoring import (
    Scores as Scores,
)
from .scoring import (
    StoredResults as StoredResults,
)
from .scoring import (
    StoredScores as StoredScores,
)
from .scoring import (
    impute as impute,
)
from .scoring import (
    judge_next as judge_next,
)
from .scoring import (
    pyterrier_measure as pyterrier_measure,
)
from .scoring import (
    read_results as read_results,
)
from .scoring import (
    read_scores as read_scores,
)
from .scoring import (
    register_model as register_model,
)
from .scoring import (
    score as score,
)
