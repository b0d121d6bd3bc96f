"""Comparisons of runs: tests against other software and by hand, draws, shallow judgments, reversals."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from real import read_real
from scipy import stats
from toys import from_rankings, toy_collection

import bayespool
from bayespool.collection import Collection
from bayespool.comparisons import (
    AS_THEY_STAND,
    Comparison,
    Reversals,
    adjust_p_values,
    brier_score,
    calibration_table,
    compare,
    compare_draws,
    compare_scores,
    dependability,
    generalizability,
    judgment_ranks,
    judgment_subset,
    p_values,
    paired_t,
    population_draws,
    randomisation,
    rank_probabilities,
    reversals,
    rmse_surface,
    significant_draws,
    tukey_hsd,
    tukey_significant,
    variance_components,
    wilcoxon,
)
from bayespool.comparisons.shallow import unpooled_copies
from bayespool.comparisons.significance import tukey_critical
from bayespool.corrections import fit_constants
from bayespool.counts import judgment_counts
from bayespool.errors import InputError
from bayespool.plots import plot_calibration
from bayespool.scoring import score
from bayespool.simulation import load_example

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")

NEW = ("new-a", "new-b")


def precisions(n_runs: int, n_topics: int, seed: int) -> np.ndarray:
    """P@10 of runs that differ, with ties as P@10 has them."""
    rng = np.random.default_rng(seed)
    chance = np.clip(0.45 + 0.1 * rng.normal(size=(n_runs, 1)) + 0.2 * rng.normal(size=n_topics), 0.05, 0.95)
    return rng.binomial(10, chance) / 10


def pairs(n_runs: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(n_runs), 2))


# --- tests of significance ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [precisions(7, 50, 1), np.random.default_rng(2).normal(size=(5, 13))])
def test_paired_t_is_scipys(scores: np.ndarray) -> None:
    p = paired_t(scores)
    for a, b in pairs(len(scores)):
        expected = stats.ttest_rel(scores[a], scores[b]).pvalue
        assert p[a, b] == pytest.approx(expected, rel=1e-10)
        assert p[b, a] == p[a, b]
    assert np.isnan(np.diagonal(p)).all()


@pytest.mark.parametrize("test", ["paired-t", "wilcoxon", "randomisation"])
def test_runs_without_a_difference_have_no_p_value(test: str) -> None:
    scores = np.array([[0.1, 0.3, 0.2, 0.5], [0.1, 0.3, 0.2, 0.5], [0.2, 0.2, 0.4, 0.9]])
    p = p_values(scores, test)  # type: ignore[arg-type]
    assert np.isnan(p[0, 1])
    assert np.isfinite(p[0, 2])
    assert p[0, 2] == p[1, 2]


def test_a_constant_difference_is_infinitely_significant_by_t() -> None:
    # 0.4 − 0.3 and 0.3 − 0.2 differ in binary
    assert paired_t([[0.4, 0.3, 0.9], [0.3, 0.2, 0.8]])[0, 1] == 0


@pytest.mark.parametrize("test", ["paired-t", "wilcoxon", "randomisation"])
def test_a_run_without_scores_has_no_p_value(test: str) -> None:
    scores = precisions(3, 12, 3)
    scores[1, 4] = np.nan
    p = p_values(scores, test)  # type: ignore[arg-type]
    assert np.isnan(p[0, 1])
    assert np.isnan(p[1, 2])
    assert np.isfinite(p[0, 2])


def test_wilcoxon_is_scipys_where_scipys_is_exact() -> None:
    scores = np.random.default_rng(4).normal(size=(6, 24))
    p = wilcoxon(scores)
    for a, b in pairs(6):
        expected = stats.wilcoxon(scores[a] - scores[b], method="exact").pvalue
        assert p[a, b] == pytest.approx(expected, rel=1e-12)


def test_wilcoxon_is_scipys_approximation_with_many_topics() -> None:
    scores = precisions(5, 90, 5)
    p = wilcoxon(scores)
    for a, b in pairs(5):
        difference = np.round(10 * (scores[a] - scores[b])).astype(int)
        assert (difference != 0).sum() > 50
        expected = stats.wilcoxon(difference, method="approx", correction=False).pvalue
        assert p[a, b] == pytest.approx(expected, rel=1e-10)


@given(hnp.arrays(np.int64, st.integers(1, 9), elements=st.integers(-4, 4)))
def test_wilcoxon_with_ties_counts_all_signs(difference: np.ndarray) -> None:
    if len(difference) < 2:
        difference = np.append(difference, 0)
    kept = difference[difference != 0]
    p = wilcoxon(np.stack([difference / 10, np.zeros(len(difference))]))[0, 1]
    if not len(kept):
        assert np.isnan(p)
        return
    rank = stats.rankdata(np.abs(kept))
    observed = min(rank[kept > 0].sum(), rank[kept < 0].sum())
    sums = [(np.array(signs) * rank).sum() for signs in itertools.product((0, 1), repeat=len(kept))]
    expected = min(1.0, 2 * np.mean(np.array(sums) <= observed + 1e-9))
    assert p == pytest.approx(expected, rel=1e-12)


def test_randomisation_is_scipys_where_exact() -> None:
    scores = precisions(4, 9, 6)
    p = randomisation(scores)
    for a, b in pairs(4):
        expected = stats.permutation_test(
            (10 * scores[a], 10 * scores[b]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        ).pvalue
        assert p[a, b] == pytest.approx(expected, rel=1e-12)


def test_randomisation_draws_signs_where_there_are_too_many() -> None:
    scores = precisions(3, 14, 7)
    exact, drawn = randomisation(scores, n_flips=2**14), randomisation(scores, n_flips=4000, random_seed=1)
    # four standard errors of a share of 4,000
    assert np.nanmax(np.abs(exact - drawn)) < 4 * 0.5 / np.sqrt(4000)
    assert np.nanmin(drawn) >= 1 / 4001
    np.testing.assert_array_equal(drawn, randomisation(scores, n_flips=4000, random_seed=1))
    assert not np.array_equal(drawn, randomisation(scores, n_flips=4000, random_seed=2), equal_nan=True)


def test_randomisation_never_gives_nothing() -> None:
    better = np.stack([np.full(40, 0.9), np.full(40, 0.1)])
    assert randomisation(better, n_flips=999)[0, 1] == 1 / 1000


# Two-way table worked by hand: run means 2, 4, 5; topic means 2, 3, 6; grand mean 11/3; residuals (times 3)
# 2 2 −4, −1 2 −1, −1 −4 5, whose squares sum to 72, so SS = 8, MSE = 8 / (2·2) = 2, sqrt(MSE/3) = 0.8165.
BY_HAND = np.array([[1, 2, 3], [2, 4, 6], [3, 3, 9]])


def test_tukey_by_hand() -> None:
    p = tukey_hsd(BY_HAND)
    for (a, b), difference in {(0, 1): 2, (0, 2): 3, (1, 2): 1}.items():
        q = difference / np.sqrt(2 / 3)
        assert p[a, b] == pytest.approx(stats.studentized_range.sf(q, 3, 4), abs=1e-9)
    assert tukey_critical(0.05, 3, 4) == pytest.approx(5.040, abs=5e-4)  # as printed in tables of the range
    assert not tukey_significant(BY_HAND, 0.05).any()
    # ten copies of the topics: SS = 80, degrees 2·29, MSE = 80/58, q = 3 / sqrt(MSE/30) = 13.99
    many = np.tile(BY_HAND, 10)
    assert tukey_significant(many, 0.05).sum() == 6
    q = 1 / np.sqrt(80 / 58 / 30)
    assert tukey_hsd(many)[1, 2] == pytest.approx(stats.studentized_range.sf(q, 3, 58), abs=1e-9)


def test_tukey_error_is_that_of_statsmodels_additive_anova() -> None:
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    scores = precisions(6, 30, 8)
    run, topic = np.indices(scores.shape)
    frame = pd.DataFrame({"score": scores.ravel(), "run": run.ravel(), "topic": topic.ravel()})
    table = anova_lm(ols("score ~ C(run) + C(topic)", frame).fit())
    error = table.loc["Residual", "sum_sq"] / table.loc["Residual", "df"]
    assert table.loc["Residual", "df"] == 5 * 29
    p = tukey_hsd(scores)
    mean = scores.mean(axis=1)
    for a, b in pairs(6):
        q = abs(mean[a] - mean[b]) / np.sqrt(error / 30)
        assert p[a, b] == pytest.approx(stats.studentized_range.sf(q, 6, 145), abs=1e-7)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(2, 6), st.sampled_from([0.01, 0.05, 0.3]))
def test_tukey_of_two_runs_is_the_paired_t_and_one_critical_value_serves(
    seed: int, n_runs: int, level: float
) -> None:
    scores = precisions(n_runs, 12, seed)
    assert tukey_hsd(scores[:2])[0, 1] == pytest.approx(paired_t(scores[:2])[0, 1], abs=1e-6, nan_ok=True)
    p = tukey_hsd(scores)
    clear = np.abs(p - level) > 1e-6
    np.testing.assert_array_equal(tukey_significant(scores, level)[clear], (p <= level)[clear])


def test_tukey_without_any_error() -> None:
    additive = np.add.outer([0.1, 0.1, 0.4], [0.0, 0.2, 0.3])
    p = tukey_hsd(additive)
    assert np.isnan(p[0, 1])
    assert p[0, 2] == p[1, 2] == 0


def test_p_values_are_adjusted_over_the_pairs_that_have_one() -> None:
    p = np.full((4, 4), np.nan)
    for (a, b), value in zip(pairs(4), [0.01, 0.02, np.nan, 0.2, 0.005, 0.04], strict=True):
        p[a, b] = p[b, a] = value
    upper = np.triu_indices(4, 1)
    # Holm by hand, five p-values: 5·0.005, 4·0.01, 3·0.02, 2·0.04, 1·0.2
    np.testing.assert_allclose(adjust_p_values(p, "holm")[upper], [0.04, 0.06, np.nan, 0.2, 0.025, 0.08])
    defined = p[upper][~np.isnan(p[upper])]
    adjusted = adjust_p_values(p, "benjamini-hochberg")[upper]
    np.testing.assert_allclose(adjusted[~np.isnan(adjusted)], stats.false_discovery_control(defined))
    np.testing.assert_array_equal(adjust_p_values(p, "none"), p)
    assert np.isnan(adjust_p_values(np.full((2, 2), np.nan))).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t([0.1, 0.2]), r"shape \(2,\) cannot be tested"),
        (lambda: wilcoxon([[0.1], [0.2]]), r"shape \(2, 1\) cannot be tested"),
        (lambda: p_values(BY_HAND, "anova"), "no test 'anova'; known: paired-t"),  # type: ignore[arg-type]
        (lambda: randomisation(BY_HAND, n_flips=0), "0 sign flips are too few"),
        (lambda: tukey_significant(BY_HAND, 1.0), "level 1.0 is not between 0 and 1"),
        (lambda: adjust_p_values(paired_t(BY_HAND), "bonferroni"), "no control 'bonferroni'"),  # type: ignore[arg-type]
        (lambda: significant_draws(np.zeros((2, 2, 3), int), test="wilcoxon"), "cannot be repeated"),
        (lambda: significant_draws(np.zeros((2, 2, 1), int)), "one topic cannot be tested"),
        (
            lambda: significant_draws(np.zeros((2, 2, 3), int), test="tukey-hsd", control="holm"),
            "controlled for all pairs by itself",
        ),
        (lambda: population_draws(np.zeros((2, 2, 1), int)), "one topic says nothing"),
        (lambda: compare_draws(np.zeros((2, 2), int), ci_prob=0.95, rope=-1), "cannot reach to -1"),
        (lambda: generalizability([[1.0, 2.0]]), "two runs and two topics or more"),
        (lambda: dependability(BY_HAND, n_topics=0), "0 topics are too few"),
        (lambda: calibration_table([1.2], [True]), "not between 0 and 1"),
        (lambda: brier_score([0.2, 0.1], [True]), "cannot be graded"),
    ],
)
def test_what_cannot_be_answered_is_an_error_that_says_so(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# --- draws -------------------------------------------------------------------------------------------------


def known_draws(n_draws: int = 60, n_runs: int = 5, n_topics: int = 20, seed: int = 1) -> np.ndarray:
    """Draws with ties, two runs that are the same in every draw, and one that never changes."""
    rng = np.random.default_rng(seed)
    base = np.rint(10 * precisions(n_runs, n_topics, seed)).astype(int)
    draws = (base + rng.integers(-1, 2, size=(n_draws, n_runs, n_topics))).clip(0, 10).astype(np.int32)
    draws[:, 1] = draws[:, 0]
    draws[:, 2] = base[2]
    return draws


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(2, 4)), elements=st.integers(0, 3)))
def test_chances_of_a_pair_sum_to_one_to_the_bit(values: np.ndarray) -> None:
    found = compare_draws(values, ci_prob=0.9)
    greater, equal = found.prob_greater, found.prob_equal
    assert ((greater + greater.T) + equal == 1).all()
    off = ~np.eye(values.shape[1], dtype=bool)
    np.testing.assert_array_equal((found.n_greater + found.n_greater.T + found.n_equal)[off], len(values))
    np.testing.assert_allclose(equal, found.n_equal / len(values), atol=1e-15)
    np.testing.assert_array_equal(found.difference, -found.difference.T)
    np.testing.assert_array_equal(found.lower, -found.upper.T)
    assert (found.n_equal <= found.n_equivalent).all()


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=st.integers(0, 3)))
def test_rank_chances_sum_to_one_over_ranks_and_over_runs(values: np.ndarray) -> None:
    chance = rank_probabilities(values)
    np.testing.assert_allclose(chance.sum(axis=0), 1)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    expected = values.shape[1] + 1 - np.mean([stats.rankdata(row) for row in values], axis=0)
    np.testing.assert_allclose(chance @ np.arange(1, values.shape[1] + 1), expected)


def test_draws_of_two_runs_by_hand() -> None:
    totals = np.array([[7, 5], [6, 6], [5, 6], [8, 4]])  # differences 2, 0, −1, 4
    found = compare_draws(totals, ci_prob=0.5, rope=0.1, unit=10)
    assert found.difference[0, 1] == pytest.approx(0.125)
    assert (found.lower[0, 1], found.upper[0, 1]) == (0.0, 0.2)
    assert (found.prob_greater[0, 1], found.prob_equal[0, 1], found.prob_greater[1, 0]) == (0.5, 0.25, 0.25)
    assert found.prob_equivalent[0, 1] == 0.5  # 0 and −1: the region holds its ends
    np.testing.assert_allclose(found.expected_rank, [1 + 0.5 / 4 + 1 / 4, 2 - 0.5 / 4 - 1 / 4])


def test_population_means_are_those_of_the_t_distribution_where_nothing_is_unjudged() -> None:
    scores = np.rint(10 * precisions(4, 25, 11)).astype(int)
    means = population_draws(np.repeat(scores[None], 40_000, axis=0), random_seed=3)
    p = paired_t(scores)
    for a, b in pairs(4):
        difference = scores[a] - scores[b]
        drawn = means[:, a] - means[:, b]
        half = p[a, b] / 2 if difference.mean() > 0 else 1 - p[a, b] / 2
        assert (drawn <= 0).mean() == pytest.approx(half, abs=4 * 0.5 / np.sqrt(40_000))
        expected = stats.t.interval(0.9, 24, difference.mean(), stats.sem(difference))
        spread = expected[1] - expected[0]
        np.testing.assert_allclose(np.quantile(drawn, [0.05, 0.95]), expected, atol=0.02 * spread)
    # a difference of differences is the difference of the two: one population for all pairs
    np.testing.assert_allclose(
        (means[:, 0] - means[:, 1]) + (means[:, 1] - means[:, 2]), means[:, 0] - means[:, 2]
    )


def test_runs_that_are_the_same_are_equal_in_every_population() -> None:
    draws = known_draws()
    found = compare_draws(population_draws(draws), ci_prob=0.95)
    assert found.n_equal[0, 1] == len(draws)
    assert found.n_equal[0, 3] == 0


def test_population_adds_to_the_uncertainty_of_these_topics() -> None:
    draws = known_draws(2000)
    here = compare_draws(draws.sum(axis=2), ci_prob=0.95, unit=20)
    there = compare_draws(population_draws(draws), ci_prob=0.95)
    upper = [(0, 2), (0, 3), (2, 3), (3, 4)]
    assert all((there.upper - there.lower)[pair] > (here.upper - here.lower)[pair] > 0 for pair in upper)


@pytest.mark.parametrize(
    ("test", "control"),
    [
        ("paired-t", "none"),
        ("paired-t", "holm"),
        ("paired-t", "benjamini-hochberg"),
        ("tukey-hsd", "none"),
    ],
)
@pytest.mark.parametrize("cells", [1 << 21, 100])
def test_significant_draws_are_those_of_the_test_in_each_draw(
    test: str, control: str, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayespool.comparisons.repeated_tests._CELLS", cells)
    draws = known_draws(25, n_runs=6, seed=5)
    expected = np.zeros((6, 6), dtype=int)
    for one in draws:
        scores = one / 10
        p = adjust_p_values(p_values(scores, test), control)  # type: ignore[arg-type]
        difference = np.subtract.outer(one.sum(axis=1), one.sum(axis=1))
        expected += (p <= 0.05) & (difference > 0)
    found = significant_draws(draws, test=test, level=0.05, control=control)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found.n_greater, expected)
    assert 0 < expected.sum() < 25 * 15, "the draws decide nothing"
    assert expected[0, 1] == 0


def test_reversal_risk_counts_draws_that_do_not_bear_the_claim_out() -> None:
    up, down = [[9, 9, 8, 9], [1, 2, 0, 1]], [[1, 2, 0, 1], [9, 9, 8, 9]]
    same = [[5, 4, 5, 6], [5, 4, 5, 6]]
    found = significant_draws(np.array([up] * 7 + [same] * 2 + [down]))
    assert found.prob_significant[0, 1] == 0.8  # seven one way, one the other
    risk = found.reversal_risk(np.array([[False, True], [False, False]]))
    assert risk[0, 1] == risk[1, 0] == pytest.approx(0.3)
    assert np.isnan(found.reversal_risk(np.zeros((2, 2), dtype=bool))).all()


# --- reliability -------------------------------------------------------------------------------------------


def test_reliability_by_hand() -> None:
    # run means 2, 4, 5 and SS_run = 14, MS 7; topic means 2, 3, 6 and SS_topic = 26, MS 13; MS error 2
    components = variance_components(BY_HAND)
    assert float(components.run) == pytest.approx(5 / 3)
    assert float(components.topic) == pytest.approx(11 / 3)
    assert float(components.residual) == pytest.approx(2)
    assert float(generalizability(BY_HAND)) == pytest.approx((5 / 3) / (5 / 3 + 2 / 3))
    assert float(dependability(BY_HAND)) == pytest.approx((5 / 3) / (5 / 3 + (11 / 3 + 2) / 3))
    assert float(generalizability(BY_HAND, n_topics=30)) == pytest.approx((5 / 3) / (5 / 3 + 2 / 30))


def test_reliability_of_draws_is_that_of_each() -> None:
    draws = known_draws()
    for coefficient in (generalizability, dependability):
        of_draws = coefficient(draws)
        assert of_draws.shape == (len(draws),)
        np.testing.assert_allclose(of_draws[:5], [float(coefficient(one)) for one in draws[:5]])
        np.testing.assert_allclose(coefficient(draws / 10), of_draws)  # no matter on which scale
    assert (dependability(draws) <= generalizability(draws)).all()


def test_reliability_where_runs_do_not_differ() -> None:
    assert float(generalizability([[1.0, 3.0, 2.0], [3.0, 1.0, 2.0]])) == 0  # a component below zero is zero
    assert np.isnan(generalizability(np.ones((3, 4))))


# --- compare -----------------------------------------------------------------------------------------------


@cache
def example_comparison() -> Comparison:
    return compare(
        load_example(),
        [*NEW, "north-2", "lake-1"],
        ["P@5", "P@10"],
        estimators=["interpolated", "posterior-ratio"],
        tests=("paired-t", "wilcoxon", "tukey-hsd"),
        draws=100,
    )


def test_compare_has_every_pair_once_and_names_its_scope() -> None:
    found = example_comparison()
    differences, significance = found.differences(), found.significance()
    methods = [AS_THEY_STAND, "interpolated", "posterior-ratio"]
    assert [e.method for e in found.scores.estimates] == methods * 2
    assert differences.groupby(["measure", "method", "scope"]).size().to_dict() == {
        (measure, method, scope): 6
        for measure in ("P@5", "P@10")
        for method, scope in [
            *((m, "these-topics") for m in methods),
            ("posterior-ratio", "population"),
        ]
    }
    assert len(significance) == 2 * 3 * 3 * 6
    assert set(significance["scope"]) == {"population"}
    assert [tuple(row) for row in differences[["run_a", "run_b"]].to_numpy()[:6]] == list(
        itertools.combinations(found.run_ids, 2)
    )
    drawn = differences[differences["method"] == "posterior-ratio"]
    assert (drawn["prob_greater"] + drawn["prob_less"] + drawn["prob_equal"] == 1).all()
    assert (drawn["ci_prob"] == 0.95).all()
    point = differences[differences["method"] == "interpolated"]
    assert point[["lower", "upper", "ci_prob", "prob_greater", "prob_equivalent"]].isna().all(axis=None)


def test_differences_are_those_of_the_scores() -> None:
    found = example_comparison()
    frame = found.differences().set_index(["measure", "method", "scope", "run_a", "run_b"])
    for e in found.scores.estimates:
        row = frame.loc[(str(e.measure), e.method, "these-topics", "new-a", "new-b")]
        assert row["difference"] == pytest.approx(e.value[0] - e.value[1])
        if e.draws is not None:
            totals = e.draws.totals()
            assert row["prob_greater"] == (totals[:, 0] > totals[:, 1]).mean()
            assert row["prob_less"] == (totals[:, 0] < totals[:, 1]).mean()
            near = np.abs(totals[:, 0] - totals[:, 1]) <= 0.01 * e.measure.cutoff * 20 + 1e-9
            assert row["prob_equivalent"] == near.mean()


def test_tests_are_done_on_every_methods_scores_and_adjusted_over_pairs() -> None:
    found = example_comparison()
    frame = found.significance().set_index(["measure", "method", "test", "run_a", "run_b"])
    for e in found.scores.estimates:
        p = adjust_p_values(paired_t(e.per_topic), "holm")
        row = frame.loc[(str(e.measure), e.method, "paired-t", "new-b", "north-2")]
        assert row["p_value"] == pytest.approx(stats.ttest_rel(e.per_topic[1], e.per_topic[2]).pvalue)
        assert row["p_adjusted"] == pytest.approx(p[1, 2])
        assert row["significant"] == (p[1, 2] <= 0.05)
        tukey = frame.loc[(str(e.measure), e.method, "tukey-hsd", "new-b", "north-2")]
        assert tukey["control"] == "tukey-hsd"
        assert tukey["p_adjusted"] == tukey["p_value"]


def test_risk_of_reversal_is_that_of_pairs_that_are_significant_now() -> None:
    found = example_comparison()
    frame = found.significance()
    index = ["measure", "test", "run_a", "run_b"]
    now = frame[frame["method"] == AS_THEY_STAND].set_index(index)
    drawn = frame[(frame["method"] == "posterior-ratio") & (frame["test"] != "wilcoxon")].set_index(index)
    assert len(drawn) == 2 * 2 * 6
    for key, row in drawn.iterrows():
        expected = np.nan
        if now.loc[key, "significant"]:
            way = "greater" if now.loc[key, "difference"] > 0 else "less"
            expected = 1 - row[f"prob_significant_{way}"]
        assert row["reversal_risk"] == pytest.approx(expected, nan_ok=True)
        both = row["prob_significant_greater"] + row["prob_significant_less"]
        assert row["prob_significant"] == pytest.approx(both)
    assert now["significant"].sum() >= 4
    assert frame[frame["test"] == "wilcoxon"]["prob_significant"].isna().all()
    overview = found.overview().set_index(["measure", "method", "test"])
    one = overview.loc[("P@10", AS_THEY_STAND, "paired-t")]
    assert one["n_significant"] == now.loc["P@10"].loc["paired-t"]["significant"].sum()
    assert np.isnan(one["reversal_risk"])


def test_ranks_and_reliability_have_a_row_for_each() -> None:
    found = example_comparison()
    ranks = found.ranks()
    assert len(ranks) == 2 * 2 * 4 * 4
    np.testing.assert_allclose(ranks.groupby(["measure", "scope", "run_id"])["prob_rank"].sum(), 1)
    np.testing.assert_allclose(ranks.groupby(["measure", "scope", "rank"])["prob_rank"].sum(), 1)
    reliability = found.reliability().set_index(["measure", "method", "coefficient"])
    e = found.scores["posterior-ratio", "P@10"]
    row = reliability.loc[("P@10", "posterior-ratio", "generalizability")]
    assert e.draws is not None
    assert row["value"] == pytest.approx(generalizability(e.draws.amount).mean())
    assert row["lower"] <= row["value"] <= row["upper"]
    assert np.isnan(reliability.loc[("P@10", "interpolated", "dependability"), "lower"])


def shared_unjudged() -> Collection:
    """Two new runs that retrieve the same unjudged documents, in another order, and one that has others."""
    pool = {"x1": {"1": "abcdef", "2": "ijklmn"}, "y1": {"1": "cagbhd", "2": "kinjpl"}}
    new = {"s": {"1": "ayzb", "2": "iyzl"}, "t": {"1": "zyba", "2": "zyli"}, "u": {"1": "cavw", "2": "kjvw"}}
    return from_rankings(
        {**pool, **new},
        {"1": {"a": 1, "b": 0, "c": 1, "g": 0}, "2": {"i": 0, "j": 1, "k": 0, "l": 1, "n": 0}},
        {"x1": "x", "y1": "y", "s": "s", "t": "t", "u": "u"},
        pooled_run_ids=tuple(pool),
        pool_depth=3,
    )


def test_documents_that_both_retrieve_cancel() -> None:
    found = compare(shared_unjudged(), ["s", "t", "u"], "P@4", estimators=["posterior-evidence"], draws=200)
    (here,) = [d for (_, _, scope), d in found.draws.items() if scope == "these-topics"]
    assert here.n_equal[0, 1] == here.n_draws == 800
    assert here.lower[0, 1] == here.upper[0, 1] == 0
    assert here.n_equal[0, 2] < here.n_draws
    np.testing.assert_allclose(here.prob_rank[0], here.prob_rank[1])


def test_compare_is_repeatable_and_takes_scores() -> None:
    first, second = (
        compare(load_example(), NEW, draws=50, estimators=["posterior-ratio"], random_seed=7)
        for _ in range(2)
    )
    for name in ("differences", "ranks", "significance", "reliability"):
        pd.testing.assert_frame_equal(getattr(first, name)(), getattr(second, name)())
    again = compare_scores(first.scores, random_seed=7)
    pd.testing.assert_frame_equal(again.differences(), first.differences())
    assert bayespool.compare is compare


def test_compare_without_draws() -> None:
    found = compare(load_example(), NEW, estimators=["interpolated"], tests=["randomisation"])
    assert found.draws == {}
    assert found.ranks().empty
    assert len(found.differences()) == 2
    assert found.significance()["reversal_risk"].isna().all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"run_ids": ["new-a"]}, "one run cannot be compared"),
        ({"tests": ["anova"]}, "tests cannot be 'anova'"),
        ({"tests": "paired-t"}, "tests cannot be 'paired-t'; give a sequence"),
        ({"tests": []}, "tests cannot be"),
        ({"scopes": ["topics"]}, "scopes cannot be 'topics'; known: these-topics, population"),
        ({"level": 0}, "level cannot be 0"),
        ({"rope": -0.1}, "rope cannot be -0.1"),
        ({"control": "bonferroni"}, "control cannot be 'bonferroni'"),
    ],
)
def test_compare_refuses_what_it_does_not_know(arguments: dict[str, object], message: str) -> None:
    call = {"run_ids": NEW, "estimators": ["posterior-ratio"], "draws": 50, **arguments}
    with pytest.raises(InputError, match=message):
        compare(load_example(), **call)  # type: ignore[arg-type]


def test_scores_without_the_scores_as_they_stand_cannot_be_compared() -> None:
    scores = score(load_example(), NEW, estimators=["interpolated"])
    with pytest.raises(InputError, match="lower-bound is missing"):
        compare_scores(scores)


# --- shallow judgments -------------------------------------------------------------------------------------


def test_judgments_are_tagged_with_their_smallest_rank_in_a_pooled_run() -> None:
    toy = toy_collection()
    ranks = judgment_ranks(toy)
    found = {(toy.query_ids[toy.pair_topic[p]], toy.doc_id(int(p))): int(ranks[p]) for p in range(len(ranks))}
    by_hand = {"a": 1, "b": 1, "c": 3, "f": 3, "h": 1, "i": 3, "k": 2, "j": 5, "d": 4, "g": 5}
    assert {doc: found["1", doc] for doc in by_hand} == by_hand
    assert found["1", "m"] == np.iinfo(np.int32).max  # only the new run has it
    assert [found["2", doc] for doc in "qprvwx"] == [1, 1, 2, 2, 3, 5]


def test_a_judgment_set_is_a_prefix_by_rank() -> None:
    toy = toy_collection(more={"1": {"m": 1}})  # judged, and no pooled run explains it
    ranks = judgment_ranks(toy)
    judged = toy.relevance >= 0
    for n in range(1, judged.sum() + 3):
        subset = judgment_subset(toy, n, random_seed=n)
        kept = subset.relevance >= 0
        assert kept.sum() == min(n, judged.sum())
        np.testing.assert_array_equal(subset.relevance[kept], toy.relevance[kept])
        if n < judged.sum():
            assert ranks[kept].max() <= ranks[judged & ~kept].min()
            assert subset.pool_depth == min(ranks[kept].max(), toy.pool_depth)
        assert subset.pooled_run_ids == toy.pooled_run_ids
    assert judgment_subset(toy, 10**6) is toy


@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(0, 5))
def test_judgment_sets_of_one_seed_are_nested(n: int, m: int, seed: int) -> None:
    few, many = (judgment_subset(load_example(), k, random_seed=seed) for k in sorted((n, m)))
    assert not ((few.relevance >= 0) & (many.relevance < 0)).any()


def test_ties_of_judgments_are_broken_by_the_seed() -> None:
    one, same, other = (judgment_subset(load_example(), 200, random_seed=s) for s in (1, 1, 2))
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != other.fingerprint
    n_topics = len(np.unique(one.pair_topic[one.relevance >= 0]))
    assert n_topics == len(one.query_ids), "a prefix in the order of topics would leave the last ones out"


def test_judgments_have_no_order_without_a_pool() -> None:
    with pytest.raises(InputError, match="no run was pooled"):
        judgment_subset(toy_collection(pooled_run_ids=(), pool_depth=0), 5)
    with pytest.raises(InputError, match="0 judgments are too few"):
        judgment_subset(toy_collection(), 0)


def test_copies_of_pooled_runs_are_not_pooled_and_leave_the_evidence_alone() -> None:
    example = load_example()
    copied, names = unpooled_copies(example, ["new-a", "north-1", "lake-2"])
    assert names == ("new-a", "north-1 (scored)", "lake-2 (scored)")
    assert copied.run_ids[:-2] == example.run_ids
    assert copied.pooled_run_ids == example.pooled_run_ids
    index, of = copied.run_index(names[1:]), example.run_index(["north-1", "lake-2"])
    np.testing.assert_array_equal(copied.document[index], example.document[of])
    np.testing.assert_array_equal(copied.organization[index], example.organization[of])
    assert unpooled_copies(example, NEW) == (example, NEW)
    again, twice = unpooled_copies(copied, ["north-1"])
    assert len(set(again.run_ids)) == len(again.run_ids)
    assert twice == ("north-1 (scored)'",)
    # scored as they are, all contributing runs would leave no evidence but their own
    shallow, runs = unpooled_copies(judgment_subset(example, 500), example.pooled_run_ids)
    (estimates,) = score(shallow, runs, estimators=["posterior-combined"], draws=20).estimates
    assert set(estimates.weights) == {"ratio", "evidence"}
    assert not any("priors" in note for note in estimates.notes)


# --- surfaces, grading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["interpolated", "smoothed"])
def test_fitted_constants_are_the_minimum_of_the_surface(method: str) -> None:
    example = load_example()
    runs = example.pooled_run_ids
    truth = judgment_counts(example, runs, cutoffs=10)
    counts = [judgment_counts(judgment_subset(example, n), runs, cutoffs=10) for n in (150, 300, 600)]
    best = fit_constants(method, counts, truth)  # type: ignore[arg-type]
    grid = np.linspace(0, 1, 41)
    surface = rmse_surface(method, counts, truth, c=grid, e=grid)  # type: ignore[arg-type]
    assert surface.shape == (41, 41)
    assert best.rmse <= surface.min() + 1e-12
    c, e = np.unravel_index(surface.argmin(), surface.shape)
    assert abs(grid[c] - best.c) <= 0.025
    # interpolated uses E only where nothing is judged on a topic, which is nowhere here
    assert np.isnan(best.e) if method == "interpolated" else abs(grid[e] - best.e) <= 0.025
    at_best = rmse_surface(method, counts, truth, c=best.c, e=np.nan_to_num(best.e))  # type: ignore[arg-type]
    assert at_best[0, 0] == pytest.approx(best.rmse)


def test_surfaces_are_of_matching_counts() -> None:
    counts = judgment_counts(load_example(), cutoffs=10)
    with pytest.raises(InputError, match="same runs, topics and cutoffs"):
        rmse_surface("smoothed", [judgment_counts(load_example(), cutoffs=5)], counts, c=0.5, e=0.1)
    with pytest.raises(InputError, match="no surface for 'background'"):
        rmse_surface("background", [counts], counts, c=0.5, e=0.1)  # type: ignore[arg-type]


def test_calibration_by_hand() -> None:
    table = calibration_table([0.0, 0.05, 0.3, 0.3, 0.35, 0.95, 1.0], [0, 0, 1, 0, 1, 1, 0])
    assert table["n"].tolist() == [2, 0, 0, 3, 0, 0, 0, 0, 0, 2]
    assert table["announced"].tolist()[3] == pytest.approx((0.3 + 0.3 + 0.35) / 3)
    assert table["happened"].tolist()[3] == pytest.approx(2 / 3)
    assert np.isnan(table["happened"][1])
    assert brier_score([0.0, 0.5, 1.0], [0, 1, 0]) == pytest.approx((0 + 0.25 + 1) / 3)
    assert np.isnan(brier_score([], []))


def test_reliability_plot_has_a_mark_per_bin_with_cases() -> None:
    table = calibration_table([0.05, 0.3, 0.35, 0.95], [False, True, False, True])
    axes = plot_calibration(table, label="all")
    diagonal, line = axes.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    np.testing.assert_allclose(line.get_xydata(), [[0.05, 0], [0.325, 0.5], [0.95, 1]])
    assert line.get_label() == "all"
    small, large, _ = axes.collections[0].get_sizes()
    assert large > small
    assert plot_calibration(table, ax=axes) is axes


# --- reversals ---------------------------------------------------------------------------------------------


@cache
def example_reversals() -> Reversals:
    return reversals(
        load_example(),
        judgments=(150, 500, 10**6),
        estimators=["interpolated", "smoothed", "posterior-ratio"],
        announce=(0.5, 0.9),
        draws=50,
    )


def test_reversals_hold_fewer_judgments_against_all() -> None:
    found = example_reversals()
    n_all = int((load_example().relevance >= 0).sum())
    assert found.n_judgments == (150, 500, n_all)
    assert found.groups == {"contributing": load_example().pooled_run_ids, "non-contributing": NEW}
    assert found.methods == (
        AS_THEY_STAND,
        "interpolated",
        "smoothed",
        "posterior-ratio",
        "posterior-ratio>=0.5",
        "posterior-ratio>=0.9",
        "interpolated fitted",
        "smoothed fitted",
    )
    rates = found.rates()
    assert len(rates) == 2 * 2 * 8 * 2
    assert set(rates["n_pairs"]) == {210, 1}


def scipy_significance(collection: Collection, runs: tuple[str, ...]) -> dict[tuple[int, int], int]:
    """Sign of each pair's difference in P@10 where a paired t test finds it significant at 0.01, else 0."""
    counts = judgment_counts(collection, runs, cutoffs=10)
    scores = counts.n_relevant[:, :, 0]
    signs = {}
    for a, b in pairs(len(runs)):
        difference = scores[a] - scores[b]
        p = stats.ttest_1samp(difference, 0).pvalue if difference.any() else 1.0
        signs[a, b] = int(np.sign(difference.sum())) if p <= 0.01 else 0
    return signs


