"""Numbers in tables, and nothing that a terminal would obey."""

from __future__ import annotations

import unicodedata

from hypothesis import given, strategies as st

from bayespool.tables.formatting import difference, interval, number, p_value, percent, printable

NAN = float("nan")
SHOWN = {
    "run \x1b[31mred": r"run \x1b[31mred",
    "\x9b31m\x85": r"\x9b31m\x85",
    "a\tb\rc\x7f": r"a\x09b\x0dc\x7f",
    "a\udcff": r"a\udcff",
    "\u202eabc\u2066": r"\u202eabc\u2066",
    "Müller – 日本": "Müller – 日本",
    "a\u200bb\u200dc\ufeff\u2060": r"a\u200bb\u200dc\ufeff\u2060",
    "\u200fmark\u061c\u200e": r"\u200fmark\u061c\u200e",
    "tag\U000e0041": r"tag\U000e0041",
    "one\ntwo": "one\ntwo",
}


def test_numbers_have_their_decimals_and_what_is_not_there_is_a_dash() -> None:
    absent = {number(NAN), percent(NAN), difference(NAN), interval(NAN, NAN), interval(NAN, 1, signed=True)}
    assert absent == {"–"} == {p_value(NAN)}
    assert [number(0.5, 2), number(0.12345)] == ["0.50", "0.1235"]
    assert [percent(x) for x in (0.123, 0.0)] == ["12.3 %", "0.0 %"]
    assert [difference(0.0), difference(-0.5, 1)] == ["0.0000", "-0.5"]
    assert [number(-0.00001), difference(-0.00001), difference(0.00001)] == ["0.0000"] * 3
    assert interval(-0.00001, 0.07, 3, signed=True) == "0.000 to +0.070"
    assert interval(0.1, 0.25) == "0.1000–0.2500"
    assert interval(-0.1, 0.25, signed=True) == "-0.1000 to +0.2500"
    told = {0.00004: "< 0.0001", 0.00005: "0.0001", 0.0003: "0.0003", 0.05: "0.0500"}
    assert {p: p_value(p) for p in told} == told


def test_what_is_shown() -> None:
    assert {text: printable(text) for text in SHOWN} == SHOWN


@given(st.text())
def test_no_control_is_left(text: str) -> None:
    shown = printable(text, one_line=True)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert printable(shown, one_line=True) == shown
