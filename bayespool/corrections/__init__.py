"""Published point corrections, one file per paper: pure arithmetic on count tables."""

# in the order of tables, which is the one they register in
from bayespool.corrections.ravana_moffat import (
    Background,
    Constants,
    Interpolated,
    LowerBound,
    Smoothed,
    fit_constants,
)

# isort: split
from bayespool.corrections.webber_park import SystemsAdjustment, TopicsAdjustment

# isort: split
from bayespool.corrections.lipani import AntiPrecision

# isort: split
from bayespool.corrections.condensed import CondensedList

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
