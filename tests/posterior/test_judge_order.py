"""The order of runs by a judge's labels: how far draws move, by hand, and where they do not."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bayespool import parse_measure
from bayespool.collection import Collection, add_judges
from bayespool.experiments import load_example, simulate_example, simulate_judge
from bayespool.measures import Values
from bayespool.posterior import PosteriorEstimator, PosteriorJudgeOrder
from bayespool.posterior.judge_order import judge_worth, move_draws
from bayespool.reading.samples import Sample
from bayespool.scoring import parse_estimator

QUICK: dict[str, Any] = {"draws": 20, "chains": 1}


def sampled(quality: float) -> Collection:
    """Half of the example's judgments, as a published sample, with labels of a judge."""
    example = load_example()
    kept = example.judged & (np.arange(len(example.relevance)) % 2 == 0)
    sample = Sample(
        inclusion=np.where(kept, 0.5, np.nan),
        stratum=np.where(example.judged, 0, -1).astype(np.int32),
        candidates=example.judged,
    )
    half = dataclasses.replace(example.without_judgments(example.judged & ~kept), sample=sample)
    labels = simulate_judge(simulate_example(), quality=quality, random_seed=1)
    return add_judges(half, {"llm": labels})


def test_draws_move_in_proportion_to_their_room_by_hand() -> None:
    """Of ten documents a topic 1 + 3 and 4 + 0 may be relevant yet: a total of 2 more is .5, 1.5; 2, 0."""
    least, most = np.zeros((2, 2), np.int32), np.array([[5, 8], [7, 3]], np.int32)
    amount = np.repeat(np.array([[4, 5], [3, 3]], np.int32)[None], 200, axis=0)
    bounds = SimpleNamespace(least=Values(least, 10), most=Values(most, 10))
    exact = move_draws(Values(amount, 10), bounds, np.array([0.1, -0.1]), 1)  # type: ignore[arg-type]
    assert exact.totals().tolist() == [[11, 4]] * 200
    assert np.unique(exact.amount[:, 0], axis=0).tolist() == [[4, 7], [5, 6]]
    assert exact.on_topics() == pytest.approx(np.array([[0.45, 0.65], [0.2, 0.2]]), abs=0.01)
    floats = move_draws(Values(amount / 10), bounds_of(least, most), np.array([9, -0.1]), 1)
    assert floats.amount[0] == pytest.approx(np.array([[0.5, 0.8], [0.2, 0.2]]))


def bounds_of(least: np.ndarray, most: np.ndarray) -> SimpleNamespace:
    return SimpleNamespace(least=Values(least / 10), most=Values(most / 10))


@pytest.mark.parametrize("name", ["P@10", "nDCG@10"])
def test_a_good_judge_moves_runs_and_no_mean(name: str) -> None:
    collection, measure = sampled(3), parse_measure(name)
    runs = collection.run_ids
    (before,) = PosteriorEstimator(**QUICK).estimate(collection, runs, measure)
    (after,) = PosteriorJudgeOrder(**QUICK).estimate(collection, runs, measure)
    (filled,) = parse_estimator("judge-filled").estimate(collection, runs, measure)
    worth = judge_worth(collection, collection.judges[0], measure)
    assert 0.3 < worth < 0.65
    gap = (filled.value - filled.value.mean()) - (before.value - before.value.mean())
    moved = after.value - before.value
    assert np.corrcoef(moved, gap)[0, 1] > 0.95
    assert 0 < np.polyfit(gap, moved, 1)[0] < worth
    assert abs(moved.mean()) < 0.002
    assert "of the way to the order of runs by labels of llm" in after.notes[0][-1]


def test_a_poor_judge_and_a_run_alone_change_nothing() -> None:
    poor, good = sampled(0), sampled(3)
    assert judge_worth(poor, poor.judges[0], parse_measure("P@10")) == 0
    for collection, runs in ((poor, poor.run_ids), (good, "new-a")):
        (before,) = PosteriorEstimator(**QUICK).estimate(collection, runs)
        (after,) = PosteriorJudgeOrder(**QUICK).estimate(collection, runs)
        assert before.draws is not None
        assert after.draws is not None
        assert np.array_equal(before.draws.amount, after.draws.amount)


def test_nothing_without_labels_or_a_sample() -> None:
    labeled = sampled(3)
    for collection, reason in (
        (dataclasses.replace(labeled, judges=()), "needs labels of a judge"),
        (dataclasses.replace(load_example(), judges=labeled.judges), "a published random sample"),
    ):
        (found,) = PosteriorJudgeOrder(**QUICK).estimate(collection, "new-a")
        assert np.isnan(found.value).all()
        assert reason in found.notes[0][0]