def check_lower_bound_rates(found: Reversals, collection: Collection, group: str, n: int) -> None:
    runs = found.groups[group]
    few = scipy_significance(judgment_subset(collection, n), runs)
    full = scipy_significance(collection, runs)
    both = [(few[pair], full[pair]) for pair in few]
    rates = found.rates()
    row = rates.query("group == @group and method == @AS_THEY_STAND and judgments == @n").iloc[0]
    counted = {
        "separability": sum(a != 0 for a, _ in both),
        "separability_all": sum(b != 0 for _, b in both),
        "kept": sum(a * b == 1 for a, b in both),
        "reversed": sum(a != 0 and b == 0 for a, b in both),
        "swapped": sum(a * b == -1 for a, b in both),
        "gained": sum(a == 0 and b != 0 for a, b in both),
    }
    for name, count in counted.items():
        assert row[name] * len(both) == pytest.approx(count), name


@pytest.mark.parametrize("n", [150, 500])
def test_rates_are_those_of_scipys_t_test(n: int) -> None:
    check_lower_bound_rates(example_reversals(), load_example(), "contributing", n)


def test_rates_add_up() -> None:
    rates = example_reversals().rates()
    np.testing.assert_allclose(rates["kept"] + rates["reversed"] + rates["swapped"], rates["separability"])
    np.testing.assert_allclose(rates["kept"] + rates["gained"] + rates["swapped"], rates["separability_all"])
    some = rates[rates["separability"] > 0]
    np.testing.assert_allclose(
        some["reversed_of_significant"], (some["reversed"] + some["swapped"]) / some["separability"]
    )
    # contributing runs have nothing unjudged in the end, so that all methods agree there
    ended = rates[rates["group"] == "contributing"]
    assert ended["separability_all"].nunique() == 1
    trends = example_reversals().trends().query("group == 'contributing' and judgments == 1181")
    assert (trends["residual"] == 0).all()
    np.testing.assert_allclose(trends["rmse"], 0, atol=1e-12)


