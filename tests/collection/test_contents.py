"""What a collection holds: its pool with and without runs, and its fingerprint."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import toys
from hypothesis import given, strategies as st
from toys import from_rankings, in_pool, judged, judgments, toy_collection, toy_qrels, toy_runs
from trec_files import refused

from bayespool.collection import UNJUDGED, Collection, Run, build_collection, qrels_from_frame, run_from_frame
from bayespool.errors import InputWarning

# What a collection holds


def test_topics_are_those_of_the_qrels_in_numeric_order() -> None:
    relevance = {"10": {"a": 1}, "9": {"a": 0}, "MB02": {"a": 0}, "MB01": {"a": 0}, "007": {"a": 0}}
    with pytest.warns(InputWarning, match="r has 1 topic that the qrels lack .11., and lacks 3 topics"):
        collection = from_rankings({"r": {"9": "a", "11": "ab", "MB01": "ba"}}, relevance)
    assert collection.query_ids == ("007", "9", "10", "MB01", "MB02")
    assert collection.length.tolist() == [[0, 1, 0, 2, 0]]


def test_lengths_indices_and_pairs_of_the_toy() -> None:
    collection = toy_collection()
    assert collection.length.tolist() == [[5, 5, 3], [5, 4, 3], [5, 6, 4], [2, 0, 2], [5, 4, 2]]
    found = judgments(collection)
    assert (found["1"]["c"], found["3"]["c"]) == (2, 0)  # a different pair on another topic
    sizes = "5 runs (4 pooled to depth 3), 3 organizations, 3 topics, 17 judgments, 7 relevant"
    assert repr(collection) == f"<Collection: {sizes}>"
    assert collection.run_index(["u", "n1"]).tolist() == [4, 0]
    assert collection.run_index("s1").tolist() == [2]
    assert collection.run_index().tolist() == [0, 1, 2, 3, 4]
    assert "no run 'zz' in the collection" in str(refused(collection.run_index, ["n1", "zz"]))


# The pool


def test_pool_of_the_toy() -> None:
    collection = toy_collection()
    assert in_pool(collection) == ["abcfhik", "pqrvw", "abcd"]
    assert in_pool(collection, ["s2"]) == ["hk", "", "ad"]
    assert in_pool(collection, ["u"]) == ["adl", "pvz", "ef"]
    assert in_pool(collection, []) == ["", "", ""]


def test_unpool_an_organization() -> None:
    """North alone had b c f, p r, b within depth 3: a is s1's, too, and s1 has its b and p deeper."""
    collection = toy_collection()
    for organization, left in {"north": "ahijk qvw acd", "south": "abcfj pqr abc"}.items():
        smaller = collection.unpool(organization=organization)
        assert judged(smaller) == left.split()
        others = tuple(r for r in toys.POOLED if toys.ORGANIZATIONS[r] != organization)
        assert smaller.pooled_run_ids == others
        assert np.array_equal(smaller.document, collection.document)


def test_unpool_runs() -> None:
    cases: list[tuple[str | list[str], list[str]]] = [
        ("n1", ["abfhijk", "pqrvw", "abcd"]),  # c is n1's; n2 has it below depth 3
        ("n2", ["abchijk", "pqrvw", "abcd"]),
        ("s1", ["abcfhjk", "pqr", "abcd"]),  # h is s2's, too
        ("s2", ["abcfhij", "pqrvw", "abcd"]),
        (["s1", "s2"], ["abcfj", "pqr", "abc"]),  # together they alone had h, and d on topic 3
        (["n1", "n2", "s1", "s2"], ["j", "", ""]),  # j was nobody's
        ("u", ["abcfhijk", "pqrvw", "abcd"]),  # was not pooled
        ([], ["abcfhijk", "pqrvw", "abcd"]),
    ]
    for run_ids, left in cases:
        assert judged(toy_collection().unpool(run_ids)) == left, run_ids


def test_unpool_one_after_the_other_is_unpool_at_once() -> None:
    collection = toy_collection()
    one_by_one = collection.unpool("s2").unpool("s1")
    assert one_by_one.fingerprint == collection.unpool(["s1", "s2"]).fingerprint
    assert one_by_one.fingerprint == collection.unpool(organization="south").fingerprint


@given(toys.pooled_collections(), st.data())
def test_unpool_never_adds_a_judgment(collection: Collection, data: st.DataObject) -> None:
    run_ids = data.draw(st.lists(st.sampled_from(collection.run_ids), unique=True))
    smaller = collection.unpool(run_ids)
    before, after = judgments(collection), judgments(smaller)
    for query_id, documents in after.items():
        assert documents.items() <= before[query_id].items()
    # what is left of the pool is what the other pooled runs contributed
    assert (smaller.relevance >= 0)[smaller.in_pool()].all()
    lost = (collection.relevance >= 0) & (smaller.relevance < 0)
    assert not lost[~collection.in_pool(collection.run_index(run_ids))].any()


def test_judgment_of_ones_own_in_a_hole_of_the_pool_stays_without_its_run() -> None:
    runs = {"a": {"1": "xy"}, "b": {"1": "xz"}, "u": {"1": "yq"}}
    pool = {"pooled_run_ids": ("a", "b"), "pool_depth": 2}
    holed = from_rankings(runs, {"1": {"x": 1, "z": 0}}, **pool)
    assert judged(holed.unpool("a")) == judged(holed) == ["xz"]
    richer = holed.add_judgments(qrels_from_frame({"1": {"y": 1}}))
    assert judged(richer.unpool("a")) == ["xyz"]
    assert judged(richer.truncate_pool(1)) == ["xy"]
    theirs = from_rankings(runs, {"1": {"x": 1, "y": 1, "z": 0}}, **pool)
    assert judged(theirs.unpool("a")) == ["xz"]


