"""NUTS engine: nutpie's no-U-turn sampler for PyMC models, compiled once and reused for new data."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from bayespool.arrays import AnyArray
from bayespool.errors import DiagnosticsWarning, InputError, warn_caller
from bayespool.inference.fit import Fit, diagnose
from bayespool.notes import joined
from bayespool.validation import check_sampling

if TYPE_CHECKING:
    import pymc as pm

    from bayespool.models import Evidence, ModelSpec

# Many effects turn a trajectory around long before their scale has moved far. With at least 31 steps, instead
# of 15, there are twice as many effective draws.
_MIN_DEPTH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NUTS:
    """Settings for the no-U-turn sampler, with a cache for compiled models.

    Parameters
    ----------
    draws, tune, chains : int
        Draws kept per chain, draws for tuning, chains; PyMC's words.
    target_accept : float in (0, 1)
        Higher means smaller steps and fewer divergences.
    cores : int
        Chains run at the same time. The draws do not depend on it.
    progress : bool
        Show nutpie's progress display.
    """

    name: ClassVar[str] = "nuts"
    citations: ClassVar[tuple[str, ...]] = ("hoffman-gelman-2014", "abril-pla-etal-2023")

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.95
    cores: int = 2
    progress: bool = field(default=False, compare=False)
    _compiled: dict[Any, CompiledModel] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_sampling(self)

    def fit(
        self, spec: ModelSpec, evidence: Evidence, random_seed: int, *, known: Sequence[int] | None = None
    ) -> Fit:
        """Draw from a model's posterior with nutpie."""
        from bayespool.models.graphs import build_graph  # imports PyMC

        graph, coords = build_graph(spec, evidence), evidence.coords
        key = repr(spec), graph.str_repr(), tuple((dim, len(values)) for dim, values in coords.items())
        if key not in self._compiled:
            self._compiled[key] = self.compile(graph)
        kept = {
            group.dim: group.kept
            for group in spec.structure(evidence, known).groups.values()
            if group.kept is not None
        }
        fit = self._compiled[key].sample(
            random_seed=random_seed, data=evidence.arrays(), kept=kept, called=spec.name
        )
        coords |= {dim: tuple(coords[dim][i] for i in index) for dim, index in kept.items()}
        return dataclasses.replace(fit, coords=coords)

    def compile(self, model: pm.Model) -> CompiledModel:
        """Return the compiled PyMC model, which can be sampled with other data on the same coordinates."""
        import nutpie

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notes of pytensor and numba on compilation
            return CompiledModel(self, nutpie.compile_pymc_model(model))


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """PyMC model compiled by `NUTS.compile`, ready to sample."""

    settings: NUTS
    compiled: Any

    def sample(
        self,
        *,
        random_seed: int,
        data: Mapping[str, AnyArray] | None = None,
        kept: Mapping[str, AnyArray] | None = None,
        called: str | None = None,
    ) -> Fit:
        """Return posterior draws as a `Fit`.

        Parameters
        ----------
        random_seed : int
            The same seed, data and settings give the same bytes.
        data : mapping of str to ndarray, optional
            New values for all of the model's ``pm.Data``; the number of observations may differ, the
            coordinates may not.
        kept : mapping of str to ndarray of int, optional
            Positions along a coordinate to keep; default: all.
        called : str, optional
            Name of the model, for the warning.

        Raises
        ------
        InputError
            The sampler finds no starting point with a density: a prior does not fit its variable.

        Warns
        -----
        DiagnosticsWarning
            A check of the draws failed; see the fit's diagnostics.
        """
        import arviz_base
        import nutpie
        import xarray as xr

        compiled = self.compiled
        if data is not None:
            names = compiled.shared_data
            if hasattr(compiled, "shared_var_keys"):  # nutpie 0.16.11, whose shared_data goes by other keys
                names = [variable.name for variable in compiled.shared_var_keys]
            compiled = compiled.with_data(**{name: data[name] for name in names})
        s = self.settings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = nutpie.sample(
                compiled,
                draws=s.draws,
                tune=s.tune,
                chains=s.chains,
                cores=min(s.cores, s.chains),
                seed=random_seed,
                target_accept=s.target_accept,
                mindepth=_MIN_DEPTH,
                save_warmup=False,
                progress_bar=s.progress,
                blocking=False,  # blocking, it would return after Ctrl-C with the draws made so far
            )
            try:
                trace = sampler.wait()
            except BaseException as error:
                sampler.cancel()
                if isinstance(error, RuntimeError) and "initialization points" in str(error):
                    raise InputError(
                        "the sampler finds no point where the model has a density",
                        hint="do the priors fit their variables?",
                    ) from error
                raise
            tree = trace if isinstance(trace, xr.DataTree) else arviz_base.convert_to_datatree(trace)
            own = [
                name
                for name in tree["posterior"].data_vars
                if str(name).endswith("__") or str(name).startswith("standard_")
            ]
            draws = tree["posterior"].to_dataset().drop_vars(own).isel(dict(kept or {}))
            empty = [dim for dim, index in (kept or {}).items() if not len(index)]
            tree["posterior"] = xr.DataTree(draws.drop_dims(empty))
        diagnostics = diagnose(tree, engine=s.name)
        if not diagnostics.passed:
            texts = *diagnostics.problems, "more draws or tuning (draws, tune) may help"
            message = joined("diagnostics", "; ", texts)
            warn_caller(message.of(called) if called else message, DiagnosticsWarning)
        posterior = tree["posterior"].to_dataset()
        dims = {str(name): tuple(map(str, v.dims[2:])) for name, v in posterior.data_vars.items()}
        used = {dim for axes in dims.values() for dim in axes}
        stats = tree["sample_stats"].to_dataset().data_vars
        return Fit(
            variables={name: posterior[name].to_numpy() for name in dims},
            dims=dims,
            coords={str(d): posterior.coords[d].to_numpy() for d in posterior.dims if str(d) in used},
            sample_stats={str(n): v.to_numpy() for n, v in stats.items() if v.ndim == 2},
            diagnostics=diagnostics,
        )
