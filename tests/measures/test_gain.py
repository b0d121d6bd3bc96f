"""Discounted gain as worked out by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from trec_files import refused

from bayespool.errors import InputError
from bayespool.measures import DCG, NDCG, SDCG, Tally, parse_measure

# Gains 3, 0, 1, 2 over log2 of 2, 3, 4, 5. The topic has documents of relevance 1, 1, 2, 3.
LEVELS = np.array([[[3, 0, 1, 2]]], dtype=np.int16)
TALLY = Tally(np.array([[2, 1, 1]]), (1, 2, 3))
LOG2_OF_3, LOG2_OF_5 = 1.584962500721156, 2.321928094887362


def test_graded_example() -> None:
    for parameters, gained, ideal in (
        ("", 3 + 1 / 2 + 2 / LOG2_OF_5, 3 + 2 / LOG2_OF_3 + 1 / 2 + 1 / LOG2_OF_5),
        ("(dcg='exp-log2')", 7 + 1 / 2 + 3 / LOG2_OF_5, 7 + 3 / LOG2_OF_3 + 1 / 2 + 1 / LOG2_OF_5),
        ("(gains={1:0,2:5,3:6})", 6 + 5 / LOG2_OF_5, 6 + 5 / LOG2_OF_3),
        ("(rel=2)", 3 + 2 / LOG2_OF_5, 3 + 2 / LOG2_OF_3),
    ):
        assert parse_measure(f"DCG{parameters}@4").values(LEVELS).scores() == pytest.approx(gained), (
            parameters
        )
        measure = parse_measure(f"nDCG{parameters}@4")
        assert isinstance(measure, NDCG)
        assert measure.best(TALLY) == pytest.approx(ideal), parameters
        assert measure.values(LEVELS, TALLY).scores() == pytest.approx(gained / ideal), parameters
        first = dataclasses.replace(measure, cutoff=1)  # the ideal ranking ends at the cutoff, too
        assert first.values(LEVELS, TALLY).scores() == pytest.approx(1), parameters


def test_scaled_example() -> None:
    discounts = 1 + 1 / LOG2_OF_3 + 1 / 2 + 1 / LOG2_OF_5
    assert SDCG(4).values(LEVELS).scores() == pytest.approx((1 + 1 / 2 + 1 / LOG2_OF_5) / discounts)
    graded = SDCG(4, max_rel=3).values(LEVELS).scores()
    assert graded == pytest.approx((1 + 1 / 3 / 2 + 2 / 3 / LOG2_OF_5) / discounts)
    assert SDCG(4, rel=2).values(LEVELS).scores() == pytest.approx((1 + 1 / LOG2_OF_5) / discounts)
    assert SDCG(2).values(np.ones((1, 1, 5), dtype=np.int16)).scores() == pytest.approx(1)
    assert not SDCG(4).is_graded
    assert SDCG(4, max_rel=3).is_graded
    assert not SDCG(4, rel=3, max_rel=3).is_graded


def test_gains_that_fall_or_are_none_are_refused() -> None:
    refusals: list[tuple[object, str]] = [
        *(({0: 1, 1: 2}, "level 0 gains 1"), ({1: 3, 2: 2}, "level 2 gains 2, less than level 1")),
        *(({1: 3, 3: 4}, "level 2 gains 2, less than level 1"), ({1: -1}, "level 1 cannot gain -1")),
        *(({1: float("nan")}, "level 1 cannot gain nan"), ({1: "2"}, "level 1 cannot gain '2'")),
        *(({1: True}, "level 1 cannot gain True"), ({"1": 2}, "must be a whole number")),
        *(({-1: 2}, "no relevance is -1"), ({10**9: 10**9}, "no relevance is 1000000000")),
        (3, "gains 3 say no level's gain"),
    ]
    for gains, reason in refusals:
        assert reason in str(refused(NDCG, 10, gain_of=gains)), gains
    measure = DCG(2, gain_of={1: 10})
    assert measure.evaluate(np.array([1, 0])).tolist() == 10
    assert "relevance 2 of the judgments gains 2" in str(refused(measure.evaluate, np.array([1, 2])))


def test_powers_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="relevance 30000 of the judgments gains inf"):
        DCG(1, dcg="exp-log2").evaluate(np.array([30000]))


def test_nothing_that_gains_scores_nothing() -> None:
    tally = Tally(np.array([[3]]), (1,))
    measure = NDCG(5, gain_of={1: 0})
    assert measure.values(np.array([[[1, 1]]]), tally).scores().tolist() == [[0]]
    for end in measure.extremes(np.array([[[1, -1]]]), tally, np.array([[2]])):
        assert end.tolist() == [[0]]
