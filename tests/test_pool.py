"""The pool that is found is the one that was made, in the toy, in random pools and in TREC's."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import toys
from hypothesis import given
from real import read_real
from toys import from_rankings, judged, toy_collection

from bayespool.collection import Collection
from bayespool.errors import InputError, NoPoolWarning, PoolWarning
from bayespool.pool import PoolReport, describe_pool, discover_pool
from bayespool.simulation import SimulationSettings, simulate


def bare_toy() -> Collection:
    """The toy before anything is known of its pool."""
    return toy_collection(pooled_run_ids=(), pool_depth=0)


# Leading judged documents of the toy, a star where the topic is judged to the run's end and tells nothing:
#     n1: 3, 3, 3*   n2: 4, 3, 3*   s1: 5*, 4, 3   s2: 2*, -, 2*   u: 1, 2, 0
# Depths are the smallest without a star: 3, 3, 3; for s2 its longest topic, 2; for u 0. The commonest is 3.


def test_pool_of_the_toy_is_found() -> None:
    found = discover_pool(bare_toy())
    assert found.pool_depth == 3
    assert found.pooled_run_ids == ("n1", "n2", "s1", "s2")
    assert found.fingerprint == toy_collection().fingerprint


def test_report_of_the_toy() -> None:
    report = describe_pool(toy_collection())
    # judged: 8 + 5 + 4; unexplained: j
    assert report == PoolReport(
        n_pooled_runs=4,
        n_runs=5,
        n_organizations=2,
        depth=3,
        n_holes=0,
        n_judged=17,
        n_unexplained=1,
        depths=((3, 4),),
        negatives="1 listed with relevance −1 (unjudged)",  # m
    )
    assert str(report) == report.text()
    assert str(report) == (
        "4 of 5 runs pooled to depth 3 (2 organizations), 0 holes; "
        "17 judgments, 1 not explained by these runs, 1 listed with relevance −1 (unjudged)"
    )


def test_report_without_a_pool() -> None:
    report = describe_pool(bare_toy())
    assert (report.n_pooled_runs, report.n_holes, report.n_unexplained) == (0, 0, 17)
    assert str(report) == ("no pooled run among 5 runs; 17 judgments, 1 listed with relevance −1 (unjudged)")


@pytest.mark.parametrize(
    ("depth", "pooled"),
    [
        (1, ("n1", "n2", "s1", "s2")),  # e, the first of u on topic 3, is unjudged
        (2, ("n1", "n2", "s1", "s2")),
        (4, ("s2",)),  # n1's fourth on topic 1 is unjudged, n2's on topic 2, s1's on topic 3
        (19, ("s2",)),
        (100, ("n1", "n2", "s1", "s2", "u")),  # tolerates five holes, and no run is longer than six
    ],
)
def test_depth_that_is_given(depth: int, pooled: tuple[str, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolWarning)  # at depth 4 s2 explains little
        found = discover_pool(bare_toy(), depth=depth)
    assert found.pooled_run_ids == pooled
    assert found.pool_depth == depth


def test_holes_that_are_tolerated() -> None:
    assert "u" not in discover_pool(bare_toy(), max_holes=1).pooled_run_ids
    found = discover_pool(bare_toy(), max_holes=2)
    assert found.pooled_run_ids == found.run_ids
    assert found.pool_depth == 3
    assert describe_pool(found).n_holes == 5  # l and d, z, e and f


def test_holes_are_counted_once_however_many_runs_have_them() -> None:
    rankings = {"r1": {"1": "axb"}, "r2": {"1": "bxa"}}
    collection = from_rankings(rankings, {"1": {"a": 1, "b": 0}}, pooled_run_ids=("r1", "r2"), pool_depth=3)
    assert describe_pool(collection).n_holes == 1


def test_one_hole_in_twenty_is_tolerated_by_default() -> None:
    documents = "abcdefghijklmnopqrstuvwxyz"
    rankings = {
        "clean": {"1": documents},
        "clean too": {"1": documents[19::-1] + documents[20:]},
        "one hole": {"1": "Z" + documents},
        "two holes": {"1": "YZ" + documents},
    }
    collection = from_rankings(rankings, {"1": dict.fromkeys(documents[:20], 1)})
    found = discover_pool(collection)
    assert found.pool_depth == 20
    assert found.pooled_run_ids == ("clean", "clean too", "one hole")
    assert discover_pool(collection, max_holes=0).pooled_run_ids == ("clean", "clean too")
    assert discover_pool(collection, max_holes=2).pooled_run_ids == collection.run_ids


def test_deeper_one_of_equally_common_depths() -> None:
    relevance = {"1": dict.fromkeys("abc", 1)}
    collection = from_rankings({"two": {"1": "abx"}, "three": {"1": "cbay"}}, relevance)
    found = discover_pool(collection)
    assert found.pool_depth == 3
    assert found.pooled_run_ids == ("three",)


def test_runs_that_are_named_are_believed() -> None:
    found = discover_pool(bare_toy(), pooled_run_ids=["n1", "s1"])
    assert found.pooled_run_ids == ("n1", "s1")
    assert found.pool_depth == 3
    with pytest.warns(PoolWarning):
        found = discover_pool(bare_toy(), pooled_run_ids=["u"], depth=2)
    assert found.pooled_run_ids == ("u",)
    assert found.pool_depth == 2
    assert describe_pool(found).n_holes == 3  # l, e and f


def test_depth_of_named_runs_that_cannot_be_told() -> None:
    with pytest.raises(InputError, match="cannot be told from the judgments; give the depth"):
        discover_pool(bare_toy(), pooled_run_ids=["u"])


def test_only_candidates_are_pooled() -> None:
    assert discover_pool(bare_toy(), ["n1", "s2", "u"]).pooled_run_ids == ("n1", "s2")
    assert discover_pool(bare_toy(), ["u", "n2"]).pooled_run_ids == ("n2",)


@pytest.mark.parametrize("arguments", [{"candidates": ["u"]}, {"candidates": []}, {"pooled_run_ids": []}])
def test_nothing_pooled_warns(arguments: dict[str, list[str]]) -> None:
    with pytest.warns(NoPoolWarning, match="no run looks pooled"):
        found = discover_pool(toy_collection(), **arguments)
    assert found.pooled_run_ids == ()
    assert found.pool_depth == 0


def test_pool_that_explains_little_warns() -> None:
    with pytest.warns(PoolWarning, match="explains less than half of the judgments: 1 of 5 runs pooled"):
        found = discover_pool(bare_toy(), ["s2"])
    assert describe_pool(found).n_unexplained == 13  # all but h and k, a and d


@pytest.mark.parametrize("arguments", [{"depth": 0}, {"depth": -3}, {"max_holes": -1}])
def test_senseless_settings_are_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(InputError, match="pool depth must be at least 1 and the number of holes at least 0"):
        discover_pool(bare_toy(), **arguments)


def test_unknown_runs_are_refused() -> None:
    with pytest.raises(InputError, match="no run 'zz'"):
        discover_pool(bare_toy(), ["zz"])
    with pytest.raises(InputError, match="no run 'zz'"):
        discover_pool(bare_toy(), pooled_run_ids=["zz"], depth=3)


def test_run_without_a_topic_can_be_pooled_by_the_others() -> None:
    assert "s2" in discover_pool(bare_toy()).pooled_run_ids


@given(toys.pooled_collections())
def test_pooled_runs_have_no_hole_and_the_pool_is_found_again(collection: Collection) -> None:
    """At the depth at which the pool was made, every run that made it is found."""
    if not collection.pooled_run_ids:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolWarning)
        found = discover_pool(collection, depth=collection.pool_depth)
    assert set(found.pooled_run_ids) >= set(collection.pooled_run_ids)
    assert describe_pool(found).n_holes == 0
    assert judged(found) == judged(collection)


@pytest.mark.parametrize("pool_depth", [5, 10, 25])
def test_simulated_pool_is_found(pool_depth: int) -> None:
    simulation = simulate(SimulationSettings(n_topics=10, pool_depth=pool_depth), random_seed=pool_depth)
    found = discover_pool(simulation.collection)
    assert found.pool_depth == pool_depth
    assert found.pooled_run_ids == simulation.collection.pooled_run_ids


def test_pool_of_trec_2(collections: Path) -> None:
    collection = read_real(collections / "trec2-adhoc")
    report = describe_pool(collection)
    assert (report.depth, report.n_pooled_runs, report.n_runs) == (100, 36, 38)
    assert set(collection.run_ids) - set(collection.pooled_run_ids) == {"rutfmed", "uicah"}
    # 62,620 judgments, 49,232 of them of these 36 runs, which have 149 documents that are unjudged
    assert (report.n_judged, report.n_judged - report.n_unexplained, report.n_holes) == (62_620, 49_232, 149)


def test_pool_of_trec_2_without_holes_explains_little(collections: Path) -> None:
    with pytest.warns(PoolWarning, match="7 of 38 runs pooled to depth 100"):
        discover_pool(read_real(collections / "trec2-adhoc"), max_holes=0)


def test_pool_of_trec_8(collections: Path) -> None:
    collection = discover_pool(read_real(collections / "trec8-adhoc"), max_holes=0)
    report = describe_pool(collection)
    assert (report.depth, report.n_pooled_runs, report.n_runs) == (100, 72, 129)
    assert (report.n_holes, report.n_judged, report.n_unexplained) == (0, 86_830, 0)
    assert not {"UB99SW", "UB99T"} & set(collection.pooled_run_ids)
    # five holes in a hundred let in one run more
    lenient = read_real(collections / "trec8-adhoc")
    assert set(lenient.pooled_run_ids) - set(collection.pooled_run_ids) == {"fub99tt"}
    assert describe_pool(lenient).n_holes == 17


def test_pool_of_the_medical_track(collections: Path) -> None:
    collection = read_real(collections / "trec2011-medical")
    report = describe_pool(collection)
    assert (report.depth, report.n_pooled_runs, report.n_runs) == (10, 41, 127)
    # the sample below depth 10 is not explained
    assert (report.n_holes, report.n_judged - report.n_unexplained) == (0, 5_049)


@pytest.mark.parametrize(("max_holes", "n_pooled_runs"), [(0, 41), (1, 55), (2, 62)])
def test_holes_of_the_medical_track(collections: Path, max_holes: int, n_pooled_runs: int) -> None:
    """Holes take places here: of the first 10 documents 8 are judged at ``max_holes=2``.

    A rule that skips holes, and so asks for 10 judged documents among the first 12, finds 56 runs.
    """
    collection = discover_pool(read_real(collections / "trec2011-medical"), max_holes=max_holes)
    assert collection.pool_depth == 10
    assert len(collection.pooled_run_ids) == n_pooled_runs
