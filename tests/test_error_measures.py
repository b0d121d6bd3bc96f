"""Error measures, calibration and reliability, on numbers worked out by hand or taken from other software."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayespool.checking import randomised_pit
from bayespool.errors import InputError
from bayespool.experiments import (
    central_share,
    covered,
    crps,
    kendall_tau_b,
    mae_by_cutoff,
    mean_absolute_error,
    mean_error,
    n_above_bounds,
    n_unknown_documents,
    passed_over,
    pit_range,
    reliability,
    root_mean_squared_error,
    system_rank_error,
)
from bayespool.measures import parse_measures

TRUTH = [0.5, 0.4, 0.4, 0.3, 0.1]
VALUE = [0.4, 0.4, 0.5, 0.1, 0.45]


def rank(x: float, others: list[float]) -> int:
    return 1 + sum(other > x for other in others)


def test_errors_by_hand() -> None:
    # estimate − truth: −0.1, 0, 0.1, −0.2, 0.35
    assert mean_absolute_error(TRUTH, VALUE) == pytest.approx(0.15)
    assert mean_error(TRUTH, VALUE) == pytest.approx(0.03)
    assert root_mean_squared_error(TRUTH, VALUE) == pytest.approx(np.sqrt(0.1825 / 5))
    assert root_mean_squared_error([[0.0, 1.0]], [[0.5, 1.0]]) == pytest.approx(np.sqrt(0.125))
    with pytest.raises(InputError, match="shape"):
        mean_absolute_error([0.1], [0.1, 0.2])


def test_system_rank_error_by_hand() -> None:
    """True ranks 1, 2, 2, 4, 5; the estimates among the others' true scores have 1, 2, 1, 4, 2.

    The first run falls to 0.4, where two others stand: it shares their rank, the first among the others.
    """
    others = [[t for j, t in enumerate(TRUTH) if j != i] for i in range(5)]
    assert [rank(t, TRUTH) for t in TRUTH] == [1, 2, 2, 4, 5]
    assert [rank(v, rest) for v, rest in zip(VALUE, others, strict=True)] == [1, 2, 1, 4, 2]
    assert system_rank_error(TRUTH, VALUE) == 0 + 0 + 1 + 0 + 3
    expected = np.zeros((5, 5), dtype=bool)
    expected[2, 0] = True  # the third overtakes the first
    expected[4, [1, 2, 3]] = True  # the last overtakes three, the first not
    np.testing.assert_array_equal(passed_over(TRUTH, VALUE), expected)


def test_only_significant_differences_count_in_the_starred_one() -> None:
    significant = np.zeros((5, 5), dtype=bool)
    significant[4, 3] = significant[3, 4] = True
    significant[0, 4] = significant[4, 0] = True  # not passed over
    assert system_rank_error(TRUTH, VALUE, significant) == 1
    assert system_rank_error(TRUTH, VALUE, np.zeros((5, 5), dtype=bool)) == 0
    assert system_rank_error(TRUTH, VALUE, np.ones((5, 5), dtype=bool)) == 4
    with pytest.raises(InputError, match="significant"):
        system_rank_error(TRUTH, VALUE, np.ones((4, 4), dtype=bool))


scores = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(scores)
def test_system_rank_error_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    truth = [t / 60 for t, _ in pairs]
    value = [v / 60 for _, v in pairs]
    shifts = [
        abs(rank(truth[i], truth) - rank(value[i], truth[:i] + truth[i + 1 :])) for i in range(len(pairs))
    ]
    assert system_rank_error(truth, value) == sum(shifts)
    assert passed_over(truth, value).sum(axis=1).tolist() == shifts


def test_an_estimate_that_is_missing_makes_its_measure_missing() -> None:
    value = [0.4, np.nan, 0.5, 0.1, 0.45]
    for measure in (
        mean_absolute_error,
        mean_error,
        root_mean_squared_error,
        system_rank_error,
        kendall_tau_b,
    ):
        assert np.isnan(measure(TRUTH, value)), measure


def test_kendall_tau_b() -> None:
    # of ten pairs: concordant 7, discordant 2, one tied in truth, none in the estimates: 5/√(9·10)
    value = [0.6, 0.4, 0.5, 0.1, 0.45]
    assert kendall_tau_b(TRUTH, value) == pytest.approx(5 / np.sqrt(90))
    assert kendall_tau_b(TRUTH, VALUE) == pytest.approx(0)  # 4 and 4
    assert kendall_tau_b(TRUTH, TRUTH) == pytest.approx(1)
    assert np.isnan(kendall_tau_b(TRUTH, [0.2] * 5))


def test_crps_is_the_integral_over_thresholds() -> None:
    """Σ over thresholds of (share of draws up to it − [truth up to it])², for integers."""
    rng = np.random.default_rng(5)
    draws, truth = rng.integers(0, 9, size=(40, 6)), rng.integers(-2, 12, size=6)
    thresholds = np.arange(-5, 20)[:, None, None]
    distance = (draws <= thresholds).mean(axis=1) - (truth <= thresholds[:, 0])
    np.testing.assert_allclose(crps(draws, truth), (distance**2).sum(axis=0), atol=1e-12)
    # one draw: the absolute error
    np.testing.assert_array_equal(crps(draws[:1], truth), np.abs(draws[0] - truth))
    with pytest.raises(InputError, match="no draws"):
        crps(draws[:0], truth)


def test_coverage_counts_the_ends() -> None:
    draws = np.repeat(np.arange(10, 20), 10)[:, None]  # 10 % at each of 10 … 19
    inside = [bool(covered(draws, np.array([truth]), 0.8)[0]) for truth in range(9, 21)]
    assert inside == [False, False, *[True] * 8, False, False]


def test_randomised_pit_is_uniform_for_discrete_draws() -> None:
    rng = np.random.default_rng(6)
    n = 4000
    truth, draws = rng.poisson(2, size=n), rng.poisson(2, size=(500, n))
    pit = randomised_pit(draws, truth, rng)
    share = np.histogram(pit, bins=10, range=(0, 1))[0] / n
    assert np.abs(share - 0.1).max() < 4 * np.sqrt(0.09 / n)
    assert central_share(pit, pit, 0.5) == pytest.approx(0.5, abs=0.04)
    lower, upper = pit_range(draws, truth)
    assert ((lower <= pit) & (pit <= upper)).all()
    assert central_share(lower, upper, 0.5) == pytest.approx(central_share(pit, pit, 0.5), abs=0.02)
    # the plain PIT, which takes every step whole, is far from it
    assert central_share(upper, upper, 0.5) > 0.55


def test_central_share_by_hand() -> None:
    points = [0.024, 0.025, 0.5, 0.975, np.nan]
    assert central_share(points, points, 0.95) == 0.75
    assert central_share([0.0, 0.7, 0.0], [0.5, 0.8, 1.0], 0.5) == pytest.approx((0.5 + 0.5 + 0.5) / 3)
    assert np.isnan(central_share([np.nan], [np.nan], 0.5))
    with pytest.raises(InputError, match="prob"):
        central_share([0.5], [0.5], 1.0)


def with_mean_squares(n_runs: int, n_topics: int, run: float, topic: float, rest: float) -> np.ndarray:
    """Scores whose analysis of variance has these mean squares."""
    rng = np.random.default_rng(7)

    def scaled(x: np.ndarray, sum_of_squares: float) -> np.ndarray:
        return x * np.sqrt(sum_of_squares / (x**2).sum())

    a, b = rng.normal(size=n_runs), rng.normal(size=n_topics)
    c = rng.normal(size=(n_runs, n_topics))
    c = c - c.mean(axis=1, keepdims=True) - c.mean(axis=0) + c.mean()
    of_run = scaled(a - a.mean(), run * (n_runs - 1) / n_topics)
    of_topic = scaled(b - b.mean(), topic * (n_topics - 1) / n_runs)
    matrix: np.ndarray = 5 + of_run[:, None] + of_topic + scaled(c, rest * (n_runs - 1) * (n_topics - 1))
    return matrix


def test_reliability_of_brennans_example() -> None:
    """Brennan (2001), synthetic data set 4: mean squares of table 6.2, coefficients and intervals of 6.5."""
    scores = with_mean_squares(10, 12, run=10.2963, topic=11.6273, rest=2.7872)
    found = reliability(scores, ci_prob=0.8)
    assert found.n_topics == 12
    ours = [found.generalizability, found.generalizability_lower, found.generalizability_upper]
    np.testing.assert_allclose(ours, [0.729, 0.541, 0.876], atol=5e-4)
    ours = [found.dependability, found.dependability_lower, found.dependability_upper]
    np.testing.assert_allclose(ours, [0.672, 0.457, 0.845], atol=5e-4)


def test_reliability_of_more_topics() -> None:
    """With n topics Eρ² = σ²/(σ² + 2.7872/n), σ² = (10.2963 − 2.7872)/12 = 0.62576."""
    scores = with_mean_squares(10, 12, run=10.2963, topic=11.6273, rest=2.7872)
    found = reliability(scores, n_topics=50)
    assert found.generalizability == pytest.approx(0.62576 / (0.62576 + 2.7872 / 50), abs=1e-5)
    assert found.dependability == pytest.approx(0.62576 / (0.62576 + (2.7872 + 0.88401) / 50), abs=1e-5)
    assert found.generalizability_lower < found.generalizability < found.generalizability_upper
    assert found.dependability_lower < found.dependability < found.dependability_upper


def test_reliability_at_its_edges() -> None:
    additive = np.array([0.1, 0.3, 0.5])[:, None] + np.array([0.0, 0.2, 0.1, 0.4])
    found = reliability(additive)
    assert found.generalizability == pytest.approx(1)
    assert np.isnan([found.generalizability_lower, found.dependability_upper]).all()
    noise = np.array([[0.1, 0.9, 0.1, 0.9], [0.9, 0.1, 0.9, 0.1]])
    assert reliability(noise).generalizability == 0
    assert reliability(noise).generalizability_lower == 0
    for bad in ([[0.1, 0.2]], [0.1, 0.2], [[0.1, np.nan], [0.2, 0.3]]):
        with pytest.raises(InputError, match="no reliability"):
            reliability(bad)
    with pytest.raises(InputError, match="ci_prob"):
        reliability(additive, ci_prob=1)


def test_errors_by_cutoff_rise_with_it_under_the_smallest_threshold() -> None:
    measures = parse_measures(["P@10", "P(rel=2)@1", "P@5"])
    rows = [("b", "P@10", 0.3), ("b", "P(rel=2)@1", 0.9), ("b", "P@5", 0.1)]
    rows += [("a", "P@10", 0.4), ("a", "P(rel=2)@1", 0.8), ("a", "P@5", 0.2)]
    frame = mae_by_cutoff(pd.DataFrame(rows, columns=["estimator", "measure", "mae"]), measures)
    assert frame.to_dict("list") == {
        "estimator": ["b", "b", "a", "a"],
        "measure": ["P@5", "P@10"] * 2,
        "cutoff": [5, 10] * 2,
        "mae": [0.1, 0.3, 0.2, 0.4],
    }


def test_what_notes_tell_counts_each_run_once() -> None:
    rows = [
        # measure, run, estimator, documents unjudged in truth, truth, upper bound
        ("P@10", "a", "x", 2, 0.5, 0.5),
        ("P@10", "a", "y", 2, 0.5, 0.5),
        ("P@10", "b", "x", 1, 0.6, 0.5),
        ("P@10", "b", "y", 1, 0.6, 0.5),
        ("P@5", "b", "x", 7, 0.9, 0.1),
    ]
    columns = ["measure", "run_id", "estimator", "n_unknown", "truth", "bound_upper"]
    frame = pd.DataFrame(rows, columns=columns)
    assert n_unknown_documents(frame, "P@10") == 3
    assert n_above_bounds(frame, "P@10") == 1
    assert (n_unknown_documents(frame, "P@5"), n_above_bounds(frame, "P@5")) == (7, 1)
