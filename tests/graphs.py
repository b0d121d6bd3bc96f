"""Evidence and the PyMC graphs of it."""

from __future__ import annotations

from typing import Any

import pymc as pm

from bayespool import models
from bayespool.collection import Collection
from bayespool.counts import held_out_counts, judgment_counts
from bayespool.models import ModelEvidence, Prior, gather_evidence

MODELS = ("background", "interpolated", "smoothed")
NO_LINKER: dict[str, Any] = {"mode": "FAST_COMPILE"}  # what is evaluated once is not worth a compiler


def evidence_of(collection: Collection, run_ids: Any, cutoff: int = 10, rel: int = 1) -> ModelEvidence:
    counts = judgment_counts(collection, run_ids, cutoffs=cutoff, rel=rel)
    return gather_evidence(held_out_counts(collection, cutoffs=cutoff, rel=rel), counts, cutoff)


def build(model: str, evidence: ModelEvidence, **priors: Prior) -> pm.Model:
    graph: pm.Model = getattr(models, model)(evidence, **priors)
    return graph
