"""Experiments with a known truth: conceal judgments, estimate, and compare with what was concealed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
