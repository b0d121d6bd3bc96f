"""Measures over ideal rankings: what these are made of, and sharp bounds against all completions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool.errors import InputError
from bayespool.measures import AveragePrecision, ContextPrecision, Normalized, Recall, Tally, parse_measure
from bayespool.measures.base import MISSING_RANK, DrawnRankings, insert_relevant

PARAMETERS = {
    "R": ("", "(rel=2)", "(ideal='judged')"),
    "AP": ("", "(rel=2)", "(ideal='judged')"),
    "nDCG": ("", "(rel=2)", "(dcg='exp-log2')", "(gains={1:0,2:3})", "(gains={1:2})", "(ideal='judged')"),
}
TEXTS = [f"{name}{parameters}" for name, of_family in PARAMETERS.items() for parameters in of_family]


class Situation(NamedTuple):
    """A ranking, judged documents that it lacks (by level), and unjudged ones elsewhere."""

    levels: tuple[int, ...]
    ranking: list[int]
    lacking: list[int]
    n_elsewhere: int
    cutoff: int

    @property
    def tally(self) -> Tally:
        n = [self.ranking.count(level) for level in self.levels]
        return Tally(np.array([n]) + self.lacking, self.levels)


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    levels = draw(st.sampled_from([(1,), (2,), (1, 2), (1, 3), (1, 2, 4)]))
    most_open = {1: 6, 2: 4, 3: 3}[len(levels)]  # completions are enumerated
    ranking = draw(st.lists(st.sampled_from([0, -1, -1, *levels]), max_size=8))
    for rank in [rank for rank, level in enumerate(ranking) if level == -1][most_open:]:
        ranking[rank] = 0
    ranking += [MISSING_RANK] * draw(st.integers(0, 2))
    lacking = [draw(st.integers(0, 3)) for _ in levels]
    cutoff = max(len(ranking), 1) + draw(st.integers(0, 2))
    return Situation(levels, ranking, lacking, draw(st.integers(0, 2)), cutoff)


def all_values(measure: Normalized, situation: Situation) -> np.ndarray:
    """Values of all completions."""
    opened = [rank for rank, level in enumerate(situation.ranking) if level == -1]
    n_open = len(opened) + situation.n_elsewhere
    drawn = np.array(list(product((0, *situation.levels), repeat=n_open)), dtype=np.int64)
    drawn = drawn.reshape((1 + len(situation.levels)) ** n_open, n_open)
    ranking = np.maximum(np.array(situation.ranking, dtype=np.int64), 0)
    completed = np.tile(ranking, (len(drawn), 1, 1, 1))
    completed[:, 0, 0, opened] = drawn[:, : len(opened)]
    added = np.stack([(drawn == level).sum(axis=1) for level in situation.levels], axis=-1)
    judged = situation.tally
    tally = judged if measure.ideal == "judged" else Tally(judged.n + added[:, None, None, :], judged.levels)
    return measure.values(completed, tally).scores()[:, 0, 0]


@pytest.mark.parametrize("text", TEXTS)
@given(situation=situations())
def test_bounds_are_the_least_and_the_greatest_value_of_all(text: str, situation: Situation) -> None:
    """And those that hold for any family hold: what one of one's own has that says nothing of its bounds."""
    measure = parse_measure(f"{text}@{situation.cutoff}")
    assert isinstance(measure, Normalized)
    values, of_any = all_values(measure, situation), partial(Normalized.extremes, measure)
    levels = np.array([[situation.ranking]], dtype=np.int16)
    (least, most), (low, high) = (
        (float(end[0, 0]) for end in extremes(levels, situation.tally, np.array([[situation.n_elsewhere]])))
        for extremes in (measure.extremes, of_any)
    )
    assert (least, most) == pytest.approx((values.min(), values.max()), abs=1e-12)
    assert low - 1e-12 <= values.min()
    assert values.max() <= high + 1e-12


OVER_IDEAL = ("R@3", "AP@3", "nDCG@3", "nDCG(dcg='exp-log2')@3")


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
    for measure in map(parse_measure, OVER_IDEAL):
        values = measure.values(levels, Tally(n[:, None], (1, 2))).scores()
        assert values.shape == (5, 4, 2)
        for draw in range(5):
            one = measure.values(levels[draw], Tally(n[draw], (1, 2))).scores()
            np.testing.assert_array_equal(values[draw], one, err_msg=str(measure))


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
    assert insert_relevant(levels, tally).tolist() == [[[0, 2, 2, 2, 1, 0, 0], [0, 0, 0, 1, 0, 0, 0]]]


