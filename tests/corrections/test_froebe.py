"""Bootstrapped scores, step by step and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from corrected import close, estimate
from hypothesis import given, strategies as st
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.corrections import FroebeBootstrap
from bayespool.corrections.froebe import best_quantile, grade_shares, quantiles, replacements


def test_shares_of_the_run_of_the_pool_and_of_both() -> None:
    top, judged = np.array([[2, 1, 1], [0, 0, 0]]), np.array([[6, 3, 1], [4, 4, 2]])
    assert grade_shares(top, judged, "run")[0].tolist() == pytest.approx([0.5, 0.25, 0.25])
    assert grade_shares(top, judged, "pool")[1].tolist() == pytest.approx([0.4, 0.4, 0.2])
    assert grade_shares(top, judged, "run-and-pool")[0].tolist() == pytest.approx([0.55, 0.275, 0.175])


def test_a_run_without_judged_documents_has_grade_0() -> None:
    nothing, judged = np.zeros(3, dtype=int), np.array([2, 1, 1])
    of_run = grade_shares(nothing, judged, "run")
    assert of_run.tolist() == pytest.approx([1 / (1 + 2e-6), 1e-6 / (1 + 2e-6), 1e-6 / (1 + 2e-6)])
    assert grade_shares(nothing, judged, "run-and-pool").tolist() == pytest.approx(
        [0.75, 0.125, 0.125], abs=1e-5
    )
    assert grade_shares(nothing, nothing, "pool").tolist() == pytest.approx([1, 0, 0], abs=1e-5)


def test_replacements_follow_the_shares() -> None:
    uniform = np.array([[0.0, 0.49, 0.51, 0.79, 0.81, 0.999]])
    shares, stock = np.array([0.5, 0.3, 0.2]), np.array([9, 9, 9])
    assert replacements(uniform, shares, stock)[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    # each bootstrap has all documents to draw from
    found = replacements(np.full((2, 4), 0.99), np.array([0.5, 0.5]), np.array([1, 1]))
    assert found.tolist() == [[1, 0]] * 4


def test_without_documents_of_a_grade_it_is_the_next_lower_one() -> None:
    top = np.full((3, 1), 0.99)
    shares = np.array([0.4, 0.3, 0.3])
    assert replacements(top, shares, np.array([5, 1, 1])).tolist() == [[2, 1, 0]]
    assert replacements(top, shares, np.array([5, 0, 2])).tolist() == [[2, 2, 0]]
    assert replacements(top, shares, np.array([0, 0, 0])).tolist() == [[0, 0, 0]]
    middle = np.full((2, 1), 0.5)
    assert replacements(middle, shares, np.array([0, 1, 9])).tolist() == [[1, 0]]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_quantiles_are_numpys(values: list[float]) -> None:
    expected = np.quantile(values, np.arange(101) / 100)
    np.testing.assert_allclose(quantiles(np.array(values)), expected, atol=1e-12)


def test_of_several_best_quantiles_it_is_the_middle_one() -> None:
    steps = np.where(np.arange(101) < 40, 0.2, 0.4)[None]
    assert best_quantile(steps, np.array([0.4])) == 70  # of 40 … 100
    assert best_quantile(steps, np.array([0.2])) == 19  # of 0 … 39, the lower
    assert best_quantile(np.ones((3, 101)), np.zeros(3)) == 50
    assert best_quantile(np.ones((0, 101)), np.zeros(0)) == 50


def test_asymmetric_errors_weigh_overestimates() -> None:
    rising = np.tile(np.arange(101) / 100, (2, 1))
    known = np.array([0.3, 0.5])
    assert best_quantile(rising, known) == 40
    # w·√(mean of overestimates²) + √(mean of underestimates²): between them it is w(x − .3) + (.5 − x)
    assert best_quantile(rising, known, loss="asymmetric", overestimates=2) == 30
    assert best_quantile(rising, known, loss="asymmetric", overestimates=0.5) == 50


def two_runs(own: int) -> Collection:
    """p and q are pooled to depth 4, each of another organization; x c and y d are theirs alone."""
    return from_rankings(
        {"p": {"1": "abxc"}, "q": {"1": "abyd"}, "u": {"1": "azb"}},
        {"1": {"a": 1, "b": 0, "c": 0, "d": 0, "x": own, "y": own}},
        pooled_run_ids=("p", "q"),
        pool_depth=4,
    )


def test_quantile_is_that_which_fits_the_pooled_runs() -> None:
    # p held out: a1 b0 x?, of grade 0 and 1 with the same chance, d0 and y are there. P@3 is 1/3 or 2/3, and
    # known to be the latter where x is relevant. So for q, and for u: a1 z? b0
    assert estimate(FroebeBootstrap(), "P@3", collection=two_runs(1)).value[0] == pytest.approx(2 / 3)
    assert estimate(FroebeBootstrap(), "P@3", collection=two_runs(0)).value[0] == pytest.approx(1 / 3)


def test_a_pooled_run_is_left_out_of_its_own_fit() -> None:
    collection = from_rankings(
        {"p": {"1": "abxce"}, "q": {"1": "abyd"}},
        {"1": {"a": 1, "b": 0, "c": 0, "d": 0, "x": 1, "y": 0}},
        pooled_run_ids=("p", "q"),
        pool_depth=4,
    )
    # of p, e at rank 5 is unjudged: a1 b0 x1 c0 e?. By q alone the quantile is low, by p alone it is high
    assert estimate(FroebeBootstrap(), "P@5", "p", collection).value[0] == pytest.approx(0.4)


def test_topics_of_the_toy() -> None:
    # u: a1 l? d? h1 m?: all that is judged of it is of grade 1, of which f is left. v1 p1 z? x?: nothing of
    # grade 1 is left on this topic, r being of grade 2. e? f?: nothing is judged, which is grade 0
    for quantile in (1, 50, 99):
        result = estimate(FroebeBootstrap(quantile=quantile), "P@5")
        assert result.per_topic[0].tolist() == close(3 / 5, 2 / 5, 0)
    both = estimate(FroebeBootstrap(distribution="pool", quantile=100), "P@5")
    assert both.per_topic[0].tolist() == close(4 / 5, 3 / 5, 0)  # with c and f, and with r
    # of u's top 3 on topic 1, a1 alone is judged: grade 1, of which f and h are left; h is below
    result = estimate(FroebeBootstrap(quantile=50), "DCG@3")
    assert result.per_topic[0, 0] == pytest.approx(1 + 1 / np.log2(3) + 1 / 2)
    pool = estimate(FroebeBootstrap(distribution="pool", quantile=100), "DCG@3")
    assert pool.per_topic[0, 0] == pytest.approx(1 + 2 / np.log2(3) + 1 / 2)  # c2, then f or h
