"""Published point corrections, one file per paper."""

# the order of registration is that of tables
from bayespool.corrections.base import Corrected, PointCorrection

# isort: split
from bayespool.corrections.ravana_moffat import (
    AsJudged,
    Background,
    Constants,
    Interpolated,
    Smoothed,
    fit_constants,
    fit_constants_to_pool,
)

# isort: split
from bayespool.corrections.webber_park import SystemsAdjustment, TopicsAdjustment

# isort: split
from bayespool.corrections.lipani import AntiPrecision, anti_precision_indicators

# isort: split
from bayespool.corrections.condensed import CondensedList

# isort: split
from bayespool.corrections.froebe import FroebeBootstrap

# isort: split
from bayespool.corrections.lu_moffat_culpepper import LuMoffatCulpepper

# isort: split
from bayespool.corrections.random_samples import HorvitzThompson, InferredAP, InferredNDCG, StatAP

# isort: split
from bayespool.corrections.labels import JudgeFilled, JudgeRates

# isort: split
from bayespool.corrections.angelopoulos import PredictionPowered

# isort: split
from bayespool.corrections.divekar_majumder import Precise

# isort: split
from bayespool.corrections.oosterhuis import ConformalRiskControl

# isort: split
from bayespool.corrections.registry import ESTIMATORS, EstimatorEntry, Kind, register_estimator

__all__ = [
    "ESTIMATORS",
    "AntiPrecision",
    "AsJudged",
    "Background",
    "CondensedList",
    "ConformalRiskControl",
    "Constants",
    "Corrected",
    "EstimatorEntry",
    "FroebeBootstrap",
    "HorvitzThompson",
    "InferredAP",
    "InferredNDCG",
    "Interpolated",
    "JudgeFilled",
    "JudgeRates",
    "Kind",
    "LuMoffatCulpepper",
    "PointCorrection",
    "Precise",
    "PredictionPowered",
    "Smoothed",
    "StatAP",
    "SystemsAdjustment",
    "TopicsAdjustment",
    "anti_precision_indicators",
    "fit_constants",
    "fit_constants_to_pool",
    "register_estimator",
]
