"""Notes on the levels that measures count, and on runs that are judged in full."""

from __future__ import annotations

from typing import Any

import pytest
from small import small

from bayespool import build_collection, parse_measure, read_collection, score
from bayespool.collection import Collection
from bayespool.errors import PooledRunWarning
from bayespool.measures.parsing import parse_measures
from bayespool.notes import Note
from bayespool.scoring.cautions import binary_notes


def graded(top: int, *, low: int = 0) -> Collection:
    judged = {q: {f"{q}{level}": level for level in range(low, top + 1)} for q in "abc"}
    return build_collection({q: {name: -i for i, name in enumerate(judged[q])} for q in "abc"}, judged)


def test_what_binary_measures_count_of_many_levels_is_one_note() -> None:
    measures = parse_measures(["P@10", "AP@100", "nDCG@10", "P(rel=2)@5", "Judged@10"])
    assert binary_notes(graded(3), measures) == [
        "relevance goes to 3: P@10, AP@100 count 1 and more; P(rel=2)@10, AP(rel=2)@100 count 2 and more"
    ]
    assert binary_notes(graded(3), measures[2:]) == []
    assert binary_notes(graded(2), measures) == []  # partly and fully relevant, as campaigns count them
    scores = score(graded(3), measures="P@4", estimators="as-judged")
    (note,) = [note for note in scores.notes() if "relevance goes to" in note]
    assert note.severity == 1


@pytest.mark.parametrize(
    ("measure", "level"),
    [
        ("nDCG@10", 1),
        ("nDCG(gains={1:0,2:1,3:3})@10", 2),
        ("nDCG(gains={1:0,2:0,3:1})@10", 3),
        ("nDCG(rel=2,gains={1:5})@10", 2),
        ("ERR(max_rel=3)@10", 1),
        ("P(rel=2)@10", 2),
    ],
)
def test_the_least_level_with_a_gain_decides_whether_judgments_are_sparse(measure: str, level: int) -> None:
    collection = graded(3, low=1)  # nothing is judged 0
    parsed = parse_measure(measure)
    assert parsed.least_level == level
    assert collection.is_sparse_at(parsed.least_level) == (level == 1)
    scores = score(collection, measures=measure, estimators="as-judged")
    assert any("only relevant documents are judged" in note for note in scores.notes()) == (level == 1)


def test_a_run_beside_the_pool_that_is_judged_in_full_asks_a_question() -> None:
    pool = {name: {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"d": 2.0, "e": 1.0}} for name in ("one", "two")}
    judged = {"q": {"a": 1, "b": 0, "c": 0}, "r": {"d": 0, "e": 1}}
    mine = {"q": {"c": 3.0, "a": 2.0}, "r": {"e": 1.0, "d": 0.5}}
    settings: dict[str, Any] = {"organizations": {"one": "x", "two": "y"}, "known_depth": 2}
    question = "mine: all of the top 2 is judged: if of the campaign, give it with the pool and its "

    def asked(runs: dict[str, Any], measure: str = "P@2", **others: Any) -> list[Note]:
        collection = read_collection(judged, runs, pool=pool, **settings)
        notes = score(collection, measures=measure, estimators="as-judged", **others).notes()
        return [note for note in notes if "if of the campaign" in note]

    (note,) = asked({"mine": mine})
    assert note.startswith(question)
    assert note.severity == 0
    assert asked({"mine": mine | {"r": {"x": 1.0, "d": 0.5}}}) == []
    assert asked({"mine": mine}, unpool="one", run_ids="one") == []


def test_the_warning_on_a_copy_names_the_run_of_the_pool() -> None:
    pool = {name: {"q": {"a": 2.0, name: 1.0}, "r": {"d": 2.0, name: 1.0}} for name in ("one", "two")}
    judged = {"q": {"a": 1, "one": 0, "two": 0}, "r": {"d": 0, "one": 1, "two": 0}}
    settings: dict[str, Any] = {"organizations": {"one": "x", "two": "y"}, "known_depth": 2}
    collection = read_collection(judged, {"mine": pool["one"]}, pool=pool, **settings)
    with pytest.warns(PooledRunWarning, match="^mine: in the pool .* --unpool one, or unpool='one'$"):
        score(collection, measures="P@2", estimators="as-judged")


def test_new_runs_with_unjudged_documents_are_asked_nothing() -> None:
    scores = score(small(), ["new-a", "new-b"], "P@10", estimators="as-judged")
    assert not any("if of the campaign" in note for note in scores.notes())
