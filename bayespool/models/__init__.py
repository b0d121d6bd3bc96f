"""Hierarchical models, one file and one declaration each: evidence and priors → the density of an engine, the
``pm.Model`` of the sampler, log odds of documents; nothing here samples a posterior.
"""

from bayespool.models.document import EVIDENCE_SLOPES
from bayespool.models.evidence import ModelEvidence, gather_evidence
from bayespool.models.families import (
    FAMILIES,
    draw_prior,
    log_density_of_coefficient,
    log_density_of_scale,
    refuse_no_density,
)
from bayespool.models.formulas import Chances, Effect, Linear, document_log_odds
from bayespool.models.linear import LinearEvidence, gather_documents
from bayespool.models.priors import Prior, parse_prior
from bayespool.models.registry import MODEL_NAMES, MODELS, add_model, model_named, own_models
from bayespool.models.spec import Evidence, ModelSpec
from bayespool.models.structure import Structure

__all__ = [
    "EVIDENCE_SLOPES",
    "FAMILIES",
    "MODELS",
    "MODEL_NAMES",
    "Chances",
    "Effect",
    "Evidence",
    "Linear",
    "LinearEvidence",
    "ModelEvidence",
    "ModelSpec",
    "Prior",
    "Structure",
    "add_model",
    "document_log_odds",
    "draw_prior",
    "gather_documents",
    "gather_evidence",
    "log_density_of_coefficient",
    "log_density_of_scale",
    "model_named",
    "own_models",
    "parse_prior",
    "refuse_no_density",
]
