"""Evaluation measures in the notation of ir_measures, one file per family."""

import importlib
import pkgutil

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")  # which registers its families
