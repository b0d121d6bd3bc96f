from .budget_results import Budgets as Budgets
from .budgeting import compare_budgets as compare_budgets
from .cards import Card as Card, describe_collection as describe_collection
from .checks import (
    ModelChecks as ModelChecks,
    calibration_frame as calibration_frame,
    check_models as check_models,
    elpd_frame as elpd_frame,
)
from .closed_holes import grade_later as grade_later
from .design import (
    Design as Design,
    Graded as Graded,
    Part as Part,
    Truth as Truth,
    central_share as central_share,
    covered as covered,
    crps as crps,
    pit_range as pit_range,
    randomized_pit as randomized_pit,
)
from .graded_runs import DesignResult as DesignResult, run_design as run_design
from .judge_checks import JudgeCheck as JudgeCheck, check_judges as check_judges
from .keeping import KeptJudgmentsResult as KeptJudgmentsResult, keep_judgments as keep_judgments
from .label_agreement import LabelAgreement as LabelAgreement, compare_judges as compare_judges
from .labels_alone import LabelScores as LabelScores, score_labels as score_labels
from .leave_out_results import (
    LeaveOutResult as LeaveOutResult,
    LeaveOutSeveralResult as LeaveOutSeveralResult,
)
from .leaving_out import (
    best_runs as best_runs,
    leave_out as leave_out,
    leave_out_several as leave_out_several,
)
from .predictions import (
    HeldOutPrediction as HeldOutPrediction,
    predict_held_out as predict_held_out,
    stack as stack,
)
from .preparing import prepare as prepare
from .random_pool_results import RandomPoolsResult as RandomPoolsResult
from .random_pools import vary_common_topics as vary_common_topics, vary_pool_width as vary_pool_width
from .settings import (
    BudgetSettings as BudgetSettings,
    DesignSettings as DesignSettings,
    LeaveOutSettings as LeaveOutSettings,
    RandomPoolSettings as RandomPoolSettings,
)
from .simulation import (
    Simulation as Simulation,
    SimulationSettings as SimulationSettings,
    load_example as load_example,
    simulate as simulate,
    simulate_example as simulate_example,
    simulate_judge as simulate_judge,
)
