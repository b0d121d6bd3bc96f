"""Comparisons of runs: differences, ranks and probabilities over draws of completed judgments; significance
tests, separability, reversals; reliability of the whole comparison.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
