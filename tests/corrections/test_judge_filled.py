"""Labels in place of judgments, by hand."""

from __future__ import annotations

import numpy as np
from corrected import LABELS, close, estimate, with_labels

from bayespool.corrections import JudgeFilled
from bayespool.corrections.judge_filled import is_on_scale, relevance_of_grades, relevance_of_labels

# u has a1 l? d? h1 m? | v1 p1 z? x? | e? f?; labels l2 d0 m1 | z2 | e0


def topics_of(measure: str, correction: JudgeFilled | None = None) -> list[float]:
    result = estimate(correction or JudgeFilled(), measure, collection=with_labels(LABELS))
    return result.per_topic[0].tolist()


def test_labels_count_as_judgments() -> None:
    assert topics_of("P@5") == close(4 / 5, 3 / 5, 0)
    assert topics_of("P(rel=2)@5") == close(1 / 5, 1 / 5, 0)
    assert topics_of("DCG@3") == close(1 + 2 / np.log2(3), 1 + 1 / np.log2(3) + 2 / 2, 0)
    assert topics_of("RR(rel=2)@5") == close(1 / 2, 1 / 3, 0)
    assert topics_of("AntiP@5") == close(1 / 5, 1 / 5, 4 / 5)  # three ranks are missing, f is not known


def test_ideal_rankings_have_labeled_documents_in_reach() -> None:
    """a1 l2 of c2 f1 h1 a1 and, in reach, l2; v1 p1 of r2 p1 v1 and z2, which u has at rank 3."""
    log3 = np.log2(3)
    assert topics_of("nDCG@2") == close((1 + 2 / log3) / (2 + 2 / log3), (1 + 1 / log3) / (2 + 2 / log3), 0)
    assert topics_of("nDCG(ideal='judged')@2") == close(
        (1 + 2 / log3) / (2 + 1 / log3), (1 + 1 / log3) / (2 + 1 / log3), 0
    )
    assert topics_of("R@5") == close(4 / 6, 3 / 4, 0)
    # two runs in reach: s1 has x and y too, and no label says that they are relevant
    (both,) = JudgeFilled().estimate(with_labels(LABELS), ["u", "n1"], "nDCG@2")
    assert both.per_topic[0].tolist() == topics_of("nDCG@2")


def test_a_judgment_is_never_overruled() -> None:
    against = with_labels({"1": {"a": 0, "h": 0, "l": 2}, "2": {"v": 0}, "3": {"a": 2}})
    found = estimate(JudgeFilled(), "P@5", collection=against)
    assert found.per_topic[0].tolist() == close(3 / 5, 2 / 5, 0)


# Labels of other scales


def test_two_labels_are_not_relevant_and_relevant() -> None:
    # of a1 b0 c2 h1, which have the higher label, those that count have the median relevance 1, or 2
    binary = with_labels({"1": {"a": 1, "b": 1, "c": 1, "h": 1, "l": 1, "d": 0}, "2": {"q": 0, "z": 1}})
    (judge,) = binary.judges
    assert not is_on_scale(binary, judge)
    assert relevance_of_grades(binary, judge).tolist() == [0, 1]
    assert relevance_of_grades(binary, judge, 2).tolist() == [0, 2]
    assert relevance_of_grades(binary, judge, 5).tolist() == [0, 5]
    found = estimate(JudgeFilled(), "P(rel=2)@5", collection=binary)
    assert found.per_topic[0].tolist() == close(1 / 5, 1 / 5, 0)
    assert found.notes[0].endswith("; labels stand for relevance: from 0 for 0, from 1 for 2")
    discounted = estimate(JudgeFilled(), "DCG@2", collection=binary)
    assert discounted.per_topic[0].tolist() == close(1 + 1 / np.log2(3), 1 + 1 / np.log2(3), 0)


def test_labels_beyond_the_levels_of_judgments_are_of_another_scale() -> None:
    three = with_labels({"1": {"c": 3, "a": 3, "h": 3, "l": 3, "d": 0}, "2": {"q": 1, "z": 2}})
    (judge,) = three.judges
    assert not is_on_scale(three, judge)
    # 3: c2 a1 h1; 2: nothing judged; 1: q0
    assert relevance_of_labels(three, judge)[judge.label == 3].tolist() == [1] * 4
    assert relevance_of_grades(three, judge).tolist() == [0, 0, 0, 1]
