"""Experiments with a known truth: conceal judgments, estimate, and compare with what was concealed."""

import lazy_loader

from bayespool.errors import renamed_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_FORMER = {
    "budgets": "compare_budgets",
    "PoolWidthResult": "RandomPoolsResult",
    "CommonTopicsResult": "RandomPoolsResult",
}
__getattr__ = renamed_names(__name__, _FORMER, __getattr__)
