from .budget_results import Budgets as Budgets
from .budget_settings import BudgetSettings as BudgetSettings, StrategySettings as StrategySettings
from .budgeting import budgets as budgets
from .checks import ModelChecks as ModelChecks, check_models as check_models
from .design import Design as Design, Graded as Graded, Part as Part, Truth as Truth
from .engine_checks import EngineComparison as EngineComparison, compare_engines as compare_engines
from .graded_runs import DesignResult as DesignResult, run_design as run_design
from .grading import (
    central_share as central_share,
    covered as covered,
    crps as crps,
    ecdf_band as ecdf_band,
    holm as holm,
    pit_range as pit_range,
    randomized_pit as randomized_pit,
    uniformity_p_value as uniformity_p_value,
)
from .judge_checks import JudgeCheck as JudgeCheck, check_judges as check_judges
from .judging_rounds import JudgingRounds as JudgingRounds, judge_in_rounds as judge_in_rounds
from .kind_calibration import self_calibrate_kinds as self_calibrate_kinds
from .leaving_out import LeaveOutResult as LeaveOutResult, leave_out as leave_out
from .predictions import (
    HeldOutPrediction as HeldOutPrediction,
    calibration_frame as calibration_frame,
    elpd_frame as elpd_frame,
    predict_held_out as predict_held_out,
    stack as stack,
)
from .random_pools import (
    CommonTopicsResult as CommonTopicsResult,
    PoolWidthResult as PoolWidthResult,
    vary_common_topics as vary_common_topics,
    vary_pool_width as vary_pool_width,
)
from .regression_checks import (
    RegressionComparison as RegressionComparison,
    compare_regression as compare_regression,
)
from .self_calibration import (
    SelfCalibration as SelfCalibration,
    SelfCalibrations as SelfCalibrations,
    self_calibrate as self_calibrate,
    self_calibration_frame as self_calibration_frame,
)
from .settings import (
    CheckingSettings as CheckingSettings,
    CommonTopicsSettings as CommonTopicsSettings,
    DesignSettings as DesignSettings,
    EngineCheckSettings as EngineCheckSettings,
    JudgesSettings as JudgesSettings,
    LeaveOutSettings as LeaveOutSettings,
    PoolWidthSettings as PoolWidthSettings,
    RegressionCheckSettings as RegressionCheckSettings,
    SelfCalibrationSettings as SelfCalibrationSettings,
    UnexplainedSettings as UnexplainedSettings,
)
from .several import LeaveOutSeveralResult as LeaveOutSeveralResult, leave_out_several as leave_out_several
from .simulation import (
    Simulation as Simulation,
    SimulationSettings as SimulationSettings,
    load_example as load_example,
    simulate as simulate,
    simulate_example as simulate_example,
    simulate_judge as simulate_judge,
)
from .unexplained import (
    UnexplainedBand as UnexplainedBand,
    UnexplainedJudgments as UnexplainedJudgments,
    check_unexplained_judgments as check_unexplained_judgments,
)
