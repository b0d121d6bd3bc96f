"""Collections without a pooled run: posteriors rest on priors alone, and whoever asks is told so once."""

from __future__ import annotations

import weakref

from bayespool.collection.contents import Collection
from bayespool.errors import NoPoolWarning, warn_caller

_said: weakref.WeakSet[Collection] = weakref.WeakSet()


def say_no_pool(collection: Collection, message: str) -> None:
    """Warn where a collection is made that it has no pooled run; nobody has to say so when it is used.

    Warns
    -----
    NoPoolWarning
    """
    _said.add(collection)
    warn_caller(message, NoPoolWarning)


def warn_of_no_pool(collection: Collection) -> None:
    """Warn where a posterior is asked of a collection without a pooled run, if nobody did when it was made.

    Warns
    -----
    NoPoolWarning

    Examples
    --------
    >>> from bayespool import load_example
    >>> warn_of_no_pool(load_example())  # which has a pool
    """
    if not collection.pooled.any() and collection not in _said:
        warn_caller(
            "the collection has no pooled run: posterior estimates rest on informative priors; give the "
            "campaign's runs as pool=, or find the pooled ones with discover_pool",
            NoPoolWarning,
        )
