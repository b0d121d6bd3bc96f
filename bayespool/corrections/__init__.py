"""Published point corrections, one file per paper: arithmetic on judgments.

Three files serve several: `tallies` counts judged documents, `expected` takes expectations of measures, and
`labels` reads those of second judges.
"""

from bayespool.corrections.angelopoulos import PredictionPowered
from bayespool.corrections.aslam_pavlu import StatAP
from bayespool.corrections.condensed import CondensedList
from bayespool.corrections.froebe import FroebeBootstrap
from bayespool.corrections.horvitz_thompson import HorvitzThompson
from bayespool.corrections.judge_filled import JudgeFilled
from bayespool.corrections.judge_rates import JudgeRates
from bayespool.corrections.lipani import AntiPrecision
from bayespool.corrections.lu_moffat_culpepper import LuMoffatCulpepper
from bayespool.corrections.ravana_moffat import (
    Background,
    Constants,
    Interpolated,
    LowerBound,
    Smoothed,
    fit_constants,
)
from bayespool.corrections.registry import ESTIMATORS, EstimatorEntry, Kind, register_estimator
from bayespool.corrections.webber_park import SystemsAdjustment, TopicsAdjustment
from bayespool.corrections.yilmaz_aslam import InferredAP

__all__ = [
    "ESTIMATORS",
    "AntiPrecision",
    "Background",
    "CondensedList",
    "Constants",
    "EstimatorEntry",
    "FroebeBootstrap",
    "HorvitzThompson",
    "InferredAP",
    "Interpolated",
    "JudgeFilled",
    "JudgeRates",
    "Kind",
    "LowerBound",
    "LuMoffatCulpepper",
    "PredictionPowered",
    "Smoothed",
    "StatAP",
    "SystemsAdjustment",
    "TopicsAdjustment",
    "fit_constants",
    "register_estimator",
]
