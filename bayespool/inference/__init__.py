"""Engines that draw from a posterior, and their diagnostics; the only user of samplers."""

from bayespool.inference.diagnostics import diagnose
from bayespool.inference.fit import Fit, Source
from bayespool.inference.laplace import Laplace
from bayespool.inference.nuts import NUTS, CompiledModel

__all__ = ["NUTS", "CompiledModel", "Fit", "Laplace", "Source", "diagnose"]
