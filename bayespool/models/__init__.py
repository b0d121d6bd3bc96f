"""PyMC graphs of the hierarchical models, one file per model: evidence and priors → ``pm.Model``; nothing
here samples.
"""

from bayespool.models.background import background, background_log_odds
from bayespool.models.evidence import ModelEvidence, gather_evidence
from bayespool.models.interpolated import interpolated, interpolated_log_odds
from bayespool.models.priors import Prior, parse_prior
from bayespool.models.smoothed import smoothed, smoothed_log_odds

__all__ = [
    "ModelEvidence",
    "Prior",
    "background",
    "background_log_odds",
    "gather_evidence",
    "interpolated",
    "interpolated_log_odds",
    "parse_prior",
    "smoothed",
    "smoothed_log_odds",
]
