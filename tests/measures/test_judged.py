"""The share of judged documents is that of ir_measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references import MADE, assert_as_reference, every_collection, made, real

from bayespool.errors import InputError
from bayespool.measures import Judged, parse_measure
from bayespool.measures.base import MISSING_RANK

TEXTS = ("Judged@10", "Judged@1000")


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_ir_measures(name: str) -> None:
    assert_as_reference(made(name), TEXTS)


@every_collection
def test_values_of_real_runs_are_those_of_ir_measures(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS)


def test_missing_ranks_do_not_count() -> None:
    levels = np.array([[0, -1, 2, MISSING_RANK], [MISSING_RANK] * 4, [-1, -1, -1, -1], [0, 0, 0, 0]])
    assert Judged(4).evaluate(levels).tolist() == [2 / 3, 0, 0, 1]
    assert Judged(2).evaluate(levels).tolist() == [1 / 2, 0, 0, 1]


def test_relevance_plays_no_part() -> None:
    assert Judged(10, rel=2) == Judged(10)
    with pytest.raises(InputError, match="Judged has no parameter 'rel'; parameters are none"):
        parse_measure("Judged(rel=2)@10")
    assert Judged.of_judgments
