"""Average precision by hand: Ravana & Moffat's example is as printed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bayespool.measures import AveragePrecision, Tally
from bayespool.measures.base import DrawnRankings

# "With R = 5 and k = 10": relevant at 1, 5 and 6, unjudged at 3 and 8 (Ravana & Moffat 2010, §3).
EXAMPLE = np.array([[[1, 0, -1, 0, 1, 1, 0, -1, 0, 0]]])
FIVE_RELEVANT = Tally(np.array([[5]]), (1,))


def test_sharp_bounds_of_the_example() -> None:
    """Documents at 3 and 8 that turn out relevant are relevant beside the five: at most .51, not .71. One of
    them elsewhere makes the mean one over six.
    """
    least, most = AveragePrecision(10).extremes(EXAMPLE, FIVE_RELEVANT, np.array([[1]]))
    assert least[0, 0] == pytest.approx((1 / 1 + 2 / 5 + 3 / 6) / 6)
    assert most[0, 0] == pytest.approx((1 / 1 + 2 / 3 + 3 / 5 + 4 / 6 + 5 / 8) / 7)


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
    of_draws = measure.of_draws(DrawnRankings(ranked, run, rank, unknown, levels))
    np.testing.assert_allclose(of_draws(block), measure.evaluate(completed), rtol=0, atol=1e-12)


def test_drawn_rankings_are_as_deep_as_they_are() -> None:
    """Relevant at ranks 1, 64, 65, 129 and 200, and in one of two draws at rank 100."""
    ranked = np.zeros((1, 200), dtype=np.int16)
    ranked[0, [0, 63, 64, 128, 199]] = 1
    place = (np.array([x], dtype=np.int32) for x in (0, 99, 0))
    of_draws = AveragePrecision(200).of_draws(DrawnRankings(ranked, *place, (0, 1)))
    without, drawn = of_draws(np.array([[0], [1]], dtype=np.uint8))[:, 0]
    assert without == pytest.approx(1 + 2 / 64 + 3 / 65 + 4 / 129 + 5 / 200, abs=1e-12)
    assert drawn == pytest.approx(1 + 2 / 64 + 3 / 65 + 4 / 100 + 5 / 129 + 6 / 200, abs=1e-12)
