"""Evaluation measures in the notation of ir_measures, one file per family."""

import importlib

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

for _module in ("average_precision", "gain", "precision", "rank_biased"):
    importlib.import_module(f"{__name__}.{_module}")  # which registers its families
