"""Evidence of the models: counts of judgments among ranked documents, and predictors of unjudged ones."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
