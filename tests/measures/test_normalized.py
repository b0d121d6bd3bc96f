"""Measures over ideal rankings: what these are made of, and what they do to values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool.errors import InputError
from bayespool.measures import AveragePrecision, Normalized, Recall, Tally, parse_measure
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


@given(n=st.lists(st.integers(0, 5), min_size=3, max_size=3), level=st.integers(0, 2))
def test_an_ideal_ranking_never_gets_less_for_one_more_document(n: list[int], level: int) -> None:
    more = [count + (column == level) for column, count in enumerate(n)]
    for measure in map(parse_measure, TEXTS):
        assert isinstance(measure, Normalized)
        before, after = (measure.best(Tally(np.array([counts]), (1, 2, 4)))[0] for counts in (n, more))
        assert before <= after + 1e-12, measure


def test_an_ideal_ranking_scores_1_if_it_is_long_enough() -> None:
    tally, nothing = Tally(np.array([[1, 2]]), (1, 2)), np.array([[[0, 0, 0]]])
    for measure in map(parse_measure, TEXTS):
        assert measure.values(np.array([[[2, 2, 1]]]), tally).scores() == pytest.approx(1), measure
        assert measure.values(nothing, Tally(np.array([[0, 0]]), (1, 2))).scores() == 0, measure
        assert measure.values(nothing, Tally(np.zeros((1, 0), dtype=int), ())).scores() == 0, measure


def test_a_completed_ranking_may_beat_the_ideal_one_of_the_judged() -> None:
    measure = parse_measure("AP(ideal='judged')@3")
    assert str(measure) == "AP(ideal='judged')@3"
    assert measure.range == (0, float("inf"))
    assert AveragePrecision(3).range == (0, 1)
    one_judged = Tally(np.array([[1]]), (1,))
    assert measure.values(np.array([[[1, 1, 0]]]), one_judged).scores().tolist() == [[2]]
    assert isinstance(measure, Normalized)
    _, most = measure.extremes(np.array([[[1, -1, 0]]]), one_judged, np.array([[5]]))
    assert most.tolist() == [[2]]


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


def test_more_lacking_documents_than_unjudged_ranks() -> None:
    levels, tally = np.array([[[-1, 0, -1]]]), Tally(np.array([[5]]), (1,))
    assert inserted(levels, tally).tolist() == [[[1, 0, 1]]]
