"""The pool that is found is the one that was made, in the toy, in random pools and in those of TREC."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys
from depths import DEEP, collection_of
from each import cases
from hypothesis import given
from real import read_real
from small import small
from toys import from_rankings, judged, toy_collection

from bayespool.collection import Collection
from bayespool.errors import InputError, NoPoolWarning, PoolWarning
from bayespool.experiments import SimulationSettings, load_example, simulate
from bayespool.pooling import describe_pool, discover_pool
from bayespool.pooling.candidates import PoolPlausibility


def bare_toy() -> Collection:
    """The toy before anything is known of its pool."""
    return toy_collection(pooled_run_ids=(), pool_depth=0)


# Leading judged documents of the toy, a star where the topic is judged to the run's end and tells nothing:
#     n1: 3, 3, 3*   n2: 4, 3, 3*   s1: 5*, 4, 3   s2: 2*, -, 2*   u: 1, 2, 0
# Depths are the smallest without a star: 3, 3, 3; for s2 its longest topic, 2; for u 0. The commonest is 3.
def test_pool_of_the_toy_is_found_and_reported() -> None:
    found = discover_pool(bare_toy())
    assert (found.pool_depth, found.pooled_run_ids) == (3, ("n1", "n2", "s1", "s2"))
    assert found.fingerprint == toy_collection().fingerprint
    report = describe_pool(toy_collection())
    # judged: 8 + 5 + 4; unexplained: j
    assert (report.n_candidates, report.depths, report.text()) == (5, ((3, 4),), str(report))
    assert str(report) == (
        "4 of 5 runs pooled to depth 3 (2 organizations), 0 holes; "
        "16 of 17 judged documents in this pool, 1 listed with relevance −1 (unjudged)"
    )
    report = describe_pool(bare_toy())
    assert (report.n_pooled_runs, report.n_holes, report.n_unexplained) == (0, 0, 17)
    assert str(report).startswith("no pooled run among 5 runs; 17 judgments")
    assert discover_pool(bare_toy(), ["n1", "s2", "u"]).pooled_run_ids == ("n1", "s2")
    assert discover_pool(bare_toy(), pooled_run_ids="all").pooled_run_ids == bare_toy().run_ids
    named = discover_pool(bare_toy(), pooled_run_ids=["n1", "s1"])
    assert (named.pooled_run_ids, named.pool_depth) == (("n1", "s1"), 3)


def test_holes_are_a_share_or_a_number_per_topic() -> None:
    """Of 20 judged documents all are explained without a hole, which no run with one would better."""
    docs = "abcdefghijklmnopqrstuvwxyz"
    orders = {"a": docs, "b": docs[19::-1] + docs[20:], "one hole": "Z" + docs, "two holes": "YZ" + docs}
    collection = from_rankings(
        {run: {"1": order} for run, order in orders.items()}, {"1": dict.fromkeys(docs[:20], 1)}
    )
    found = discover_pool(collection)
    assert (found.pool_depth, found.pooled_run_ids) == (20, ("a", "b"))
    for holes, n in ((0, 2), (1, 3), (2, 4), (0.04, 2), (0.05, 3), (0.1, 4)):
        found = discover_pool(collection, max_holes=holes, depth=20)
        assert found.pooled_run_ids == collection.run_ids[:n], holes


def test_nothing_pooled_warns() -> None:
    for arguments in ({"candidates": ["u"]}, {"candidates": []}, {"pooled_run_ids": []}):
        with pytest.warns(NoPoolWarning, match="no run looks pooled"):
            found = discover_pool(toy_collection(), **arguments)
        assert (found.pooled_run_ids, found.pool_depth) == ((), 0), arguments


def test_settings_that_cannot_be_are_refused() -> None:
    arguments: dict[str, Any]
    for arguments, message in (
        ({"depth": 0}, "at least 1"),
        ({"depth": -3}, "at least 1"),
        ({"max_holes": -1}, "at least 0"),
        ({"max_holes": 1.5}, "max_holes cannot be 1.5"),
        ({"rule": "sniffing"}, "pool rule cannot be 'sniffing'"),
        ({"candidates": ["zz"]}, "no run 'zz'"),
        ({"pooled_run_ids": ["zz"], "depth": 3}, "no run 'zz'"),
        ({"pooled_run_ids": ["u"]}, "give the depth"),  # which these do not show
    ):
        with pytest.raises(InputError, match=message):
            discover_pool(bare_toy(), **arguments)


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


@cases("pool_depth", [5, 10, 25])
def test_simulated_pool_is_found(pool_depth: int) -> None:
    simulation = simulate(SimulationSettings(n_topics=10, pool_depth=pool_depth), random_seed=pool_depth)
    found = discover_pool(simulation.collection)
    assert found.pool_depth == pool_depth
    assert found.pooled_run_ids == simulation.collection.pooled_run_ids


def found(collection: Collection, **arguments: object) -> dict[str, int]:
    """Pooled runs and their depths."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolWarning)
        pool = discover_pool(collection, **arguments)  # type: ignore[arg-type]
    index = np.flatnonzero(pool.pooled)
    return dict(zip(pool.pooled_run_ids, pool.run_depths(index).tolist(), strict=True))


