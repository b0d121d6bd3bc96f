"""The real collections, each read once a session."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

from bayespool.collection import Collection
from bayespool.errors import InputWarning, PoolWarning
from bayespool.pooling import read_collection


@cache
def read_real(folder: Path) -> Collection:
    """A collection whose bad lines are skipped, which is tested with the readers, and of whose judgments the
    pool may explain few, which is tested with the pool.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        warnings.simplefilter("ignore", PoolWarning)
        return read_collection(
            folder / "qrels.txt",
            pool=folder / "runs",
            organizations=folder / "organizations.csv",
            strict=False,
        )
