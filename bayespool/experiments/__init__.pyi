from .budget_results import Budgets as Budgets
from .budget_settings import BudgetSettings as BudgetSettings, StrategySettings as StrategySettings
from .budgeting import budgets as budgets
from .calibration import (
    central_share as central_share,
    covered as covered,
    crps as crps,
    pit_range as pit_range,
)
from .check_settings import (
    CheckingSettings as CheckingSettings,
    JudgesSettings as JudgesSettings,
)
from .check_tables import (
    calibration_frame as calibration_frame,
    elpd_frame as elpd_frame,
    run_frame as run_frame,
    stack as stack,
)
from .checks import ModelChecks as ModelChecks, check_models as check_models
from .clusters import (
    RunCluster as RunCluster,
    cluster_runs as cluster_runs,
)
from .common_topics import CommonTopicsResult as CommonTopicsResult, vary_common_topics as vary_common_topics
from .engine_checks import compare_engines as compare_engines, engine_summary as engine_summary
from .error_measures import (
    kendall_tau_b as kendall_tau_b,
    mean_absolute_error as mean_absolute_error,
    mean_error as mean_error,
    passed_over as passed_over,
    root_mean_squared_error as root_mean_squared_error,
    system_rank_error as system_rank_error,
)
from .fitted import (
    fit_container as fit_container,
)
from .found import FoundJudgments as FoundJudgments, check_found as check_found
from .from_frames import mae_by_cutoff as mae_by_cutoff
from .judge_checks import JudgeCheck as JudgeCheck, check_judges as check_judges
from .judging_rounds import JudgingRounds as JudgingRounds, judge_in_rounds as judge_in_rounds
from .kind_calibration import (
    self_calibrate_kinds as self_calibrate_kinds,
)
from .leaving_out import (
    leave_out as leave_out,
)
from .pool_width import (
    PoolWidthResult as PoolWidthResult,
    vary_pool_width as vary_pool_width,
)
from .predictions import (
    HeldOutPrediction as HeldOutPrediction,
    predict_held_out as predict_held_out,
)
from .reliability import (
    Reliability as Reliability,
    reliability as reliability,
)
from .results import (
    LeaveOutResult as LeaveOutResult,
)
from .run_types import (
    RunTypesResult as RunTypesResult,
    leave_types_out as leave_types_out,
)
from .self_calibration import (
    SelfCalibration as SelfCalibration,
    self_calibrate as self_calibrate,
    self_calibration_frame as self_calibration_frame,
)
from .settings import (
    CommonTopicsSettings as CommonTopicsSettings,
    LeaveOutSettings as LeaveOutSettings,
    PoolWidthSettings as PoolWidthSettings,
    RunTypesSettings as RunTypesSettings,
)
from .simulated_judges import (
    simulate_judge as simulate_judge,
)
from .simulation import (
    Simulation as Simulation,
    SimulationSettings as SimulationSettings,
    load_example as load_example,
    simulate as simulate,
    simulate_example as simulate_example,
)
from .uniformity import (
    ecdf_band as ecdf_band,
    holm as holm,
    randomized_pit as randomized_pit,
    uniformity_p_value as uniformity_p_value,
)