def test_announcing_at_a_higher_share_announces_fewer() -> None:
    trends = example_reversals().trends().set_index(["group", "judgments", "method"])["separability"]
    at = {s: trends["contributing", 500, f"posterior-ratio>={s}"] for s in (0.5, 0.9)}
    assert at[0.9] < at[0.5]
    key = ("contributing", 500, "posterior-ratio")
    drawn = example_reversals().draws[key]
    better = example_reversals().outcomes["contributing", 500, "posterior-ratio>=0.9"].better
    np.testing.assert_array_equal(better, drawn.n_greater >= 0.9 * drawn.n_draws)


def test_p_values_of_pairs_under_few_and_all_judgments() -> None:
    frame = example_reversals().p_values()
    assert set(frame["method"]) == {m for m in example_reversals().methods if ">=" not in m}
    row = frame.query("judgments == 500 and group == 'contributing' and method == 'smoothed'").iloc[0]
    runs = list(load_example().pooled_run_ids[:2])
    (smoothed,) = score(judgment_subset(load_example(), 500), runs, estimators=["smoothed"]).estimates
    assert row["p_value"] == pytest.approx(stats.ttest_rel(*smoothed.per_topic).pvalue)
    full = judgment_counts(load_example(), runs, cutoffs=10).n_relevant[:, :, 0]
    assert row["p_value_all"] == pytest.approx(stats.ttest_rel(*full).pvalue)


