"""Engines that draw from a posterior, and their diagnostics; the only user of ArviZ and of samplers."""

from bayespool.inference.diagnostics import diagnose
from bayespool.inference.nuts import NUTS, CompiledModel, Fit

__all__ = ["NUTS", "CompiledModel", "Fit", "diagnose"]