def test_a_relevant_document_may_lower_the_value() -> None:
    """(1 + 2/10)/2 is less than 1, and (1 + 2/10)/3 still less, where one more may be relevant elsewhere."""
    levels, one = np.array([[[1, 0, 0, 0, 0, 0, 0, 0, 0, -1]]]), Tally(np.array([[1]]), (1,))
    for elsewhere in (0, 1):
        least, most = AveragePrecision(10).extremes(levels, one, np.array([[elsewhere]]))
        assert least[0, 0] == pytest.approx((1 + 2 / 10) / (2 + elsewhere))
        assert most[0, 0] == 1


@given(st.lists(st.integers(-1, 2), min_size=1, max_size=7), st.integers(1, 8), st.integers(1, 3))
def test_bounds_of_context_precision_are_those_of_all_completions(
    ranking: list[int], cutoff: int, rel: int
) -> None:
    measure, levels = (
        ContextPrecision(cutoff, rel),
        np.array([[ranking], [[0] * len(ranking)]], dtype=np.int16),
    )
    opened = [place for place, level in enumerate(ranking) if level == -1]
    values = []
    for chosen in product((0, 1, 2), repeat=len(opened)):
        completed = levels[0, 0].copy()
        completed[opened] = chosen
        values.append(float(measure.evaluate(completed)))
    least, most = measure.extremes(levels, Tally(np.array([[3, 1]]), (1, 2)), np.zeros((2, 1)))
    assert least[:, 0].tolist() == pytest.approx([min(values), 0])
    assert most[:, 0].tolist() == pytest.approx([max(values), 0])


def test_a_topic_without_relevant_documents_scores_nothing() -> None:
    nothing = Tally(np.array([[0]]), (1,))
    assert AveragePrecision(3).values(np.array([[[0, 0]]]), nothing).scores().tolist() == [[0]]
    least, most = AveragePrecision(3).extremes(np.array([[[0, -1]]]), nothing, np.array([[1]]))
    assert (least.tolist(), most.tolist()) == ([[0]], [[0.5]])


@given(st.data())
def test_drawn_rankings_are_evaluated_as_if_laid_out(data: st.DataObject) -> None:
    """Documents drawn at places of rankings, some of them at places of several."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    measure = AveragePrecision(int(rng.integers(1, 9)), rel=int(rng.integers(1, 4)))
    ranked = rng.integers(0, 4, size=(3, measure.cutoff)).astype(np.int16)
    run, rank = (place.astype(np.int32) for place in np.nonzero(rng.random(ranked.shape) < 0.4))
    ranked[run, rank] = 0
    levels, n_documents = (0, 1, 3), 4
    unknown = rng.integers(0, n_documents, size=len(run)).astype(np.int32)
    block = rng.integers(0, len(levels), size=(5, n_documents)).astype(np.uint8)
    completed = np.repeat(ranked[None], len(block), axis=0)
    completed[:, run, rank] = np.array(levels)[block][:, unknown]
    of_draws = measure.draw_evaluator(DrawnRankings(ranked, run, rank, unknown, levels))
    np.testing.assert_allclose(of_draws(block), measure.evaluate(completed), rtol=0, atol=1e-12)


def test_drawn_rankings_are_as_deep_as_they_are() -> None:
    """Relevant at ranks 1, 64, 65, 129 and 200, and in one of two draws at rank 100."""
    ranked = np.zeros((1, 200), dtype=np.int16)
    ranked[0, [0, 63, 64, 128, 199]] = 1
    place = (np.array([x], dtype=np.int32) for x in (0, 99, 0))
    of_draws = AveragePrecision(200).draw_evaluator(DrawnRankings(ranked, *place, (0, 1)))
    without, drawn = of_draws(np.array([[0], [1]], dtype=np.uint8))[:, 0]
    assert without == pytest.approx(1 + 2 / 64 + 3 / 65 + 4 / 129 + 5 / 200, abs=1e-12)
    assert drawn == pytest.approx(1 + 2 / 64 + 3 / 65 + 4 / 100 + 5 / 129 + 6 / 200, abs=1e-12)
