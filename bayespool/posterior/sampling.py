"""Fits with the settings of an estimator: by the fast engine, or by the sampler in its place."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING

import numpy as np

from bayespool.errors import DiagnosticsWarning
from bayespool.posterior.ladder import Rung
from bayespool.posterior.preparation import Prepared

if TYPE_CHECKING:
    from bayespool.inference import CompiledModel, Fit
    from bayespool.posterior.estimator import PosteriorEstimator

__all__ = ["Sampler"]


class Sampler:
    """An engine with the models it has compiled, kept from measure to measure."""

    def __init__(self, settings: PosteriorEstimator) -> None:
        self._settings = settings
        self._compiled: dict[tuple[str, Rung], CompiledModel] = {}

    def sample(self, prepared: Prepared, rung: Rung, random_seed: int) -> Fit:
        """A fit of a model to its evidence that says so; the sampler takes over with a warning where a check
        of the fast engine fails.
        """
        from bayespool.inference import Source

        source = Source(prepared.spec, prepared.evidence, prepared.run_ids, prepared.known)
        return dataclasses.replace(self._sample(prepared, rung, random_seed), source=source)

    def _sample(self, prepared: Prepared, rung: Rung, random_seed: int) -> Fit:
        from bayespool.inference import NUTS, Laplace

        s, evidence = self._settings, prepared.evidence
        if s.engine == "laplace":
            engine = Laplace(draws=s.draws * s.chains)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticsWarning)  # the warning below says more
                try:
                    structure = prepared.structure(known=prepared.known)
                    fit = engine.fit(structure, evidence.coords, random_seed=random_seed)
                    problems = fit.diagnostics.problems
                except np.linalg.LinAlgError:
                    problems = ("a curvature is not positive",)
            if not problems:
                return fit
            warnings.warn(
                f"{prepared.model}: {'; '.join(problems)}; sampling with nuts instead",
                DiagnosticsWarning,
                stacklevel=3,
            )
        if (prepared.model, rung) not in self._compiled:
            sampler = NUTS(draws=s.draws, tune=s.tune, chains=s.chains, target_accept=s.target_accept)
            self._compiled[prepared.model, rung] = sampler.compile(prepared.graph())
        return self._compiled[prepared.model, rung].sample(
            random_seed=random_seed, data=evidence.arrays(), progress=s.progress
        )
