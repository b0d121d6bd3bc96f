"""Tables of text for a terminal, a paper and a notebook; files, written whole or not at all and read back."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
