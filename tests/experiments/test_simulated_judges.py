"""Simulated judges label as their quality says."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest

from bayespool.collection import Labels, Qrels
from bayespool.errors import InputError
from bayespool.experiments import Simulation, simulate_example, simulate_judge

Labeled = dict[tuple[str, str], float]


def by_document(labels: Labels) -> Labeled:
    pairs = zip(labels.query_id.to_pylist(), labels.doc_id.to_pylist(), strict=True)
    return dict(zip(pairs, labels.label.tolist(), strict=True))


@cache
def truth(simulation: Simulation) -> dict[tuple[str, str], int]:
    qrels: Qrels = simulation.truth
    pairs = zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), strict=True)
    return dict(zip(pairs, qrels.relevance.tolist(), strict=True))


def judged(**asked: Any) -> Labeled:
    return by_document(simulate_judge(simulate_example(), **{"random_seed": 1, **asked}))


@pytest.mark.parametrize("quality", [1.0, -1.5])
def test_labels_are_as_likely_as_the_formula_says(quality: float) -> None:
    known = truth(simulate_example())
    mean = np.mean(list(known.values()))
    for grades in (2, 4):
        labels = judged(quality=quality, grades=grades)
        for relevance in (0, 1, 2):
            found = np.array([label for pair, label in labels.items() if known[pair] == relevance])
            for grade in range(1, grades):
                expected = ndtr(quality * (relevance - mean) - ndtri(1 - 0.5**grade))
                reached = int((found >= grade).sum())
                assert binomtest(reached, len(found), expected).pvalue > 1e-4, (grades, relevance, grade)


def test_of_two_shares_the_smaller_is_within_the_larger() -> None:
    everything = judged(quality=1.0)
    half, tenth = judged(quality=1.0, share=0.5), judged(quality=1.0, share=0.1)
    assert tenth.items() < half.items() < everything.items()
    for labels, share in ((half, 0.5), (tenth, 0.1)):
        assert binomtest(len(labels), len(everything), share).pvalue > 1e-4
    mean = np.mean(list(everything.values()))
    assert np.mean(list(tenth.values())) == pytest.approx(mean, abs=0.15)  # who has one is chance


def test_favored_documents_are_those_in_the_top_20() -> None:
    fair, unfair = judged(quality=1.0), judged(quality=1.0, favors="north")
    assert fair.keys() == unfair.keys()
    top = set()
    for run in simulate_example().runs:
        if simulate_example().organizations[run.run_id] == "north":
            rows = zip(run.query_id.to_pylist(), run.doc_id.to_pylist(), run.rank.tolist(), strict=True)
            top |= {(query_id, doc_id) for query_id, doc_id, rank in rows if rank <= 20}
    changed = {pair for pair in fair if fair[pair] != unfair[pair]}
    assert changed <= top
    assert all(unfair[pair] >= fair[pair] for pair in top)
    assert len(changed) > 0.6 * len(top)


def test_senseless_judges_are_refused() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"grades": 1}, "not 1"),
        ({"share": 0.0}, "not 0.0"),
        ({"share": 1.1}, "not 1.1"),
        ({"share": float("nan")}, "not nan"),
        ({"quality": float("inf")}, "not inf"),
        ({"favors": "nobody"}, "no organization 'nobody'"),
    ]
    for asked, reason in refused:
        with pytest.raises(InputError, match=reason):
            judged(**{"quality": 1.0, **asked})
