"""Sums of weights of ranks."""

from __future__ import annotations

import pytest
from retrievals import order_of, topic_of, values

from bayespool.errors import InputError
from bayespool.pooling import parse_strategy

RUNS = {"r1": "abc", "r2": "bad", "r3": "be"}


def test_dcg_adds_discounts() -> None:
    # 1, 1 / log₂ 3 = .63093 and 1/2 at the first three ranks
    assert values("dcg", topic_of(RUNS), "abcde") == pytest.approx(
        {"a": 1.63093, "b": 2.63093, "c": 0.5, "d": 0.5, "e": 0.63093}, abs=1e-5
    )
    assert order_of("dcg", topic_of(RUNS), "abcde") == "baecd"


def test_rrf_adds_reciprocals() -> None:
    assert values("rrf", topic_of(RUNS), "abcde") == pytest.approx(
        {"a": 1 / 61 + 1 / 62, "b": 2 / 61 + 1 / 62, "c": 1 / 63, "d": 1 / 63, "e": 1 / 62}
    )
    # one first rank or two third ones: 1/61 is less than 2/63, and 1 is more than 2/3
    topic = topic_of({"r1": "a", "r2": "bcx", "r3": "dex"})
    assert order_of("rrf", topic, "abcdex") == "xabdce"
    assert order_of("rrf(k=0)", topic, "abcdex") == "abdxce"


def test_a_negative_k_is_refused() -> None:
    with pytest.raises(InputError, match="k = -1; give 0 or more"):
        parse_strategy("rrf(k=-1)")
