"""What labels say alone: values and κ by hand, and measures without a design."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool import read_collection
from bayespool.errors import InputError
from bayespool.experiments import LabelScores, score_labels

RUN = {"mine": {"q1": {"a": 3, "b": 2}, "q2": {"a": 3, "c": 2}}}
GRADED = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 2, "b": 0, "c": 2}}
BINARY = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 0, "b": 0, "c": 1}}


def scored(measures: object = "P(rel=2)@2") -> LabelScores:
    return score_labels(read_collection(None, RUN, judges={"g": GRADED, "b": BINARY}), None, measures)


def test_values_spread_and_kappa_are_those_by_hand() -> None:
    """Labels of 2 and 3 are relevant by g, of 1 by b: they agree on 4 of 6, and by chance on half."""
    result = scored()
    (row,) = result.values.to_dict("records")
    assert (row["g"], row["b"], row["spread"]) == (0.75, 0.75, 0.0)
    (agreed,) = result.agreement.to_dict("records")
    assert (agreed["judge"], agreed["reference"], agreed["n"]) == ("g", "b", 6)
    assert agreed["kappa"] == pytest.approx((4 / 6 - 1 / 2) / (1 / 2))


def test_graded_labels_stand_for_themselves_and_binary_ones_for_rel() -> None:
    """nDCG with all labeled documents in the ideal ranking, as of qrels."""
    (row,) = scored("nDCG@2").values.to_dict("records")
    discount = 1 / np.log2(3)
    assert row["g"] == pytest.approx(
        ((3 + discount) / (3 + discount) + (2 + 2 * discount) / (2 + 2 * discount)) / 2
    )
    assert row["b"] == pytest.approx((1 + discount / 1) / 2)


def test_it_says_what_counts_as_relevant_and_what_is_missing() -> None:
    judges = {"g": GRADED, "b": {"q1": {"a": 1, "b": 0}}}
    result = score_labels(read_collection(None, RUN, judges=judges), None, "P(rel=2)@2")
    assert "P(rel=2)@2: relevant are labels from 2 (g), 1 (b)" in result.sentences()
    assert result.tables()[0].views[0].title == "P(rel=2)@2 on 2 topics, labels for judgments"
    assert "a label, which count as not relevant: 2 of 4 (b); label these, too" in result.notes()[1]
    assert len(scored().notes()) == 1


def test_measures_without_a_design_say_so_and_others_what_is_needed() -> None:
    assert scored("nDCG@2").sentences()[0].startswith("nDCG@2 has no score by design; P, RBP and DCG have")
    assert scored(["nDCG@2", "P@2"]).sentences()[0].startswith("P@2 of mine: about ")
    with pytest.raises(InputError, match="no labels"):
        score_labels(read_collection(GRADED, RUN))
