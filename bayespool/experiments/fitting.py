"""One engine for many fits, which keeps what it compiles."""

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
    """Settings of the fits of a check; a check of an engine never falls back to the other.

    Parameters
    ----------
    engine : str
        Out of `bayespool.inference.ENGINES`.
    draws, chains : int
        Draws per chain, and chains; the Laplace engine makes ``draws × chains`` independent ones.
    tune : int
        Tuning draws per chain of NUTS.
    target_accept : float
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
        """The fit of a model to evidence that may be other than the prepared one's; ``known`` as of
        `ModelSpec.structure`.

        A fit that fails its checks says so in its diagnostics; there is no warning.
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
    """The same independent draws in no order: the engine makes them scale by scale."""
    n_draws = next(iter(fit.variables.values())).shape[1]
    order = np.random.default_rng([random_seed, 2]).permutation(n_draws)
    return dataclasses.replace(
        fit,
        variables={name: values[:, order] for name, values in fit.variables.items()},
        sample_stats={name: values[:, order] for name, values in fit.sample_stats.items()},
    )
