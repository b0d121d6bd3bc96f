"""Score runs by many estimators at once, complete their judgments, and choose what to judge next."""

import lazy_loader

from bayespool.errors import renamed_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = renamed_names(__name__, {"Afterwards": "JudgingEffect"}, __getattr__)
