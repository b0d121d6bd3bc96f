"""Convergence diagnostics of sampled draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayespool.measures import Diagnostics

MAX_R_HAT = 1.01
MIN_ESS = 400.0


def diagnose(tree: Any, *, engine: str) -> Diagnostics:
    """R-hat, effective sample sizes and divergences of a posterior (Vehtari et al. 2021, Bayesian Analysis
    16(2), 667–718); a single chain has no R-hat (NaN), which is a problem.
    """
    import arviz_stats

    posterior = tree["posterior"].to_dataset()
    varying = posterior[
        [
            name
            for name, variable in posterior.data_vars.items()
            if variable.size and (variable != variable.to_numpy().flat[0]).any()
        ]
    ]

    def worst(statistic: Any, choose: Any) -> float:
        parts = [np.asarray(v).ravel() for v in statistic.data_vars.values()]
        values = np.concatenate(parts) if parts else np.array([np.nan])
        values = values[np.isfinite(values)]
        return float(choose(values)) if len(values) else float("nan")

    def of_all(statistic: Any, **settings: Any) -> Any:
        return statistic(varying, **settings) if varying.data_vars else varying

    n_divergences = int(tree["sample_stats"]["diverging"].sum()) if "sample_stats" in tree.children else 0
    n_chains = posterior.sizes["chain"]
    r_hat = worst(of_all(arviz_stats.rhat), np.max) if n_chains > 1 else float("nan")
    ess_bulk = worst(of_all(arviz_stats.ess, method="bulk"), np.min)
    ess_tail = worst(of_all(arviz_stats.ess, method="tail"), np.min)
    problems = []
    if not all(np.isfinite(variable).all() for variable in posterior.data_vars.values()):
        problems.append("some draws are not finite")
    if not r_hat < MAX_R_HAT:
        problems.append(
            f"R-hat is {r_hat:.3f}, should be under {MAX_R_HAT}" if n_chains > 1 else "one chain has no R-hat"
        )
    for name, ess in (("bulk", ess_bulk), ("tail", ess_tail)):
        if not ess > MIN_ESS:
            problems.append(f"{name} effective sample size is {ess:.0f}, should be over {MIN_ESS:.0f}")
    if n_divergences:
        problems.append(f"{n_divergences} divergent transitions")
    return Diagnostics(engine, r_hat, ess_bulk, ess_tail, n_divergences, tuple(problems))
