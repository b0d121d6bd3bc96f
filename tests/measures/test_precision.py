"""Precision is trec_eval's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references import MADE, assert_as_reference, every_collection, made, real

from bayespool.errors import InputError
from bayespool.measures import Precision, parse_measure

TEXTS = ("P@5", "P@1000", "P(rel=2)@10")


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_trec_eval(name: str) -> None:
    assert_as_reference(made(name), TEXTS)


@every_collection
def test_values_of_real_runs_are_those_of_trec_eval(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS)


@pytest.mark.parametrize("text", ["P@0", "P(rel=0)@5", "P_0"])
def test_cutoff_and_relevance_begin_at_one(text: str) -> None:
    with pytest.raises(InputError, match="must be at least 1"):
        parse_measure(text)


def test_amounts_are_whole_numbers() -> None:
    amounts = Precision(4).amounts(np.array([[[2, 0, 1, 0, 1]]], dtype=np.int16))
    assert amounts.dtype == np.int32
    assert amounts.tolist() == [[2]]
    assert Precision(1).is_exact
