"""Scores put together: against values of ranx, by hand, and where scores say little."""

from __future__ import annotations

import dataclasses

import pytest
from each import cases
from retrievals import order_of, topic_of, topic_of_scores, values

from bayespool.errors import InputError
from bayespool.pooling import parse_strategy

SCORES = {
    "r0": {"a": 10, "b": 8, "c": 7, "d": 4, "e": 2},
    "r1": {"c": 0.9, "a": 0.5, "f": 0.4, "b": 0.1},
    "r2": {"f": 300, "g": 140, "a": 60, "h": 20},
    "r3": {"b": -1, "c": -2, "e": -5},
}
ALL = "abcdefgh"
# ranx 0.3.21, in an environment of its own:
#   runs = [Run({"1": run}, name=name) for name, run in SCORES.items()]
#   fuse(runs, norm="min-max", method=method)  # max, min, med, sum, anz, mnz
# ranx takes the mean of CombANZ over all runs that retrieve a document.
RANX = {
    "combmax": (1, 1, 1, 0.25, 0, 1, 0.428571428571, 0),
    "combmin": (0.142857142857, 0, 0.625, 0.25, 0, 0.375, 0.428571428571, 0),
    "combmed": (0.5, 0.75, 0.75, 0.25, 0, 0.6875, 0.428571428571, 0),
    "combsum": (1.642857142857, 1.75, 2.375, 0.25, 0, 1.375, 0.428571428571, 0),
    "combanz(count='retrieved')": (
        0.547619047619, 0.583333333333, 0.791666666667, 0.25, 0, 0.6875, 0.428571428571, 0,
    ),
    "combmnz": (4.928571428571, 5.25, 7.125, 0.25, 0, 2.75, 0.428571428571, 0),
}  # fmt: skip


@cases("strategy", RANX)
def test_values_are_those_of_ranx(strategy: str) -> None:
    expected = dict(zip(ALL, RANX[strategy], strict=True))
    assert values(strategy, topic_of_scores(SCORES), ALL) == pytest.approx(expected, abs=2e-7)


@cases(
    ("strategy", "expected"),
    [
        # of the scores of b, .75, 0 and 1, two are above 0; all of e and h are 0
        ("combanz", (0.547619, 1.75 / 2, 2.375 / 3, 0.25, 0, 0.6875, 0.428571, 0)),
        ("combmnz(count='positive')", (4.928571, 3.5, 7.125, 0.25, 0, 2.75, 0.428571, 0)),
        # four runs: 0 .142857 .5 1 for a, 0 0 .75 1 for b, 0 .625 .75 1 for c, 0 0 .375 1 for f
        ("combmed(missing='zero')", (0.642857 / 2, 0.375, 0.6875, 0, 0, 0.1875, 0, 0)),
        ("combmin(missing='zero')", (0,) * 8),  # no document is everywhere
    ],
)
def test_what_counts_can_be_changed(strategy: str, expected: tuple[float, ...]) -> None:
    found = values(strategy, topic_of_scores(SCORES), ALL)
    assert found == pytest.approx(dict(zip(ALL, expected, strict=True)), abs=1e-6)


def test_sums_of_scores_can_be_one() -> None:
    # r1: 2 1 0, of 3; r2: equal scores of two documents
    topic = topic_of_scores({"r1": {"a": 12, "b": 11, "c": 10}, "r2": {"c": 7, "d": 7}})
    found = values("combsum(normalization='sum')", topic, "abcd")
    assert found == pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 1 / 2, "d": 1 / 2})
    found = values("combsum(normalization='sum', constant=0)", topic, "abcd")
    assert found == pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 0, "d": 0})


def test_infinite_scores_are_the_highest_and_the_lowest() -> None:
    inf = float("inf")
    topic = topic_of_scores({"r1": {"a": inf, "b": 3, "c": -inf}, "r2": {"b": inf, "c": inf}})
    assert values("combmax", topic, "abc") == {"a": 1, "b": 1, "c": 1}
    assert values("combmin", topic, "abc") == {"a": 1, "b": 0.5, "c": 0}


def test_ranks_need_no_scores_and_others_ask_for_them() -> None:
    topic = dataclasses.replace(topic_of({"r1": "abcd", "r2": "ca"}), score=None)
    strategy = "combsum(normalization='rank')"
    assert not parse_strategy(strategy).needs_scores
    assert values(strategy, topic, "abcd") == {"a": 1.5, "b": 0.75, "c": 1.5, "d": 0.25}
    assert order_of(strategy, topic, "abcd") == "acbd"
    with pytest.raises(InputError, match="needs the scores of the runs"):
        values("combsum", topic, "abcd")
    with pytest.raises(InputError, match="equal scores that count 2"):
        parse_strategy("combsum(constant=2)")
