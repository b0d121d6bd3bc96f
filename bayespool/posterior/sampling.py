"""Fits with the settings of an estimator: by the fast engine, or by the sampler in its place."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bayespool.errors import DiagnosticsWarning
from bayespool.posterior.ladder import Rung
from bayespool.posterior.preparation import Prepared

if TYPE_CHECKING:
    from bayespool.inference import CompiledModel, Fit

__all__ = ["Sampler", "SamplingSettings"]


class SamplingSettings(Protocol):
    """What an estimator says of how to sample."""

    @property
    def engine(self) -> str:
        """Name of the engine."""

    @property
    def draws(self) -> int:
        """Draws per chain."""

    @property
    def tune(self) -> int:
        """Tuning draws per chain."""

    @property
    def chains(self) -> int:
        """Chains."""

    @property
    def target_accept(self) -> float:
        """Of the sampler."""

    @property
    def progress(self) -> bool:
        """Whether to show the sampler's progress."""


class Sampler:
    """An engine with the models it has compiled, kept from measure to measure."""

    def __init__(self, settings: SamplingSettings) -> None:
        self._settings = settings
        self._compiled: dict[tuple[str, Rung], CompiledModel] = {}

    def sample(self, prepared: Prepared, rung: Rung, random_seed: int) -> Fit:
        """A fit of a model to its evidence; the sampler takes over with a warning where a check of the fast
        engine fails.
        """
        from bayespool.inference import NUTS, Laplace

        s, evidence = self._settings, prepared.evidence
        if s.engine == "laplace":
            engine = Laplace(draws=s.draws * s.chains)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticsWarning)  # the warning below says more
                try:
                    fit = engine.fit(prepared.structure(), evidence.coords, random_seed=random_seed)
                    problems = fit.diagnostics.problems
                except np.linalg.LinAlgError:
                    problems = ("a curvature is not positive",)
            if not problems:
                return fit
            warnings.warn(
                f"{prepared.model}: {'; '.join(problems)}; sampling with nuts instead",
                DiagnosticsWarning,
                stacklevel=2,
            )
        if (prepared.model, rung) not in self._compiled:
            sampler = NUTS(draws=s.draws, tune=s.tune, chains=s.chains, target_accept=s.target_accept)
            self._compiled[prepared.model, rung] = sampler.compile(prepared.graph())
        return self._compiled[prepared.model, rung].sample(
            random_seed=random_seed, data=evidence.arrays(), progress=s.progress
        )
