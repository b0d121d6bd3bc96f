"""Who alone contributed a document, to a pool that is a union; of others see `tests/pooling/test_pools`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from toys import pooled_collections, toy_collection

from bayespool.collection import Collection, qrels_from_frame
from bayespool.collection.pools import find_sole_contributor, sole_contributor
from bayespool.errors import InputError


def alone(collection: Collection, owner: np.ndarray, unit: int) -> list[str]:
    """Documents of each topic that a unit alone contributed."""
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


def test_any_unit() -> None:
    """All but n1 together: what n1 alone brought, and what it did not."""
    toy = toy_collection()
    unit = np.array([0, 1, 1, 1, 1], dtype=np.int32)
    owner = find_sole_contributor(toy, unit)
    assert alone(toy, owner, 0) == ["c", "", ""]
    assert alone(toy, owner, 1) == ["fhik", "vw", "d"]


def test_an_added_judgment_has_its_run() -> None:
    toy = toy_collection().add_judgments(qrels_from_frame({"1": {"l": 1, "d": 0}}))
    owner = sole_contributor(toy, "run")
    assert alone(toy, owner, toy.run_ids.index("u")) == ["dl", "", ""]


@given(pooled_collections())
def test_without_its_contributor_a_document_is_not_in_the_pool(collection: Collection) -> None:
    """And without any other it is."""
    owner = sole_contributor(collection, "run")
    pooled = np.flatnonzero(collection.pooled)
    for run in pooled:
        lost = collection.in_pool(pooled) & ~collection.in_pool(pooled[pooled != run])
        assert np.array_equal(lost, owner == run)


def test_refused() -> None:
    with pytest.raises(InputError, match="cannot hold out by 'topic'; organization or run"):
        sole_contributor(toy_collection(), "topic")  # type: ignore[arg-type]
