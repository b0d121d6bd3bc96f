"""Settings of an engine that fits many models and keeps compiled code."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.inference import Engine, Fit
from bayespool.inference.engines import engine_named, is_independent, make_engine
from bayespool.models import Evidence
from bayespool.posterior import Prepared


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """Settings of the fits of a check, which never fall back to another engine; `draws` and `tune` are per
    chain, and independent engines make ``draws × chains`` draws.
    """

    engine: str = "laplace"
    draws: int = 500
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.9

    def __post_init__(self) -> None:
        engine_named(self.engine)
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
        """Fit a model to evidence, which may differ from the prepared one's, with `known` as in
        `ModelSpec.structure`; failed checks are in the diagnostics, without a warning.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)
            fit = self._engine.fit(prepared.spec, evidence, random_seed, known=known)
        return _shuffle(fit, random_seed) if self.independent else fit

    @property
    def independent(self) -> bool:
        """Whether draws are independent of each other."""
        return is_independent(self.engine)

    @cached_property
    def _engine(self) -> Engine:
        settings = {name: getattr(self, name) for name in ("draws", "tune", "chains", "target_accept")}
        return make_engine(self.engine, **settings)


def _shuffle(fit: Fit, random_seed: int) -> Fit:
    """The same independent draws in random order; the engine orders them by scale."""
    n_draws = next(iter(fit.variables.values())).shape[1]
    order = np.random.default_rng([random_seed, 2]).permutation(n_draws)
    return dataclasses.replace(
        fit,
        variables={name: values[:, order] for name, values in fit.variables.items()},
        sample_stats={name: values[:, order] for name, values in fit.sample_stats.items()},
    )
