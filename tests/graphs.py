"""Evidence and the PyMC graphs of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayespool.collection import Collection
from bayespool.counts import held_out_counts, judgment_counts
from bayespool.models import MODELS as SPECS
from bayespool.models import ModelEvidence, Prior, gather_evidence

MODELS = ("background", "interpolated", "smoothed")
NO_LINKER: dict[str, Any] = {"mode": "FAST_COMPILE"}  # what is evaluated once is not worth a compiler


def evidence_of(collection: Collection, run_ids: Any, cutoff: int = 10, rel: int = 1) -> ModelEvidence:
    counts = judgment_counts(collection, run_ids, cutoffs=cutoff, rel=rel)
    return gather_evidence(held_out_counts(collection, cutoffs=cutoff, rel=rel), counts, cutoff)


def build(model: str, evidence: ModelEvidence, **priors: Prior) -> pm.Model:
    return SPECS[model].with_priors(priors).graph(evidence)


def unconstrained(variable: Any, transform: Any, value: np.ndarray) -> np.ndarray:
    """A value of a variable in the space that the graph's density is a function of."""
    free = transform.forward(pt.as_tensor(value), *variable.owner.inputs)
    return np.asarray(free.eval(**NO_LINKER))


def log_odds_of(
    model: str, draws: Mapping[str, np.ndarray], run: np.ndarray, residual: np.ndarray
) -> np.ndarray:
    """Log odds of every run on every topic, shape (draw, run, topic)."""
    row, topic = (index.ravel() for index in np.indices(residual.shape))
    at = {"topic": topic, "run": run[row]}
    found = SPECS[model].log_odds(draws, at, residual=residual.ravel())
    return found.reshape(len(found), *residual.shape)