def test_unpool_takes_runs_or_an_organization_that_are_there() -> None:
    unpool = toy_collection().unpool
    for arguments, reason in (
        ({}, "run ids or an organization"),
        ({"run_ids": "n1", "organization": "north"}, "run ids or an organization"),
        ({"organization": "west"}, "no organization 'west'; known: 'new', 'north', 'south'"),
        ({"run_ids": "zz"}, "no run 'zz'"),
    ):
        assert reason in str(refused(unpool, **arguments)), arguments


def test_truncate_pool() -> None:
    for depth, left in {1: "abh pq abc", 2: "abhk pqrv abcd", 3: "abcfhik pqrvw abcd"}.items():
        shallow = toy_collection().truncate_pool(depth)
        assert judged(shallow) == left.split()
        assert (shallow.pool_depth, shallow.pooled_run_ids) == (depth, toys.POOLED)
    for depth in (-1, 0, 4):
        said = str(refused(toy_collection().truncate_pool, depth))
        assert f"pool depth {depth} is not between 1 and 3" in said


def test_nothing_is_changed_in_place() -> None:
    collection = toy_collection()
    before = collection.fingerprint, collection.relevance.copy()
    collection.unpool("n1")
    collection.truncate_pool(1)
    assert np.array_equal(collection.relevance, before[1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        collection.pool_depth = 1  # type: ignore[misc]


# Fingerprint


def with_run(run_id: str, topics: dict[str, dict[str, float]]) -> list[Run]:
    return [run_from_frame(t, r) for r, t in {**toys.RUNS, run_id: topics}.items()]


POOL = {"organizations": toys.ORGANIZATIONS, "pooled_run_ids": toys.POOLED, "pool_depth": 3}
EVEN = dict.fromkeys(toys.POOLED, toys.DEPTH)


def test_order_of_runs_never_matters() -> None:
    backwards = build_collection(toy_runs()[::-1], toy_qrels(), **POOL)
    assert backwards.run_ids == ("n1", "n2", "s1", "s2", "u")
    assert backwards.fingerprint == toy_collection().fingerprint
    runs = [run_from_frame(toys.RUNS["u"], run_id) for run_id in ("b", "ä", "Z", "a10", "a9")]
    assert build_collection(runs, toy_qrels()).run_ids == ("Z", "a10", "a9", "b", "ä")  # by bytes


def test_fingerprint_is_equal_for_equal_input() -> None:
    given = build_collection(
        toy_runs(), toy_qrels(), **{**POOL, "pool_depth": EVEN}, given_run_ids=["u", "s1"]
    )
    assert given.fingerprint == toy_collection().fingerprint
    assert toy_collection().fingerprint == toy_collection().fingerprint
    assert len(toy_collection().fingerprint) == 16


def test_fingerprint_ignores_scores_that_rank_alike() -> None:
    doubled = {q: {d: 2 * s for d, s in scores.items()} for q, scores in toys.RUNS["u"].items()}
    collection = build_collection(with_run("u", doubled), toy_qrels(), **POOL)
    assert collection.fingerprint == toy_collection().fingerprint


def test_fingerprint_changes_with_everything_that_counts() -> None:
    swapped = {**toys.RUNS["u"], "3": {"e": 1.0, "f": 2.0}}
    collections = [
        toy_collection(),
        toy_collection(more={"1": {"l": 0}}),
        toy_collection(more={"1": {"l": 1}}),
        toy_collection(more={"1": {"b": 1}}),
        toy_collection(pool_depth=2),
        toy_collection(pooled_run_ids=("n1", "n2", "s1")),
        toy_collection().unpool("n1"),
        toy_collection().unpool("n2"),
        build_collection(with_run("u", swapped), toy_qrels(), **POOL),
        build_collection(toy_runs(), toy_qrels(), **{**POOL, "pool_depth": {**EVEN, "s2": 2}}),
        build_collection(toy_runs(), toy_qrels(), **{**POOL, "pool_depth": {**EVEN, "s1": 2}}),
        build_collection(toy_runs(), toy_qrels(), **{**POOL, "negative": "unjudged"}),
        build_collection(toy_runs(), toy_qrels(), **{**POOL, "organizations": {}}),
        build_collection(
            toy_runs(), toy_qrels(), **{**POOL, "organizations": {**toys.ORGANIZATIONS, "u": "north"}}
        ),
    ]
    fingerprints = [collection.fingerprint for collection in collections]
    assert len(set(fingerprints)) == len(fingerprints)


def test_fingerprint_tells_on_which_topic_a_document_is_judged() -> None:
    run = {"r": {"1": "a", "2": "d"}}
    first = from_rankings(run, {"1": {"a": 1, "b": 0}, "2": {"d": 0}})
    second = from_rankings(run, {"1": {"a": 1}, "2": {"b": 0, "d": 0}})
    assert first.fingerprint != second.fingerprint


def test_judgments_taken_away_are_asked_for_no_more() -> None:
    collection = toy_collection()
    gone = np.zeros(len(collection.relevance), dtype=bool)
    gone[np.flatnonzero(collection.judged)[:2]] = True
    fewer = collection.without_judgments(gone)
    assert fewer.judged.tolist() == (collection.judged & ~gone).tolist()
    assert (fewer.relevance[gone] == UNJUDGED).all()
    assert (fewer.relevance[~gone] == collection.relevance[~gone]).all()
    assert fewer.fingerprint != collection.fingerprint
    assert fewer.without_judgments(gone).fingerprint == fewer.fingerprint
