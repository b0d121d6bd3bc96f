"""The real collections that benchmarks run on, where ``BAYESPOOL_COLLECTIONS`` says."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayespool import Collection

UNSET = "BAYESPOOL_COLLECTIONS is not set: it names the folder of the unpacked collections"


def collections_folder(parser: argparse.ArgumentParser) -> Path:
    """The folder of the collections; an error of the parser's where none is named."""
    named = os.environ.get("BAYESPOOL_COLLECTIONS")
    if not named:
        parser.error(UNSET)
    return Path(named)


def read(place: Path, **settings: Any) -> Collection:
    """A collection with its pool, lines that cannot be used left out; arguments of `read_collection`."""
    from bayespool import read_collection  # not before: a benchmark counts what its process holds

    return read_collection(
        place / "qrels.txt",
        pool=place / "runs",
        organizations=place / "organizations.csv",
        strict=False,
        **settings,
    )
