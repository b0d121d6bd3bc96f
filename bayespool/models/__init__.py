"""PyMC graphs of the hierarchical models, one file per model: evidence and priors → ``pm.Model``; nothing
here samples.
"""

from bayespool.models.anti_precision import (
    ANTI_PRECISION_SLOPES,
    anti_precision,
    anti_precision_structure,
)
from bayespool.models.background import background, background_log_odds, background_structure
from bayespool.models.document import EVIDENCE_SLOPES, evidence, evidence_structure
from bayespool.models.evidence import ModelEvidence, gather_evidence
from bayespool.models.interpolated import interpolated, interpolated_log_odds, interpolated_structure
from bayespool.models.linear import LinearEvidence, document_log_odds, gather_documents, linear_log_odds
from bayespool.models.priors import Prior, parse_prior
from bayespool.models.ratio import RATIO_SLOPES, ratio, ratio_structure
from bayespool.models.smoothed import smoothed, smoothed_log_odds, smoothed_structure
from bayespool.models.structure import Structure

__all__ = [
    "ANTI_PRECISION_SLOPES",
    "EVIDENCE_SLOPES",
    "RATIO_SLOPES",
    "LinearEvidence",
    "ModelEvidence",
    "Prior",
    "Structure",
    "anti_precision",
    "anti_precision_structure",
    "background",
    "background_log_odds",
    "background_structure",
    "document_log_odds",
    "evidence",
    "evidence_structure",
    "gather_documents",
    "gather_evidence",
    "interpolated",
    "interpolated_log_odds",
    "interpolated_structure",
    "linear_log_odds",
    "parse_prior",
    "ratio",
    "ratio_structure",
    "smoothed",
    "smoothed_log_odds",
    "smoothed_structure",
]
