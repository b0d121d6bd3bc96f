"""What these scripts share: the collections at hand, and who contributed to their pools."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import at_hand
from at_hand import forget_pool as forget_pool

from bayespool import Collection

READING: dict[str, dict[str, Any]] = {"dl21-passage": {"order": "rank"}, "trec8-adhoc": {"max_holes": 0}}


def place(name: str) -> Path:
    """Return the folder of a collection, below that which BAYESPOOL_COLLECTIONS names."""
    if not os.environ.get("BAYESPOOL_COLLECTIONS"):
        raise SystemExit(at_hand.UNSET)
    return Path(os.environ["BAYESPOOL_COLLECTIONS"]) / name


def read(name: str, depth: int | None = None, **settings: Any) -> Collection:
    """Read a collection with its pool, down to a depth of it; arguments of `read_collection`."""
    whole = at_hand.read(place(name), **settings)
    return whole if depth is None else whole.truncate_pool(depth)


def run_types(collection: Collection, name: str) -> dict[str, str]:
    """Return the types of a collection's runs."""
    typed = collection.with_attributes(runs=place(name) / "run-types.csv")
    return dict(typed.runs.columns["type"])


def contributors(collection: Collection) -> Iterator[tuple[str, list[str]]]:
    """Yield the organizations of the pool, each with its pooled runs."""
    for o in np.unique(collection.organization[collection.pooled]):
        its = collection.pooled & (collection.organization == o)
        yield collection.organizations[o], [collection.run_ids[r] for r in np.flatnonzero(its)]


def markdown(*rows: Any) -> None:
    """Print rows of a table in Markdown as they come; the first one of a table with `head`."""
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def head(*names: str) -> None:
    """Print the first two lines of a table."""
    markdown(names, ["---"] * len(names))
