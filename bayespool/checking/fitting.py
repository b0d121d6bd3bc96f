"""One engine for many fits: what NUTS compiles is kept for models of the same form and size."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.models import Evidence
from bayespool.posterior import Prepared

if TYPE_CHECKING:
    from bayespool.inference import CompiledModel, Fit

__all__ = ["EngineName", "Fitting"]

EngineName = Literal["laplace", "nuts"]


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Settings of the fits of a check; a check of an engine never falls back to the other.

    Parameters
    ----------
    engine : {"laplace", "nuts"}
    draws, chains : int
        Draws per chain, and chains; the Laplace engine makes ``draws × chains`` independent ones.
    tune : int
        Tuning draws per chain of NUTS.
    target_accept : float
    """

    engine: EngineName = "laplace"
    draws: int = 500
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.9
    _compiled: dict[Any, CompiledModel] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.engine not in ("laplace", "nuts"):
            raise InputError(f"no engine {self.engine!r}", hint="known: laplace, nuts")
        for name in ("draws", "tune", "chains"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1 and is {getattr(self, name)}")

    def fit(
        self,
        prepared: Prepared,
        evidence: Evidence,
        random_seed: int,
        known: Sequence[int] | None = None,
    ) -> Fit:
        """The fit of a model to evidence that may be other than the prepared one's; ``known`` as of
        `ModelSpec.structure`.

        A fit that fails its checks says so in its diagnostics; there is no warning.
        """
        from bayespool.inference import NUTS, Laplace

        model = dataclasses.replace(prepared, evidence=evidence)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)
            if self.engine == "laplace":
                laplace = Laplace(draws=self.draws * self.chains)
                fit = laplace.fit(model.structure(known=known), evidence.coords, random_seed=random_seed)
                return _shuffle(fit, random_seed)
            graph = model.graph()
            sizes = tuple((dim, len(values)) for dim, values in evidence.coords.items())
            key = (prepared.model, graph.str_repr(), sizes)
            if key not in self._compiled:
                sampler = NUTS(
                    draws=self.draws, tune=self.tune, chains=self.chains, target_accept=self.target_accept
                )
                self._compiled[key] = sampler.compile(graph)
            fit = self._compiled[key].sample(random_seed=random_seed, data=evidence.arrays())
        return dataclasses.replace(fit, coords=dict(evidence.coords))


def _shuffle(fit: Fit, random_seed: int) -> Fit:
    """The same independent draws in no order: the engine makes them scale by scale."""
    n_draws = next(iter(fit.variables.values())).shape[1]
    order = np.random.default_rng([random_seed, 2]).permutation(n_draws)
    return dataclasses.replace(
        fit,
        variables={name: values[:, order] for name, values in fit.variables.items()},
        sample_stats={name: values[:, order] for name, values in fit.sample_stats.items()},
    )
