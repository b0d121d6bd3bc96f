"""Expected amounts, by going through all rankings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bayespool.corrections.expected import expected_amounts, gains_of_levels
from bayespool.measures import (
    DCG,
    ERR,
    RBP,
    AveragePrecision,
    Judged,
    Measure,
    Precision,
    Recall,
    ReciprocalRank,
    Success,
)

CHANCES = np.array([[0.2, 1.0, 0.7, 0.0], [0.5, 0.3, 0.9, 0.25]])


@pytest.mark.parametrize(
    "measure",
    [
        Precision(4),
        Recall(3),
        RBP(4, p=0.5),
        DCG(4),
        AveragePrecision(4),
        AveragePrecision(2),
        ReciprocalRank(4),
        Success(3),
        ERR(4, max_rel=1),
        ERR(4, max_rel=3),
    ],
    ids=str,
)
def test_expectation_is_the_mean_over_all_rankings(measure: Measure) -> None:
    gains = gains_of_levels(measure, np.array([0, 1]))
    assert gains is not None
    assert gains[0] == 0
    top = CHANCES[:, : measure.cutoff]
    found = expected_amounts(measure, top * gains[1])
    for chances, expected in zip(top, found, strict=True):
        mean = 0.0
        for levels in product([0, 1], repeat=len(chances)):
            chance = np.prod([q if level else 1 - q for q, level in zip(chances, levels, strict=True)])
            mean += float(chance * measure.amounts(np.array([levels]))[0])
        assert expected == pytest.approx(mean, abs=1e-12)


def test_gains_of_levels() -> None:
    levels = np.array([0, 1, 2])
    for measure, gains in (
        (Precision(5, rel=2), [0, 0, 1]),
        (DCG(5, dcg="exp-log2"), [0, 1, 3]),
        (AveragePrecision(5, rel=2), [0, 0, 1]),
        (ERR(5, max_rel=2), [0, 0.25, 0.75]),
    ):
        found = gains_of_levels(measure, levels)
        assert found is not None
        assert found.tolist() == gains
    assert gains_of_levels(Judged(5), levels) is None


def test_certain_documents_give_the_value_of_the_ranking() -> None:
    levels = np.array([[1, 0, 1, 1], [0, 0, 0, 0]])
    for measure in (AveragePrecision(4), ReciprocalRank(4), Success(4), Precision(4)):
        found = expected_amounts(measure, levels.astype(float))
        np.testing.assert_allclose(found, measure.amounts(levels), atol=1e-12)
