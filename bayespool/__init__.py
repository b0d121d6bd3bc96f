"""Posterior intervals for the corrected scores of retrieval runs on incompletely judged test collections.

`lazy_loader` imports the public names of ``__init__.pyi`` on first use, so that ``bayespool --help`` is fast.
"""

from importlib import import_module
from typing import Any

import lazy_loader

__version__ = "0.1.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_READ_BACK = (
    "scoring.scores",
    "comparisons.comparison",
    "comparisons.outcomes",
    "experiments.cards",
    "auditing.starting",
)


def __getattr__(name: str) -> Any:
    """Load a public name; before `read_result`, the modules whose classes read stored results."""
    for module in _READ_BACK if name == "read_result" else ():
        import_module(f"bayespool.{module}")
    return _load(name)
