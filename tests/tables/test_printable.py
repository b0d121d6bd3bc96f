"""Nothing that a terminal would obey."""

from __future__ import annotations

import unicodedata

from hypothesis import given, strategies as st

from bayespool.tables.formatting import printable

SHOWN = {
    "run \x1b[31mred": r"run \x1b[31mred",
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "\x9b31m\x85": r"\x9b31m\x85",
    "a\tb\rc\x7f": r"a\x09b\x0dc\x7f",
    "a\udcff": r"a\udcff",
    "\u202eabc\u2066": r"\u202eabc\u2066",
    "Müller – 日本 \u200d": "Müller – 日本 \u200d",
    "one\ntwo": "one\ntwo",
}


def test_what_is_shown() -> None:
    assert {text: printable(text) for text in SHOWN} == SHOWN
    assert printable("one\ntwo", one_line=True) == r"one\ntwo"


@given(st.text())
def test_no_control_is_left(text: str) -> None:
    shown = printable(text, one_line=True)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert printable(shown, one_line=True) == shown
