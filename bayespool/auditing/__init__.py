"""Audits: judgments drawn with known probabilities, and intervals that hold whatever a model believes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
