"""Expected amounts, by going through all rankings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from each import cases

from bayespool.corrections.expected import amounts_with_expected, expected_amounts, gains_of_levels
from bayespool.measures import (
    DCG,
    ERR,
    RBP,
    AveragePrecision,
    Measure,
    Precision,
    Recall,
    ReciprocalRank,
    Success,
)

CHANCES = np.array([[0.2, 1.0, 0.7, 0.0], [0.5, 0.3, 0.9, 0.25]])


@cases(
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


@cases("measure", [Precision(3), DCG(3), Recall(3), AveragePrecision(3), ReciprocalRank(3)])
def test_expected_gains_stand_beside_known_ones(measure: Measure) -> None:
    """Relevance 1, an unjudged document with a chance of .3, and one below what is asked about."""
    level, opened = np.array([1, -1, -1]), np.array([False, True, False])
    found = amounts_with_expected(measure, level, opened, np.array([9.0, 0.3, 9.0]))
    without, with_it = (measure.amounts(np.array([1, x, 0])) for x in (0, 1))
    assert found == pytest.approx(0.7 * without + 0.3 * with_it)
    nothing = amounts_with_expected(measure, level, np.zeros(3, dtype=bool), np.full(3, 9.0))
    assert nothing == without


def test_a_measure_without_gains_has_no_expected_amounts() -> None:
    class Odd(Measure):
        name = "Odd"

        def evaluate(self, levels: np.ndarray) -> np.ndarray:
            return np.asarray(levels.sum(axis=-1))

    assert gains_of_levels(Odd(3), np.array([0, 1])) is None
    with pytest.raises(ValueError, match="has no gains"):
        amounts_with_expected(Odd(3), np.array([1]), np.array([True]), np.array([0.5]))
