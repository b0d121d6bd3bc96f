"""Engines that draw from a posterior, and their diagnostics; the only user of samplers."""

from bayespool.inference.diagnostics import diagnose
from bayespool.inference.engines import (
    ENGINES,
    Engine,
    engine_named,
    is_independent,
    make_engine,
    register_engine,
)
from bayespool.inference.fit import Fit, Source
from bayespool.inference.laplace import Laplace
from bayespool.inference.nuts import NUTS, CompiledModel

__all__ = [
    "ENGINES",
    "NUTS",
    "CompiledModel",
    "Engine",
    "Fit",
    "Laplace",
    "Source",
    "diagnose",
    "engine_named",
    "is_independent",
    "make_engine",
    "register_engine",
]
