"""Hierarchical models: their declarations, evidence and priors, and what engines derive from them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
