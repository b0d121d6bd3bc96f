"""Evaluation measures in the notation of ir_measures, one file per family."""

from bayespool.measures.average_precision import AveragePrecision
from bayespool.measures.base import MEASURES, Additive, Measure, Tally, register_measure
from bayespool.measures.err import ERR
from bayespool.measures.errors import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    passed_over,
    root_mean_squared_error,
    system_rank_error,
)
from bayespool.measures.estimates import Diagnostics, Estimates, Estimator, side_by_side
from bayespool.measures.gain import DCG, NDCG, SDCG
from bayespool.measures.normalized import Ideal, Normalized
from bayespool.measures.parsing import parse_measure, parse_measures
from bayespool.measures.populations import population_draws, population_of
from bayespool.measures.precision import Judged, NonrelevantShare, Precision, Success
from bayespool.measures.rank_biased import INST, RBP
from bayespool.measures.recall import Recall
from bayespool.measures.reciprocal_rank import ReciprocalRank
from bayespool.measures.values import Values, equal_tailed_interval

__all__ = [
    "DCG",
    "ERR",
    "INST",
    "MEASURES",
    "NDCG",
    "RBP",
    "SDCG",
    "Additive",
    "AveragePrecision",
    "Diagnostics",
    "Estimates",
    "Estimator",
    "Ideal",
    "Judged",
    "Measure",
    "NonrelevantShare",
    "Normalized",
    "Precision",
    "Recall",
    "ReciprocalRank",
    "Success",
    "Tally",
    "Values",
    "equal_tailed_interval",
    "kendall_tau_b",
    "mean_absolute_error",
    "mean_error",
    "parse_measure",
    "parse_measures",
    "passed_over",
    "population_draws",
    "population_of",
    "register_measure",
    "root_mean_squared_error",
    "side_by_side",
    "system_rank_error",
]
