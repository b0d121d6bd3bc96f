"""Unjudged documents, each once."""

from __future__ import annotations

from completed import toy

from bayespool.posterior import find_unknowns
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
