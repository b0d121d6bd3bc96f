"""Sums that a value lies between: by hand, and against all completions of toys."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bayespool import parse_measure
from bayespool.auditing.envelopes import TopicOfRun, envelope
from bayespool.measures import Normalized, Tally

LEVELS = (1, 2)


def toy(seed: int, cutoff: int, n_levels: int = 1) -> TopicOfRun:
    """A ranking of 6 with unjudged documents, and two unjudged ones elsewhere."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, n_levels + 1, 6).astype(np.int16)
    open_ = rng.random(6) < 0.5
    levels[open_] = 0
    rank = np.flatnonzero(open_)
    rank = rank[rank < cutoff]
    n = len(rank) + 2
    positive = LEVELS[:n_levels]
    elsewhere = rng.integers(0, 3, n_levels)
    tally = np.array([[(levels == level).sum() for level in positive]]) + elsewhere
    return TopicOfRun(
        levels[:cutoff],
        np.arange(len(rank)),
        rank,
        np.arange(n),
        Tally(tally, positive),
        rng.uniform(0.05, 0.6, n),
    )


COMPLETED = {
    1: "P@4 RBP(p=0.8)@5 nDCG@4 AP@6 R@5 RR@6 AP(ideal='judged')@6",
    2: "DCG@6 SDCG(max_rel=2)@6 nDCG(dcg='exp-log2')@6 nDCG(ideal='judged')@6 P(rel=2)@6 AP(rel=2)@6",
}


@pytest.mark.parametrize("n_levels", COMPLETED)
def test_every_completion_lies_between(n_levels: int) -> None:
    for text in COMPLETED[n_levels].split():
        assert_between(text, n_levels)


def assert_between(text: str, n_levels: int) -> None:
    measure = parse_measure(text)
    gaps = []
    for seed in range(3):
        topic = toy(seed, measure.cutoff, n_levels)
        levels = (0, *topic.tally.levels)
        worth = np.array([float(measure.amounts(np.array([level]))) for level in levels])
        worth = worth / worth.max()
        found = envelope(measure, topic)
        for drawn in product(range(len(levels)), repeat=len(topic.chance)):
            ranked = topic.levels.copy()
            ranked[topic.rank] = np.array(levels)[list(drawn[: len(topic.rank)])]
            n = topic.tally.n.copy()
            counted = drawn if isinstance(measure, Normalized) and measure.ideal != "judged" else ()
            for level in counted:
                n[0, level - 1] += level > 0
            value = float(measure.values(ranked[None, None], Tally(n, topic.tally.levels)).scores()[0, 0])
            low = found.base_low + found.low @ worth[list(drawn)]
            high = found.base_high + found.high @ worth[list(drawn)]
            assert low - 1e-12 <= value <= high + 1e-12, text
            gaps.append(high - low)
    is_sum = not isinstance(measure, Normalized) and measure.name != "RR"
    assert (max(gaps) < 1e-12) == (is_sum or text == "nDCG(ideal='judged')@6")


def test_contributions_of_recall_by_hand() -> None:
    """2 of 4 relevant found, one unjudged in the top 3 of chance .5, one elsewhere of chance .25."""
    topic = TopicOfRun(
        np.array([1, 1, 0], dtype=np.int16),
        np.array([0]),
        np.array([2]),
        np.array([0, 1]),
        Tally(np.array([[4]]), (1,)),
        np.array([0.5, 0.25]),
    )
    found = envelope(parse_measure("R@3"), topic)
    slope = 2 / 4.75**2  # of 2/(4 + k) at the k that is expected, .75
    assert found.base_low == pytest.approx(2 / 4.75 + 0.75 * slope)
    assert found.low.tolist() == pytest.approx([1 / 6 - slope, -slope])
    assert (found.base_high, found.high.tolist()) == (0.5, [1 / 5, 0.0])
