"""The real collections, each read once a session."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

from bayespool.collection import Collection
from bayespool.errors import InputWarning, PoolWarning
from bayespool.pooling import read_collection

POOLS: dict[str, dict[str, Any]] = {
    "covid-round4": {"known_depth": 8, "max_holes": 0.01}, "dl21-passage": {"max_holes": 0},
    "trec2-adhoc": {"max_holes": 5}, "trec2011-medical": {"max_holes": 0}, "trec8-adhoc": {"max_holes": 5},
}  # fmt: skip
"""The pools that figures of tests and pages are of; what is found without them is tested with the pool."""


@cache
def read_real(folder: Path) -> Collection:
    """A collection with its pool of `POOLS`; bad lines are skipped, which is tested with the readers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        warnings.simplefilter("ignore", PoolWarning)
        return read_collection(
            folder / "qrels.txt",
            pool=folder / "runs",
            organizations=folder / "organizations.csv",
            strict=False,
            order="single-precision",  # of which published figures are, and pytrec_eval's
            **POOLS[folder.name],
        )
