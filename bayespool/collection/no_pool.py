"""Warnings about collections without a pooled run, given once per collection."""

from __future__ import annotations

import weakref

from bayespool.collection.contents import Collection
from bayespool.errors import NoPoolWarning, warn_caller

_warned: weakref.WeakSet[Collection] = weakref.WeakSet()


def say_no_pool(collection: Collection, message: str) -> None:
    """Warn when a collection without a pooled run is made, so that later uses need not."""
    _warned.add(collection)
    warn_caller(message, NoPoolWarning)


def warn_of_no_pool(collection: Collection) -> None:
    """Warn of a posterior without a pooled run, unless making the collection warned already.

    Examples
    --------
    >>> from bayespool import load_example
    >>> warn_of_no_pool(load_example())  # which has a pool
    """
    if not collection.pooled.any() and collection not in _warned:
        warn_caller(
            "the collection has no pooled run: posterior estimates rest on informative priors; give the "
            "campaign's runs as pool=, or find the pooled ones with discover_pool",
            NoPoolWarning,
        )
