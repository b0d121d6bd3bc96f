"""Measures over ideal rankings: what these are made of, and what they do to values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bayespool.errors import InputError
from bayespool.measures import Normalized, Recall, Tally, parse_measure
from bayespool.measures.normalized import inserted

TEXTS = ("R@3", "AP@3", "nDCG@3", "nDCG(dcg='exp-log2')@3")


@dataclass(frozen=True, order=True)
class Share(Normalized):
    """A family of one's own that says nothing of its bounds."""

    name = "Share"

    def evaluate(self, levels: np.ndarray) -> np.ndarray:
        return np.asarray((levels[..., : self.cutoff] >= self.rel).sum(axis=-1))

    def best(self, tally: Tally) -> np.ndarray:
        return np.minimum(tally.n.sum(axis=-1), self.cutoff).astype(float)


def test_ideal_rankings_of_draws_are_made_at_once() -> None:
    rng = np.random.default_rng(3)
    levels, n = rng.integers(0, 3, size=(5, 4, 2, 6)), rng.integers(0, 4, size=(5, 2, 2))
    for measure in map(parse_measure, TEXTS):
        values = measure.values(levels, Tally(n[:, None], (1, 2))).scores()
        assert values.shape == (5, 4, 2)
        for draw in range(5):
            one = measure.values(levels[draw], Tally(n[draw], (1, 2))).scores()
            np.testing.assert_array_equal(values[draw], one, err_msg=str(measure))


def test_unknown_ideal_is_refused() -> None:
    with pytest.raises(InputError, match="R: no ideal 'best'; known: own, shared, judged"):
        parse_measure("R(ideal='best')@10")


def test_values_need_a_tally() -> None:
    with pytest.raises(InputError, match="R@10 is over an ideal ranking; give a tally"):
        Recall(10).values(np.array([[[1]]]))


def test_bounds_of_a_family_of_ones_own() -> None:
    """Two of three relevant, one unjudged in the ranking, one elsewhere; on topic 2 nothing is relevant."""
    levels = np.array([[[1, 1, -1], [0, -1, 0]]])
    least, most = Share(3).extremes(levels, Tally(np.array([[3], [0]]), (1,)), np.array([[1, 0]]))
    assert least.tolist() == [[2 / 3, 0]]
    assert most.tolist() == [[1, 1]]
    least, most = Share(3).extremes(levels, Tally(np.zeros((2, 0), dtype=int), ()), np.array([[1, 0]]))
    assert (least.tolist(), most.tolist()) == ([[0, 0]], [[0, 0]])


def test_lacking_documents_are_inserted_the_most_relevant_first() -> None:
    levels = np.array([[[0, -1, 2, -1, -1, -2, -1], [-1, -1, 0, 1, 0, 0, 0]]])
    tally = Tally(np.array([[1, 3], [1, 0]]), (1, 2))
    assert inserted(levels, tally).tolist() == [[[0, 2, 2, 2, 1, 0, 0], [0, 0, 0, 1, 0, 0, 0]]]
