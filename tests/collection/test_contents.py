"""What a collection holds: its pool with and without runs, and its fingerprint."""

from __future__ import annotations

from typing import Any

import pytest
import toys
from hypothesis import given, strategies as st
from toys import from_rankings, judged, judgments, toy_collection, toy_qrels, toy_runs
from trec_files import refused

from bayespool.collection import Collection, build_collection, run_from_frame
from bayespool.errors import InputWarning


def test_topics_are_those_of_the_qrels_in_numeric_order() -> None:
    relevance = {"10": {"a": 1}, "9": {"a": 0}, "MB02": {"a": 0}, "MB01": {"a": 0}, "007": {"a": 0}}
    with pytest.warns(InputWarning, match="r has 1 topic that the qrels lack .11., and lacks 3 topics"):
        collection = from_rankings({"r": {"9": "a", "11": "ab", "MB01": "ba"}}, relevance)
    assert collection.query_ids == ("007", "9", "10", "MB01", "MB02")
    assert collection.length.tolist() == [[0, 1, 0, 2, 0]]


def test_unpool_runs() -> None:
    toy = toy_collection()
    cases: list[tuple[list[str], str]] = [
        (["n1"], "abfhijk pqrvw abcd"),  # c is n1's; n2 has it below depth 3
        (["n2"], "abchijk pqrvw abcd"),
        (["s1"], "abcfhjk pqr abcd"),  # h is s2's, too
        (["s2"], "abcfhij pqrvw abcd"),
        (["s1", "s2"], "abcfj pqr abc"),  # together they alone had h, and d on topic 3
        (["u"], "abcfhijk pqrvw abcd"),  # was not pooled
        ([], "abcfhijk pqrvw abcd"),
    ]
    for run_ids, left in cases:
        assert judged(toy.unpool(run_ids)) == left.split(), run_ids
    assert judged(toy.unpool(toys.POOLED)) == ["j", "", ""]  # j was nobody's
    south = toy.unpool(organization="south")
    assert (
        toy.unpool("s2").unpool("s1").fingerprint == toy.unpool(["s1", "s2"]).fingerprint == south.fingerprint
    )
    assert south.pooled_run_ids == ("n1", "n2")


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


def test_unpool_takes_runs_or_an_organization_that_are_there() -> None:
    unpool = toy_collection().unpool
    for arguments, reason in (
        ({}, "run ids or an organization"),
        ({"run_ids": "n1", "organization": "north"}, "run ids or an organization"),
        ({"organization": "west"}, "no organization 'west'; known: 'new', 'north', 'south'"),
        ({"run_ids": "zz"}, "no run 'zz'"),
    ):
        assert reason in str(refused(unpool, **arguments)), arguments


POOL = {"organizations": toys.ORGANIZATIONS, "pooled_run_ids": toys.POOLED, "pool_depth": 3}
EVEN = dict.fromkeys(toys.POOLED, toys.DEPTH)


def test_fingerprint_changes_with_everything_that_counts() -> None:
    def built(run: dict[str, dict[str, float]] | None = None, **other: Any) -> Collection:
        runs = [*toy_runs()[:-1], run_from_frame(run or toys.RUNS["u"], "u")]
        return build_collection(runs, toy_qrels(), **{**POOL, **other})

    run = {"r": {"1": "a", "2": "d"}}
    doubled = {q: {d: 2 * s for d, s in scores.items()} for q, scores in toys.RUNS["u"].items()}
    assert built(doubled, pool_depth=EVEN, given_run_ids=["u"]).fingerprint == toy_collection().fingerprint
    assert len(toy_collection().fingerprint) == 16
    collections = [
        toy_collection(),
        toy_collection(more={"1": {"l": 0}}),
        toy_collection(more={"1": {"l": 1}}),
        toy_collection(pool_depth=2),
        toy_collection(pooled_run_ids=("n1", "n2", "s1")),
        toy_collection(scores=True),
        built(doubled, scores=True),
        toy_collection().unpool("n1"),
        built({**toys.RUNS["u"], "3": {"e": 1.0, "f": 2.0}}),
        built(pool_depth={**EVEN, "s2": 2}),
        built(pool_depth={**EVEN, "s1": 2}),
        built(negative="unjudged"),
        built(organizations={}),
        built(organizations={**toys.ORGANIZATIONS, "u": "north"}),
        from_rankings(run, {"1": {"a": 1, "b": 0}, "2": {"d": 0}}),
        from_rankings(run, {"1": {"a": 1}, "2": {"b": 0, "d": 0}}),  # b is judged on another topic
    ]
    assert len({collection.fingerprint for collection in collections}) == len(collections)
