"""What a reader asks of a table."""

from __future__ import annotations

from typing import Any

import pytest

from bayespool.errors import InputError
from bayespool.tables.markup import Arrangement


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"top": 0}, "top cannot be 0"),
        ({"columns": []}, "of one at least"),
        ({"columns": "lower"}, "a list of names"),
        ({"columns": ["lower", "upper", "lower"]}, "column 'lower' is named twice"),
    ],
)
def test_what_nobody_can_want_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Arrangement(**asked)


def test_names_are_checked_against_the_table() -> None:
    Arrangement(["a"], sort="b", top=1).check(["a"], ["b"])
    with pytest.raises(InputError, match="no column 'a'"):
        Arrangement(["a"]).check(["b"], [])
    with pytest.raises(InputError, match="cannot sort by 'a'"):
        Arrangement(sort="a").check([], ["b"])
