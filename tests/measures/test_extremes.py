"""Sharp bounds against all completions: none lies outside, and both ends are reached."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool.measures import Normalized, Tally, parse_measure
from bayespool.measures.base import MISSING_RANK

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


def bounds_of(measure: Normalized, situation: Situation) -> tuple[float, float]:
    levels = np.array([[situation.ranking]], dtype=np.int16)
    least, most = measure.extremes(levels, situation.tally, np.array([[situation.n_elsewhere]]))
    return float(least[0, 0]), float(most[0, 0])


def of_text(text: str, cutoff: int) -> Normalized:
    measure = parse_measure(f"{text}@{cutoff}")
    assert isinstance(measure, Normalized)
    return measure


@pytest.mark.parametrize("text", TEXTS)
@given(situation=situations())
def test_bounds_are_the_least_and_the_greatest_value_of_all(text: str, situation: Situation) -> None:
    """And those that hold for any family hold: what one of one's own has that says nothing of its bounds."""
    measure = of_text(text, situation.cutoff)
    values = all_values(measure, situation)
    assert bounds_of(measure, situation) == pytest.approx((values.min(), values.max()), abs=1e-12)
    levels = np.array([[situation.ranking]], dtype=np.int16)
    least, most = Normalized.extremes(measure, levels, situation.tally, np.array([[situation.n_elsewhere]]))
    assert least[0, 0] - 1e-12 <= values.min()
    assert values.max() <= most[0, 0] + 1e-12
