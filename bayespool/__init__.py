"""Posterior intervals for the corrected scores of retrieval runs on incompletely judged test collections.

`lazy_loader` imports the public names of ``__init__.pyi`` on first use, so that ``bayespool --help`` is fast.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
