"""Ranks that admit ties, right for all runs at once; the best of several, and what it scores elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from compared import compared
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bayespool.comparisons import compare_runs_by_draws, generalizability, simultaneous_order
from bayespool.measures.populations import population_draws

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]
RUNS = ("new-a", "new-b", "north-1", "north-2")


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 40), st.integers(2, 5)), elements=st.integers(0, 6)),
    st.sampled_from([0.5, 0.8, 0.95]),
)
def test_what_is_told_holds_in_the_share_of_draws_that_is_stated(values: np.ndarray, ci_prob: float) -> None:
    told = simultaneous_order(values, ci_prob=ci_prob)
    assert not (told & told.T).any()
    greater = values[:, :, None] > values[:, None, :]
    assert (greater | ~told).all(axis=(1, 2)).mean() >= ci_prob
    first, last = compare_runs_by_draws(values, ci_prob=ci_prob).rank_interval
    lowest = 1 + greater.sum(axis=1)
    highest = values.shape[1] - greater.sum(axis=2)
    assert ((first <= lowest) & (highest <= last)).all(axis=1).mean() >= ci_prob


def test_known_values_are_ranked_with_their_ties() -> None:
    known = compare_runs_by_draws(np.tile([7, 9, 7, 3], (20, 1)), ci_prob=0.95)
    first, last = known.rank_interval
    assert (first.tolist(), last.tolist()) == ([2, 1, 2, 4], [3, 1, 3, 4])
    assert known.tier.tolist() == [2, 1, 2, 3]


def test_a_tier_begins_where_its_first_run_is_told_to_be_better() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal([9, 8, 5, 4.5, 0], [1, 1, 1, 1, 0.1], size=(4000, 5))
    found = compare_runs_by_draws(values, ci_prob=0.95)
    # of four runs with a spread of 1 a difference of 3.6 is told (Tukey's range): 9 − 5 is, 8 − 5 is not
    assert stats.studentized_range.ppf(0.95, 4, np.inf) == pytest.approx(3.63, abs=0.01)
    assert found.tier.tolist() == [1, 1, 2, 2, 3]
    first, last = found.rank_interval
    assert (first.tolist(), last.tolist()) == ([1, 1, 2, 2, 5], [2, 4, 4, 4, 5])


def test_rank_intervals_are_right_for_all_runs_at_once() -> None:
    """Runs that are nearly equal are the hard case: the highest of them is so by luck."""
    for spread in (1e-6, 0.05, 0.2):
        rng, held = np.random.default_rng(3), []
        for seed in range(60):
            truth = rng.normal(scale=spread, size=8)
            scores = truth[:, None] + rng.normal(scale=0.2, size=(8, 25))
            draws = population_draws(np.repeat(scores[None], 400, axis=0), random_seed=seed)
            first, last = compare_runs_by_draws(draws, ci_prob=0.95).rank_interval
            rank = 1 + (truth[:, None] < truth).sum(axis=1)
            held.append(((first <= rank) & (rank <= last)).all())
        assert np.mean(held) >= 0.9, spread  # 95 % but for twice the error of 60


def test_the_leaderboard_has_both_scopes_and_the_winner_without_its_luck() -> None:
    found = compared(*RUNS)
    estimates = found.scores["P@10", "posterior-ratio"]
    frame = found.runs()
    assert list(frame["scope"].unique()) == ["these-topics", "population"]
    here, there = (frame[frame["scope"] == scope].set_index("run_id") for scope in frame["scope"].unique())
    (board,) = (t for t in found.read() if t.caption.startswith("P@10, leaderboard, these"))
    assert [row[0] for row in board.rows] == list(here["value"].sort_values(ascending=False).index)
    assert (here["expected"] == here["value"]).all()
    assert estimates.draws is not None
    share = generalizability(estimates.draws.amount).mean()
    center = estimates.value.mean()
    expected = center + share * (estimates.value - center)
    np.testing.assert_allclose(there["expected"].loc[list(RUNS)], expected)
    best = there["value"].idxmax()
    assert there["expected"][best] < there["value"][best]
    draws = found.draws[found.measures[0], "posterior-ratio", "population"]
    np.testing.assert_array_equal(there["prob_best"].loc[list(RUNS)], draws.prob_rank[:, 0])
    assert (there["among_best"] == (there["rank_lower"] == 1)).all()