@cases(
    "depths",
    [
        {**DEEP, "x": 4, "y": 4},
        {"a": 4, "b": 4, "c": 4, "x": 10, "y": 10},
        {**DEEP, "d": 10, "v": 7, "w": 7, "x": 4, "y": 4},
    ],
)
def test_runs_of_several_depths_are_found(depths: dict[str, int]) -> None:
    collection = collection_of(depths)
    assert found(collection) == depths
    report = describe_pool(discover_pool(collection))
    assert (report.depth, report.n_holes, report.n_unexplained, report.alternative) == (depths["a"], 0, 0, "")
    tiers = sorted(set(depths.values()), reverse=True)
    assert report.depths == tuple((d, list(depths.values()).count(d)) for d in tiers)
    said = ", ".join(f"{d} ({n} runs)" for d, n in report.depths)
    assert f"{len(depths)} of {len(depths)} runs pooled to depths {said} (" in str(report)


def test_ten_own_documents_are_asked_for() -> None:
    """Of two runs. 4 ranks make 8 own documents on two topics, and 12 on three. Ranks 9 and 10 make 8 own
    documents below depth 8 on four topics, and 10 on five.
    """
    assert found(collection_of({**DEEP, "x": 4, "y": 5})) == DEEP
    depths = {**DEEP, "x": 4, "y": 4}
    assert found(collection_of(depths, n_topics=2)) == DEEP
    assert found(collection_of(depths, n_topics=3)) == depths
    depths = {**DEEP, "x": 8, "y": 8}
    assert found(collection_of(depths, n_topics=4)) == dict.fromkeys(depths, 8)
    assert found(collection_of(depths, n_topics=5)) == depths


def test_one_in_a_hundred_may_be_missing_of_a_shallower_run() -> None:
    """Of 4 documents on 25 topics. Of x on 10 topics 6 ranks lie below depth 4: if all of them are judged on
    more than half of the topics, x is not of that depth.
    """
    depths = {**DEEP, "x": 4, "y": 4, "z": 4}
    others = {run: d for run, d in depths.items() if run != "x"}
    for missing, expected in (([("x", 3, 1)], depths), ([("x", 3, 1), ("x", 8, 3)], others)):
        assert found(collection_of(depths, n_topics=25, missing=missing)) == expected
    for n_topics, expected in ((5, depths), (6, others)):
        more = [("x", t, k) for t in range(n_topics) for k in range(5, 11)]
        assert found(collection_of(depths, more=more)) == expected


def test_what_others_contributed_says_nothing() -> None:
    """x has the documents of a; that its first four are judged does not make it a run of that depth."""
    depths = {**DEEP, "x": 10, "y": 4, "z": 4}
    collection = collection_of(depths, same=("a", "x"))
    assert found(collection) == {**DEEP, "y": 4, "z": 4}


