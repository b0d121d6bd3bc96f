"""Evaluation measures as values with a canonical text, in the dialect of ir_measures: one file per family."""

from bayespool.measures.base import MEASURES, Additive, Measure, register_measure
from bayespool.measures.parsing import parse_measure, parse_measures
from bayespool.measures.precision import Precision

__all__ = [
    "MEASURES",
    "Additive",
    "Measure",
    "Precision",
    "parse_measure",
    "parse_measures",
    "register_measure",
]
