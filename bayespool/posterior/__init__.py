"""Posterior estimators: evidence → model → draws → completed judgments → `Estimates`."""

from bayespool.models import MODEL_NAMES
from bayespool.posterior.completion import Completion
from bayespool.posterior.containers import block_log_odds, fit_container
from bayespool.posterior.distance import (
    PoolDistance,
    distance_from_pool,
    find_kinds,
    new_interaction,
    new_organization_effect,
    new_slope_effect,
    new_slopes,
    slope_effect,
    with_kinds,
)
from bayespool.posterior.estimator import CompletionSettings, PosteriorEstimator, complete
from bayespool.posterior.fitting import fit_prepared
from bayespool.posterior.mixtures import (
    FittedModel,
    Mixture,
    NewKind,
    RungPosterior,
    held_out_totals,
    stacking_weights,
)
from bayespool.posterior.preparation import PreparedModel, ScoringProblem
from bayespool.posterior.selection import find_selection
from bayespool.posterior.thresholds import Rung
from bayespool.posterior.unknowns import Unknowns, find_unknowns

__all__ = [
    "MODEL_NAMES",
    "Completion",
    "CompletionSettings",
    "FittedModel",
    "Mixture",
    "NewKind",
    "PoolDistance",
    "PosteriorEstimator",
    "PreparedModel",
    "Rung",
    "RungPosterior",
    "ScoringProblem",
    "Unknowns",
    "block_log_odds",
    "complete",
    "distance_from_pool",
    "find_kinds",
    "find_selection",
    "find_unknowns",
    "fit_container",
    "fit_prepared",
    "held_out_totals",
    "new_interaction",
    "new_organization_effect",
    "new_slope_effect",
    "new_slopes",
    "slope_effect",
    "stacking_weights",
    "with_kinds",
]
