"""Posterior estimators: evidence → model → draws → completed judgments → `Estimates`."""

from bayespool.models import MODEL_NAMES
from bayespool.posterior.combination import log_predictive_densities, stacking_weights
from bayespool.posterior.completion import Completion
from bayespool.posterior.distance import PoolDistance, pool_distance
from bayespool.posterior.effects import (
    new_interaction,
    new_organization_effect,
    new_slope_effect,
    new_slopes,
    slope_effect,
)
from bayespool.posterior.estimator import PosteriorEstimator, complete
from bayespool.posterior.keywords import CompletionOptions, EngineOptions, PosteriorOptions
from bayespool.posterior.kinds import find_kinds
from bayespool.posterior.ladder import Rung
from bayespool.posterior.preparation import Prepared, Task
from bayespool.posterior.steps import Component, Mixture, NewKind, Step
from bayespool.posterior.unknowns import Unknowns, find_unknowns

__all__ = [
    "MODEL_NAMES",
    "Completion",
    "CompletionOptions",
    "Component",
    "EngineOptions",
    "Mixture",
    "NewKind",
    "PoolDistance",
    "PosteriorEstimator",
    "PosteriorOptions",
    "Prepared",
    "Rung",
    "Step",
    "Task",
    "Unknowns",
    "complete",
    "find_kinds",
    "find_unknowns",
    "log_predictive_densities",
    "new_interaction",
    "new_organization_effect",
    "new_slope_effect",
    "new_slopes",
    "pool_distance",
    "slope_effect",
    "stacking_weights",
]
