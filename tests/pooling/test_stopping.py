"""Stopping rules, by hand, and in the choice of documents."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool import budgets, load_example
from bayespool.errors import InputError
from bayespool.pooling import choose, estimated_recall, parse_stopping_rule, stops_at
from bayespool.scoring import DocumentsToJudge

RELEVANCE = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1], dtype=np.int16)


def test_a_rule_stops_where_it_says() -> None:
    for text, expected in (
        ("nonrelevant(n=2)", 6),
        ("nonrelevant(n=4)", 11),
        ("nonrelevant(n=5)", 12),  # never: all are judged
        ("yield(share=0.5, window=4)", 8),  # of the last four 3 2 2 2, then 1
        ("yield(share=0.5, window=3)", 6),  # 2 2 2 1
        ("yield(share=0.1, window=13)", 12),
        # found 1 2 3 3 3 4 4 4 …, and of the last two 1 1 2 1 0: 3 + 0 expected at the sixth
        ("recall(target=0.9, window=2)", 6),
        # of the last four, with 8 to 4 left: 3/9, 3/6.5, 3/6, 4/6.5, 4/5
        ("recall(target=0.6, window=4)", 7),
        ("recall(target=0.8, window=4)", 8),
    ):
        assert stops_at(parse_stopping_rule(text), RELEVANCE, 12) == expected, text


def test_a_rule_knows_what_is_judged_and_what_counts_as_relevant() -> None:
    rule = parse_stopping_rule("nonrelevant(n=2)")
    for levels, most, rel, expected in (
        ([1, 0, -1, 0, 0], 9, 1, 5),
        ([1, 0, 0, -1, 0], 9, 1, 3),
        ([], 9, 1, 0),
        ([2, 1, 1, 2], 4, 1, 4),
        ([2, 1, 1, 2], 4, 2, 3),
    ):
        assert stops_at(rule, np.array(levels, dtype=np.int16), most, rel=rel) == expected, levels


def test_estimated_recall_is_what_is_found_of_that_and_what_is_expected() -> None:
    found = estimated_recall(RELEVANCE > 0, 20, window=4)
    assert np.isnan(found[:3]).all()
    assert found[3:5].tolist() == pytest.approx([3 / (3 + 16 * 3 / 4), 3 / (3 + 15 / 2)])
    assert found[10] == 1  # nothing relevant among the last four
    assert np.isnan(estimated_recall(RELEVANCE < 0, 20, window=4)).all()
    assert estimated_recall(RELEVANCE > 0, 12, window=4)[-1] == 1  # nothing is left


def test_what_is_no_rule_is_refused() -> None:
    for text, message in (
        ("knee", "no stopping rule 'knee'; known: nonrelevant, recall, yield"),
        ("nonrelevant(n=0)", "n = 0; give 1 or more"),
        ("recall(target=1.5)", "target = 1.5; give a share above 0, up to 1"),
        ("yield(share=0)", "share = 0"),
    ):
        with pytest.raises(InputError, match=message):
            parse_stopping_rule(text)


def test_a_list_says_where_topics_ended() -> None:
    example = load_example()
    chosen = choose(example, "take", 900, depth=10, stop="recall(target=0.5)")
    documents = DocumentsToJudge(example, chosen, {"depth": 10})
    assert documents.notes() == ("topics end by recall(target=0.5, window=50); the budget was 900",)
    topics = documents.to_frame("topics").set_index("query_id")
    pair = chosen.pair[: chosen.start[1]]
    assert topics.loc["701", "n_documents"] == len(pair)
    assert topics.loc["701", "n_relevant"] == (example.relevance[pair] > 0).sum()
    assert topics["n_documents"].sum() == len(chosen)
    plain = DocumentsToJudge(example, choose(example, "take", 100), {})
    assert "topics" not in [table.name for table in plain.tables()]


def test_a_sample_has_no_stopping_rule() -> None:
    with pytest.raises(InputError, match="draws a sample, which a stopping rule would spoil"):
        choose(load_example(), "uniform", 100, stop="nonrelevant")
    with pytest.raises(InputError, match="estimators need to know the pool"):
        budgets(load_example(), "P@10", strategies="take", stop="nonrelevant", estimators="background")


def test_budgets_are_what_is_judged_at_most() -> None:
    example = load_example()
    asked = {"strategies": "take", "budgets": [200, 600]}
    plain, ended = (
        budgets(example, "P@10", **asked, **more).to_frame("pools")["n_documents"].tolist()
        for more in ({}, {"stop": "nonrelevant(n=5)"})
    )
    assert plain == [200, 600]
    chosen = choose(example, "take", 600, depth=10, stop="nonrelevant(n=5)")
    assert ended[1] == len(chosen) < 600
    assert ended[0] <= 200
