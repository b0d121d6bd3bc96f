"""Evidence and the PyMC graphs of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode

from bayespool.collection import Collection
from bayespool.evidence import held_out_counts, judgment_counts
from bayespool.models import MODELS as SPECS, Prior, gather_evidence
from bayespool.models.evidence import ModelEvidence
from bayespool.models.graphs import build_graph

MODELS = ("background", "interpolated", "smoothed")
NO_LINKER: dict[str, Any] = {"mode": Mode("py", "merge")}
"""What is evaluated a few times is not worth a compiler, nor a rewritten graph."""


def evidence_of(collection: Collection, run_ids: Any, cutoff: int = 10, rel: int = 1) -> ModelEvidence:
    counts = judgment_counts(collection, run_ids, cutoffs=cutoff, rel=rel)
    return gather_evidence(held_out_counts(collection, cutoffs=cutoff, rel=rel), counts, cutoff)


def build(model: str, evidence: ModelEvidence, **priors: Prior) -> pm.Model:
    return build_graph(SPECS[model].with_priors(priors), evidence)


def free_points(graph: pm.Model) -> Callable[[Mapping[str, Any]], dict[str, np.ndarray]]:
    """Takes values of all sampled variables to the point in the space that the graph's density is a function
    of.
    """
    given = [pt.tensor(dtype="float64", shape=variable.type.shape) for variable in graph.free_RVs]
    free = []
    for variable, value in zip(graph.free_RVs, given, strict=True):
        transform = graph.rvs_to_transforms[variable]
        free.append(value if transform is None else transform.forward(value, *variable.owner.inputs))
    take = pytensor.function(given, free, **NO_LINKER)
    names = [graph.rvs_to_values[variable].name for variable in graph.free_RVs]

    def point_of(values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        found = take(*(np.asarray(values[v.name], dtype=np.float64) for v in graph.free_RVs))
        return dict(zip(names, found, strict=True))

    return point_of


def with_standard_effects(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, and of each effect what a graph samples in its stead where little is judged."""
    groups = [name.removesuffix("_effect") for name in values if name.endswith("_effect")]
    standard = {f"standard_{g}": values[f"{g}_effect"] / values[f"sigma_{g}"] for g in groups}
    return {**values, **standard, **{f"standard_sigma_{g}": values[f"sigma_{g}"] for g in groups}}


def log_odds_of(
    model: str, draws: Mapping[str, np.ndarray], run: np.ndarray, residual: np.ndarray
) -> np.ndarray:
    """Log odds of every run on every topic, shape (draw, run, topic)."""
    row, topic = (index.ravel() for index in np.indices(residual.shape))
    at = {"topic": topic, "run": run[row]}
    found = SPECS[model].log_odds(draws, at, residual=residual.ravel())
    return found.reshape(len(found), *residual.shape)
