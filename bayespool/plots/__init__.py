"""Plots of results: ``plot_`` functions return axes, ``draw_`` functions figures of several."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