def test_announced_risks_are_graded_by_all_judgments() -> None:
    found = example_reversals()
    risks = found.risks()
    assert set(risks["method"]) == {"posterior-ratio"}
    assert set(risks["judgments"]) == {150, 500}
    few = scipy_significance(judgment_subset(load_example(), 500), found.groups["contributing"])
    full = scipy_significance(load_example(), found.groups["contributing"])
    mine = risks.query("group == 'contributing' and judgments == 500")
    assert mine["significant"].tolist() == [few[pair] != 0 for pair in few]
    assert mine["significant_all"].tolist() == [full[pair] != 0 for pair in few]
    assert mine["reversed"].tolist() == [few[pair] != 0 and full[pair] != few[pair] for pair in few]
    assert mine["reversal_risk"].notna().tolist() == mine["significant"].tolist()
    grades = found.grades().query("group == 'contributing' and judgments == 500").set_index("statement")
    now = mine[mine["significant"]]
    assert grades.loc["reversed", "n"] == len(now)
    assert grades.loc["reversed", "brier"] == pytest.approx(
        ((now["reversal_risk"] - now["reversed"]) ** 2).mean()
    )
    assert grades.loc["significant", "brier"] == pytest.approx(
        ((mine["prob_significant"] - mine["significant_all"]) ** 2).mean()
    )
    table = found.calibration().query(
        "group == 'contributing' and judgments == 500 and statement == 'significant'"
    )
    assert table["n"].sum() == 210
    assert len(table) == 10


