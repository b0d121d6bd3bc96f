"""Topics of runs and qrels that agree in part."""

from __future__ import annotations

import pytest

from bayespool.collection import build_collection, qrels_from_frame, run_from_frame
from bayespool.collection.topics import join_hint
from bayespool.errors import InputWarning


def test_what_would_join_topics() -> None:
    for of_run, of_qrels, n, name in (
        (["007", "08", "10"], ["7", "8", "9"], 2, "leading zeros"),
        (["q1", "q2"], ["1", "2"], 2, "what is before the number"),
        (["1"], ["topic-1"], 1, "what is before the number"),
        (["PM-01", "PM-02"], ["1", "2"], 2, "what is before the number, and leading zeros"),
        (["Q1a", "Q2b"], ["q1a", "q2b"], 2, "upper case"),
    ):
        hint = join_hint(of_run, of_qrels)
        assert hint.startswith(f"{n} topic"), of_run
        assert f"but for {name}, such as {of_run[0]} in the run and {of_qrels[0]} in the qrels" in hint
    assert join_hint(["1a", "01a"], ["001a"]) == ""  # a form that several topics share
    assert join_hint(["77", "abc"], ["78", "xyz"]) == ""


def test_topics_that_agree_in_part_are_warned_of() -> None:
    run = run_from_frame({t: {"d": 1} for t in ("01", "02", "10")}, "padded")
    qrels = qrels_from_frame({t: {"d": 1} for t in ("1", "2", "10")})
    with pytest.warns(InputWarning) as warned:
        collection = build_collection([run, run_from_frame({"1": {"d": 1}}, "short")], qrels)
    (strange,) = collection.strange_topics
    assert (strange.run_id, strange.of_run, strange.of_qrels) == ("padded", ("01", "02"), ("1", "2"))
    assert [str(w.message) for w in warned] == [collection.topic_note]
    assert "2 topics agree but for leading zeros" in collection.topic_note
