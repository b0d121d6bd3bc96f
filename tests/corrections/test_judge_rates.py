"""Rates of hidden documents by grade as chances, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from corrected import LABELS, close, estimate, with_labels

from bayespool.corrections import JudgeRates
from bayespool.evidence import score_bounds
from bayespool.measures import parse_measure

# u has a1 l? d? h1 m? | v1 p1 z? x? | e? f?; labels l2 d0 m1 | z2 | e0. Of hidden documents with the label 2
# a quarter are of relevance 1 and a half of 2, with the label 0 a quarter of 1; of all twelve 1/3 and 1/6,
# which counts where a document has no label and where no hidden one has its label, as m's.


def topics_of(measure: str, correction: JudgeRates | None = None) -> list[float]:
    result = estimate(correction or JudgeRates(), measure, collection=with_labels(LABELS))
    assert result.notes == ("",)
    return result.per_topic[0].tolist()


def test_chances_add_up() -> None:
    assert topics_of("P@5") == close(
        (2 + 3 / 4 + 1 / 4 + 1 / 2) / 5, (2 + 3 / 4 + 1 / 2) / 5, (1 / 4 + 1 / 2) / 5
    )
    assert topics_of("P(rel=2)@5") == close((1 / 2 + 1 / 6) / 5, (1 / 2 + 1 / 6) / 5, (1 / 6) / 5)
    assert topics_of("DCG@3") == close(
        1 + (1 / 4 + 2 / 2) / np.log2(3) + (1 / 4) / 2,
        1 + 1 / np.log2(3) + (1 / 4 + 2 / 2) / 2,
        1 / 4 + (1 / 3 + 2 / 6) / np.log2(3),
    )
    # known not to be relevant: none | none | three missing ranks, and of e and f 3/4 and 1/2
    assert topics_of("AntiP@5")[2] == pytest.approx((3 + 3 / 4 + 1 / 2) / 5)


def test_measures_that_are_no_sums_are_expectations() -> None:
    assert topics_of("RR@5")[2] == pytest.approx(1 / 4 + 3 / 4 * 1 / 2 / 2)
    assert topics_of("Success@2")[2] == pytest.approx(1 - 3 / 4 * 1 / 2)
    assert topics_of("RR@5")[:2] == [1, 1]


def test_over_the_ideal_of_the_judged_documents() -> None:
    ideal = 2 + 1 / np.log2(3)
    assert topics_of("nDCG@2") == close(
        (1 + (1 / 4 + 2 / 2) / np.log2(3)) / ideal, (1 + 1 / np.log2(3)) / ideal, 0
    )
    # of the three relevant documents of topic 2 it has two, and would have 3 1/4: completions have 4 of 5
    most = score_bounds(with_labels(LABELS), "u", parse_measure("R@5")).most.scores()[0]
    assert topics_of("R@5")[1] == pytest.approx(4 / 5)
    assert most[1] == pytest.approx(4 / 5)
