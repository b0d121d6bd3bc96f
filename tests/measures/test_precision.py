"""Bounds of a precision's cutoff and relevance."""

from __future__ import annotations

import pytest

from bayespool.errors import InputError
from bayespool.measures import parse_measure


@pytest.mark.parametrize("text", ["P@0", "P(rel=0)@5", "P_0"])
def test_cutoff_and_relevance_begin_at_one(text: str) -> None:
    with pytest.raises(InputError, match="must be at least 1"):
        parse_measure(text)
