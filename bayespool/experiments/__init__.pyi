from .budget_results import (
    BIAS_MEASURES as BIAS_MEASURES,
    Budgets as Budgets,
)
from .budget_settings import (
    BudgetSettings as BudgetSettings,
    StrategySettings as StrategySettings,
)
from .budgeting import (
    PAPER_STRATEGIES as PAPER_STRATEGIES,
    budgets as budgets,
)
from .calibration import (
    central_share as central_share,
    covered as covered,
    crps as crps,
    pit_range as pit_range,
)
from .check_containers import (
    gather_container as gather_container,
)
from .check_settings import (
    CheckingSettings as CheckingSettings,
    JudgesSettings as JudgesSettings,
)
from .check_tables import (
    CI_PROBS as CI_PROBS,
    calibration_frame as calibration_frame,
    elpd_frame as elpd_frame,
    run_frame as run_frame,
    stack as stack,
)
from .checks import (
    ModelChecks as ModelChecks,
    check_models as check_models,
    checked_models as checked_models,
)
from .clusters import (
    RunCluster as RunCluster,
    cluster_runs as cluster_runs,
)
from .common_topics import (
    CommonTopicsResult as CommonTopicsResult,
    common_topics_errors as common_topics_errors,
    vary_common_topics as vary_common_topics,
)
from .engine_checks import (
    ENDS_WITHIN as ENDS_WITHIN,
    MEAN_WITHIN as MEAN_WITHIN,
    compare_engines as compare_engines,
    engine_summary as engine_summary,
)
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
from .fitting import (
    Fitting as Fitting,
)
from .found import (
    FoundJudgments as FoundJudgments,
    check_found as check_found,
    found_frame as found_frame,
)
from .from_frames import (
    mae_by_cutoff as mae_by_cutoff,
    n_outside_bounds as n_outside_bounds,
    n_unknown_documents as n_unknown_documents,
    notes_of_runs as notes_of_runs,
)
from .hidden import (
    HiddenDocuments as HiddenDocuments,
)
from .judge_checks import (
    TABLES_OF_JUDGES as TABLES_OF_JUDGES,
    JudgeCheck as JudgeCheck,
    TableOfJudges as TableOfJudges,
    check_judges as check_judges,
)
from .judge_intervals import (
    ALL_JUDGES as ALL_JUDGES,
)
from .judging_rounds import (
    JUDGING_ORDERS as JUDGING_ORDERS,
    JudgingOrder as JudgingOrder,
    JudgingRounds as JudgingRounds,
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
    ExperimentSettings as ExperimentSettings,
    LeaveOutSettings as LeaveOutSettings,
    PoolSettings as PoolSettings,
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
    bar_limits as bar_limits,
    ecdf_band as ecdf_band,
    holm as holm,
    randomized_pit as randomized_pit,
    uniformity_p_value as uniformity_p_value,
)
