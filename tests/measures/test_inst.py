"""INST by hand; it never falls when a document is more relevant."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from trec_files import refused

from bayespool.measures import INST, parse_measure


def test_a_value_by_hand() -> None:
    """T = 1: the reader goes on with (2/3)² after nothing at rank 1, with (1/2)² after a find."""
    assert INST(2).evaluate(np.array([0, 1])) == pytest.approx((4 / 9) / (13 / 9))
    assert INST(2).evaluate(np.array([1, 0])) == pytest.approx(1 / (5 / 4))
    assert INST(2, max_rel=2).evaluate(np.array([1])) == pytest.approx(0.5 / (1 + (1.5 / 2.5) ** 2))


def test_a_gain_is_never_outweighed_by_what_is_missed() -> None:
    """All rankings of three levels, and long ones at random, with each document in turn a level higher."""
    short = np.array(list(product(range(3), repeat=7)))
    rng = np.random.default_rng(3)
    long = (rng.random((40, 80)) < rng.random((40, 1))) * rng.integers(1, 3, (40, 80))
    for wanted, levels in product((0.5, 0.7, 1.0, 3.0, 20.0), (short, long)):
        measure = INST(levels.shape[1], max_rel=2, T=wanted)
        before = measure.evaluate(levels)
        for rank in range(levels.shape[1]):
            risen = levels.copy()
            risen[:, rank] = np.minimum(risen[:, rank] + 1, 2)
            assert (measure.evaluate(risen) >= before - 1e-12).all(), (wanted, rank)


def test_wanted_gain_is_half_a_document_or_more_and_levels_are_a_scale() -> None:
    for text in ("INST(T=0.4)@10", "INST(T=-1.0)@10", "INST(T='a')@10", "INST(T=True)@10"):
        assert "is not a number of 0.5 or more" in str(refused(parse_measure, text)), text
    assert "min_rel is 2 and max_rel 1" in str(refused(parse_measure, "INST(min_rel=2)@10"))
