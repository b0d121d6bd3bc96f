"""Fits: draws of a model's variables, with diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.measures import Diagnostics

if TYPE_CHECKING:
    from bayespool.models import Evidence, ModelSpec


@dataclass(frozen=True, eq=False)
class Source:
    """Inputs of a fit, from which priors and likelihood can be computed.

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
    """

    variables: Mapping[str, npt.NDArray[np.float64]]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Any]
    sample_stats: Mapping[str, npt.NDArray[Any]]
    diagnostics: Diagnostics
    source: Source | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of chains, and of draws per chain."""
        n_chains, n_draws = next(iter(self.variables.values())).shape[:2]
        return n_chains, n_draws

    def draws(self) -> dict[str, npt.NDArray[np.float64]]:
        """Draws by variable, one chain after the other, shape (draw, ...)."""
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
