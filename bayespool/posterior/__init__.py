"""Posterior estimators: evidence → model → draws → completed judgments → `Estimates`."""

from bayespool.models import MODEL_NAMES
from bayespool.posterior.combination import log_predictive_densities, mix, stacking_weights
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
from bayespool.posterior.keywords import (
    CompareOptions,
    CompletionOptions,
    EngineOptions,
    ExperimentOptions,
    FoundOptions,
    ImputeOptions,
    JudgesOptions,
    PosteriorOptions,
    refuse_unknown_settings,
)
from bayespool.posterior.kinds import find_kinds, with_kinds
from bayespool.posterior.ladder import Rung, ladder_of, levels_of, rungs_of
from bayespool.posterior.mixtures import OF_KINDS, WITHOUT_POOL, fitted_step
from bayespool.posterior.preparation import (
    COMBINED,
    DEPTHS,
    Prepared,
    Task,
    evidence_depth,
    models_of,
    prior_names,
)
from bayespool.posterior.second_judges import judge_notes, judge_problems, warn_of_judges
from bayespool.posterior.steps import Component, Mixture, NewKind, Step
from bayespool.posterior.unknowns import Unknowns, find_unknowns

__all__ = [
    "COMBINED",
    "DEPTHS",
    "MODEL_NAMES",
    "OF_KINDS",
    "WITHOUT_POOL",
    "CompareOptions",
    "Completion",
    "CompletionOptions",
    "Component",
    "EngineOptions",
    "ExperimentOptions",
    "FoundOptions",
    "ImputeOptions",
    "JudgesOptions",
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
    "evidence_depth",
    "find_kinds",
    "find_unknowns",
    "fitted_step",
    "judge_notes",
    "judge_problems",
    "ladder_of",
    "levels_of",
    "log_predictive_densities",
    "mix",
    "models_of",
    "new_interaction",
    "new_organization_effect",
    "new_slope_effect",
    "new_slopes",
    "pool_distance",
    "prior_names",
    "refuse_unknown_settings",
    "rungs_of",
    "slope_effect",
    "stacking_weights",
    "warn_of_judges",
    "with_kinds",
]
