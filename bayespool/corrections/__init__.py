"""Published point corrections, one file per paper."""

import importlib
import pkgutil

import lazy_loader

from bayespool import names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

from bayespool.corrections import registry  # noqa: E402

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")  # which registers its corrections
for _name in dict.fromkeys((*names.POINT_ESTIMATORS, *registry.ESTIMATORS)):  # their order in tables
    registry.ESTIMATORS[_name] = registry.ESTIMATORS.pop(_name)
