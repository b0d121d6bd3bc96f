"""What judgments leave open: how values hang on documents, beliefs by dense algebra, goals by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fits import TARGETS
from graded_example import graded_example
from hypothesis import given, strategies as st
from influences import correlated, covariance
from scipy.stats import norm

from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.measures import Values, parse_measure
from bayespool.options import options_of
from bayespool.posterior import Completion, PosteriorEstimator
from bayespool.scoring import JudgeNextSettings, judging_influence as module
from bayespool.scoring.judging_influence import (
    Belief,
    Goal,
    Influence,
    Target,
    chance_of_wrong_order,
    find_influence,
    find_target,
    worth_of_levels,
)

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

PAIR = np.array([[1.0, 0.0], [1.0, -1.0], [0.5, 0.5]])


def left_open(influence, contrasts: np.ndarray, judged: list[int]) -> np.ndarray:
    """w' (C − C_S C_SS⁻¹ C_S') w of each sum."""
    c, w = covariance(influence), contrasts @ influence.weight
    known = np.zeros_like(c)
    if judged:
        known = c[:, judged] @ np.linalg.solve(c[np.ix_(judged, judged)], c[judged])
    return np.asarray(np.einsum("sd,de,se->s", w, c - known, w))


@given(st.integers(0, 10_000), st.permutations(range(6)))
def test_what_is_left_is_that_of_the_best_linear_prediction(seed: int, order: list[int]) -> None:
    influence = correlated(2, 6, seed)
    belief = Belief(influence, PAIR)
    before = left_open(influence, PAIR, [])
    for n in range(len(order) + 1):
        expected = left_open(influence, PAIR, order[:n])
        assert belief.variance == pytest.approx(expected, rel=1e-4, abs=1e-5 * before.max())
        assert (belief.variance >= 0).all()
        if n < len(order):
            belief.judge(order[n])
    assert belief.variance == pytest.approx(np.zeros(3), abs=1e-5 * before.max())


def test_a_gain_is_what_a_judgment_takes_from_the_variances() -> None:
    influence = correlated(2, 8, 11)
    belief, worth = Belief(influence, PAIR), np.array([1.0, 3.0, 0.5])
    belief.judge(2)
    gains = belief.gains(worth)
    for document in (0, 1, 3, 4, 5, 6, 7):
        taken = left_open(influence, PAIR, [2]) - left_open(influence, PAIR, [2, document])
        assert gains[document] == pytest.approx(worth @ taken, rel=1e-4)
    assert gains[2] == 0


def test_a_document_that_is_judged_is_no_news() -> None:
    belief = Belief(correlated(2, 5, 1), PAIR)
    belief.judge(4)
    variance, covariance_, own = belief.variance, belief.covariance.copy(), belief.own
    assert own[4] == 0
    assert not covariance_[:, 4].any()
    belief.judge(4)
    assert np.array_equal(belief.variance, variance)
    assert np.array_equal(belief.covariance, covariance_)
    assert np.array_equal(belief.own, own)


positive = st.floats(1e-6, 100)


def wrong(mean: float, variance: float, left: float) -> float:
    """`chance_of_wrong_order` of one difference."""
    return float(chance_of_wrong_order(np.array([mean]), np.array([variance]), np.array([left]))[0])


def test_closed_cases() -> None:
    assert wrong(1, 1, 1) == pytest.approx(norm.cdf(-1))
    assert wrong(-3, 4, 4) == pytest.approx(norm.cdf(-1.5))
    assert wrong(0, 5, 5) == pytest.approx(0.5)
    assert wrong(0, 1, 0.5) == pytest.approx(0.25)  # a correlation of √½: arctan(1)/π
    assert wrong(0, 1, 0.01) == pytest.approx(np.arctan(np.sqrt(0.01 / 0.99)) / np.pi)
    assert wrong(1, 1, 0) == wrong(0, 1, 0) == wrong(1, 0, 0) == wrong(0, 0, 0) == 0


@given(st.floats(-5, 5), positive, st.floats(0, 1), st.floats(0, 1))
def test_less_left_is_less_wrong(mean: float, variance: float, one: float, other: float) -> None:
    less, more = sorted((one * variance, other * variance))
    low, high = wrong(mean, variance, less), wrong(mean, variance, more)
    assert 0 <= low <= high + 1e-12 <= wrong(mean, variance, variance) + 2e-12 <= 0.5 + 3e-12


DRAWS = Values(  # of three runs on one topic
    np.array([[[4], [3], [0]], [[4], [5], [0]], [[4], [2], [0]], [[4], [4], [0]]], dtype=np.int32), 10
)


def test_intervals() -> None:
    target = find_target("interval", ("a", "b", "c"), DRAWS, 0.95)
    assert target.contrasts.tolist() == np.eye(3).tolist()
    assert target.mean == pytest.approx([0.4, 0.35, 0])
    assert target.now == pytest.approx([0, 0.3, 0])
    assert target.names == ("a", "b", "c")
    assert target.total(target.now) == pytest.approx(0.1)  # the mean
    assert target.total(target.now, until=0.2) == pytest.approx(0.3)  # the widest
    assert target.total(np.zeros(0)) == 0
    assert target.criterion() == "mean width of the intervals"
    assert target.criterion(until=0.2) == "widest interval"
    # a quarter of the variance is half of the width; of c no document says anything
    left = target.left_open(np.array([1.0, 8.0, 0.0]), np.array([1.0, 2.0, 0.0]))
    assert left == pytest.approx([0, 0.15, 0])


def test_orders() -> None:
    target = find_target("ranking", ("a", "b", "c"), DRAWS, 0.95)
    assert target.names == ("a − b", "a − c", "b − c")
    assert target.contrasts.tolist() == [[1, -1, 0], [1, 0, -1], [0, 1, -1]]
    assert target.mean == pytest.approx([0.05, 0.4, 0.35])
    assert target.now == pytest.approx([0.25 + 0.125, 0, 0])  # b is ahead once, and once they are equal
    assert target.total(target.now) == target.total(target.now, until=0.1) == pytest.approx(0.125)
    assert target.criterion() == target.criterion(until=0.1) == "mean chance of a wrong order"
    pair = Values(DRAWS.amount[:, :2], 10)
    assert find_target("comparison", ("a", "b"), pair, 0.95).now == pytest.approx([0.375])


def test_an_order_is_as_wrong_as_the_draws_say_and_falls_as_normal_ones_do() -> None:
    target = Target("comparison", np.array([[1.0, -1.0]]), np.array([0.5]), np.array([0.3]), ("a − b",))
    one, quarter = np.ones(1), np.full(1, 0.25)
    expected = 0.3 * wrong(0.5, 1, 0.25) / wrong(0.5, 1, 1)
    assert target.left_open(one, quarter) == pytest.approx([expected])
    assert target.left_open(one, one) == pytest.approx([0.3])
    assert target.left_open(one, 0 * one).tolist() == [0]


def test_two_runs_that_are_the_same_in_all_draws_are_in_no_wrong_order() -> None:
    same = Values(np.repeat(DRAWS.amount[:, 1:2], 2, axis=1), 10)
    assert find_target("comparison", ("b", "copy"), same, 0.95).now.tolist() == [0]


def test_narrow_intervals_are_worth_nothing_until_all_are_narrow() -> None:
    target = Target("interval", np.eye(2), np.zeros(2), np.array([0.1, 0.3]), ("a", "b"))
    before = np.array([1.0, 9.0])
    assert target.worth(before, before, None) == pytest.approx([0.1, 0.3 / 9])
    assert target.worth(before, before, 0.2) == pytest.approx([0, 0.3 / 9])
    left = np.array([1.0, 3.0])  # b is .17 wide now
    assert target.worth(before, left, 0.2) == pytest.approx([0.1, 0.3 / np.sqrt(3) / 3])


def test_refused() -> None:
    assert options_of(JudgeNextSettings)["goal"][0].type == Goal
    alone = Values(DRAWS.amount[:, :1], 10)
    for goal, names, values, words in (
        ("precision", "abc", DRAWS, "interval, comparison, ranking"),
        ("comparison", "abc", DRAWS, "a comparison of 3 runs"),
        ("comparison", "a", alone, "a comparison of one run"),
        ("ranking", "a", alone, "a ranking of one run"),
    ):
        with pytest.raises(InputError, match=words):
            find_target(goal, tuple(names), values, 0.95)


N_TOPICS = 20


@cache
def looked(name: str, graded: bool = False) -> tuple[Completion, Influence, Values]:
    """The example completed for its two new runs, and how they hang on documents."""
    collection, measure = graded_example() if graded else load_example(), parse_measure(name)
    completion = PosteriorEstimator().complete(collection, TARGETS, measure)
    (values,) = completion.evaluate(measure)
    return completion, find_influence(completion, measure, values), values


def drawn_sums(name: str, graded: bool = False) -> np.ndarray:
    """Sums of weight × drawn worth, shape (draw, run)."""
    completion, found, _ = looked(name, graded)
    worth = worth_of_levels(parse_measure(name), completion.levels)
    start = completion.unknowns.start
    drawn = np.concatenate([worth[completion.block(t)] for t in range(len(start) - 1)], axis=1)
    return np.asarray(drawn[:, found.document] @ found.weight.T)


def ranks(completion: Completion) -> np.ndarray:
    """Rank of each unknown document in each run, 0 where the run lacks it, shape (run, unknown)."""
    u = completion.unknowns
    found = np.zeros((len(u.run_ids), len(u)), dtype=int)
    for t in range(N_TOPICS):
        run, rank, unknown = u.places_on(t)
        found[run, u.start[t] + unknown] = rank + 1
    return found


def test_each_document_of_the_top_counts_as_much_under_precision() -> None:
    completion, found, _ = looked("P@10")
    there = ranks(completion)
    assert found.document.tolist() == np.flatnonzero((there > 0).any(axis=0)).tolist()
    np.testing.assert_allclose(found.weight, (there[:, found.document] > 0) / (10 * N_TOPICS), rtol=1e-12)
    assert len(set(np.round(found.weight.sum(axis=0) * 200).tolist())) == 2  # some are in both runs


@pytest.mark.slow
def test_sums_are_the_measure_but_for_what_is_judged() -> None:
    measure, graded = "DCG@10", True
    values = looked(measure, graded)[2].means()
    apart = values - drawn_sums(measure, graded)
    assert values.std(axis=0).min() > 0.005
    np.testing.assert_allclose(apart - apart[0], 0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "graded", "least"), [("nDCG@10", True, 0.95), ("RR@10", False, 0.8)])
def test_other_measures_are_nearly_sums(measure: str, graded: bool, least: float) -> None:
    """The share of the variance of the draws that the approximation explains."""
    values, sums = looked(measure, graded)[2].means(), drawn_sums(measure, graded)
    explained = 1 - (values - sums).var(axis=0) / values.var(axis=0)
    assert explained.min() > least, explained


def test_variance_is_that_of_the_draws() -> None:
    """Of each run and of the difference, within Monte-Carlo error: 2.2 % for 4,000 draws."""
    contrasts = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    variance = Belief(looked("P@10")[1], contrasts).variance
    drawn = (drawn_sums("P@10") @ contrasts.T).var(axis=0)
    np.testing.assert_allclose(variance, drawn, rtol=0.1)


def test_an_ideal_ranking_may_hold_documents_that_no_run_has_in_its_top() -> None:
    """Were they relevant, it would be better, and the runs worse."""
    completion, found, _ = looked("nDCG@5")
    deep = completion.unknowns.best_rank[found.document] > 5
    assert deep.sum() > 10
    assert (found.weight[:, deep].sum(axis=1) < 0).all()
    assert (found.weight[:, ~deep].sum(axis=1) > 0).all()


def test_the_largest_shares_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where topics are looked at one by one."""
    completion, found, values = looked("RBP(p=0.5)@20")
    share = (found.weight**2).sum(axis=0) * (found.within + found.expected.var(axis=0, dtype=float))
    monkeypatch.setattr(module, "MAX_DOCUMENTS", 12)
    few = find_influence(completion, parse_measure("RBP(p=0.5)@20"), values)
    place = np.sort(np.argsort(-share, kind="stable")[:12])
    assert few.document.tolist() == found.document[place].tolist()
    np.testing.assert_array_equal(few.weight, found.weight[:, place])
    np.testing.assert_array_equal(few.expected, found.expected[:, place])


def test_pieces_of_draws_make_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    completion, found, values = looked("P@10")
    monkeypatch.setattr(module, "CELLS", 1000)
    again = find_influence(completion, parse_measure("P@10"), values)
    np.testing.assert_array_equal(again.expected, found.expected)
    np.testing.assert_allclose(again.within, found.within, rtol=1e-12)


def test_of_a_measure_that_is_no_sum_as_many_documents_as_vary_most_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    completion, _, values = looked("nDCG@5")
    monkeypatch.setattr(module, "_MAX_DOCUMENTS_ON_TOPIC", 3)
    few = find_influence(completion, parse_measure("nDCG@5"), values)
    n = np.bincount(completion.unknowns.topic[few.document], minlength=N_TOPICS)
    assert (n.max(), n.sum() > 40) == (3, True)
    assert Belief(few, np.eye(2)).variance.min() > 0.3 * values.means().var(axis=0).min()
