"""Published point corrections, one file per paper: pure arithmetic on count tables."""

from bayespool.corrections.condensed import CondensedList
from bayespool.corrections.lipani import AntiPrecision
from bayespool.corrections.ravana_moffat import (
    Background,
    Constants,
    Interpolated,
    LowerBound,
    Smoothed,
    fit_constants,
)
from bayespool.corrections.webber_park import SystemsAdjustment, TopicsAdjustment

__all__ = [
    "AntiPrecision",
    "Background",
    "CondensedList",
    "Constants",
    "Interpolated",
    "LowerBound",
    "Smoothed",
    "SystemsAdjustment",
    "TopicsAdjustment",
    "fit_constants",
]
