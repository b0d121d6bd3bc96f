"""Success is trec_eval's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references import MADE, assert_as_reference, every_collection, made, real

from bayespool.measures import Success

TEXTS = ("Success@1", "Success@5", "Success(rel=2)@10")


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_trec_eval(name: str) -> None:
    assert_as_reference(made(name), TEXTS)


@every_collection
def test_values_of_real_runs_are_those_of_trec_eval(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS)


def test_anything_relevant_in_the_top_n_is_a_success() -> None:
    levels = np.array([[0, 0, 1, 2], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    assert Success(3).evaluate(levels).tolist() == [1, 1, 0, 0]
    assert Success(4, rel=2).evaluate(levels).tolist() == [1, 0, 1, 0]
    assert Success(3).evaluate(levels[:, :0]).tolist() == [0, 0, 0, 0]