def test_constants_are_fitted_to_contributing_runs() -> None:
    found = example_reversals()
    runs = load_example().pooled_run_ids
    counts = [judgment_counts(judgment_subset(load_example(), n), runs, cutoffs=10) for n in (150, 500)]
    expected = fit_constants("smoothed", counts, judgment_counts(load_example(), runs, cutoffs=10))
    assert found.constants["smoothed"] == expected
    values = found.outcomes["contributing", 500, "smoothed fitted"].value
    kept = score(
        judgment_subset(load_example(), 500), runs, estimators=[f"smoothed(c={expected.c}, e={expected.e})"]
    )
    np.testing.assert_allclose(values, kept.estimates[0].value)


def test_reversals_without_draws_or_with_another_test() -> None:
    found = reversals(
        load_example(),
        judgments=[300],
        estimators=["posterior-ratio"],
        test="wilcoxon",
        draws=20,
        fitted=False,
    )
    assert found.draws == {}
    assert found.risks().empty
    assert found.grades().empty
    assert found.calibration().empty
    tukey = reversals(load_example(), judgments=[300], estimators=[], test="tukey-hsd", control="holm")
    assert tukey.control == "none"
    assert tukey.methods == (AS_THEY_STAND,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"judgments": [10**6]}, "no judgment set is smaller"),
        ({"run_ids": ["new-a", "north-1"]}, "no pair of runs"),
        ({"test": "anova"}, "test cannot be 'anova'"),
        ({"announce": [0.3]}, "announce cannot be 0.3; at least 0.5 and at most 1"),
        ({"estimators": ["smoothed", "smoothed(c=0.2)"]}, "two estimators are called 'smoothed'"),
        ({"estimators": ["smoothed"], "chain": 3}, "unknown settings"),
        ({"level": 2}, "level cannot be 2"),
    ],
)
def test_reversals_refuse_what_they_cannot_do(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        reversals(load_example(), **{"judgments": [300], "estimators": [], **arguments})  # type: ignore[arg-type]


# --- a real collection -------------------------------------------------------------------------------------


def trec8(collections: Path) -> tuple[Collection, list[str]]:
    """TREC-8, and its runs but for two that are oddly unjudged."""
    collection = read_real(collections / "trec8-adhoc")
    return collection, [run for run in collection.run_ids if run not in ("UB99SW", "UB99T")]


def test_rates_on_trec8_are_those_of_scipys_t_test(collections: Path) -> None:
    collection, runs = trec8(collections)
    found = reversals(collection, runs, judgments=[1_000], estimators=[])
    check_lower_bound_rates(found, collection, "non-contributing", 1_000)
    check_lower_bound_rates(found, collection, "contributing", 1_000)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")  # a pool of depth 1 says little
def test_announced_risks_on_trec8_are_about_right(collections: Path) -> None:
    """What docs/comparisons.md says: Brier scores far below those of the share that nobody could know."""
    collection, runs = trec8(collections)
    found = reversals(collection, runs, estimators=["posterior-combined"], draws=250, fitted=False)
    grades = found.grades().set_index(["group", "judgments", "statement"])
    for (group, n, statement), row in grades.iterrows():
        assert abs(row["announced"] - row["happened"]) < 0.12, (group, n, statement)
        assert row["brier"] < row["brier_constant"], (group, n, statement)
