"""Engines that draw from a posterior, and their diagnostics; the only user of samplers."""

from bayespool.inference.cells import draw_effects
from bayespool.inference.density import Density, Rows
from bayespool.inference.diagnostics import diagnose
from bayespool.inference.fit import Fit, Source
from bayespool.inference.laplace import Laplace, approximate, one_thread
from bayespool.inference.nuts import NUTS, CompiledModel

__all__ = [
    "NUTS",
    "CompiledModel",
    "Density",
    "Fit",
    "Laplace",
    "Rows",
    "Source",
    "approximate",
    "diagnose",
    "draw_effects",
    "one_thread",
]
