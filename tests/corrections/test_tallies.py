"""Judged documents at levels, and those that are hidden with pooled runs."""

from __future__ import annotations

import numpy as np
import toys
from hypothesis import given
from toys import toy_collection

from bayespool.collection import Collection
from bayespool.corrections.base import hidden_at_levels
from bayespool.evidence.ideals import judged_at_levels, tally_of

LEVELS = (0, 1, 2)


def test_hidden_documents_of_the_toy() -> None:
    # runs n1, n2, s1, s2: see who alone contributed what at the top of toys.py
    by_run = hidden_at_levels(toy_collection(), LEVELS, by="run")
    assert by_run[:, 0].tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 0]]
    assert by_run[:, 1].tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert not by_run[:, 2].any()
    # north: b c f, p r, b; south: h i k, v w, d; each with both of its runs, whichever ranks them
    by_organization = hidden_at_levels(toy_collection(), LEVELS)
    assert by_organization[0].tolist() == [[1, 1, 1], [0, 1, 1], [1, 0, 0]]
    assert by_organization[2].tolist() == [[2, 1, 0], [1, 1, 0], [1, 0, 0]]
    assert np.array_equal(by_organization[[0, 2]], by_organization[[1, 3]])


def test_a_substitute_keeps_what_it_retrieves() -> None:
    # u has a l d, v p z, e f within the pool depth: v stays with s1 held out
    by_run = hidden_at_levels(toy_collection(), LEVELS, by="run", substitute="u")
    assert by_run[2, 1].tolist() == [1, 0, 0]
    assert by_run[0, 0].tolist() == [0, 0, 1]


@given(toys.pooled_collections())
def test_what_is_left_is_what_is_judged_without_the_organization(collection: Collection) -> None:
    judged = judged_at_levels(collection, LEVELS, collection.relevance)
    assert judged.sum() == (collection.relevance >= 0).sum()
    assert np.array_equal(judged[:, 1:], tally_of(collection, LEVELS).n)
    left = judged - hidden_at_levels(collection, LEVELS)
    for row, run in enumerate(collection.pooled_run_ids):
        organization = collection.organizations[collection.organization[collection.run_index(run)[0]]]
        without = collection.unpool(organization=organization)
        assert np.array_equal(left[row], judged_at_levels(without, LEVELS, without.relevance))
