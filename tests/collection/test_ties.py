"""Ranks that hang on ties, counted and noted."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.collection import Collection, Order, build_collection, qrels_from_frame, run_from_frame
from bayespool.collection.ties import count_ties, equal_rank_note, ranks_in, tie_notes
from bayespool.errors import InputWarning

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


def test_in_single_precision_they_are_ties() -> None:
    (ties,) = collection_of_ties("single-precision").ties
    assert ties.n_topics.tolist() == [1, 2, 2, 2]
    assert not ties.n_if_rounded.any()


def test_notes_say_how_many_ranks_within_the_cutoff() -> None:
    collection = collection_of_ties()
    equal, rounded = tie_notes(collection, ["tied", "plain"], [2, 10, 2])
    assert equal.endswith("descending: top 2: tied 3 of 4; top 10: tied 5 of 9")
    assert rounded.endswith("(--order single-precision): top 10: tied 2 of 9")
    assert tie_notes(collection, ["plain"], [10]) == ()
    assert tie_notes(collection, ["tied"], [1])[0].endswith("top 1: tied 1 of 2")


def test_equal_ranks_that_order_runs_are_warned_of() -> None:
    rows = [("1", d, score, 1) for d, score in TOPICS["1"].items()]
    run = run_from_frame(
        [dict(zip(("query_id", "doc_id", "score", "rank"), row, strict=True)) for row in rows], "r"
    )
    qrels = qrels_from_frame({"1": {"a": 1}})
    with pytest.warns(InputWarning) as warned:
        collection = build_collection([run], qrels, order="rank")
    assert str(warned[0].message) == collection.rank_note == equal_rank_note(collection.ties, 1)
    assert "in 1 of 1 run, r (5 places of the top 10)" in collection.rank_note
    assert build_collection([run], qrels).rank_note == ""


def test_ranks_and_ties_of_no_line() -> None:
    topic = np.zeros(0, dtype=np.int32)
    assert ranks_in(topic).tolist() == []
    assert count_ties("r", topic, np.zeros(0), by_score=True) is None
    assert ranks_in(np.array([0, 0, 2, 3, 3, 3], dtype=np.int32)).tolist() == [0, 1, 0, 0, 1, 2]
