"""Evidence for the models: judged and hidden documents in rankings, and predictors of relevance."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
