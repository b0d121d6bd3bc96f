"""The reference engine: the no-U-turn sampler of nutpie on the PyMC graph, compiled once and refitted with
new data.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pymc as pm

from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.estimates import Diagnostics
from bayespool.inference.diagnostics import diagnose

__all__ = ["NUTS", "CompiledModel", "Fit"]


@dataclass(frozen=True, eq=False)
class Fit:
    """Posterior draws of a model's variables and whether they can be trusted.

    Attributes
    ----------
    posterior : xarray.DataTree
        Groups ``posterior`` and ``sample_stats`` with dims ``chain`` and ``draw`` and the model's coords,
        which ArviZ reads.
    diagnostics : Diagnostics
    """

    posterior: Any
    diagnostics: Diagnostics

    def draws(self) -> dict[str, npt.NDArray[np.float64]]:
        """Draws by variable with the chains one after the other, shape (draw, …)."""
        dataset = self.posterior["posterior"].to_dataset()
        return {
            str(name): variable.to_numpy().reshape(-1, *variable.shape[2:])
            for name, variable in dataset.data_vars.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NUTS:
    """Settings of the sampler.

    Parameters
    ----------
    draws, tune, chains : int
        Draws kept per chain, draws for tuning, chains; PyMC's words.
    target_accept : float in (0, 1)
        Higher means smaller steps and fewer divergences.
    cores : int
        Chains run at the same time. The draws do not depend on it.
    """

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.9
    cores: int = 2

    def __post_init__(self) -> None:
        if min(self.draws, self.tune, self.cores) < 1 or self.chains < 1 or not 0 < self.target_accept < 1:
            raise InputError(
                f"draws, tune, chains and cores must be at least 1 and target_accept between 0 and 1: {self}"
            )

    def compile(self, model: pm.Model) -> CompiledModel:
        """The model ready to be sampled, and sampled again with other data of the same coordinates."""
        import nutpie

        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # pytensor's and numba's notes on how they compile are not for our users
            return CompiledModel(self, nutpie.compile_pymc_model(model))


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """A model compiled by `NUTS.compile`."""

    settings: NUTS
    compiled: Any

    def sample(
        self, *, random_seed: int, data: Mapping[str, npt.NDArray[Any]] | None = None, progress: bool = False
    ) -> Fit:
        """Posterior draws.

        Parameters
        ----------
        random_seed : int
            The same seed, data and settings give the same bytes.
        data : mapping of str to ndarray, optional
            New values for the model's ``pm.Data``; the number of observations may differ, the coordinates may
            not.
        progress : bool, default False
            Show nutpie's progress display.

        Returns
        -------
        Fit

        Warns
        -----
        DiagnosticsWarning
            A check of the draws failed; the fit's diagnostics say which.
        """
        import arviz_base
        import nutpie
        import xarray as xr

        compiled, used = self.compiled, self.compiled.shared_data
        if data is not None:
            compiled = compiled.with_data(**{name: values for name, values in data.items() if name in used})
        s = self.settings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace = nutpie.sample(
                compiled,
                draws=s.draws,
                tune=s.tune,
                chains=s.chains,
                cores=min(s.cores, s.chains),
                seed=random_seed,
                target_accept=s.target_accept,
                save_warmup=False,
                progress_bar=progress,
            )
            tree = trace if isinstance(trace, xr.DataTree) else arviz_base.convert_to_datatree(trace)
            tree = _of_interest(tree)
        diagnostics = diagnose(tree, engine="nuts")
        if not diagnostics.passed:
            warnings.warn("; ".join(diagnostics.problems), DiagnosticsWarning, stacklevel=2)
        return Fit(tree, diagnostics)


def _of_interest(tree: Any) -> Any:
    """The groups ``posterior`` and ``sample_stats`` without the sampler's own coordinates (``…__``,
    ``standard_…``).
    """
    import xarray as xr

    posterior = tree["posterior"].to_dataset()
    own = [
        name for name in posterior.data_vars if str(name).endswith("__") or str(name).startswith("standard_")
    ]
    posterior = posterior.drop_vars(own)
    posterior = posterior.drop_dims([dim for dim in posterior.dims if str(dim) not in _dims_of(posterior)])
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": tree["sample_stats"].to_dataset()})


def _dims_of(dataset: Any) -> set[str]:
    return {str(dim) for variable in dataset.data_vars.values() for dim in variable.dims}
