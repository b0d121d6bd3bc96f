"""Engines that draw from posteriors, and their diagnostics."""

from bayespool.inference.density import Density, Rows
from bayespool.inference.engines import ENGINES, Engine, register_engine
from bayespool.inference.fit import Fit, Source
from bayespool.inference.laplace import Laplace
from bayespool.inference.nuts import NUTS, CompiledModel

__all__ = [
    "ENGINES",
    "NUTS",
    "CompiledModel",
    "Density",
    "Engine",
    "Fit",
    "Laplace",
    "Rows",
    "Source",
    "register_engine",
]
