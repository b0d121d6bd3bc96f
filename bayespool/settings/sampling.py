"""Options of posterior estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bayespool.inference import ENGINES
from bayespool.options import Option, Settings, option

__all__ = ["SamplingSettings"]


@dataclass(frozen=True, kw_only=True)
class SamplingSettings(Settings):
    """Settings of posterior estimators that functions pass on to those that are named, and that every command
    with estimators has.
    """

    priors: tuple[tuple[str, str], ...] | None = option(
        None,
        Option(
            help="Replace a prior: mu=Normal(-2,1); the model pages name them; may be repeated.",
            many="repeated",
            typed="mapping of str to str",
            flag="--prior",
        ),
    )
    engine: str = option(
        "laplace",
        Option(help="Fast approximation, or the reference sampler.", of=Literal[tuple(ENGINES)]),
    )
    draws: int = option(
        1000,
        Option(help="Posterior draws per chain; laplace draws that many times the chains.", of=int, least=1),
    )
    tune: int = option(1000, Option(help="Tuning draws per chain.", of=int, least=1))
    chains: int = option(4, Option(help="Chains.", of=int, least=1))
