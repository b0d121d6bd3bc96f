"""Pooling strategies, which choose the documents to judge from the contributing runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# strategies are registered by their import
from bayespool.pooling import fusion, sampling, bandits, rank_biased  # noqa: E402, F401, I001
from bayespool import names  # noqa: E402
from bayespool.pooling.registry import STRATEGIES  # noqa: E402

for _name in names.STRATEGIES:
    STRATEGIES[_name] = STRATEGIES.pop(_name)  # to their order
