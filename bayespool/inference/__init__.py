"""Engines that draw from a posterior, and their diagnostics; the only user of samplers."""

from bayespool.inference.blocks import Rows
from bayespool.inference.cells import draw_effects, draw_effects_of_rows
from bayespool.inference.density import Density
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
from bayespool.inference.laplace import Laplace, approximate, one_thread
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
    "approximate",
    "diagnose",
    "draw_effects",
    "draw_effects_of_rows",
    "engine_named",
    "is_independent",
    "make_engine",
    "one_thread",
    "register_engine",
]
