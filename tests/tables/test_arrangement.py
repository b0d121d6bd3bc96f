"""What a reader asks of a table."""

from __future__ import annotations

from typing import Any

import pytest

from bayespool.errors import InputError
from bayespool.tables.markup import Arrangement

WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"top": 0}, "top cannot be 0"),
    ({"columns": []}, "of one at least"),
    ({"columns": "lower"}, "a list of names"),
    ({"columns": ["lower", "upper", "lower"]}, "'lower' is named twice"),
)


def test_what_nobody_can_want_is_refused() -> None:
    for asked, said in WRONG:
        with pytest.raises(InputError, match=said):
            Arrangement(**asked)
    Arrangement(["a"], sort="b", top=1).check(["a"], ["b"])
    with pytest.raises(InputError, match="no column 'a'"):
        Arrangement(["a"]).check(["b"], [])
    with pytest.raises(InputError, match="cannot sort by 'a'"):
        Arrangement(sort="a").check([], ["b"])
