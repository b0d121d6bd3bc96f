"""Judged documents by label and relevance, and two figures of agreement."""

from __future__ import annotations

import numpy as np
import pytest
from labeled import labeled_toy
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from bayespool.collection import Judge
from bayespool.evidence import GradeCounts, LabelConfusion, auc, kappas
from bayespool.evidence.labels import grade_names


def toy_confusion(levels: tuple[int, ...] = (1, 2), cutoff: int = 30) -> LabelConfusion:
    collection = labeled_toy()
    return LabelConfusion.of(collection, collection.judges[0], levels, cutoff=cutoff)


def test_documents_are_counted_by_label_and_relevance() -> None:
    """Hidden are b c f, p r, b of the north and h i k, v w, d of the south; others a j, q, a c."""
    found = toy_confusion()
    assert found.hidden.tolist() == [
        [3, 2, 0],  # b, b, d; h, v
        [2, 1, 1],  # k, w; f; r
        [0, 1, 1],  # p; c
        [1, 0, 0],  # i, without a label
    ]
    assert found.other.tolist() == [
        [2, 0, 0],  # j, a on topic 3
        [1, 0, 0],  # c on topic 3
        [0, 1, 0],  # a
        [1, 0, 0],  # q
    ]


def test_relevance_may_begin_at_any_of_the_levels() -> None:
    found = toy_confusion()
    for rel, relevant, nonrelevant in ((1, [2, 2, 2], [3, 2, 0]), (2, [0, 1, 1], [5, 3, 1])):
        counted = found.by_grade("hidden", rel)
        assert counted.n_relevant.tolist() == relevant
        assert counted.n_nonrelevant.tolist() == nonrelevant
    with pytest.raises(ValueError, match="not in tuple"):
        found.by_grade("hidden", 3)


def test_agreement_is_that_of_other_software() -> None:
    rng = np.random.default_rng(3)
    relevant, nonrelevant = rng.integers(0, 40, 5), rng.integers(0, 40, 5)
    counted = GradeCounts(Judge("a", np.arange(5.0)), relevant, nonrelevant)
    high, low = (np.repeat(np.arange(5), n) for n in (relevant, nonrelevant))
    expected = stats.mannwhitneyu(high, low).statistic / (len(high) * len(low))
    assert auc(counted) == pytest.approx(expected)
    for cut, kappa in enumerate(kappas(counted), 1):
        table = [
            [nonrelevant[:cut].sum(), relevant[:cut].sum()],
            [nonrelevant[cut:].sum(), relevant[cut:].sum()],
        ]
        assert kappa == pytest.approx(cohens_kappa(np.array(table)).kappa)


def test_names_of_grades() -> None:
    assert grade_names(Judge("a", np.array([3.0, 0.0, np.nan, 1.0]))) == ("0", "1", "3")
    many = grade_names(Judge("a", np.arange(1000.0)))
    assert many[:2] == ("< 250", "≥ 250")
    assert len(many) == 6
