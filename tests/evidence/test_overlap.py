"""Overlaps of runs, by hand."""

from __future__ import annotations

import numpy as np
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.evidence import run_overlap


def pooled(rankings: dict[str, dict[str, str]]) -> Collection:
    """All runs pooled; every document judged."""
    topics = sorted({q for of_run in rankings.values() for q in of_run})
    judged = {q: dict.fromkeys("".join(r.get(q, "") for r in rankings.values()), 1) for q in topics}
    return from_rankings(rankings, judged, pooled_run_ids=tuple(rankings), pool_depth=2)


def test_rankings_that_are_short_or_missing() -> None:
    """Over the longer of the two, at most ten; a topic that one lacks counts 0."""
    runs = {
        "deep": {"1": "abcdefghijklmnop", "2": "xy"},
        "other": {"1": "jihgfklmno", "2": "x"},
        "short": {"1": "ab"},
        "twin": {"1": "ba"},
        "none": {"3": "q"},
    }
    found = run_overlap(pooled(runs), np.arange(5))
    order = [sorted(runs).index(run) for run in runs]
    # deep and other share f to j of ten, and x of two; deep and short a and b of ten, and nothing of two
    assert found[np.ix_(order, order)].tolist() == [
        [1, (0.5 + 0.5) / 2, (0.2 + 0) / 2, (0.2 + 0) / 2, 0],
        [0.5, 1, 0, 0, 0],
        [0.1, 0, 1, 1, 0],
        [0.1, 0, 1, 1, 0],
        [0, 0, 0, 0, 1],
    ]
