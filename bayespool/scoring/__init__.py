"""Score runs by many estimators at once, complete their judgments, and choose what to judge next."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
