"""Fits of models, and diagnostics of their posterior draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.measures import Diagnostics
from bayespool.notes import Note

if TYPE_CHECKING:
    from bayespool.models import Evidence, ModelSpec


MAX_R_HAT = 1.01
MIN_ESS = 400.0


def diagnose(tree: Any, *, engine: str) -> Diagnostics:
    """Return R-hat, effective sample sizes and number of divergences for posterior draws.

    Vehtari et al. (2021), Bayesian Analysis 16(2).
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

    def worst(statistic: Any, choose: Any, **settings: Any) -> float:
        of_variables = statistic(varying, **settings) if varying.data_vars else varying
        values = np.concatenate([[np.nan], *(np.ravel(v) for v in of_variables.data_vars.values())])
        values = values[np.isfinite(values)]
        return float(choose(values)) if len(values) else float("nan")

    n_divergences = int(tree["sample_stats"]["diverging"].sum()) if "sample_stats" in tree.children else 0
    n_chains = posterior.sizes["chain"]
    r_hat = worst(arviz_stats.rhat, np.max) if n_chains > 1 else float("nan")
    ess_bulk = worst(arviz_stats.ess, np.min, method="bulk")
    ess_tail = worst(arviz_stats.ess, np.min, method="tail")
    problems = list[str]()
    if not all(np.isfinite(variable).all() for variable in posterior.data_vars.values()):
        problems.append("some draws are not finite")
    if not r_hat < MAX_R_HAT:  # NaN, too
        problems.append(
            Note("diagnostics", f"R-hat is {{:.3f}}, should be under {MAX_R_HAT}", r_hat)
            if n_chains > 1
            else "one chain has no R-hat"
        )
    for name, ess in (("bulk", ess_bulk), ("tail", ess_tail)):
        if not ess > MIN_ESS:
            text = f"{name} effective sample size is {{:.0f}}, should be over {MIN_ESS:.0f}"
            problems.append(Note("diagnostics", text, ess))
    if n_divergences:
        problems.append(Note("diagnostics", "{} divergent transitions", n_divergences))
    return Diagnostics(engine, r_hat, ess_bulk, ess_tail, n_divergences, tuple(problems))


@dataclass(frozen=True, eq=False)
class Source:
    """Inputs to a fit, from which prior and likelihood can be recomputed.

    Attributes
    ----------
    spec : ModelSpec
        With the priors used.
    evidence : LinearEvidence or ModelEvidence
    run_ids : tuple of str
        Names of the runs that the evidence numbers.
    known : tuple of int, or None
        Organizations whose effects on topics were requested; None for all.
    """

    spec: ModelSpec
    evidence: Evidence
    run_ids: tuple[str, ...]
    known: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Start:
    """End of a search for scales, from which the same engine makes the same fit again.

    Attributes
    ----------
    theta, spread : ndarray of float, shape (scale,)
        Log scales at their mode, and their standard deviations.
    x : ndarray of float, shape (parameter,)
        All other parameters near their mode there.
    interval_error : float
        As of `bayespool.inference.laplace.Approximation`; NaN until a fit has found it.
    variables : mapping of str to ndarray, optional
        Draws of that fit by variable, and the component of each, as ``point``.
    """

    theta: FloatArray
    spread: FloatArray
    x: FloatArray
    interval_error: float = float("nan")
    variables: Mapping[str, AnyArray] = field(default_factory=dict)

    @property
    def is_unchecked(self) -> bool:
        """Whether no fit has begun here yet."""
        return bool(np.isnan(self.interval_error))


@dataclass(frozen=True, eq=False)
class Fit:
    """Posterior draws of a model's variables.

    Attributes
    ----------
    variables : mapping of str to ndarray, shape (chain, draw, ...)
    dims : mapping of str to tuple of str
        Names of the axes after chain and draw.
    coords : mapping of str to tuple
        Values along them.
    sample_stats : mapping of str to ndarray, shape (chain, draw)
    diagnostics : Diagnostics
    source : Source or None
        Model and evidence; None where an engine was called without them.
    start : Start or None
        What a later fit to the same evidence may begin with; None for an engine without one.
    """

    variables: Mapping[str, FloatArray]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Any]
    sample_stats: Mapping[str, AnyArray]
    diagnostics: Diagnostics
    source: Source | None = None
    start: Start | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chains, and number of draws per chain."""
        n_chains, n_draws = next(iter(self.variables.values())).shape[:2]
        return n_chains, n_draws

    @property
    def drawn(self) -> Start | None:
        """Its start with the draws, from which the fit with this seed is made without drawing again."""
        variables = {**self.draws(), **{name: stat.ravel() for name, stat in self.sample_stats.items()}}
        return None if self.start is None else replace(self.start, variables=variables)

    def draws(self) -> dict[str, FloatArray]:
        """Return draws by variable, chains concatenated, each of shape (draw, ...)."""
        return {
            name: values.reshape(values.shape[0] * values.shape[1], *values.shape[2:])
            for name, values in self.variables.items()
        }

    @cached_property
    def posterior(self) -> Any:
        """Draws as an ``xarray.DataTree`` for ArviZ, with the groups ``posterior`` and ``sample_stats``."""
        import arviz_base

        groups = {"posterior": dict(self.variables)}
        if self.sample_stats:
            groups["sample_stats"] = dict(self.sample_stats)
        coords = {name: list(values) for name, values in self.coords.items()}
        return arviz_base.from_dict(groups, coords=coords, dims={n: list(d) for n, d in self.dims.items()})
