"""Stated documents by level of two assessors."""

from __future__ import annotations

import pytest
from each import cases

from bayespool.errors import InputError
from bayespool.models.confusion import parse_confusion


def test_text_and_rows_say_the_same() -> None:
    assert parse_confusion("95 5; 30 70") == parse_confusion([[95, 5], [30, 70]]) == ((95, 5), (30, 70))
    assert parse_confusion(None) == ()


@cases(
    ("given", "problem"),
    [
        *(("95 5", "not a square"), ("95 5; 30", "not a square"), ("1", "not a square")),
        *(("95 x; 1 2", "not made of numbers"), ("95 0; 30 70", "not above 0")),
        ("inf 1; 1 1", "not above 0"),
    ],
)
def test_what_is_no_square_of_counts_is_refused(given: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        parse_confusion(given)
    assert "95 5; 30 70" in str(caught.value)
