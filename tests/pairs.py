"""A design of a user's own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from bayespool.collection import Collection
from bayespool.experiments import Design, Part


class Pairs(Design):
    """Two of three organizations left out at a time."""

    name, version = "pairs", "1"

    def parts(self, collection: Collection, settings: Any) -> tuple[Part, ...]:
        runs = collection.pooled_run_ids
        pairs = [tuple(run for run in runs if run.startswith(two)) for two in combinations("elr", 2)]
        return tuple(
            Part(name=str(i), run_ids=pair, pool_run_ids=tuple(run for run in runs if run not in pair))
            for i, pair in enumerate(pairs)
        )
