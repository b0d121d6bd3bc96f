"""Runs that were the pool of the judgments, and runs that were not."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest

from bayespool import Collection, discover_pool
from bayespool.errors import NoPoolWarning
from bayespool.experiments import SimulationSettings, simulate
from bayespool.pooling.plausibility import PoolPlausibility


@cache
def campaign() -> Collection:
    """Runs of fourteen organizations, pooled to depth 10."""
    settings = SimulationSettings(n_topics=20, n_organizations=14)
    return discover_pool(simulate(settings, random_seed=3).collection)


def plausibility(collection: Collection) -> PoolPlausibility:
    return PoolPlausibility.of(collection, np.flatnonzero(collection.pooled))


def test_runs_of_another_year_are_no_pool() -> None:
    """Judgments of the other half of the organizations: what two runs share is judged, and little else."""
    whole = campaign()
    later = whole.pooled & (whole.organization % 2 == 0)
    judged = whole.unpool([whole.run_ids[i] for i in np.flatnonzero(later)])
    names = [whole.run_ids[i] for i in np.flatnonzero(later)]
    with pytest.warns(NoPoolWarning, match="these runs are not the pool of these judgments"):
        found = discover_pool(judged, names)
    assert not found.pooled.any()
    stated = plausibility(judged.with_pool(later, 10))
    assert stated.lone_unjudged > 0.5
    assert len(stated.objections) == 1


def test_some_of_the_organizations_are_a_pool() -> None:
    """The others were judged, too, so that most judgments have no explanation."""
    whole = campaign()
    names = [whole.run_ids[i] for i in np.flatnonzero(whole.pooled & (whole.organization < 4))]
    found = discover_pool(whole, names)
    assert (set(found.pooled_run_ids), found.pool_depth) == (set(names), 10)


def test_lone_documents_are_compared_with_what_is_below_the_pool() -> None:
    usual = {"n_organizations": 3, "n_candidates": 3, "n_lone": 80, "explained": 0.5, "judged": 0.5}
    few_below = PoolPlausibility(lone_unjudged=0.1, below_unjudged=0.3, **usual)
    assert len(few_below.objections) == 1
    assert not dataclasses.replace(few_below, below_unjudged=0.9).objections
    assert not dataclasses.replace(few_below, n_lone=10).objections
    alone = dataclasses.replace(few_below, below_unjudged=0.9, n_organizations=1)
    assert len(alone.objections) == 1
    little = dataclasses.replace(few_below, below_unjudged=0.9, explained=0.02)
    assert len(little.objections) == 1
    assert not dataclasses.replace(little, judged=0.95).objections
