"""Audits: judgments drawn with known probabilities, and intervals that are valid under any model."""

import lazy_loader

from bayespool.errors import renamed_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = renamed_names(__name__, {"LeaderAudit": "Audit"}, __getattr__)
