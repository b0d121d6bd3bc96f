"""Reciprocal rank is that of trec_eval and, at a cutoff, of MS MARCO's script."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references import MADE, assert_as_reference, every_collection, made, real

from bayespool.measures import ReciprocalRank

TEXTS = ("RR@10", "RR@1000", "RR(rel=2)@5")


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_ms_marco(name: str) -> None:
    assert_as_reference(made(name), TEXTS)


@every_collection
def test_values_of_real_runs_are_those_of_ms_marco(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS)


@pytest.mark.parametrize("name", MADE)
def test_values_at_the_greatest_depth_are_those_of_trec_eval(name: str) -> None:
    case = made(name)
    np.testing.assert_allclose(case.ours("RR@1000"), case.theirs(["RR"])["RR"], rtol=0, atol=1e-9)


def test_the_first_relevant_document_counts() -> None:
    levels = np.array([[0, 0, 1, 2], [1, 1, 1, 1], [0, 0, 0, 2], [0, 0, 0, 0]])
    assert ReciprocalRank(3).evaluate(levels).tolist() == [1 / 3, 1, 0, 0]
    assert ReciprocalRank(4, rel=2).evaluate(levels).tolist() == [1 / 4, 0, 1 / 4, 0]
    assert ReciprocalRank(3).evaluate(levels[:, :0]).tolist() == [0, 0, 0, 0]
