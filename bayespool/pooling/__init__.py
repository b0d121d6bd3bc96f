"""Pooling strategies: which documents of the contributing runs are judged."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# strategies are registered by their import, in the order of tables
from bayespool.pooling import by_rank, sampling, bandits, fusion, rank_biased  # noqa: E402, F401, I001
