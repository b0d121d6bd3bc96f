"""Experiments with a known truth: runs that were pooled are left out, estimated, and compared with it."""

from bayespool.experiments.budget_results import BIAS_MEASURES, Budgets
from bayespool.experiments.budgeting import PAPER_STRATEGIES, budgets
from bayespool.experiments.calibration import central_share, covered, crps, pit_range
from bayespool.experiments.clusters import RunCluster, cluster_runs
from bayespool.experiments.common_topics import (
    CommonTopicsResult,
    common_topics_errors,
    vary_common_topics,
)
from bayespool.experiments.error_measures import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    passed_over,
    root_mean_squared_error,
    system_rank_error,
)
from bayespool.experiments.from_frames import (
    mae_by_cutoff,
    n_outside_bounds,
    n_unknown_documents,
    notes_of_runs,
)
from bayespool.experiments.judging_rounds import (
    JUDGING_ORDERS,
    JudgingOrder,
    JudgingRounds,
    judge_in_rounds,
)
from bayespool.experiments.leaving_out import leave_out
from bayespool.experiments.pool_width import PoolWidthResult, vary_pool_width
from bayespool.experiments.reliability import Reliability, reliability
from bayespool.experiments.results import LeaveOutResult
from bayespool.experiments.run_types import RunTypesResult, leave_types_out
from bayespool.experiments.settings import ALL_ESTIMATORS

__all__ = [
    "ALL_ESTIMATORS",
    "BIAS_MEASURES",
    "JUDGING_ORDERS",
    "PAPER_STRATEGIES",
    "Budgets",
    "CommonTopicsResult",
    "JudgingOrder",
    "JudgingRounds",
    "LeaveOutResult",
    "PoolWidthResult",
    "Reliability",
    "RunCluster",
    "RunTypesResult",
    "budgets",
    "central_share",
    "cluster_runs",
    "common_topics_errors",
    "covered",
    "crps",
    "judge_in_rounds",
    "kendall_tau_b",
    "leave_out",
    "leave_types_out",
    "mae_by_cutoff",
    "mean_absolute_error",
    "mean_error",
    "n_outside_bounds",
    "n_unknown_documents",
    "notes_of_runs",
    "passed_over",
    "pit_range",
    "reliability",
    "root_mean_squared_error",
    "system_rank_error",
    "vary_common_topics",
    "vary_pool_width",
]
