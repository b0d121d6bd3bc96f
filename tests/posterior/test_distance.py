"""How unlike the pool runs are: by formula, at the edges, and whom it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.experiments import SimulationSettings, simulate
from bayespool.measures import parse_measure
from bayespool.posterior import distance_from_pool
from bayespool.posterior.distance import sensitivity


def features(n_relevant: int, n_judged: int, n_ranks: int) -> list[float]:
    n_unjudged = n_ranks - n_judged
    return [
        np.log((n_unjudged + 0.5) / (n_judged + 0.5)),
        np.log((n_relevant + 0.5) / (n_judged - n_relevant + 0.5)),
    ]


RANKINGS = {"a": {"1": "abcde"}, "b": {"1": "abcfg"}, "c": {"1": "abdhi"}, "new": {"1": "abxyz"}}


def toy(**more: dict[str, str]) -> Collection:
    """Three organizations of a run each and one new run, five ranks on one topic; more runs."""
    judged = {"1": dict.fromkeys("bcdefghi", 0) | {"a": 1}}
    pooled = ("a", "b", "c", *more)
    organizations = {run: run[0] for run in (*pooled, "new")}
    return from_rankings(RANKINGS | more, judged, organizations, pooled_run_ids=pooled, pool_depth=5)


def test_distance_and_chance_by_hand() -> None:
    # without a's own e, a has a b c d judged; b has a b c; c has a b d; new has a b
    pool = np.array([features(1, 4, 5), features(1, 3, 5), features(1, 3, 5)])
    off = np.array(features(1, 2, 5)) - pool.mean(axis=0)
    usual = np.array([[1.3**2, -0.5 * 1.3 * 0.5], [-0.5 * 1.3 * 0.5, 0.5**2]])
    covariance = (3 * np.cov(pool.T, bias=True) + 4 * usual) / 7
    square = off @ np.linalg.inv(covariance) @ off
    found = distance_from_pool(toy(), ["new"])
    assert found.distance == pytest.approx([np.sqrt(square)])
    density = [
        stats.multivariate_t(shape=scale * covariance, df=5).pdf(off) for scale in (1 + 1 / 3, 4 + 1 / 3)
    ]
    odds = 6 / 3 * density[1] / density[0]
    assert found.new_kind == pytest.approx([odds / (1 + odds)])


def test_an_organization_counts_once_however_many_runs_it_has() -> None:
    twice = distance_from_pool(toy(c2={"1": "abdhi"}), ["new"])
    assert twice.distance == pytest.approx(distance_from_pool(toy(), ["new"]).distance)


def test_without_a_pool_nothing_is_said_and_one_organization_is_enough() -> None:
    found = distance_from_pool(toy().unpool(["a", "b", "c"]), ["new", "a"])
    assert np.isnan(found.distance).all()
    assert found.new_kind.tolist() == [0, 0]
    found = distance_from_pool(toy().unpool(["b", "c"]), ["new", "b"])
    assert np.isfinite(found.distance).all()
    assert ((found.new_kind > 0) & (found.new_kind < 1)).all()


def test_small_pools_are_expected_to_lack_kinds() -> None:
    """At the same, small distance; nobody is called unlike the pool for that."""
    for n_organizations, likely in ((2, True), (20, False)):
        settings = SimulationSettings(n_organizations=n_organizations, max_runs=1)
        simulation = simulate(settings, random_seed=1)
        found = distance_from_pool(simulation.collection, simulation.new_run_ids)
        near = found.distance < 1.5
        assert near.any()
        assert ((found.new_kind[near] > 0.4) == likely).all(), n_organizations
        assert not found.is_far[near].any()


def test_as_hidden_documents_and_as_judged_ones() -> None:
    # a alone has c (relevant), b alone d and e (not): a third of hidden documents is relevant
    rankings = {"a": {"1": "pqc"}, "b": {"1": "pdeq"}, "new": {"1": "pqxy"}}
    judged = {"1": {"p": 1, "q": 0, "c": 1, "d": 0, "e": 0}}
    collection = from_rankings(rankings, judged, pooled_run_ids=("a", "b"), pool_depth=4)
    as_pool, as_run = sensitivity(collection, ["new"], parse_measure("P@4"))
    assert as_pool == pytest.approx([(1 + 2 / 3) / 4])
    assert as_run == pytest.approx([(1 + 2 * 0.5) / 4])  # one of two judged documents is relevant
