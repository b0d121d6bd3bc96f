from .angelopoulos import PredictionPowered as PredictionPowered
from .base import Corrected as Corrected, PointCorrection as PointCorrection
from .by_design import ByDesign as ByDesign
from .condensed import CondensedList as CondensedList
from .divekar_majumder import Precise as Precise
from .froebe import FroebeBootstrap as FroebeBootstrap
from .labels import JudgeFilled as JudgeFilled, JudgeRates as JudgeRates
from .lipani import AntiPrecision as AntiPrecision, anti_precision_indicators as anti_precision_indicators
from .lu_moffat_culpepper import LuMoffatCulpepper as LuMoffatCulpepper
from .oosterhuis import ConformalRiskControl as ConformalRiskControl
from .random_samples import (
    HorvitzThompson as HorvitzThompson,
    InferredAP as InferredAP,
    InferredNDCG as InferredNDCG,
    StatAP as StatAP,
)
from .ravana_moffat import (
    AsJudged as AsJudged,
    Background as Background,
    Constants as Constants,
    Interpolated as Interpolated,
    PlacedCorrection as PlacedCorrection,
    Smoothed as Smoothed,
    constant as constant,
    fit_constants as fit_constants,
    fit_constants_to_pool as fit_constants_to_pool,
)
from .registry import (
    ESTIMATORS as ESTIMATORS,
    EstimatorEntry as EstimatorEntry,
    Kind as Kind,
    register_estimator as register_estimator,
)
from .webber_park import SystemsAdjustment as SystemsAdjustment, TopicsAdjustment as TopicsAdjustment
