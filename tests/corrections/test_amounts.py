"""Parts of corrections: expected amounts, the condensed list, documents judged and hidden at levels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import toys
from corrected import close, topics_of
from each import cases
from hypothesis import given
from toys import toy_collection

from bayespool.collection import Collection
from bayespool.corrections import CondensedList
from bayespool.corrections.base import amounts_with_expected, hidden_at_levels
from bayespool.evidence.ideals import judged_at_levels, judged_tally
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
        *(Precision(4), Recall(3), RBP(4, p=0.5), DCG(4), AveragePrecision(4), AveragePrecision(2)),
        *(ReciprocalRank(4), Success(3), ERR(4, max_rel=1), ERR(4, max_rel=3)),
    ],
)
def test_expectation_is_the_mean_over_all_rankings(measure: Measure) -> None:
    gains = measure.document_gains(np.array([0, 1]))
    assert measure.has_gains
    assert gains[0] == 0
    top = CHANCES[:, : measure.cutoff]
    found = measure.expected_amounts(top * gains[1])
    for chances, expected in zip(top, found, strict=True):
        mean = 0.0
        for levels in product([0, 1], repeat=len(chances)):
            chance = np.prod([q if level else 1 - q for q, level in zip(chances, levels, strict=True)])
            mean += float(chance * measure.amounts(np.array([levels]))[0])
        assert expected == pytest.approx(mean, abs=1e-12)


@cases("measure", [Precision(3), DCG(3), Recall(3), AveragePrecision(3), ReciprocalRank(3)])
def test_expected_gains_stand_beside_known_ones(measure: Measure) -> None:
    """Relevance 1, an unjudged document with a probability of .3, and one below what is asked about."""
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

    assert not Odd(3).has_gains
    with pytest.raises(ValueError, match="has no gains"):
        amounts_with_expected(Odd(3), np.array([1]), np.array([True]), np.array([0.5]))


def test_condensed_list_of_the_toy() -> None:
    # s1: a h i b j, all judged; q0 v1 w0 p1 x? y?, of which v moves nowhere; c a d e?
    assert topics_of(CondensedList(), "P@2") == close(1, 1, 0)  # a1 h1, v1 p1
    assert topics_of(CondensedList()) == close(0.4, 0.4, 0)
    assert topics_of(CondensedList(), "P@3", "s1") == close(2 / 3, 1 / 3, 0)
    assert topics_of(CondensedList(), "RR@5", "s1") == close(1, 1 / 2, 0)
    assert topics_of(CondensedList(), "DCG@2") == close(1 + 1 / np.log2(3), 1 + 1 / np.log2(3), 0)
    assert topics_of(CondensedList(), "Judged@5") == close(2 / 5, 2 / 4, 0)  # nothing to condense


def test_condensed_list_of_measures_over_ideal_rankings() -> None:
    # u without its unjudged documents: a1 h1 of a1 c2 f1 h1, v1 p1 of p1 v1 r2, and nothing
    assert topics_of(CondensedList(), "AP@5") == close(2 / 4, 2 / 3, 0)
    assert topics_of(CondensedList(), "R@1") == close(1 / 4, 1 / 3, 0)
    two = 1 + 1 / np.log2(3)
    ideal = 2 + 1 / np.log2(3)
    assert topics_of(CondensedList(), "nDCG@2") == close(two / ideal, two / ideal, 0)
    assert topics_of(CondensedList(), "nDCG@5") == close(
        two / (ideal + 1 / 2 + 1 / np.log2(5)), two / (ideal + 1 / 2), 0
    )


LEVELS = (0, 1, 2)


def test_hidden_documents_of_the_toy() -> None:
    # runs n1, n2, s1, s2: see who alone contributed what at the top of toys.py
    by_run = hidden_at_levels(toy_collection(), LEVELS, by="run")
    assert by_run[:, 0].tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 0]]
    assert by_run[:, 1].tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert not by_run[:, 2].any()
    # north: b c f, p r, b; south: h i k, v w, d; each with both of its runs, whichever ranks them
    by_organization = hidden_at_levels(toy_collection(), LEVELS)
    assert by_organization[0].tolist() == [[1, 1, 1], [0, 1, 1], [1, 0, 0]]
    assert by_organization[2].tolist() == [[2, 1, 0], [1, 1, 0], [1, 0, 0]]
    assert np.array_equal(by_organization[[0, 2]], by_organization[[1, 3]])


def test_a_substitute_keeps_what_it_retrieves() -> None:
    # u has a l d, v p z, e f within the pool depth: v stays with s1 held out
    by_run = hidden_at_levels(toy_collection(), LEVELS, by="run", substitute="u")
    assert by_run[2, 1].tolist() == [1, 0, 0]
    assert by_run[0, 0].tolist() == [0, 0, 1]


@given(toys.pooled_collections())
def test_what_is_left_is_what_is_judged_without_the_organization(collection: Collection) -> None:
    judged = judged_at_levels(collection, LEVELS, collection.relevance)
    assert judged.sum() == (collection.relevance >= 0).sum()
    assert np.array_equal(judged[:, 1:], judged_tally(collection, LEVELS).n)
    left = judged - hidden_at_levels(collection, LEVELS)
    for row, run in enumerate(collection.pooled_run_ids):
        organization = collection.organizations[collection.organization[collection.run_index(run)[0]]]
        without = collection.unpool(organization=organization)
        assert np.array_equal(left[row], judged_at_levels(without, LEVELS, without.relevance))
