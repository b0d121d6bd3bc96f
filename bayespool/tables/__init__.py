"""Tables for terminals, papers and notebooks, files written atomically, and the bibliography."""

import lazy_loader

from bayespool.errors import renamed_names

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = renamed_names(__name__, {"Ends": "IntervalColumn", "Spread": "Pivot"}, __getattr__)
