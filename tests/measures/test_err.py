"""Expected reciprocal rank is gdeval's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references import MADE, assert_as_reference, every_collection, made, real

from bayespool.errors import InputError
from bayespool.measures import ERR, parse_measure

TEXTS = ("ERR@5", "ERR@20", "ERR@1000")


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_gdeval(name: str) -> None:
    assert_as_reference(made(name), TEXTS)


@every_collection
def test_values_of_real_runs_are_those_of_gdeval(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS)


def test_values_by_hand() -> None:
    levels = np.array([[1, 0, 2, 4]], dtype=np.int16)
    stop = [1 / 16, 0, 3 / 16, 15 / 16]
    expected = stop[0] + (1 - stop[0]) * stop[2] / 3 + (1 - stop[0]) * (1 - stop[2]) * stop[3] / 4
    assert ERR(4).evaluate(levels) == pytest.approx(expected, abs=1e-15)
    assert ERR(3, rel=2).evaluate(levels) == pytest.approx(stop[2] / 3, abs=1e-15)
    assert ERR(1, max_rel=1).evaluate(levels) == pytest.approx(1 / 2)


def test_levels_above_the_highest_count_as_it() -> None:
    assert ERR(1, max_rel=2).evaluate(np.array([[2], [7]])).tolist() == [0.75, 0.75]
    assert ERR(5, max_rel=3).is_graded
    assert not ERR(5, rel=3, max_rel=3).is_graded


@pytest.mark.parametrize("text", ["ERR(max_rel=0)@5", "ERR(max_rel=1.5)@5", "ERR(max_rel=40000)@5"])
def test_highest_relevance_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="max_rel"):
        parse_measure(text)
