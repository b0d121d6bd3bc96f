"""Parts of PyMC graphs: group effects and the binomial likelihood, parametrized for the sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayespool.models.priors import Prior


def group_effect(name: str, scale: Prior, dims: str, *, centered: bool) -> Any:
    """Effects of a grouping factor, ``name_effect`` with dims ``(dims,)``, and their scale ``sigma_name``;
    effects of topics, runs and organizations sum to zero.
    """
    # Effects that sum to zero make the intercept the mean over these groups, and sample tens of times better
    # than effects that compete with it. A group outside the data has the effect N(0, σ·√(1 + 1/J)), J groups.
    # Centered effects sample better where each group has much data, standardized ones where it has little.
    sigma = scale.variable(f"sigma_{name}")
    n_groups = len(pm.modelcontext(None).coords[dims])
    if dims in ("organization_topic", "organization_predictor"):
        standard = pm.Normal(f"standard_{name}", dims=dims)
        return pm.Deterministic(f"{name}_effect", sigma * standard, dims=dims)
    if n_groups < 2:  # the effect of a single group is the intercept's
        return pm.Deterministic(f"{name}_effect", pt.zeros(n_groups), dims=dims)
    if centered:
        return pm.ZeroSumNormal(f"{name}_effect", sigma=sigma, dims=dims)
    standard = pm.ZeroSumNormal(f"standard_{name}", dims=dims)
    return pm.Deterministic(f"{name}_effect", sigma * standard, dims=dims)


def log_odds(p: Any) -> Any:
    """log(p / (1 − p))."""
    return pt.log(p) - pt.log1p(-p)


def binomial(name: str, logit_p: Any, n: Any, observed: Any) -> None:
    """Observed counts k ~ Binomial(n, p) given logit p, up to the binomial coefficient: k·η − n·softplus(η),
    at a quarter of the cost of ``pm.Binomial``.
    """

    def logp(value: Any, eta: Any, trials: Any) -> Any:
        return value * eta - trials * pt.softplus(eta)

    def random(eta: Any, trials: Any, rng: np.random.Generator | None = None, size: Any = None) -> Any:
        rng = np.random.default_rng() if rng is None else rng
        return rng.binomial(np.asarray(trials, dtype=np.int64), 1 / (1 + np.exp(-np.asarray(eta))), size=size)

    pm.CustomDist(name, logit_p, n, logp=logp, random=random, observed=observed, dtype="int64")
