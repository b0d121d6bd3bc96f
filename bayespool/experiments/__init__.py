"""Experiments with a known truth: runs that were pooled are left out, estimated, and compared with it."""

from bayespool.experiments.calibration import central_share, covered, crps, pit_range, randomised_pit
from bayespool.experiments.error_measures import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    passed_over,
    root_mean_squared_error,
    system_rank_error,
)
from bayespool.experiments.leaving_out import leave_out
from bayespool.experiments.reliability import Reliability, reliability
from bayespool.experiments.results import LeaveOutResult
from bayespool.experiments.settings import ALL_ESTIMATORS, LeaveOutSettings

__all__ = [
    "ALL_ESTIMATORS",
    "LeaveOutResult",
    "LeaveOutSettings",
    "Reliability",
    "central_share",
    "covered",
    "crps",
    "kendall_tau_b",
    "leave_out",
    "mean_absolute_error",
    "mean_error",
    "passed_over",
    "pit_range",
    "randomised_pit",
    "reliability",
    "root_mean_squared_error",
    "system_rank_error",
]
