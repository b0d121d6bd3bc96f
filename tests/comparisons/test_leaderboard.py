"""Ranks that admit ties, right for all runs at once; the best of several, and what it scores elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from compared import compared, printed
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bayespool.comparisons import compare_runs_by_draws, generalizability, separate_runs
from bayespool.comparisons.sentences import leaderboard_sentence
from bayespool.measures.populations import population_draws, population_of
from bayespool.report.reading import read_result
from bayespool.report.terminal import print_result

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
    told = separate_runs(values, ci_prob=ci_prob)
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


def test_runs_that_vary_alike_are_told_by_tukeys_range() -> None:
    rng = np.random.default_rng(2)
    topics, runs = 30, 4
    values = population_draws(np.repeat(rng.normal(size=(1, runs, topics)), 20_000, axis=0))
    # all pairs of exactly normal draws: the quantile of the largest difference
    difference = values[:, :, None] - values[:, None, :]
    off = np.abs(difference - difference.mean(axis=0))
    spread = difference.std(axis=0) + np.eye(runs)
    critical = np.quantile((off / spread).max(axis=(1, 2)), 0.9)
    expected = difference.mean(axis=0) > critical * spread
    np.testing.assert_array_equal(separate_runs(values, ci_prob=0.9), expected)


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
    estimates = found.scores["posterior-ratio", "P@10"]
    frame = found.leaderboard()
    assert list(frame["scope"].unique()) == ["these-topics", "population"]
    here, there = (frame[frame["scope"] == scope].set_index("run_id") for scope in frame["scope"].unique())
    assert here["value"].is_monotonic_decreasing
    assert (here["expected"] == here["value"]).all()
    assert estimates.draws is not None
    share = generalizability(estimates.draws.amount).mean()
    center = estimates.value.mean()
    expected = center + share * (estimates.value - center)
    np.testing.assert_allclose(there["expected"].loc[list(RUNS)], expected)
    assert there["expected"].iloc[0] < there["value"].iloc[0]
    population = population_of(estimates, 0.95, random_seed=1)
    np.testing.assert_array_equal(there["lower"].loc[list(RUNS)], population.lower)
    draws = found.draws[found.measures[0], "posterior-ratio", "population"]
    np.testing.assert_array_equal(there["prob_best"].loc[list(RUNS)], draws.prob_rank[:, 0])
    assert (there["among_best"] == (there["rank_lower"] == 1)).all()


def test_readers_have_the_leaderboard_in_the_terminal_in_papers_and_read_back(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = compared(*RUNS)
    text = printed(lambda console: print_result(found, console), width=120)
    row = found.leaderboard().iloc[0]
    line = next(
        part for part in text.split("leaderboard, ")[1].splitlines() if part.startswith(f" {row.run_id}")
    )
    assert line.split() == [
        *(row["run_id"], f"{row['value']:.4f}", f"{row['lower']:.4f}–{row['upper']:.4f}"),
        *(f"{row['rank_lower']}–{row['rank_upper']}", str(row["tier"]), f"{row['prob_best']:.3f}"),
    ]
    assert found.to_latex().count("leaderboard, ") == 2
    found.save(tmp_path / "comparison.json")
    stored = read_result(tmp_path / "comparison.json")
    assert stored.to_frame("leaderboard").equals(found.leaderboard())
    assert [figure.name for figure in stored.figures()] == ["comparison", "leaderboard"]
    assert not any("leaderboard" in table.caption for table in compared().read()), "two runs are a pair"


def test_a_sentence_on_the_best() -> None:
    frame = compared(*RUNS).leaderboard()
    rows = frame[frame["scope"] == "population"].to_dict("records")
    tied = [row | {"among_best": i < 2} for i, row in enumerate(rows[:3])]
    sentence = leaderboard_sentence(tied, 20)
    first, second = tied[0]["run_id"], tied[1]["run_id"]
    assert f"{first} has the highest P@10 of 3 runs, and 1 run cannot be distinguished" in sentence
    assert f"posterior-ratio): {second}. The chance that {first} is the best is" in sentence
    assert sentence.endswith(f"expected to score {tied[0]['expected']:.3f}, not {tied[0]['value']:.3f}.")
    assert any(text.endswith(sentence[-40:]) for text in compared(*RUNS).summary())
