"""Unjudged documents, each once."""

from __future__ import annotations

import numpy as np
import pytest
from completed import toy
from toys import from_rankings

from bayespool.experiments import load_example
from bayespool.posterior import PosteriorEstimator, find_unknowns
from bayespool.posterior.unknowns import find_places


def test_unknowns_are_each_once_and_credited_to_the_best_rank() -> None:
    unknowns = find_unknowns(toy(), ("one", "two"), 5)
    found = [
        (unknowns.collection.doc_id(pair), unknowns.run_ids[run], int(rank))
        for pair, run, rank in zip(unknowns.pair, unknowns.run, unknowns.rank, strict=True)
    ]
    # q stands second in both: the run that comes first by name has it
    assert found == [
        *[("q", "one", 2), ("r", "one", 3), ("s", "two", 1), ("v", "two", 4), ("w", "two", 5)],
        *[("t", "one", 2), ("u", "one", 3)],
    ]
    assert unknowns.start.tolist() == [0, 5, 7]
    assert unknowns.doc_ids(1) == ["t", "u"]


def test_unknowns_do_not_depend_on_the_order_of_runs() -> None:
    one, other = find_unknowns(toy(), ("one", "two"), 5), find_unknowns(toy(), ("two", "one"), 5)
    assert np.array_equal(one.pair, other.pair)
    assert [one.run_ids[r] for r in one.run] == [other.run_ids[r] for r in other.run]


def test_reach_ends_at_the_depth_and_for_the_pooled_estimand_at_the_pool() -> None:
    assert len(find_unknowns(toy(), ("one",), 2)) == 2  # q and t
    assert len(find_unknowns(toy(), ("one",), 5)) == 5
    assert len(find_unknowns(toy(), ("two",), 5, "pooled")) == 3  # s, q and t
    assert len(find_unknowns(toy(), ("x",), 3)) == 0
    assert len(find_unknowns(toy(), ("x",), 5)) == 4  # d e and l m


def test_places_are_in_the_order_of_documents_ranks_and_runs() -> None:
    places = find_places(find_unknowns(toy(), ("two", "one"), 3), 5)
    found = [
        (int(d), ("two", "one")[r], int(k))
        for d, r, k in zip(places.document, places.run, places.rank, strict=True)
    ]
    # q r s of topic 1, t u of topic 2; v and w lie beyond rank 3
    assert found == [
        *[(0, "one", 2), (0, "two", 2), (1, "one", 3), (2, "two", 1), (2, "one", 4)],
        *[(3, "one", 2), (3, "two", 2), (4, "one", 3)],
    ]
    assert places.start.tolist() == [0, 2, 3, 5, 7, 8]
    second = places.of(slice(1, 3))
    assert second.document.tolist() == [0, 1, 1]
    assert second.start.tolist() == [0, 1, 3]


def test_the_mean_over_places_is_exact_where_all_are_the_same() -> None:
    places = find_places(find_unknowns(toy(), ("one", "two"), 3), 5)
    same = np.array([0.1, 0.7, 1 / 3, -2.3, 1e-9])
    assert np.array_equal(places.mean(same[places.document]), same)
    values = np.arange(16.0).reshape(8, 2)
    expected = [values[places.document == d].mean(axis=0) for d in range(5)]
    assert places.mean(values) == pytest.approx(np.array(expected))


def test_a_pooled_run_has_what_no_other_run_has() -> None:
    """``x`` of the pool stands before ``late``, which is outside, on d and behind it on e: both are its."""
    collection = from_rankings(
        {"x": {"1": "abcdefg"}, "late": {"1": "aebd"}},
        {"1": {"a": 1, "b": 0, "c": 1}},
        {"x": "x", "late": "late"},
        pooled_run_ids=("x",),
        pool_depth=3,
    )
    unknowns = find_unknowns(collection, ("x", "late"), 7)
    assert unknowns.doc_ids(0) == ["d", "e", "f", "g"]
    assert unknowns.run.tolist() == [1, 1, 0, 0]
    assert unknowns.rank.tolist() == [4, 2, 6, 7]
    places = find_places(unknowns, 7)
    assert places.run.tolist() == [1, 1, 0, 0]
    assert places.start.tolist() == [0, 1, 2, 3, 4]


def test_pooled_and_new_runs_beside_each_other_lose_no_place() -> None:
    """Below the pool depth both have unjudged documents. A run is worth the same beside the other."""
    example = load_example()
    estimator = PosteriorEstimator(model="ratio", draws=100, together=True)
    runs = ("north-1", "new-a")
    for depth in (12, 20):
        unknowns = find_unknowns(example, runs, depth, "complete", 30)
        places = find_places(unknowns, 30)
        assert (np.diff(places.start) > 0).all()
    (beside,) = estimator.estimate(example, runs, "P@15")
    (alone,) = estimator.estimate(example, "new-a", "P@15")
    assert np.array_equal(beside.draws.amount[:, 1], alone.draws.amount[:, 0])
    at_hand = estimator.estimate(example, runs, ["P@30", "P@15"])[1]
    assert np.array_equal(at_hand.draws.amount, beside.draws.amount)
