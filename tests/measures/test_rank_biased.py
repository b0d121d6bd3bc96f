"""RBP has Webber & Park's weights at a cutoff."""

from __future__ import annotations

import numpy as np
import pytest
from trec_files import refused

from bayespool.measures import RBP, parse_measure


def test_weights_of_webber_and_park() -> None:
    """Ten geometric weights, adjusted so that they sum to 1."""
    weights = RBP(10).weights()
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights[1:] / weights[:-1], 0.8)
    assert weights.round(4).tolist() == [
        *(0.2241, 0.1792, 0.1434, 0.1147, 0.0918, 0.0734, 0.0587, 0.047, 0.0376, 0.0301)
    ]


def test_what_is_left_without_a_cutoff_is_the_residual() -> None:
    for p in (0.01, 0.5, 0.8, 0.95, 0.99):
        measure = RBP.without_cutoff(p=p)
        assert p**measure.cutoff <= 1e-10 < p ** (measure.cutoff - 1)
        n_ranks = np.array([[0, 1, measure.cutoff // 2, measure.cutoff, 10**6]])
        left = measure.open_end(n_ranks)
        assert left is not None
        first = [measure.weights()[:n].sum() for n in n_ranks[0]]
        np.testing.assert_allclose(left + first, 1, rtol=0, atol=1e-12)
        assert RBP(10, p=p).open_end(n_ranks) is None


def test_persistence_is_between_0_and_1_and_a_tail_has_its_cutoff() -> None:
    for text in ("RBP(p=0)@10", "RBP(p=1.0)@10", "RBP(p=1)", "RBP(p=-0.5)", "RBP(p='a')@10"):
        assert "is not a number between 0 and 1" in str(refused(parse_measure, text)), text
    assert "with a cutoff of its own" in str(refused(RBP, 10, tail=True))
    assert "no parameter 'tail'" in str(refused(parse_measure, "RBP(tail=True)@10"))
