from .budget_results import (
    BIAS_MEASURES as BIAS_MEASURES,
)
from .budget_results import (
    Budgets as Budgets,
)
from .budget_settings import (
    BudgetSettings as BudgetSettings,
)
from .budget_settings import (
    StrategySettings as StrategySettings,
)
from .budgeting import (
    PAPER_STRATEGIES as PAPER_STRATEGIES,
)
from .budgeting import (
    budgets as budgets,
)
from .calibration import (
    central_share as central_share,
)
from .calibration import (
    covered as covered,
)
from .calibration import (
    crps as crps,
)
from .calibration import (
    pit_range as pit_range,
)
from .check_containers import (
    gather_container as gather_container,
)
from .check_settings import (
    CheckingSettings as CheckingSettings,
)
from .check_settings import (
    JudgesSettings as JudgesSettings,
)
from .check_tables import (
    CI_PROBS as CI_PROBS,
)
from .check_tables import (
    calibration_frame as calibration_frame,
)
from .check_tables import (
    elpd_frame as elpd_frame,
)
from .check_tables import (
    run_frame as run_frame,
)
from .check_tables import (
    stack as stack,
)
from .checks import (
    ModelChecks as ModelChecks,
)
from .checks import (
    check_models as check_models,
)
from .checks import (
    checked_models as checked_models,
)
from .clusters import (
    RunCluster as RunCluster,
)
from .clusters import (
    cluster_runs as cluster_runs,
)
from .common_topics import (
    CommonTopicsResult as CommonTopicsResult,
)
from .common_topics import (
    common_topics_errors as common_topics_errors,
)
from .common_topics import (
    vary_common_topics as vary_common_topics,
)
from .engine_checks import (
    ENDS_WITHIN as ENDS_WITHIN,
)
from .engine_checks import (
    MEAN_WITHIN as MEAN_WITHIN,
)
from .engine_checks import (
    compare_engines as compare_engines,
)
from .engine_checks import (
    engine_summary as engine_summary,
)
from .error_measures import (
    kendall_tau_b as kendall_tau_b,
)
from .error_measures import (
    mean_absolute_error as mean_absolute_error,
)
from .error_measures import (
    mean_error as mean_error,
)
from .error_measures import (
    passed_over as passed_over,
)
from .error_measures import (
    root_mean_squared_error as root_mean_squared_error,
)
from .error_measures import (
    system_rank_error as system_rank_error,
)
from .fitted import (
    fit_container as fit_container,
)
from .fitting import (
    Fitting as Fitting,
)
from .found import (
    FoundJudgments as FoundJudgments,
)
from .found import (
    check_found as check_found,
)
from .found import (
    found_frame as found_frame,
)
from .from_frames import (
    mae_by_cutoff as mae_by_cutoff,
)
from .from_frames import (
    n_outside_bounds as n_outside_bounds,
)
from .from_frames import (
    n_unknown_documents as n_unknown_documents,
)
from .from_frames import (
    notes_of_runs as notes_of_runs,
)
from .hidden import (
    HiddenDocuments as HiddenDocuments,
)
from .judge_checks import (
    TABLES_OF_JUDGES as TABLES_OF_JUDGES,
)
from .judge_checks import (
    JudgeCheck as JudgeCheck,
)
from .judge_checks import (
    TableOfJudges as TableOfJudges,
)
from .judge_checks import (
    check_judges as check_judges,
)
from .judge_intervals import (
    ALL_JUDGES as ALL_JUDGES,
)
from .judging_rounds import (
    JUDGING_ORDERS as JUDGING_ORDERS,
)
from .judging_rounds import (
    JudgingOrder as JudgingOrder,
)
from .judging_rounds import (
    JudgingRounds as JudgingRounds,
)
from .judging_rounds import (
    judge_in_rounds as judge_in_rounds,
)
from .kind_calibration import (
    self_calibrate_kinds as self_calibrate_kinds,
)
from .leaving_out import (
    leave_out as leave_out,
)
from .pool_width import (
    PoolWidthResult as PoolWidthResult,
)
from .pool_width import (
    vary_pool_width as vary_pool_width,
)
from .predictions import (
    HeldOutPrediction as HeldOutPrediction,
)
from .predictions import (
    predict_held_out as predict_held_out,
)
from .reliability import (
    Reliability as Reliability,
)
from .reliability import (
    reliability as reliability,
)
from .results import (
    LeaveOutResult as LeaveOutResult,
)
from .run_types import (
    RunTypesResult as RunTypesResult,
)
from .run_types import (
    leave_types_out as leave_types_out,
)
from .self_calibration import (
    SelfCalibration as SelfCalibration,
)
from .self_calibration import (
    self_calibrate as self_calibrate,
)
from .self_calibration import (
    self_calibration_frame as self_calibration_frame,
)
from .settings import (
    CommonTopicsSettings as CommonTopicsSettings,
)
from .settings import (
    ExperimentSettings as ExperimentSettings,
)
from .settings import (
    LeaveOutSettings as LeaveOutSettings,
)
from .settings import (
    PoolSettings as PoolSettings,
)
from .settings import (
    PoolWidthSettings as PoolWidthSettings,
)
from .settings import (
    RunTypesSettings as RunTypesSettings,
)
from .simulated_judges import (
    simulate_judge as simulate_judge,
)
from .simulation import (
    Simulation as Simulation,
)
from .simulation import (
    SimulationSettings as SimulationSettings,
)
from .simulation import (
    load_example as load_example,
)
from .simulation import (
    simulate as simulate,
)
from .simulation import (
    simulate_example as simulate_example,
)
from .uniformity import (
    bar_limits as bar_limits,
)
from .uniformity import (
    ecdf_band as ecdf_band,
)
from .uniformity import (
    holm as holm,
)
from .uniformity import (
    randomized_pit as randomized_pit,
)
from .uniformity import (
    uniformity_p_value as uniformity_p_value,
)
