"""Methods A, B and C, by hand and step by step in fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st
from retrievals import documents_of, order_of, some_rankings, topic_of, values

from bayespool.errors import InputError
from bayespool.pooling import parse_strategy


def test_method_a_adds_weights() -> None:
    topic = topic_of({"r1": "abc", "r2": "bad", "r3": "be"})
    assert values("rbp-a(p=0.5)", topic, "abcde") == {"a": 0.75, "b": 1.25, "c": 0.125, "d": 0.125, "e": 0.25}
    assert values("rbp-a", topic, "abcde") == pytest.approx(
        {"a": 0.36, "b": 0.56, "c": 0.128, "d": 0.128, "e": 0.16}
    )
    assert order_of("rbp-a", topic, "abcde") == "baecd"


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


def test_p_is_a_probability() -> None:
    for name in ("rbp-a", "rbp-b", "rbp-c"):
        for p in (0, 1, 1.5):
            with pytest.raises(InputError, match=f"p = {p}; give a number between 0 and 1"):
                parse_strategy(f"{name}(p={p})")
