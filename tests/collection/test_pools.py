"""A pool with a depth for each run, and who alone contributed a document to it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import toys
from hypothesis import given
from toys import in_pool, judged, pooled_collections, toy_collection, toy_qrels, toy_runs

from bayespool.collection import Collection, build_collection
from bayespool.collection.contents import DepthPool
from bayespool.collection.pools import sole_contributor
from bayespool.errors import InputError


# A pool of several depths: n1 to 1, n2 to 2, s1 and s2 to 3
#     topic 1   n1: a          topic 2   n1: q        topic 3   n1: a
#               n2: b a                  n2: p r                n2: b c
#               s1: a h i                s1: q v w              s1: c a d
#               s2: h k                                         s2: a d
def uneven_toy() -> Collection:
    return build_collection(
        toy_runs(),
        toy_qrels(),
        organizations=toys.ORGANIZATIONS,
        pooled_run_ids=toys.POOLED,
        pool_depth={"n1": 1, "n2": 2, "s1": 3, "s2": 3},
    )


def test_pool_of_several_depths() -> None:
    collection = uneven_toy()
    assert collection.pool_depth == 3
    assert collection.run_depths(np.array([4, 0, 1, 3])).tolist() == [3, 1, 2, 3]  # u would go to 3
    assert in_pool(collection) == ["abhik", "pqrvw", "abcd"]
    assert in_pool(collection, ["n1", "n2"]) == ["ab", "pqr", "abc"]
    assert in_pool(collection, ["u"]) == ["adl", "pvz", "ef"]
    assert "(4 pooled to depth 1 to 3)" in repr(collection)
    again = pickle.loads(pickle.dumps(collection))
    assert again.pool == collection.pool
    assert again.fingerprint == collection.fingerprint != toy_collection().fingerprint
    assert not again.relevance.flags.writeable


def test_truncated_pool_of_several_depths() -> None:
    shallow = uneven_toy().truncate_pool(2)
    assert shallow.run_depths(np.arange(5)).tolist() == [1, 2, 2, 2, 2]
    assert judged(shallow) == ["abhk", "pqrv", "abcd"]
    assert shallow.pool_depth == 2
    # the common depth is 1 here, and the deepest 3
    many = uneven_toy().with_pool(uneven_toy().pooled, DepthPool(1, (1, 1, 3, 1, 1)))
    assert many.truncate_pool(3).run_depths(np.arange(5)).tolist() == [1, 1, 3, 1, 1]
    with pytest.raises(InputError, match="cannot re-pool to depth 4; the pool's is 3"):
        many.truncate_pool(4)


def test_commonest_depth_is_the_common_one() -> None:
    depths = {"n1": 1, "n2": 1, "s1": 3, "s2": 2}
    arguments = {"pooled_run_ids": toys.POOLED}
    assert build_collection(toy_runs(), toy_qrels(), **arguments, pool_depth=depths).pool_depth == 1
    depths["n2"] = 3  # the larger of equals would be 3 as well
    assert build_collection(toy_runs(), toy_qrels(), **arguments, pool_depth=depths).pool_depth == 3
    with pytest.raises(InputError, match="no pool depth of run 's2'; give one for each pooled run"):
        build_collection(toy_runs(), toy_qrels(), **arguments, pool_depth={"n1": 1, "n2": 1, "s1": 3})


def alone(collection: Collection, owner: np.ndarray, unit: int) -> list[str]:
    found = [""] * len(collection.query_ids)
    for pair in np.flatnonzero(owner == unit):
        found[collection.pair_topic[pair]] += collection.doc_id(int(pair))
    return found


def test_what_the_toys_organizations_and_runs_alone_contributed() -> None:
    toy = toy_collection()
    by_organization, by_run = sole_contributor(toy), sole_contributor(toy, "run")
    north, south = (toy.organizations.index(name) for name in ("north", "south"))
    assert alone(toy, by_organization, north) == ["bcf", "pr", "b"]
    assert alone(toy, by_organization, south) == ["hik", "vw", "d"]
    expected = {"n1": ["c", "", ""], "n2": ["f", "", ""], "s1": ["i", "vw", ""], "s2": ["k", "", ""]}
    for run, name in enumerate(toy.run_ids):
        assert alone(toy, by_run, run) == expected.get(name, ["", "", ""])
    assert alone(toy, by_organization, toy.organizations.index("new")) == ["", "", ""]
    assert not by_run.flags.writeable


@given(pooled_collections())
def test_without_its_contributor_a_document_is_not_in_the_pool(collection: Collection) -> None:
    """And without any other it is."""
    owner = sole_contributor(collection, "run")
    pooled = np.flatnonzero(collection.pooled)
    for run in pooled:
        lost = collection.in_pool(pooled) & ~collection.in_pool(pooled[pooled != run])
        assert np.array_equal(lost, owner == run)
