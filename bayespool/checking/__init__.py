"""Are the models right? Predictions of held-out organizations, calibration, comparison of models,
simulation-based calibration, the fast engine against the reference, and what second judges are worth.

Nothing here knows a truth: what is held out are organizations of the pool at hand, and what is simulated is
simulated from the models themselves.
"""

from bayespool.checking.checks import ModelChecks, check_models, checked_models
from bayespool.checking.containers import gather_container
from bayespool.checking.engines import ENDS_WITHIN, MEAN_WITHIN, compare_engines, engine_summary
from bayespool.checking.fitted import fit_container
from bayespool.checking.fitting import Fitting
from bayespool.checking.found import FoundJudgments, check_found, found_frame
from bayespool.checking.hidden import HiddenDocuments
from bayespool.checking.judge_intervals import ALL_JUDGES
from bayespool.checking.judges import TABLES_OF_JUDGES, JudgeCheck, TableOfJudges, check_judges
from bayespool.checking.kind_calibration import self_calibrate_kinds
from bayespool.checking.predictions import HeldOutPrediction, predict_held_out
from bayespool.checking.self_calibration import SelfCalibration, self_calibrate, self_calibration_frame
from bayespool.checking.tables import CI_PROBS, calibration_frame, elpd_frame, run_frame, stack
from bayespool.checking.uniformity import bar_limits, ecdf_band, holm, randomized_pit, uniformity_p_value

__all__ = [
    "ALL_JUDGES",
    "CI_PROBS",
    "ENDS_WITHIN",
    "MEAN_WITHIN",
    "TABLES_OF_JUDGES",
    "Fitting",
    "FoundJudgments",
    "HeldOutPrediction",
    "HiddenDocuments",
    "JudgeCheck",
    "ModelChecks",
    "SelfCalibration",
    "TableOfJudges",
    "bar_limits",
    "calibration_frame",
    "check_found",
    "check_judges",
    "check_models",
    "checked_models",
    "compare_engines",
    "ecdf_band",
    "elpd_frame",
    "engine_summary",
    "fit_container",
    "found_frame",
    "gather_container",
    "holm",
    "predict_held_out",
    "randomized_pit",
    "run_frame",
    "self_calibrate",
    "self_calibrate_kinds",
    "self_calibration_frame",
    "stack",
    "uniformity_p_value",
]
