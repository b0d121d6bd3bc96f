"""Evaluation measures in the notation of ir_measures, one file per family."""

import importlib

import lazy_loader

from bayespool.errors import renamed_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = renamed_names(
    __name__,
    {"passed_over": "overtaken_runs", "population_of": "estimate_population"},
    __getattr__,
)

for _module in ("average_precision", "gain", "precision", "rank_biased"):
    importlib.import_module(f"{__name__}.{_module}")  # which registers its families
