"""Posterior estimators: evidence → model → draws → completed judgments → `Estimates`."""

import lazy_loader

from bayespool.errors import renamed_names

_getattr, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_RENAMED = {"Rung": "Threshold", "RungPosterior": "ThresholdPosterior", "fit_container": "fit"}
__getattr__ = renamed_names(__name__, _RENAMED, _getattr)
