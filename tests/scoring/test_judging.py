"""What to judge next: chosen by hand, and on the example, whose truth is known."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st
from influences import correlated, independent

from bayespool import judge_next
from bayespool.errors import InputError
from bayespool.experiments import load_example, simulate_example
from bayespool.scoring import NextJudgments
from bayespool.scoring.judging import plan
from bayespool.scoring.judging_influence import Belief, Target

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

TARGETS = ("new-a", "new-b")


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
            left[candidate] = target.left_open(before, belief.variance)
        assert target.total(left[unknown[step]]) == pytest.approx(expected[step])
        # no other one would leave narrower intervals, but for the curvature of a root
        assert left[unknown[step]].sum() <= min(map(np.sum, left.values())) * 1.02


def test_where_judging_may_stop() -> None:
    one_run = independent([[0.1] * 4], [0.5] * 4)  # widths of .2 · √(3/4, 2/4, 1/4, 0)
    for until, n in {0.18: 1, 0.15: 2, 0.11: 3, 0.05: 4}.items():
        planned = plan(one_run, widths(0.2), 2, until)
        assert (len(planned.unknown), planned.n_needed) == (2, n), until
        assert planned.left == pytest.approx([0.2 * np.sqrt(2 / 4)])  # after the two, not after all
    for until in (0.2, 0.25):
        planned = plan(one_run, widths(0.2), 2, until)
        assert (len(planned.unknown), len(planned.expected), planned.n_needed) == (0, 0, 0)
        assert planned.left.tolist() == [0.2]
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
        judge_next(load_example(), TARGETS, "P@10", estimator="posterior-ratio", budget=n, random_seed=seed)
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
    assert found.widest == pytest.approx((found.metadata["now"]["new-b"], found.left.max()))
    assert found.left.mean() == pytest.approx(found.expected_after)


@pytest.mark.slow
def test_what_is_expected_is_about_what_comes() -> None:
    """Judge twenty documents as they are, ask again, and again: widths are those that were expected."""
    collection, told, found = load_example(), set[int](), asked()
    truth = simulate_example().true_relevance()
    for stage in (1, 2):
        assert not told & set(found.pair.tolist())
        told |= set(found.pair.tolist())
        collection = collection.with_added(found.pair, truth[found.pair])
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


def test_refused() -> None:
    for asked, words in (
        ({"measure": ["P@10", "P@5"]}, "2 measures"),
        ({"measure": "Judged@10"}, "Judged@10"),
        ({"run_ids": (*TARGETS, "north-1"), "goal": "comparison"}, "a comparison of 3 runs"),
        ({"estimator": "as-judged"}, "as-judged has no interval"),
        ({"goal": "nothing"}, "nothing"),
        ({"run_ids": "nobody"}, "'nobody'"),
        ({"budget": 0}, "budget"),
        ({"until": 0.0}, "until"),
    ):
        settings = {"run_ids": TARGETS, "measure": "P@10"} | asked
        with pytest.raises(InputError, match=words):
            judge_next(load_example(), settings.pop("run_ids"), settings.pop("measure"), **settings)
