"""Posterior estimators: build → sample → impute unjudged documents → `Estimates`."""

from bayespool.posterior.combination import log_predictive_densities, mix, stacking_weights
from bayespool.posterior.estimator import WITHOUT_POOL, PosteriorEstimator
from bayespool.posterior.imputation import impute, new_organization_effect
from bayespool.posterior.interaction import cell_of_document, interaction_scale, with_interaction
from bayespool.posterior.preparation import MODEL_NAMES, ModelName, Prepared, Task, prior_names

__all__ = [
    "MODEL_NAMES",
    "WITHOUT_POOL",
    "ModelName",
    "PosteriorEstimator",
    "Prepared",
    "Task",
    "cell_of_document",
    "impute",
    "interaction_scale",
    "log_predictive_densities",
    "mix",
    "new_organization_effect",
    "prior_names",
    "stacking_weights",
    "with_interaction",
]
