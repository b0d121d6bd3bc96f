"""A small collection, for tests to which any collection will do: a fit to it takes little time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from bayespool.collection import Collection
from bayespool.experiments import Simulation, SimulationSettings, simulate

SETTINGS = SimulationSettings(n_topics=8, n_candidates=60, n_organizations=4, max_runs=2, run_depth=40)


@cache
def small_simulation() -> Simulation:
    return simulate(SETTINGS, random_seed=1)


def small() -> Collection:
    """Eight topics, four organizations pooled to depth 10, and two new runs."""
    return small_simulation().collection


def small_with_failed_queries() -> Collection:
    """The small collection, but new-b retrieves nothing for the first two of its topics."""
    document = small().document.copy()
    document[small().run_index(["new-b"]), :2] = -1
    return replace(small(), document=document)
