"""Who alone contributed a document, to a pool that is a union; of others see `tests/pooling/test_pools`."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from toys import pooled_collections, toy_collection

from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor


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