@cases(("n_missing", "is_found"), [(1, True), (9, True), (11, False)])
def test_missing_documents_do_not_exclude_a_run(n_missing: int, is_found: bool) -> None:
    """Nor do they where all are on one topic, or two."""
    missing = [("x", 3 + i // 10, 1 + i % 10) for i in range(n_missing)]
    collection = collection_of({**DEEP, "x": 10}, missing=missing, n_others=5)
    assert found(collection) == ({**DEEP, "x": 10} if is_found else DEEP)
    assert describe_pool(discover_pool(collection)).n_holes == n_missing * is_found


def test_every_judgment_a_run_adds_is_weighed_against_its_holes() -> None:
    """x has the documents of a, but ten of its own at rank 10 of which few are judged."""
    depths = {**DEEP, "x": 10}
    rankings = {
        run: {
            str(t): [f"{run if run != 'x' or k == 10 else 'a'}-{k}" for k in range(1, 13)] for t in range(10)
        }
        for run in depths
    }
    of_others = {f"{run}-{k}": 1 for run in DEEP for k in range(1, 11)}
    for n_judged, is_found in ((8, True), (7, False)):  # 8 judgments for 2 holes, 7 for 3
        relevance = {str(t): of_others | ({"x-10": 1} if t < n_judged else {}) for t in range(10)}
        assert ("x" in found(from_rankings(rankings, relevance))) == is_found


def test_another_pool_that_is_nearly_as_good_is_told() -> None:
    """Eight runs, and two that bring 24 judgments and six holes each: 848 − 3 · 12 is near 800."""
    same = {"x": "a", "y": "b"}  # at the first seven ranks
    rankings: dict[str, dict[str, list[str]]] = {run: {} for run in (*"abcdefgh", *same)}
    relevance: dict[str, dict[str, int]] = {}
    for t in range(10):
        for run, of_run in rankings.items():
            of_run[str(t)] = [f"{same.get(run, run) if k < 8 else run}-{k}" for k in range(1, 13)]
            n_judged = 9 if run in same and t < 6 else 10
            relevance.setdefault(str(t), {}).update(dict.fromkeys(of_run[str(t)][:n_judged], 1))
    collection = discover_pool(from_rankings(rankings, relevance))
    report = describe_pool(collection)
    assert (report.n_pooled_runs, report.n_holes, report.n_judged) == (10, 12, 848)
    assert report.alternative == (
        "8 runs to depth 10 with no document unjudged explain 94.3 % of the judgments: "
        "--known-depth 10 --reading max_holes=0"
    )
    assert report.notes == (f"another pool explains the judgments nearly as well: {report.alternative}",)
    again = discover_pool(collection, depth=10, max_holes=0)
    assert (len(again.pooled_run_ids), describe_pool(again).alternative) == (8, "")


def test_copied_organizations_are_noted() -> None:
    """Two runs of one organization, and short ones, may be equal."""
    shared, other = ([f"{letter}{k}" for k in range(10)] for letter in "sx")
    rankings = {"a": {"1": shared}, "b": {"1": other}, "c": {"1": shared}, "d": {"1": shared}}
    rankings |= {"e": {"1": other}, "f": {"1": ["s0"]}, "g": {"1": ["s0"]}}
    organizations = {"a": "east", "b": "north", "c": "west", "d": "west", "e": "north", "f": "x", "g": "y"}
    relevance = {"1": dict.fromkeys([*shared, *other], 1)}
    found = from_rankings(rankings, relevance, organizations=organizations)
    report = describe_pool(discover_pool(found))
    assert report.copies == (
        "east, west have nine tenths of their top 10 in common: posteriors count these organizations as one",
    )
    assert report.copies[0] in report.notes
    assert (report.n_organizations, report.evidence) == (5, "")


def test_what_is_given_leaves_out_uneven_depths() -> None:
    collection = collection_of({**DEEP, "x": 10, "y": 4, "z": 4}, missing=[("x", 3, 1)])
    for arguments, expected in (
        ({}, {**DEEP, "x": 10, "y": 4, "z": 4}),
        ({"max_holes": 0}, DEEP),
        ({"max_holes": 1}, {**DEEP, "x": 10}),
        ({"depth": 10}, {**DEEP, "x": 10}),
        ({"depth": 4}, dict.fromkeys("abcxyz", 4)),
        ({"max_holes": 0.001}, DEEP),
        ({"pooled_run_ids": ["x", "y"], "depth": 10}, {"x": 10, "y": 10}),
        ({"rule": "skipping"}, DEEP),
        ({"candidates": ["a", "b", "y", "z"]}, {"a": 10, "b": 10, "y": 4, "z": 4}),
        ({"candidates": ["a", "b", "c", "x"]}, {**DEEP, "x": 10}),
    ):
        assert found(collection, **arguments) == expected, arguments  # type: ignore[arg-type]


def test_pool_of_dl_2021(collections: Path) -> None:
    """All runs, of which 39 are complete."""
    report = describe_pool(discover_pool(read_real(collections / "dl21-passage")))
    assert (report.depths, report.n_holes, report.warning_text) == (((10, 63),), 84, "")
    assert (report.n_judged, report.n_unexplained) == (10_828, 3_465)
    with pytest.warns(PoolWarning, match="39 of 63 runs pooled to depth 10"):
        discover_pool(read_real(collections / "dl21-passage"), max_holes=0)


@pytest.mark.slow
def test_pools_that_are_found(collections: Path) -> None:
    """By default, without a hole, and by the rule of 2015, which asks for judged documents and not places."""
    for name, settings, depth, n_pooled, n_holes in (
        ("covid-round4", {}, 8, 54, 64),
        ("trec2-adhoc", {}, 100, 37, 186),
        ("trec2011-medical", {}, 10, 56, 34),
        ("trec2011-medical", {"max_holes": 0}, 10, 41, 0),
        ("trec2011-medical", {"max_holes": 2, "rule": "skipping"}, 10, 56, None),
        ("trec8-adhoc", {}, 100, 72, 0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PoolWarning)
            report = describe_pool(discover_pool(read_real(collections / name), **settings))  # type: ignore[arg-type]
        assert (report.depths, n_holes in (report.n_holes, None)) == (((depth, n_pooled),), True), name
        assert bool(report.warning_text) == (name == "covid-round4"), name


def test_holes_that_are_skipped() -> None:
    """At depth 2 with one hole, by the documents before the second hole: two judged ones, or nearly all there
    are. At depth 10 one document more than the judged ones is near enough.
    """

    def pooled(orders: str, **settings: Any) -> str:
        runs = {chr(ord("a") + i): {"1": order} for i, order in enumerate(orders.split())}
        collection = from_rankings(runs, {"1": {"p": 1, "q": 0}})
        return "".join(discover_pool(collection, **settings).pooled_run_ids)

    orders = "pxqy pxyq p pxy xpq"
    assert pooled(orders, depth=2, max_holes=1, rule="skipping") == "ace"
    assert pooled(orders, depth=2, max_holes=1) == "abcde"  # holes take places: a has one judged of two
    assert pooled(orders, depth=2, max_holes=0, rule="skipping") == "c"
    assert pooled("pxq pxqy qxyzuvwrst", depth=10, max_holes=1, rule="skipping") == "a"


def test_the_depth_is_the_commonest_of_all_topics() -> None:
    """Leading judged documents: a 2 and 4, b 3 and 2, c 3 and 0, d 3 and 1; a run's smallest: 2, 2, 0, 1."""
    rankings = {
        "a": {"1": "pqx", "2": "pqrsx"},
        "b": {"1": "pqrx", "2": "pqxr"},
        "c": {"1": "pqrx", "2": "xp"},
        "d": {"1": "pqrx", "2": "qx"},
    }
    judged = dict.fromkeys("pqrs", 1)
    collection = from_rankings(rankings, {"1": judged, "2": judged})
    assert discover_pool(collection).pool_depth == 2
    found = discover_pool(collection, rule="skipping", max_holes=1)
    assert (found.pool_depth, found.pooled_run_ids) == (3, ("b",))


def test_depth_beyond_every_run_makes_no_run_pooled() -> None:
    """A twentieth of a depth of 5,000 were holes enough for any run of 100 documents."""
    with pytest.warns(NoPoolWarning):
        assert discover_pool(load_example(), depth=5000, rule="skipping").pooled_run_ids == ()


@pytest.mark.parametrize(("depth", "share"), [(3, "37"), (5000, "0.0")])
def test_a_depth_far_from_what_the_judgments_show_is_refused(depth: int, share: str) -> None:
    said = rf"to depth {depth} explain {share}.* % of the judgments, to depth 10 100.0 %; leave out"
    with pytest.raises(InputError, match=said):
        discover_pool(load_example(), depth=depth)
    pooled = load_example().pooled_run_ids  # who names the runs answers for the depth
    with pytest.warns(PoolWarning, match="explains less than half"):
        assert discover_pool(load_example(), depth=3, pooled_run_ids=pooled).pool_depth == 3
    assert discover_pool(load_example(), depth=7).pool_depth == 7


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


def judged_beyond(collection: Collection, share: float) -> Collection:
    """The collection with documents below its pool judged nonrelevant, up to a share of all judgments."""
    below, n_judged = np.flatnonzero(~collection.judged & ~collection.in_pool()), int(collection.judged.sum())
    relevance = collection.relevance.copy()
    relevance[below[: round(n_judged * share / (1 - share))]] = 0
    return dataclasses.replace(collection, relevance=relevance)


@pytest.mark.parametrize("n_others", [0, 1])
def test_runs_that_leave_the_pool_are_no_reason_to_doubt_it(n_others: int) -> None:
    """45 % of the judgments are unexplained, and above half once half of the runs have left."""
    whole = judged_beyond(dataclasses.replace(small(), given_run_ids=("new-a", "new-b")[n_others:]), 0.45)
    assert not describe_pool(whole).doubts
    smaller = whole.unpool([run for run in whole.pooled_run_ids if run.endswith("-1")])
    report = describe_pool(smaller)
    assert 2 * report.n_unexplained > report.n_judged
    assert (report.doubts, report.warning_text) == ((), "")
    assert report.n_candidates == len(smaller.pooled_run_ids) + n_others
    # the judgments that there are, of a pool that was never larger
    assert describe_pool(smaller.with_pool(smaller.pooled, 10)).doubts


def test_a_pool_in_doubt_stays_so_for_the_same_reason_when_runs_leave() -> None:
    whole = judged_beyond(dataclasses.replace(small(), given_run_ids=("new-a",)), 0.6)
    doubts = describe_pool(whole).doubts
    assert doubts == (
        "it explains less than half of the judgments, and 1 of 8 runs of the campaign are not in it",
    )
    assert describe_pool(whole.unpool(whole.pooled_run_ids[:1])).doubts == doubts
    organization = whole.organizations[whole.organization[whole.pooled][-1]]
    assert describe_pool(whole.unpool(organization=organization)).doubts == doubts


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
