"""Posterior intervals for the corrected scores of retrieval runs on incompletely judged test collections.

Public names are imported when they are first used, so that ``import bayespool`` and ``bayespool --help`` are
instant. They are listed in ``__init__.pyi``.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
