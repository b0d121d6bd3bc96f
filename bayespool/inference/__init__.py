"""Engines that draw from posterior distributions, and diagnostics of the draws."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
