from .evidence import (
    LinearEvidence as LinearEvidence,
    gather_documents as gather_documents,
    gather_evidence as gather_evidence,
)
from .formulas import (
    Chances as Chances,
    Effect as Effect,
    Linear as Linear,
    Structure as Structure,
    document_log_odds as document_log_odds,
    draw_priors as draw_priors,
)
from .priors import Prior as Prior, draw_prior as draw_prior, parse_prior as parse_prior
from .registry import (
    EVIDENCE_SLOPES as EVIDENCE_SLOPES,
    MODEL_NAMES as MODEL_NAMES,
    MODELS as MODELS,
    model_named as model_named,
    own_models as own_models,
)
from .spec import Evidence as Evidence, ModelSpec as ModelSpec
