"""Declarations of hierarchical models, their evidence and priors, and what engines derive from them."""

from bayespool.models.evidence import LinearEvidence, gather_documents, gather_evidence
from bayespool.models.formulas import Chances, Effect, Linear, Structure, document_log_odds, draw_priors
from bayespool.models.priors import Prior, draw_prior, parse_prior
from bayespool.models.registry import EVIDENCE_SLOPES, MODEL_NAMES, MODELS, model_named, own_models
from bayespool.models.spec import Evidence, ModelSpec

__all__ = [
    "EVIDENCE_SLOPES",
    "MODELS",
    "MODEL_NAMES",
    "Chances",
    "Effect",
    "Evidence",
    "Linear",
    "LinearEvidence",
    "ModelSpec",
    "Prior",
    "Structure",
    "document_log_odds",
    "draw_prior",
    "draw_priors",
    "gather_documents",
    "gather_evidence",
    "model_named",
    "own_models",
    "parse_prior",
]
