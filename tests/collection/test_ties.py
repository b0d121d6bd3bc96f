"""Ranks that hang on ties, counted and noted."""

from __future__ import annotations

from bayespool.collection import Collection, Order, build_collection, qrels_from_frame, run_from_frame
from bayespool.collection.ties import tie_notes

TOPICS = {
    "1": {"a": 5, "b": 3, "c": 3, "d": 3, "e": 1},  # ranks 2 to 4
    "2": {"a": 4, "b": 4, "c": 1 + 1e-9, "d": 1},  # ranks 1 and 2, and 3 and 4 if rounded
}


def collection_of_ties(order: Order = "score") -> Collection:
    runs = [run_from_frame(TOPICS, "tied"), run_from_frame({"1": {"a": 2, "b": 1}, "2": {"c": 1}}, "plain")]
    return build_collection(runs, qrels_from_frame({"1": {"a": 1}, "2": {"b": 1}}), order=order)


def test_ties_are_counted_by_rank() -> None:
    (ties,) = collection_of_ties().ties
    assert ties.run_id == "tied"
    assert ties.n_topics.tolist() == [1, 2, 1, 1]
    assert ties.n_if_rounded.tolist() == [0, 0, 1, 1]


def test_notes_say_how_many_ranks_within_the_cutoff() -> None:
    collection = collection_of_ties()
    equal, rounded = tie_notes(collection, ["tied", "plain"], [2, 10, 2])
    assert equal.endswith("descending: top 2: tied 3 of 4; top 10: tied 5 of 9")
    assert rounded.endswith("(--order single-precision): top 10: tied 2 of 9")
    assert tie_notes(collection, ["plain"], [10]) == ()
    assert tie_notes(collection, ["tied"], [1])[0].endswith("top 1: tied 1 of 2")
