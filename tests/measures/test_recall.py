"""Recall is trec_eval's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references import MADE, assert_as_reference, every_collection, made, real

from bayespool.measures import Recall, Tally

TEXTS = ("R@10", "R@1000", "R(rel=2)@10")


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_trec_eval(name: str) -> None:
    assert_as_reference(made(name), TEXTS)


@every_collection
def test_values_of_real_runs_are_those_of_trec_eval(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS)


def test_relevant_documents_that_the_ranking_lacks_count() -> None:
    tally = Tally(np.array([[2, 2], [0, 0]]), (1, 2))
    levels = np.array([[[1, 0, 2], [0, 0, 0]]])
    assert Recall(3).values(levels, tally).scores().tolist() == [[0.5, 0]]
    assert Recall(3, rel=2).values(levels, tally).scores().tolist() == [[0.5, 0]]
    assert Recall(1).values(levels, tally).scores().tolist() == [[0.25, 0]]


def test_bounds_by_hand() -> None:
    """One of two relevant documents found; two unjudged ones in the ranking, three elsewhere."""
    levels, tally = np.array([[[1, -1, -1, 0]]]), Tally(np.array([[2]]), (1,))
    least, most = Recall(4).extremes(levels, tally, np.array([[3]]))
    assert least.tolist() == [[1 / 5]]
    assert most.tolist() == [[3 / 4]]
