"""A measure is a value with a canonical text."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespool.errors import InputError
from bayespool.measures import Precision, parse_measure, parse_measures


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("P@10", Precision(10)),
        ("P@1", Precision(1)),
        (" P @ 10 ", Precision(10)),
        ("P(rel=1)@10", Precision(10)),
        ("P(rel=2)@5", Precision(5, rel=2)),
        ("P( rel = 2 )@5", Precision(5, rel=2)),
        ("P_10", Precision(10)),
        (ir_measures.P @ 10, Precision(10)),
        (ir_measures.P(rel=2) @ 5, Precision(5, rel=2)),
        (Precision(7, 3), Precision(7, 3)),
    ],
)
def test_measure_of_a_text(text: object, measure: Precision) -> None:
    assert parse_measure(text) == measure


@given(st.integers(1, 10_000), st.integers(1, 5))
def test_canonical_text_is_read_back(cutoff: int, rel: int) -> None:
    assert parse_measure(str(Precision(cutoff, rel))) == Precision(cutoff, rel)


@given(st.integers(1, 10_000), st.integers(1, 5))
def test_canonical_text_is_that_of_ir_measures(cutoff: int, rel: int) -> None:
    assert str(Precision(cutoff, rel)) == str(ir_measures.P(rel=rel) @ cutoff)


@pytest.mark.parametrize(
    "text",
    [
        *("", "P", "P@", "p@10", "P@ten", "P@-1", "P@1.5", "P@10x", "P@5,P@10", "10", 10, None),
        *("P(rel=2)", "P(rel=-1)@5", "P(judged_only=True)@10", "AP", "nDCG@10", ir_measures.AP),
        *("P(rel=01)@10", "P(label=1)@5", "P(rel=2,rel=2)@5", "P(,)@5"),
    ],
)
def test_other_text_is_refused(text: object) -> None:
    with pytest.raises(InputError, match="unknown measure"):
        parse_measure(text)


@pytest.mark.parametrize("text", ["P@0", "P(rel=0)@5", "P(rel=40000)@5", "P(rel=1.5)@10", "P(rel='a')@10"])
def test_parameters_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"at least 1|no relevance is as large|whole numbers"):
        parse_measure(text)


def test_measures_are_distinct_and_in_the_order_given() -> None:
    assert parse_measures(["P@10", "P@5", ir_measures.P @ 10, "P_5", "P(rel=2)@5"]) == (
        Precision(10),
        Precision(5),
        Precision(5, rel=2),
    )


@pytest.mark.parametrize("measure", ["P@10", Precision(10), ir_measures.P @ 10])
def test_one_measure_is_a_tuple_of_one(measure: object) -> None:
    assert parse_measures(measure) == (Precision(10),)


def test_measures_of_an_iterator() -> None:
    assert parse_measures(f"P@{n}" for n in (5, 10)) == (Precision(5), Precision(10))


def test_no_measure_is_refused() -> None:
    with pytest.raises(InputError, match="no measure given"):
        parse_measures([])
