"""Comparisons of runs: differences, ranks, significance tests, separability, reversals and reliability."""

import lazy_loader

from bayespool.errors import renamed_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = renamed_names(
    __name__,
    {"separate_runs": "simultaneous_order", "plan": "plan_comparison", "reversals": "count_reversals"},
    __getattr__,
)
