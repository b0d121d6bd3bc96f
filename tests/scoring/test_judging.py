"""What to judge next: influences of documents by hand, and the lists for assessors."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fits import TARGETS
from graded_example import graded_example
from hypothesis import given, strategies as st
from scipy.stats import norm, t as student
from small import small, small_with_failed_queries

from bayespool import compare, judge_next, read_collection, score
from bayespool.errors import InputError, NoPoolWarning, OutputError
from bayespool.experiments import load_example, simulate_example
from bayespool.measures import Values, parse_measure
from bayespool.names import Goal
from bayespool.pooling import choose
from bayespool.posterior import Completion, PosteriorEstimator
from bayespool.reading import read_qrels
from bayespool.scoring import DocumentsToJudge, NextJudgments, judging_influence as module
from bayespool.scoring.judging import plan
from bayespool.scoring.judging_influence import (
    Belief,
    Influence,
    Target,
    chance_of_wrong_order,
    check_goal,
    find_influence,
    find_target,
    worth_of_levels,
)


def independent(weight: Sequence[Sequence[float]], chance: Sequence[float]) -> Influence:
    """Documents that say nothing of each other: what each is worth to each run, and its probability."""
    p = np.array(chance, dtype=float)
    return Influence(
        document=np.arange(len(p)),
        weight=np.array(weight, dtype=float),
        expected=np.tile(p.astype(np.float32), (2, 1)),
        within=p * (1 - p),
    )


def correlated(n_runs: int, n_documents: int, seed: int, n_draws: int = 40) -> Influence:
    """Documents that go up and down together, of random numbers."""
    rng = np.random.default_rng(seed)
    together = rng.normal(size=(n_draws, 3)) @ rng.normal(size=(3, n_documents))
    expected = 1 / (1 + np.exp(-together))
    return Influence(
        document=np.arange(n_documents),
        weight=rng.normal(size=(n_runs, n_documents)),
        expected=expected.astype(np.float32),
        within=(expected * (1 - expected)).mean(axis=0),
    )


def covariance(influence: Influence) -> np.ndarray:
    """Of the documents, shape (document, document)."""
    between = np.atleast_2d(np.cov(influence.expected.astype(float), rowvar=False, ddof=0))
    return np.asarray(between + np.diag(influence.within))


pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

PAIR = np.array([[1.0, 0.0], [1.0, -1.0], [0.5, 0.5]])


def remaining_part(influence, contrasts: np.ndarray, judged: list[int]) -> np.ndarray:
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
    before = remaining_part(influence, PAIR, [])
    for n in range(len(order) + 1):
        expected = remaining_part(influence, PAIR, order[:n])
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
        taken = remaining_part(influence, PAIR, [2]) - remaining_part(influence, PAIR, [2, document])
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
    left = target.remaining_part(np.array([1.0, 8.0, 0.0]), np.array([1.0, 2.0, 0.0]))
    assert left == pytest.approx([0, 0.15, 0])


def test_orders() -> None:
    target = find_target("ranking", ("a", "b", "c"), DRAWS, 0.95)
    assert target.names == ("a − b", "a − c", "b − c")
    assert target.contrasts.tolist() == [[1, -1, 0], [1, 0, -1], [0, 1, -1]]
    assert target.mean == pytest.approx([0.05, 0.4, 0.35])
    assert target.now == pytest.approx([0.25 + 0.125, 0, 0])  # b is ahead once, and once they are equal
    assert target.total(target.now) == target.total(target.now, until=0.1) == pytest.approx(0.125)
    assert target.criterion() == target.criterion(until=0.1) == "mean probability of a wrong order"
    pair = Values(DRAWS.amount[:, :2], 10)
    assert find_target("comparison", ("a", "b"), pair, 0.95).now == pytest.approx([0.375])


def test_an_order_is_as_wrong_as_the_draws_say_and_falls_as_normal_ones_do() -> None:
    target = Target("comparison", np.array([[1.0, -1.0]]), np.array([0.5]), np.array([0.3]), ("a − b",))
    one, quarter = np.ones(1), np.full(1, 0.25)
    expected = 0.3 * wrong(0.5, 1, 0.25) / wrong(0.5, 1, 1)
    assert target.remaining_part(one, quarter) == pytest.approx([expected])
    assert target.remaining_part(one, one) == pytest.approx([0.3])
    assert target.remaining_part(one, 0 * one).tolist() == [0]


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
    for goal, n_runs, words in (
        ("comparison", 3, "a comparison of 3 runs"),
        ("comparison", 1, "a comparison of one run"),
        ("ranking", 1, "a ranking of one run"),
    ):
        with pytest.raises(InputError, match=words):
            check_goal(goal, n_runs)


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


def widths(*now: float) -> Target:
    """Intervals of runs."""
    names = tuple("abcdef"[: len(now)])
    return Target("interval", np.eye(len(now)), np.full(len(now), 0.5), np.array(now), names)


def order(mean: float, now: float = 0.4) -> Target:
    """Of two runs."""
    return Target("comparison", np.array([[1.0, -1.0]]), np.array([mean]), np.array([now]), ("a − b",))


def test_the_largest_share_of_the_variance_comes_first() -> None:
    """Variances of .0025, .0009 and .0019; a width goes with the root of what is left."""
    one_run = independent([[0.1, 0.1, 0.2]], [0.5, 0.1, 0.05])
    unknown, expected, _, n_needed = plan(one_run, widths(0.2), 3)
    assert unknown.tolist() == [0, 2, 1]
    assert expected == pytest.approx([0.2 * np.sqrt(28 / 53), 0.2 * np.sqrt(9 / 53), 0])
    assert n_needed is None


def test_a_document_of_two_runs_is_paid_once_and_says_nothing_of_their_difference() -> None:
    weight = [[0.1, 0.1, 0.0], [0.0, 0.1, 0.1]]
    assert plan(independent(weight, [0.5, 0.5, 0.5]), widths(0.2, 0.2), 1)[0].tolist() == [1]
    unknown, expected, *_ = plan(independent(weight, [0.4, 0.5, 0.5]), order(0.01), 10)
    assert unknown.tolist() == [2, 0]
    assert expected[1] == 0
    two_runs = independent([[0.1] * 10 + [0] * 10, [0] * 10 + [0.1] * 10], [0.5] * 20)
    for mean in (0.0, 0.3):  # until nothing is open, however clear it is already, and however little is left
        unknown, expected, *_ = plan(two_runs, order(mean, 0.01), 50)
        assert len(unknown) == 20
        assert (np.diff(expected) < 0).all()
        assert expected[-1] == 0


def test_documents_that_are_news_of_each_other() -> None:
    """Which is best after the first depends on what it said: as dense algebra has it, step by step."""
    influence, target = correlated(2, 12, 3), widths(0.3, 0.2)
    unknown, expected, *_ = plan(influence, target, 12)
    assert sorted(unknown.tolist()) == list(range(12))
    assert (np.diff(expected) < 0).all()
    for step in range(4):
        left = {}
        for candidate in set(range(12)) - set(unknown[:step].tolist()):
            belief = Belief(influence, target.contrasts)
            before = belief.variance.copy()
            for document in (*unknown[:step].tolist(), candidate):
                belief.judge(document)
            left[candidate] = target.remaining_part(before, belief.variance)
        assert target.total(left[unknown[step]]) == pytest.approx(expected[step])
        # no other one would leave narrower intervals, but for the curvature of a root
        assert left[unknown[step]].sum() <= min(map(np.sum, left.values())) * 1.02


def test_where_judging_may_stop() -> None:
    one_run = independent([[0.1] * 4], [0.5] * 4)  # widths of .2 · √(3/4, 2/4, 1/4, 0)
    for until, n in {0.18: 1, 0.15: 2, 0.11: 3, 0.05: 4}.items():
        planned = plan(one_run, widths(0.2), 2, until)
        assert (len(planned.unknown), planned.n_needed) == (2, n), until
        assert planned.remaining == pytest.approx([0.2 * np.sqrt(2 / 4)])  # after the two, not after all
    for until in (0.2 - 1e-15, 0.25):
        planned = plan(one_run, widths(0.2), 2, until)
        assert (len(planned.unknown), len(planned.expected), planned.n_needed) == (0, 0, 0)
        assert planned.remaining.tolist() == [0.2]
    out_of_reach = dataclasses.replace(one_run, weight=np.array([[0.1] * 4, [0.0] * 4]))
    unknown, expected, _, n_needed = plan(out_of_reach, widths(0.2, 0.1), 9, 0.05)
    assert (len(unknown), expected[-1], n_needed) == (4, 0.1, None)  # no document says anything of the second


def test_what_is_expected_is_the_mean_width_or_with_a_width_to_reach_the_widest() -> None:
    """The same documents of two runs, one of which has half of its variance in a document of its own."""
    two_runs = independent([[0.1, 0.0, 0.1], [0.0, 0.1, 0.0]], [0.5] * 3)
    unknown, expected, left, _ = plan(two_runs, widths(0.2, 0.3), 1)
    assert unknown.tolist() == [1]  # .15 from the mean, 0 instead of (1 − √½) · .1
    assert (expected.tolist(), left.tolist()) == ([0.1], [0.2, 0])
    unknown, expected, left, n_needed = plan(two_runs, widths(0.2, 0.3), 2, 0.15)
    assert unknown.tolist() == [1, 0]
    assert expected == pytest.approx([0.2, 0.2 * np.sqrt(0.5)])
    assert left == pytest.approx([0.2 * np.sqrt(0.5), 0])
    assert n_needed == 2


def test_a_ranking_is_about_the_pairs_that_may_be_wrong() -> None:
    """Two runs are near each other, a third is far ahead."""
    three_runs = independent([[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.2]], [0.5, 0.4, 0.5])
    contrasts = np.array([[1.0, -1, 0], [1, 0, -1], [0, 1, -1]])
    mean, now = np.array([0.01, -0.5, -0.51]), np.array([0.45, 1e-6, 1e-6])
    target = Target("ranking", contrasts, mean, now, ("",) * 3)
    unknown, expected, *_ = plan(three_runs, target, 3)
    assert unknown.tolist()[:2] == [0, 1]
    assert expected[1] < 1e-6 < expected[0] < 0.45 / 3


@given(st.integers(0, 1000), st.floats(-1, 1))
def test_what_is_expected_never_rises(seed: int, mean: float) -> None:
    influence = correlated(2, 8, seed)
    for target in (widths(0.3, 0.1), order(mean)):
        unknown, expected, *_ = plan(influence, target, 8)
        assert len(set(unknown.tolist())) == len(unknown)
        assert (np.diff(np.append(target.total(target.now), expected)) <= 1e-9).all()


@cache
def asked() -> NextJudgments:
    return judge_next(load_example(), TARGETS, "P@10", budget=20)


@pytest.mark.slow
@pytest.mark.own_fits
def test_the_same_seed_chooses_the_same_to_the_byte() -> None:
    one, other, longer, reseeded = (
        judge_next(load_example(), TARGETS, "P@10", estimators="posterior-ratio", budget=n, random_seed=seed)
        for n, seed in ((20, 1), (20, 1), (40, 1), (20, 2))
    )
    assert one.to_frame().equals(other.to_frame())
    assert one.metadata == other.metadata
    assert longer.unknown[:20].tolist() == one.unknown.tolist()
    assert longer.expected[:20].tobytes() == one.expected.tobytes() == other.expected.tobytes()
    assert reseeded.expected.tobytes() != one.expected.tobytes()
    assert len(set(reseeded.pair.tolist()) & set(one.pair.tolist())) > 10


def test_the_documents_are_unjudged_ones_of_the_runs() -> None:
    found, example = asked(), load_example()
    frame = found.to_frame()
    assert len(found) == len(frame) == len(set(found.pair.tolist())) == 20
    assert not example.judged[found.pair].any()
    for row, pair in zip(frame.itertuples(), found.pair.tolist(), strict=True):
        places = {
            run: np.flatnonzero(example.document[r, example.pair_topic[pair]] == pair)[0] + 1
            for run, r in zip(TARGETS, example.run_index(TARGETS), strict=True)
            if (example.document[r, example.pair_topic[pair]][:10] == pair).any()
        }
        assert row.runs.split() == sorted(places, key=lambda run: (places[run], run))
        assert row.rank == min(places.values())
    completion = found.completion
    drawn = [completion.block(t).mean(axis=0) for t in range(len(example.query_ids))]
    chance = np.concatenate(drawn)[found.unknown]
    assert frame["chance"].to_numpy() == pytest.approx(chance, abs=4 * np.sqrt(0.25 / 4000))
    low, high = completion.evaluate("P@10")[0].interval(0.95)
    assert found.metadata["now"] == pytest.approx(dict(zip(TARGETS, high - low, strict=True)))
    assert found.now == pytest.approx((high - low).mean())
    assert found.remaining.mean() == pytest.approx(found.expected_after)


@pytest.mark.slow
def test_what_is_expected_is_about_what_comes() -> None:
    """Judge twenty documents as they are, ask again, and again: widths are those that were expected."""
    collection, told, found = load_example(), set[int](), asked()
    truth = simulate_example().true_relevance()
    for stage in (1, 2):
        assert not told & set(found.pair.tolist())
        told |= set(found.pair.tolist())
        collection = collection.with_own_judgments(found.pair, truth[found.pair])
        again = judge_next(collection, TARGETS, "P@10", budget=20)
        assert again.afterwards.n == 20 * stage
        assert again.afterwards.before == pytest.approx(asked().now)
        steps = 1 / 200  # in which a P@10 moves over 20 topics
        assert again.afterwards.now == again.now
        assert again.now == pytest.approx(found.expected_after, rel=0.35, abs=steps)
        if stage == 1:
            assert again.afterwards.expected == pytest.approx(found.expected_after, rel=1e-4)
        assert again.now < 0.85 * found.now
        found = again


def test_everything_judged() -> None:
    found = judge_next(simulate_example().complete(), TARGETS, "P@10", until=0.1)
    assert (len(found), found.now, found.expected_after, found.n_needed) == (0, 0, 0, 0)
    assert found.is_done
    assert found.to_frame().empty
    assert found.afterwards is None


def test_without_runs_all_of_the_collection_are_taken_as_they_are_judged() -> None:
    """Pooled runs have nothing unjudged down to the pool depth, so that documents are those of the others."""
    found = judge_next(small(), measures="P@10", estimators="posterior-ratio(draws=50)", budget=5)
    assert found.completion.unknowns.run_ids == small().run_ids
    assert {run for runs in found.gather_runs for run in runs} <= {"new-a", "new-b"}
    assert (
        f"no runs named: {len(small().run_ids)} runs of the collection, as they are judged" in found.notes()
    )
    deeper = judge_next(small(), measures="P@20", estimators="posterior-ratio(draws=50)", budget=5)
    assert f"the widest of {len(small().run_ids)} with anything unjudged" in " ".join(deeper.sentences())
    (table,) = deeper.tables()
    assert table.views[0].columns[-1] == "n_runs"
    assert deeper.to_frame()["n_runs"].tolist() == list(map(len, deeper.gather_runs))


def test_narrow_enough_is_a_third_of_the_interval_over_topics() -> None:
    found = asked()
    scores = found.completion.evaluate(parse_measure("P@10"))[0].scores()
    n_topics = scores.shape[2]
    deviation = np.sqrt((scores.var(axis=2, ddof=1) / n_topics).mean(axis=0))
    width = 2 * student.ppf(0.975, n_topics - 1) * deviation.mean()
    assert found.metadata["topic_width"] == pytest.approx(width)
    (said,) = [text for text in found.sentences() if text.startswith("narrow enough")]
    assert said.startswith(
        f"narrow enough is {width / 3:.4f}: it widens the uncertainty of {n_topics} topics"
    )
    assert said.endswith("all runs meet it: add topics instead") == (found.target.now.max() <= width / 3)


def test_a_topic_with_most_of_the_first_documents_is_named() -> None:
    """One topic has 29 of the 30 unjudged documents."""
    ranked = {"q1": [f"x{i}" for i in range(29)] + ["d"], "q2": ["a", "b", "y"]}
    judged = {"q1": {"d": 1, "e": 0}, "q2": {"a": 1, "b": 0}}
    with pytest.warns(NoPoolWarning):
        found = judge_next(read_collection(judged, ranked), measures="P@30", posterior_settings="draws=50")
    said = "topic q1, which has 29 of the 30 unjudged documents in these runs' top 30"
    assert found.sentences()[-1].endswith(f" of the first 20 documents are of {said}")
    assert not [text for text in asked().sentences() if "of the first" in text]


def test_what_is_refused() -> None:
    for asked, words in (
        ({"measure": ["P@10", "P@5"]}, "2 measures"),
        ({"measure": "Judged@10"}, "Judged@10"),
        ({"run_ids": (*TARGETS, "north-1"), "goal": "comparison"}, "a comparison of 3 runs"),
        ({"estimators": "as-judged"}, "'as-judged' is no posterior"),
        ({"goal": "nothing"}, "nothing"),
        ({"run_ids": "nobody"}, "'nobody'"),
        ({"budget": 0}, "budget"),
        ({"until": 0.0}, "until"),
    ):
        settings = {"run_ids": TARGETS, "measure": "P@10"} | asked
        with pytest.raises(InputError, match=words):
            judge_next(load_example(), settings.pop("run_ids"), settings.pop("measure"), **settings)


def test_the_list_is_a_qrels_file_under_each_of_its_names(tmp_path: Path) -> None:
    example = load_example()
    found = DocumentsToJudge(example, choose(example, "take", 200))
    for name in ("list", "list.txt", "list.qrels", "list.txt.gz"):
        found.save(tmp_path / name)
        assert read_qrels(tmp_path / name).doc_id.equals(found.qrels().doc_id)
    assert gzip.decompress((tmp_path / "list.txt.gz").read_bytes()) == (tmp_path / "list").read_bytes()
    with pytest.raises(OutputError, match=r"cannot write .xz; use .csv, .* .gz, no ending"):
        found.save(tmp_path / "list.xz")


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_widths_before_judging_are_those_that_score_and_compare_print(measure: str) -> None:
    """Of two runs that share unjudged documents."""
    runs, asked = ["new-a", "new-b"], {"posterior_settings": "draws=100"}
    found = judge_next(small(), runs, measure, estimators="posterior-ratio(draws=100)", budget=5)
    by_score = score(small(), runs, measure, estimators="posterior-ratio", **asked).to_frame()
    compared = compare(small(), runs, measure, estimators="posterior-ratio", **asked).runs()
    compared = compared[compared["scope"] == "these-topics"]
    assert found.target.names == tuple(runs)
    for frame in (by_score, compared):
        widths = (frame["upper"] - frame["lower"]).to_numpy()
        assert (widths > 0.01).all()
        np.testing.assert_allclose(found.target.now, widths, rtol=0, atol=1e-12)


@pytest.mark.parametrize("goal", ["comparison", "interval"])
def test_topics_that_a_run_lacks_are_said_once_where_the_amount_is(goal: Goal) -> None:
    runs, asked = ["new-a", "new-b"], {"estimators": "posterior-ratio(draws=50)"}
    found = judge_next(small_with_failed_queries(), runs, "P@10", goal=goal, budget=1, **asked)
    first, *others = found.sentences()
    assert first.startswith("P@10 (2 of 8 topics missing from new-b, counted as 0), ")
    assert not any("missing" in text for text in (*others, *found.notes()))


def test_a_chance_is_under_what_draws_can_tell_and_0_only_where_nothing_is_unjudged() -> None:
    """In 200 draws a probability without any, or of next to nothing, is under 3/200."""
    asked = {"measures": "P@10", "goal": "comparison", "estimators": "posterior-ratio(draws=50)", "budget": 1}
    found = judge_next(small(), ["north-1", "new-a"], **asked)
    none = dataclasses.replace(found.target, now=np.zeros(1))
    same = dataclasses.replace(found, target=none)
    assert same.sentences()[0] == "P@10, probability of a wrong order now: under 0.015"
    few = dataclasses.replace(found, target=dataclasses.replace(none, now=np.array([0.02])))
    assert few.sentences()[0] == "P@10, probability of a wrong order now: 0.0200"
    rare = dataclasses.replace(found, target=dataclasses.replace(none, now=np.array([0.00002])))
    assert rare.sentences()[0].endswith("now: under 0.015")
