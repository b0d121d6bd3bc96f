"""INST has the values of cwl_eval, and never falls when a document is more relevant."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from references import MADE, assert_as_reference, every_collection, made, real

from bayespool.errors import InputError
from bayespool.measures import INST, parse_measure
from bayespool.measures.base import MISSING_RANK

TEXTS = (
    "INST@1000",
    "INST(T=2.5)@1000",
    "INST(max_rel=3,T=3.0)@1000",
    "INST(min_rel=1,max_rel=2)@1000",
)


@pytest.mark.parametrize("name", MADE)
def test_values_are_those_of_cwl_eval(name: str) -> None:
    assert_as_reference(made(name), TEXTS)


@every_collection
def test_values_of_real_runs_are_those_of_cwl_eval(collections: Path, name: str) -> None:
    assert_as_reference(real(collections, name), TEXTS[:2])


def test_a_value_by_hand() -> None:
    """T = 1: the reader goes on with (2/3)² after nothing at rank 1, with (1/2)² after a find."""
    assert INST(2).evaluate(np.array([0, 1])) == pytest.approx((4 / 9) / (13 / 9))
    assert INST(2).evaluate(np.array([1, 0])) == pytest.approx(1 / (5 / 4))
    assert INST(2, max_rel=2).evaluate(np.array([1])) == pytest.approx(0.5 / (1 + (1.5 / 2.5) ** 2))


@pytest.mark.parametrize("wanted", [0.5, 0.7, 1.0, 3.0, 20.0])
def test_a_gain_is_never_outweighed_by_what_is_missed(wanted: float) -> None:
    """All rankings of three levels, and long ones at random, with each document in turn a level higher."""
    short = np.array(list(product(range(3), repeat=7)))
    rng = np.random.default_rng(3)
    long = (rng.random((40, 80)) < rng.random((40, 1))) * rng.integers(1, 3, (40, 80))
    for levels in (short, long):
        measure = INST(levels.shape[1], max_rel=2, T=wanted)
        before = measure.evaluate(levels)
        for rank in range(levels.shape[1]):
            risen = levels.copy()
            risen[:, rank] = np.minimum(risen[:, rank] + 1, 2)
            assert (measure.evaluate(risen) >= before - 1e-12).all()


def test_a_missing_rank_gains_nothing() -> None:
    short, long = np.array([[[1, MISSING_RANK]]]), np.array([[[1, 0, 0]]])
    measure = INST(3)
    assert measure.evaluate(measure.read(short)) == pytest.approx(measure.evaluate(long))


def test_text_is_read_back() -> None:
    assert parse_measure("INST(max_rel=2,T=3)@10") == INST(10, max_rel=2, T=3.0)
    assert str(INST(10, max_rel=2, T=3)) == "INST(max_rel=2,T=3.0)@10"
    assert INST(10).is_graded is False
    assert INST(10, max_rel=2).is_graded


@pytest.mark.parametrize("text", ["INST(T=0.4)@10", "INST(T=-1.0)@10", "INST(T='a')@10", "INST(T=True)@10"])
def test_wanted_gain_is_half_a_document_or_more(text: str) -> None:
    with pytest.raises(InputError, match=r"is not a number of 0\.5 or more"):
        parse_measure(text)


def test_levels_are_a_scale() -> None:
    with pytest.raises(InputError, match="INST: min_rel is 2 and max_rel 1"):
        parse_measure("INST(min_rel=2)@10")
