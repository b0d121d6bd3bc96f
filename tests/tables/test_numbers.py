"""Numbers in tables."""

from __future__ import annotations

from bayespool.tables.formatting import difference, interval, number, p_value, percent

NAN = float("nan")


def test_numbers_have_their_decimals_and_what_is_not_there_is_a_dash() -> None:
    absent = {number(NAN), percent(NAN), difference(NAN), interval(NAN, NAN), interval(NAN, 1, signed=True)}
    assert absent == {"–"}
    assert [number(0.5, 2), number(0.12345)] == ["0.50", "0.1235"]
    assert [percent(x) for x in (0.123, 0.125, 0.0)] == ["12.3 %", "12.5 %", "0.0 %"]
    assert [difference(0.0), difference(-0.5, 1)] == ["+0.0000", "-0.5"]
    assert interval(0.1, 0.25) == "0.1000–0.2500"
    assert interval(-0.1, 0.25, signed=True) == "-0.1000 to +0.2500"


def test_a_p_value_is_told_as_smaller_where_it_would_be_zero() -> None:
    told = {0.00004: "< 0.0001", 0.00005: "0.0001", 0.0003: "0.0003", 0.05: "0.0500"}
    assert {p: p_value(p) for p in told} == told
    assert p_value(NAN) == "–"
