"""What a collection holds: its pool, its fingerprint, negative relevance, and runs of a system."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys
from hypothesis import given, strategies as st
from toys import from_rankings, judged, judgments, toy_collection, toy_qrels, toy_runs
from trec_files import refused

from bayespool.collection import Collection, build_collection
from bayespool.collection.collection import group_systems, parse_systems
from bayespool.errors import InputError, InputWarning
from bayespool.experiments import load_example, simulate_example
from bayespool.pooling import describe_pool, read_collection
from bayespool.reading import LISTED, UNJUDGED, qrels_from_frame, read_qrels, run_from_frame, write_qrels


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


def test_meanings_of_negative_relevance() -> None:
    run = run_from_frame({"1": dict.fromkeys("abcdef", 1)}, "r")
    qrels = qrels_from_frame({"1": {"a": 1, "b": 0, "c": -1, "d": -2, "e": -3}})
    for meaning, codes, listed, below in (
        ("listed", [LISTED, 0, 0], "unjudged", "nonrelevant"),
        ("unjudged", [UNJUDGED] * 3, "unjudged", "unjudged"),
        ("nonrelevant", [0, 0, 0], "nonrelevant", "nonrelevant"),
    ):
        collection = build_collection([run], qrels, negative=meaning)  # type: ignore[arg-type]
        assert collection.relevance.tolist() == [1, 0, *codes, UNJUDGED], meaning
        assert str(collection.negatives) == f"1 listed with relevance −1 ({listed}), 2 below −1 ({below})"
    with pytest.raises(InputError, match="'spam'; known: listed, sampled, sampled-together, unjudged"):
        build_collection([run], qrels, negative="spam")  # type: ignore[arg-type]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    simulate_example().write(tmp_path)
    return tmp_path


def relabeled(example: Path, relevance: int) -> None:
    """Give 275 of the judgments that are 0, spread over the file, another relevance."""
    qrels = read_qrels(example / "qrels.txt")
    zeros, changed = np.flatnonzero(qrels.relevance == 0), qrels.relevance.copy()
    changed[zeros[np.linspace(0, len(zeros) - 1, 275).astype(int)]] = relevance
    write_qrels(dataclasses.replace(qrels, relevance=changed), example / "qrels.txt")


def read_example(folder: Path, **settings: Any) -> Collection:
    files = {"pool": folder / "pool", "organizations": folder / "organizations.csv"}
    return read_collection(folder / "qrels.txt", folder / "new", **files, each_its_own=True, **settings)


def test_listed_documents_are_in_the_pool_and_unjudged(example: Path) -> None:
    relabeled(example, -1)
    collection = read_example(example)
    assert str(describe_pool(collection)) == (
        "21 of 23 runs pooled to depth 10 (8 organizations), 275 holes; "
        "906 of 906 judged documents in this pool, 275 listed with relevance −1 (unjudged)"
    )
    assert collection.pooled_run_ids == load_example().pooled_run_ids
    # told otherwise, they are holes like all others, or judged
    as_zero = read_example(example, negative="nonrelevant")
    assert as_zero.fingerprint == load_example().fingerprint
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(read_example(example, negative="unjudged").pooled_run_ids) < 21


def test_a_list_that_says_nothing_clear_is_refused(tmp_path: Path) -> None:
    for text, reason in {
        "run_id,system\na,x\na,y\n": "run 'a' has system 'y' here and 'x' on line 2",
        "run_id,system\na,\n": "run 'a' has no system",
        "run_id,system\n": "lists no run",
    }.items():
        (tmp_path / "systems.csv").write_text(text)
        assert reason in str(refused(parse_systems, tmp_path / "systems.csv")), text


def test_replicates_are_of_one_organization_and_leave_together() -> None:
    example = load_example()
    merged = group_systems(example, (("north-1", "s"), ("south-1", "s"), ("elsewhere", "t")))
    of = dict(zip(merged.run_ids, merged.organization, strict=True))
    north = example.organizations.index("north")
    assert of["north-1"] == of["south-1"] == of["north-2"] == north
    assert of["south-2"] == example.organizations.index("south")
    alone, together = (c.unpool(organization="north") for c in (example, merged))
    gone = {run for run in example.pooled_run_ids if run not in together.pooled_run_ids}
    assert gone == {*example.pooled_run_ids} - {*alone.pooled_run_ids} | {"south-1"}
    with pytest.raises(InputError, match="no run of the list of systems"):
        group_systems(example, (("elsewhere", "t"),))
