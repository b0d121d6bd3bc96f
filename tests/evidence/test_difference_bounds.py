"""Bounds on differences: against all completions of small collections, whose documents runs share."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool import load_example, read_collection
from bayespool.collection import Collection
from bayespool.evidence.bounds import score_bounds
from bayespool.evidence.difference_bounds import are_differences_sharp, difference_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.measures import parse_measure

_PAIRS = (np.array([0, 0, 1]), np.array([1, 2, 2]))
_SHARP = ("P@3", "P(rel=2)@2", "DCG@3", "SDCG(max_rel=2)@3", "RBP(p=0.5)@3", "nDCG(ideal='judged')@3")
_SHARP += (
    "nDCG(ideal='shared')@3",
    "nDCG(ideal='shared', dcg='exp-log2')@2",
    "nDCG(ideal='shared', rel=2)@3",
)
_WIDE = ("RR@3", "ERR(max_rel=2)@3", "R(ideal='shared')@3", "AP(ideal='shared')@3", "nDCG@3", "RBP(p=0.5)")


@st.composite
def collections(draw: st.DrawFn) -> Collection:
    """Three runs on a topic, with five unjudged documents at most."""
    documents = [f"d{i}" for i in range(8)]
    runs = {name: draw(st.permutations(documents))[: draw(st.integers(1, 4))] for name in "abc"}
    levels = draw(st.lists(st.sampled_from([0, 1, 2]), min_size=8, max_size=8))
    unjudged = draw(st.lists(st.integers(0, 7), max_size=5, unique=True))
    judged = {f"d{i}": level for i, level in enumerate(levels) if i not in unjudged}
    judged |= {"e": 2, "f": draw(st.sampled_from([0, 1, 2]))}
    ranked = {name: {"q": {d: -float(rank) for rank, d in enumerate(run)}} for name, run in runs.items()}
    return read_collection({"q": judged}, ranked)


def all_differences(collection: Collection, name: str) -> np.ndarray:
    """Differences of the pairs in every completion, shape (completion, pair)."""
    places = np.flatnonzero(collection.may_be_relevant)
    rows = []
    for drawn in product((0, *collection.levels), repeat=len(places)):
        relevance = collection.relevance.copy()
        relevance[places] = drawn
        fuller = replace(collection, relevance=relevance)
        values = values_on_fuller(collection, fuller, tuple("abc"), parse_measure(name)).means()
        rows.append(values[_PAIRS[0]] - values[_PAIRS[1]])
    return np.array(rows)


@pytest.mark.parametrize("name", _SHARP + _WIDE)
@given(collection=collections())
def test_every_completion_is_within_and_some_reach_the_ends(name: str, collection: Collection) -> None:
    """Those of measures that are sums over ranks are sharp; of others no completion is beyond them."""
    bounds = score_bounds(collection, None, parse_measure(name))
    least, most = difference_bounds(collection, bounds, _PAIRS, "complete")
    differences = all_differences(collection, name)
    assert (least <= differences.min(axis=0) + 1e-9).all()
    assert (most >= differences.max(axis=0) - 1e-9).all()
    if name in _SHARP:
        np.testing.assert_allclose(least, differences.min(axis=0), atol=1e-9)
        np.testing.assert_allclose(most, differences.max(axis=0), atol=1e-9)
    assert are_differences_sharp(parse_measure(name)) == (name in _SHARP)


@given(collection=collections())
def test_runs_of_the_same_documents_have_sharp_bounds_over_their_own_ideals(collection: Collection) -> None:
    """Of a and a in the reverse order: over their own ideals as over a shared one of the two."""
    ranked = collection.document[0, 0, :3][collection.document[0, 0, :3] >= 0]
    ids = collection.doc_ids.to_pylist()
    runs = {
        name: {"q": {ids[d]: sign * float(rank) for rank, d in enumerate(ranked)}}
        for name, sign in (("a", 1), ("b", -1))
    }
    judged = zip(ids, collection.relevance.tolist(), strict=True)
    two = read_collection({"q": {d: level for d, level in judged if level >= 0}}, runs)
    pair, ends = (np.array([0]), np.array([1])), []
    for name in ("nDCG@3", "nDCG(ideal='shared')@3"):
        bounds = score_bounds(two, ["a", "b"], parse_measure(name))
        ends.append(difference_bounds(two, bounds, pair, "complete"))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


def test_a_document_of_both_runs_cancels() -> None:
    """P@2 of a is 1/2 to 1 and of b 0 to 1/2; the document that both have is unjudged."""
    runs = {"a": {"q": {"x": 2.0, "r": 1.0}}, "b": {"q": {"x": 2.0, "n": 1.0}}}
    collection = read_collection({"q": {"r": 1, "n": 0}}, runs)
    bounds = score_bounds(collection, ["a", "b"], parse_measure("P@2"))
    ends = difference_bounds(collection, bounds, (np.array([0]), np.array([1])), "complete")
    assert [end.tolist() for end in ends] == [[0.5], [0.5]]


def test_pairs_are_bounded_alike_whichever_run_is_first() -> None:
    collection, first, second = load_example(), np.array([0, 1, 2]), np.array([3, 4, 0])
    for name in ("P@10", "nDCG(ideal='shared')@10", "AP(ideal='shared')@100"):
        bounds = score_bounds(collection, None, parse_measure(name))
        least, most = difference_bounds(collection, bounds, (first, second), "pooled")
        of_swapped = difference_bounds(collection, bounds, (second, first), "pooled")
        np.testing.assert_allclose([least, most], [-of_swapped[1], -of_swapped[0]], atol=1e-12)
        assert (least <= most).all()
