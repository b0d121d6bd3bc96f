"""The posterior of differences: what it learns from, what it keeps to, and whether its intervals hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import expit
from small import SETTINGS, small, small_simulation
from toys import COMMON, toy_collection

from bayespool.comparisons import compare
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments import simulate
from bayespool.measures import parse_measure
from bayespool.posterior import PosteriorDifference
from bayespool.posterior.difference import Differences, draw_shares, find_differences, fit_shares
from bayespool.scoring import score

MEASURES = (
    "P@5",
    "P@20",
    "nDCG@10",
    "nDCG(ideal='judged')@5",
    "AP@20",
    "RR@10",
    "DCG@10",
    "RBP@10",
    "AntiP@5",
)
NAME = "posterior-difference"
QUICK = PosteriorDifference(draws=100, chains=1)


def test_it_learns_from_pooled_runs_without_their_organization() -> None:
    """At P@3 of the toy, worked by hand from its table."""
    found = find_differences(toy_collection(), parse_measure("P@3"))
    runs = np.array(["n1", "n2", "s1", "s2", "u"])[found.run]
    rows = list(zip(runs, found.topic + 1, found.n_open, found.share.round(9), strict=True))
    assert rows == [
        *(("n1", 1, 2, 0.5), ("n1", 2, 2, 1), ("n1", 3, 1, 0)),
        *(("n2", 1, 2, 0.5), ("n2", 2, 2, 1), ("n2", 3, 1, 0)),
        *(("s1", 1, 2, 0.5), ("s1", 2, 2, 0.5), ("s1", 3, 1, 0), ("s2", 1, 2, 0.5), ("s2", 3, 1, 0)),
    ]
    assert found.organization.tolist() == [0] * 6 + [1] * 5
    left = np.log((0 + 0.05) / (1 / 3 + 0.1) / (1 - 0.05 / (1 / 3 + 0.1)))  # of n1 on topic 2
    np.testing.assert_allclose(found.features[1, :2], [1, left])


def test_common_topics_are_known_and_inform_the_rest() -> None:
    collection, measure = toy_collection(more=COMMON), "P@3"
    common = {"common_topics": ["1", "2"], "estimators": NAME, "posterior_settings": "draws=500"}
    drawn = score(collection, "u", measure, **common)[measure, NAME].draws.amount[:, 0]
    assert (drawn[:, :2] == [2, 2]).all()
    assert set(drawn[:, 2]) == {0, 1, 2}
    gains = {"1": {"l": 1, "d": 1, "m": 1}, "2": {"z": 1, "x": 1}}
    nothing = {q: dict.fromkeys(judged, 0) for q, judged in gains.items()}
    third = [
        score(toy_collection(more=more), "u", measure, **common)[measure, NAME].per_topic[0, 2]
        for more in (gains, nothing)
    ]
    assert third[0] > third[1] + 0.05


@given(seed=st.integers(0, 1000), measure=st.sampled_from(MEASURES), unpooled=st.booleans())
def test_draws_lie_within_the_bounds(seed: int, measure: str, unpooled: bool) -> None:
    collection = simulate(replace(SETTINGS, n_topics=4, run_depth=25), random_seed=seed).collection
    if unpooled:
        collection = collection.unpool(collection.pooled_run_ids[0])
    parsed = parse_measure(measure)
    (estimates,) = replace(QUICK, random_seed=seed).estimate(collection, None, parsed)
    bounds = score_bounds(collection, estimates.run_ids, parsed)
    amount = estimates.draws.amount
    assert (amount >= bounds.least.amount - 1e-9).all()
    assert (amount <= bounds.most.amount + 1e-9).all()
    judged = bounds.n_unjudged == 0
    assert (amount[:, judged] == bounds.low.amount[judged]).all()
    assert estimates.draws.is_exact == parsed.is_exact
    np.testing.assert_allclose(estimates.value, estimates.draws.expected(), atol=1e-12)


def test_a_seed_gives_the_same_bytes_whatever_is_scored_beside() -> None:
    (alone,) = QUICK.estimate(small(), small().unpooled_run_ids[1], "nDCG@10")
    beside = QUICK.estimate(small(), small().unpooled_run_ids, ["P@5", "nDCG@10"])[1]
    assert alone.draws.amount.tobytes() == beside.draws.amount[:, 1:].tobytes()
    (other,) = replace(QUICK, random_seed=2).estimate(small(), small().unpooled_run_ids[1], "nDCG@10")
    assert not np.array_equal(alone.draws.amount, other.draws.amount)


def test_it_holds_the_truth_of_new_runs_and_compares_them() -> None:
    made = small_simulation()
    compared = compare(
        made.collection, made.new_run_ids, "P@10", estimators=NAME, posterior_settings="draws=200"
    )
    estimates = compared.scores["P@10", NAME]
    assert len(estimates.draws.amount) == 800
    low, high = estimates.interval(0.95)
    true = [made.true_values("P@10")[run] for run in made.new_run_ids]
    assert ((low <= true) & (true <= high)).all()
    assert (high > low).all()


def test_without_another_pooled_run_it_has_no_value() -> None:
    (estimates,) = QUICK.estimate(toy_collection(pooled_run_ids=(), pool_depth=0), "u", "P@3")
    assert np.isnan(estimates.value).all()
    assert estimates.draws is None
    assert estimates.notes == (("needs a pooled run",),)


@pytest.mark.parametrize("setting", [{"draws": 0}, {"chains": 0}, {"random_seed": -1}])
def test_settings_out_of_range_are_refused(setting: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(setting))):
        PosteriorDifference(**setting)


def made_up(rng: np.random.Generator, n_common: int, n_topics: int = 30) -> tuple[float, float]:
    """Share of draws below the true sum of a new run's differences, of data from the model itself, and the
    draws' mean less the truth.
    """
    organization = np.repeat(np.arange(17), 2)[:-1]  # the last has one run, the new one
    topic = rng.normal(0, 0.8, n_topics)
    effect = rng.normal(0, 0.7, 17)[organization] + rng.normal(0, 0.3, len(organization))
    features = np.ones((len(organization), n_topics, 3))
    features[..., 1:] = rng.normal(size=(len(organization), n_topics, 2))
    odds = features @ [-0.5, 0.6, 0.4] + topic + effect[:, None]
    mean, n_open = expit(odds), rng.integers(1, 9, size=odds.shape)
    size = 1 / (0.8 * (0.7 / n_open + 0.3)) - 1
    share = rng.beta(mean * size, (1 - mean) * size)
    run, at = (x.ravel() for x in np.indices(odds[:-1].shape))
    known = Differences(
        share[:-1].ravel(), n_open[:-1].ravel(), features[:-1].reshape(-1, 3),
        organization[run], run, at, n_topics,
    )  # fmt: skip
    places, width = np.arange(n_topics), rng.uniform(0.1, 1, n_topics)
    own, left = places[:n_common], places[n_common:]
    drawn = draw_shares(
        fit_shares(known, rng, 200),
        (features[-1, own], own, n_open[-1, own], share[-1, own]),
        (features[-1, left], left, n_open[-1, left]), rng, 1000,
    )  # fmt: skip
    total, true = drawn @ width[left], share[-1, left] @ width[left]
    return float((total < true).mean()), float(total.mean() - true)


def test_a_run_of_the_model_is_predicted() -> None:
    below, error = zip(*(made_up(np.random.default_rng(seed), 10) for seed in range(6)), strict=True)
    assert 0.02 < np.mean(below) < 0.98
    assert abs(np.mean(error)) < 1


@pytest.mark.slow
@pytest.mark.parametrize("n_common", [0, 5, 15])
def test_intervals_hold_at_nominal_rates_where_the_model_is_true(
    n_common: int, repetitions: Callable[[int, int], int]
) -> None:
    n = repetitions(400, 100)
    below = np.array([made_up(np.random.default_rng(seed), n_common)[0] for seed in range(n)])
    for level in (0.5, 0.8, 0.95):
        share = (np.abs(below - 0.5) <= level / 2).mean()
        assert abs(share - level) < 3 * np.sqrt(level * (1 - level) / n), f"{share:.2f} of {level}"
