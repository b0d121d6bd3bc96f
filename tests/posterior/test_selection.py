"""Whether judging depended on relevance: by hand, and where it is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import brentq
from unexplained import with_found

from bayespool.collection.own import OwnJudgments
from bayespool.experiments import load_example
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.selection import Selection, find_selection, find_unexplained, judged_and_relevant

inside = st.floats(0.01, 0.99)


def logit(chance: float) -> float:
    return float(np.log(chance / (1 - chance)))


@given(inside, inside, st.floats(-6, 6))
def test_a_table_has_its_margins_and_its_odds_ratio(chance: float, share: float, ratio: float) -> None:
    both = float(judged_and_relevant(chance, share, ratio))
    cells = both, chance - both, share - both, 1 - chance - share + both
    assert min(cells) > 0
    assert np.log(cells[0] * cells[3] / (cells[1] * cells[2])) == pytest.approx(ratio, abs=1e-4)


@given(inside, st.floats(-6, 6))
def test_where_all_or_none_are_judged_relevance_is_of_no_account(chance: float, ratio: float) -> None:
    assert float(judged_and_relevant(chance, 1.0, ratio)) == pytest.approx(chance)
    assert float(judged_and_relevant(chance, 0.0, ratio)) == 0


def hand_made(n_relevant: int) -> Selection:
    """200 documents of a chance of one half, every other one judged."""
    document = np.arange(200)
    judged = document % 2 == 0
    return find_selection(np.zeros((4000, 200)), judged, document < 2 * n_relevant, np.random.default_rng(1))


@pytest.mark.parametrize("n_relevant", [25, 75])
def test_documents_of_one_chance_by_hand(n_relevant: int) -> None:
    """75 of 100 judged ones are relevant, so that 25 of the other 100 are: an odds ratio of 9, and log odds
    of the unjudged that are log 3 lower, half of its logarithm δ. Given δ a judged one is relevant by a
    chance q of log odds δ/2. The prior of N(0, 4) makes the fit the root of (75 − 100 q)/2 = δ/4; the
    information is 100 q (1 − q)/4 + 1/4.
    """
    root = brentq(lambda d: (n_relevant - 100 / (1 + np.exp(-d / 2))) / 2 - d / 4, -5, 5)
    q = 1 / (1 + np.exp(-root / 2))
    assert root == pytest.approx(2 * logit(n_relevant / 100), abs=0.15)
    sd = 1 / np.sqrt(25 * q * (1 - q) + 0.25)
    found = hand_made(n_relevant)
    # 100 of 200 say π within .035, which makes the rest a little wider
    assert found.log_odds_ratio.mean() == pytest.approx(root, abs=0.05)
    assert found.log_odds_ratio.std() == pytest.approx(sd, rel=0.1)
    assert found.shift.mean() == pytest.approx(-root / 2, abs=0.03)
    assert np.corrcoef(found.shift, found.log_odds_ratio)[0, 1] < -0.9


def simulated(seed: int, how: str, spread: float) -> np.ndarray:
    """The interval of the shift and its median. Predictions are off by a common number of N(0, spread²)."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.8, 1.2, 500)
    draws = log_odds + spread * rng.normal(size=(101, 1))
    relevant = rng.random(500) < 1 / (1 + np.exp(-draws[0]))
    by_chance = 1 / (1 + np.exp(-1.5 * log_odds))
    judged = rng.random(500) < (by_chance if how == "by chance" else np.where(relevant, 0.6, 0.2))
    return np.quantile(find_selection(draws[1:], judged, relevant, rng).shift, [0.025, 0.5, 0.975])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "shift", "spread"), [("by chance", 0, 0.3), ("by relevance", np.log(0.4 / 0.8), 0)]
)
def test_intervals_hold_what_is_so(how: str, shift: float, spread: float) -> None:
    """95 of 100, within four standard errors."""
    found = np.array([simulated(seed, how, spread) for seed in range(100)])
    assert ((found[:, 0] < shift) & (shift < found[:, 2])).sum() >= 87
    assert abs(np.median(found[:, 1]) - shift) < (0.05 if spread == 0 else 0.15)


def test_a_shift_is_learned_from_the_judged_documents_of_the_run_itself() -> None:
    """Documents of the new runs were found by others, mostly the relevant ones, or at random, or not."""
    off = []
    for collection in (with_found(0.95, 0.3), with_found(0.5, 0.5), load_example()):
        learned, plain = (
            PosteriorEstimator(model="ratio", draws=200, shift=shift).estimate(collection, "new-b", "P@10")[0]
            for shift in (None, 0.0)
        )
        off.append(learned.value[0] - plain.value[0])
    assert -0.003 < off[0] < 0 < off[1] < 0.003
    assert off[2] == 0


def test_judgments_of_ones_own_are_none_of_unknown_runs() -> None:
    collection = with_found(0.4, 0.4)
    outside = collection.judged & ~collection.in_pool()
    assert (find_unexplained(collection) == outside).all()
    own = OwnJudgments(np.where(outside, collection.relevance, np.int16(-1)), outside)
    assert not find_unexplained(dataclasses.replace(collection, own=own)).any()


@pytest.mark.slow
def test_a_shift_moves_the_estimate() -> None:
    lower, same, higher, plain = (
        PosteriorEstimator(shift=shift).estimate(load_example(), "new-b")[0].draws
        for shift in (-0.5, 0.0, 0.5, None)
    )
    assert np.array_equal(same.amount, plain.amount)
    assert (lower.amount <= same.amount).all()  # the same random numbers, another chance
    assert (same.amount <= higher.amount).all()
    assert lower.expected() < same.expected() < higher.expected()


def test_little_or_nothing_to_learn_from() -> None:
    """One judged document of 200, whatever the prior; and nothing left unjudged."""
    document, rng = np.arange(200), np.random.default_rng(1)
    found = find_selection(np.zeros((4000, 200)), document < 1, document < 0, rng)
    assert abs(found.shift.mean()) < 0.02
    found = find_selection(np.zeros((3, 20)), np.ones(20, dtype=bool), np.arange(20) < 15, rng)
    assert np.isnan(found.shift).all()
