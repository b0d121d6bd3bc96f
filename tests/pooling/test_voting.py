"""Votes of runs, sums of weights of ranks and of scores: by hand, step by step, as others compute them."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from retrievals import documents_of, order_of, some_rankings, topic_of, topic_of_scores, values, with_lots

from bayespool.errors import InputError
from bayespool.pooling import parse_strategy

RUNS = {"r1": "abc", "r2": "bad", "r3": "be"}
CIRCLE = {"r1": "abc", "r2": "bca", "r3": "cab"}  # a before b before c before a, two to one each


def test_sums_of_ranks_and_of_weights_of_ranks_by_hand() -> None:
    for strategy, *expected in (
        # five documents: places left have the mean 4.5 in r1 and r2, 4 in r3
        ("borda", -7, -4, -11.5, -11.5, -11),
        ("borda(n_candidates=3)", -7, -4, -11.5, -11.5, -11),  # there are more
        ("borda(n_candidates=7)", -8, -4, -13.5, -13.5, -13),  # 5.5 and 5
        ("borda(missing='next')", -6, -4, -10, -10, -10),
        ("borda(missing='nothing')", -3, -4, -3, -3, -2),
        # 1, 1 / log₂ 3 = .63093 and 1/2 at the first three ranks
        ("dcg", 1.63093, 2.63093, 0.5, 0.5, 0.63093),
        ("rrf", 1 / 61 + 1 / 62, 2 / 61 + 1 / 62, 1 / 63, 1 / 63, 1 / 62),
        ("rbp-a(p=0.5)", 0.75, 1.25, 0.125, 0.125, 0.25),
        ("rbp-a", 0.36, 0.56, 0.128, 0.128, 0.16),
    ):
        found = values(str(strategy), topic_of(RUNS), "abcde")
        assert found == pytest.approx(dict(zip("abcde", expected, strict=True)), abs=1e-5), strategy
    assert order_of("dcg", topic_of(RUNS), "abcde") == "baecd"
    # one first rank or two third ones: 1/61 is less than 2/63, and 1 is more than 2/3
    topic = topic_of({"r1": "a", "r2": "bcx", "r3": "dex"})
    assert order_of("rrf", topic, "abcdex") == "xabdce"
    assert order_of("rrf(k=0)", topic, "abcdex") == "abdxce"


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


def test_method_b_turns_to_runs_of_which_less_is_judged() -> None:
    topic = topic_of({"r1": "ab", "r2": "ab", "r3": "ab", "r4": "c"})
    assert order_of("rbp-a(p=0.5)", topic, "abc") == "abc"
    # a takes half of what three runs have: then b has 3/4 × 1/2 and c 1/2
    assert order_of("rbp-b(p=0.5)", topic, "abc") == "acb"
    assert values("rbp-b(p=0.5)", topic, "abc") == {"a": 1.5, "b": 0.375, "c": 0.5}


def one_by_one(rankings: dict[str, str], relevant: str, by_effectiveness: bool) -> tuple[str, list[Fraction]]:
    """Methods B and C with p = 1/2 as they are written, everything computed at each step."""
    documents, chosen, gains = documents_of(rankings), "", []
    best = {d: min(docs.find(d) % 99 for docs in rankings.values()) for d in documents}
    while len(chosen) < len(documents):
        gain = dict.fromkeys(documents, Fraction(0))
        for docs in rankings.values():
            weight = {d: Fraction(1, 2 ** (rank + 1)) for rank, d in enumerate(docs)}
            left = 1 - sum(weight[d] for d in docs if d in chosen)
            base = sum(weight[d] for d in docs if d in chosen and d in relevant)
            for d in docs:
                gain[d] += weight[d] * left * ((base + left / 2) ** 3 if by_effectiveness else 1)
        x = min((d for d in documents if d not in chosen), key=lambda d: (-gain[d], best[d], d))
        chosen += x
        gains.append(gain[x])
    return chosen, gains


# Ranks down to 4 with p = 1/2: all sums have few binary digits, so that ties are ties in floating point, too.


@given(some_rankings(most=4), st.sets(st.sampled_from("abcdef")))
def test_method_b_is_the_one_step_by_step(rankings: dict[str, str], relevant: set[str]) -> None:
    topic, documents = topic_of(rankings), documents_of(rankings)
    order, gains = one_by_one(rankings, "", by_effectiveness=False)
    assert order_of("rbp-b(p=0.5)", topic, documents, relevant="".join(relevant)) == order
    found = values("rbp-b(p=0.5)", topic, documents)
    assert [found[d] for d in order] == gains
    # the order is by these values, so that they give a budget to topics
    by_value = parse_strategy("rbp-b(p=0.5)").values_in_order(topic)[1]  # type: ignore[attr-defined]
    assert "".join(documents[i] for i in by_value) == order


@given(some_rankings(most=4), st.sets(st.sampled_from("abcdef")))
def test_method_c_is_the_one_step_by_step(rankings: dict[str, str], relevant: set[str]) -> None:
    topic, documents, judged = topic_of(rankings), documents_of(rankings), "".join(relevant)
    order, _ = one_by_one(rankings, judged, by_effectiveness=True)
    assert order_of("rbp-c(p=0.5)", topic, documents, relevant=judged) == order


def test_what_no_setting_can_be_is_refused() -> None:
    for text, said in (
        ("borda(n_candidates=-1)", "n_candidates cannot be -1"),
        ("rrf(k=-1)", "rrf: k cannot be -1; at least 0"),
        ("rbp-a(p=0)", "p cannot be 0; above 0 and below 1"),
        ("rbp-b(p=1)", "p cannot be 1; above 0 and below 1"),
        ("rbp-c(p=1.5)", "p cannot be 1.5; above 0 and below 1"),
    ):
        with pytest.raises(InputError, match=said):
            parse_strategy(text)


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


def test_values_are_those_of_ranx() -> None:
    for strategy, expected in RANX.items():
        found = values(strategy, topic_of_scores(SCORES), ALL)
        assert found == pytest.approx(dict(zip(ALL, expected, strict=True)), abs=2e-7), strategy


def test_what_counts_can_be_changed() -> None:
    for strategy, *expected in (
        # of the scores of b, .75, 0 and 1, two are above 0; all of e and h are 0
        ("combanz", 0.547619, 1.75 / 2, 2.375 / 3, 0.25, 0, 0.6875, 0.428571, 0),
        ("combmnz(count='positive')", 4.928571, 3.5, 7.125, 0.25, 0, 2.75, 0.428571, 0),
        # four runs: 0 .142857 .5 1 for a, 0 0 .75 1 for b, 0 .625 .75 1 for c, 0 0 .375 1 for f
        ("combmed(missing='zero')", 0.642857 / 2, 0.375, 0.6875, 0, 0, 0.1875, 0, 0),
        ("combmin(missing='zero')", *[0] * 8),  # no document is everywhere
    ):
        found = values(str(strategy), topic_of_scores(SCORES), ALL)
        assert found == pytest.approx(dict(zip(ALL, expected, strict=True)), abs=1e-6), strategy
    # r1: 2 1 0, of 3; r2: equal scores of two documents
    topic = topic_of_scores({"r1": {"a": 12, "b": 11, "c": 10}, "r2": {"c": 7, "d": 7}})
    found = values("combsum(normalization='sum')", topic, "abcd")
    assert found == pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 1 / 2, "d": 1 / 2})
    found = values("combsum(normalization='sum', constant=0)", topic, "abcd")
    assert found == pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 0, "d": 0})
    inf = float("inf")
    topic = topic_of_scores({"r1": {"a": inf, "b": 3, "c": -inf}, "r2": {"b": inf, "c": inf}})
    assert values("combmin", topic, "abc") == {"a": 1, "b": 0.5, "c": 0}


def test_ranks_need_no_scores_and_others_ask_for_them() -> None:
    topic = dataclasses.replace(topic_of({"r1": "abcd", "r2": "ca"}), score=None)
    strategy = "combsum(normalization='rank')"
    assert not parse_strategy(strategy).needs_scores
    assert values(strategy, topic, "abcd") == {"a": 1.5, "b": 0.75, "c": 1.5, "d": 0.25}
    assert order_of(strategy, topic, "abcd") == "acbd"
    with pytest.raises(InputError, match="needs the scores of the runs"):
        values("combsum", topic, "abcd")
    with pytest.raises(InputError, match="constant cannot be 2"):
        parse_strategy("combsum(constant=2)")
