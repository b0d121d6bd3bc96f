"""Settings classes: each option of an experiment, a comparison or a check described once.

Functions and commands are made to agree with these by `bayespool.options`. The classes are light, so that the
command line can show its help without loading what works for it.
"""

from bayespool.settings.comparisons import (
    CheckingSettings,
    ComparingSettings,
    DemoSettings,
    ImputeSettings,
    JudgeNextSettings,
    JudgesSettings,
    ReversalSettings,
    ScoreSettings,
)
from bayespool.settings.experiments import (
    CommonTopicsSettings,
    ExperimentSettings,
    LeaveOutSettings,
    PoolSettings,
    PoolWidthSettings,
    RunTypesSettings,
)
from bayespool.settings.pooling import BudgetSettings, StrategySettings

__all__ = [
    "BudgetSettings",
    "CheckingSettings",
    "CommonTopicsSettings",
    "ComparingSettings",
    "DemoSettings",
    "ExperimentSettings",
    "ImputeSettings",
    "JudgeNextSettings",
    "JudgesSettings",
    "LeaveOutSettings",
    "PoolSettings",
    "PoolWidthSettings",
    "ReversalSettings",
    "RunTypesSettings",
    "ScoreSettings",
    "StrategySettings",
]
