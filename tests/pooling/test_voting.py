"""Votes of runs, counted by hand, and circles among majorities."""

from __future__ import annotations

from itertools import pairwise

import pytest
from each import cases
from hypothesis import given
from retrievals import documents_of, order_of, some_rankings, topic_of, values, with_lots

from bayespool.errors import InputError
from bayespool.pooling import parse_strategy

RUNS = {"r1": "abc", "r2": "bad", "r3": "be"}
CIRCLE = {"r1": "abc", "r2": "bca", "r3": "cab"}  # a before b before c before a, two to one each


# Borda


@cases(
    ("strategy", "expected"),
    [
        # five documents: places left have the mean 4.5 in r1 and r2, 4 in r3
        ("borda", {"a": 1 + 2 + 4, "b": 4, "c": 3 + 4.5 + 4, "d": 4.5 + 3 + 4, "e": 4.5 + 4.5 + 2}),
        ("borda(n_candidates=3)", {"a": 7, "b": 4, "c": 11.5, "d": 11.5, "e": 11}),  # there are more
        # seven documents: 5.5 and 5
        ("borda(n_candidates=7)", {"a": 8, "b": 4, "c": 13.5, "d": 13.5, "e": 13}),
        ("borda(missing='next')", {"a": 1 + 2 + 3, "b": 4, "c": 3 + 4 + 3, "d": 4 + 3 + 3, "e": 4 + 4 + 2}),
        ("borda(missing='nothing')", {"a": 3, "b": 4, "c": 3, "d": 3, "e": 2}),
    ],
)
def test_borda_adds_ranks(strategy: str, expected: dict[str, float]) -> None:
    assert values(strategy, topic_of(RUNS), "abcde") == {d: -total for d, total in expected.items()}


def test_a_negative_number_of_candidates_is_refused() -> None:
    with pytest.raises(InputError, match="-1 candidates"):
        parse_strategy("borda(n_candidates=-1)")


# Condorcet


def test_condorcet_goes_by_majorities() -> None:
    # a is nowhere first, and beats x, y and z: two runs have it and not the other
    topic = topic_of({"r1": "xa", "r2": "ya", "r3": "za"})
    assert order_of("condorcet", topic, "axyz") == "axyz"
    # x, y and z have a vote each against one another: the lot decides
    assert order_of("condorcet", with_lots(topic, "zxya"), "axyz") == "azxy"


def test_a_circle_of_majorities_is_cut_by_the_lots() -> None:
    for lots, expected in (
        ("abc", "cab"),  # a stays before b; then c goes before a
        ("acb", "bca"),  # c goes before a; then b before c
        ("bca", "abc"),
    ):
        assert order_of("condorcet", with_lots(topic_of(CIRCLE), lots), "abc") == expected


def votes(rankings: dict[str, str], x: str, y: str) -> int:
    """Votes for x before y, less those against."""
    place = [(docs.find(x) % 99, docs.find(y) % 99) for docs in rankings.values()]  # 98: not there
    return sum((a < b) - (a > b) for a, b in place)


@given(some_rankings())
def test_no_document_stands_directly_below_one_that_loses_to_it(rankings: dict[str, str]) -> None:
    documents = documents_of(rankings)
    order = order_of("condorcet", topic_of(rankings), documents)
    assert sorted(order) == sorted(documents)
    for x, y in pairwise(order):
        assert votes(rankings, x, y) >= 0
    for x in documents:
        if all(votes(rankings, x, y) > 0 for y in documents if y != x):
            assert order[0] == x
