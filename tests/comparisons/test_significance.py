"""Tests of significance against SciPy, statsmodels and hand-worked tables; the same in every draw."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from precisions import BY_HAND, known_draws, pairs, precisions
from scipy import stats

from bayespool.comparisons import (
    adjust_p_values,
    brier_score,
    calibration_table,
    compare_runs_by_draws,
    dependability,
    dunnett,
    effect_sizes,
    generalizability,
    paired_t,
    randomization,
    significant_draws,
    tukey_hsd,
    wilcoxon,
)
from bayespool.comparisons.significance import (
    dunnett_critical,
    dunnett_sf,
    p_values,
    tukey_critical,
    tukey_significant,
)
from bayespool.errors import InputError
from bayespool.measures.populations import population_draws

TESTS: tuple[Any, ...] = ("paired-t", "wilcoxon", "randomization")


def test_paired_t_is_scipys() -> None:
    for scores in (precisions(7, 50, 1), np.random.default_rng(2).normal(size=(5, 13))):
        p = paired_t(scores)
        for a, b in pairs(len(scores)):
            expected = stats.ttest_rel(scores[a], scores[b]).pvalue
            assert p[a, b] == pytest.approx(expected, rel=1e-10)
            assert p[b, a] == p[a, b]
        assert np.isnan(np.diagonal(p)).all()
    # 0.4 − 0.3 and 0.3 − 0.2 differ in binary
    assert paired_t([[0.4, 0.3, 0.9], [0.3, 0.2, 0.8]])[0, 1] == 0


def test_runs_without_a_difference_or_without_scores_have_no_p_value() -> None:
    same = np.array([[0.1, 0.3, 0.2, 0.5], [0.1, 0.3, 0.2, 0.5], [0.2, 0.2, 0.4, 0.9]])
    missing = precisions(3, 12, 3)
    missing[1, 4] = np.nan
    for test in TESTS:
        p = p_values(same, test)
        assert np.isnan(p[0, 1]), test
        assert np.isfinite(p[0, 2])
        assert p[0, 2] == p[1, 2]
        p = p_values(missing, test)
        assert np.isnan([p[0, 1], p[1, 2]]).all(), test
        assert np.isfinite(p[0, 2])


def test_wilcoxon_is_scipys() -> None:
    scores = np.random.default_rng(4).normal(size=(6, 24))
    p = wilcoxon(scores)
    for a, b in pairs(6):
        expected = stats.wilcoxon(scores[a] - scores[b], method="exact").pvalue
        assert p[a, b] == pytest.approx(expected, rel=1e-12)
    # its approximation with many topics
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


def test_randomization_is_scipys_where_exact() -> None:
    scores = precisions(4, 9, 6)
    p = randomization(scores)
    for a, b in pairs(4):
        expected = stats.permutation_test(
            (10 * scores[a], 10 * scores[b]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        ).pvalue
        assert p[a, b] == pytest.approx(expected, rel=1e-12)


def test_randomization_draws_signs_where_there_are_too_many() -> None:
    scores = precisions(3, 14, 7)
    exact, drawn = randomization(scores, n_flips=2**14), randomization(scores, n_flips=4000, random_seed=1)
    # four standard errors of a share of 4,000
    assert np.nanmax(np.abs(exact - drawn)) < 4 * 0.5 / np.sqrt(4000)
    assert np.nanmin(drawn) >= 1 / 4001
    np.testing.assert_array_equal(drawn, randomization(scores, n_flips=4000, random_seed=1))
    assert not np.array_equal(drawn, randomization(scores, n_flips=4000, random_seed=2), equal_nan=True)
    # never nothing
    better = np.stack([np.full(40, 0.9), np.full(40, 0.1)])
    assert randomization(better, n_flips=999)[0, 1] == 1 / 1000


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


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, int)


UNANSWERED: tuple[tuple[Callable[[], object], str], ...] = (
    (lambda: paired_t([0.1, 0.2]), r"shape \(2,\) cannot be tested"),
    (lambda: wilcoxon([[0.1], [0.2]]), r"shape \(2, 1\) cannot be tested"),
    (lambda: p_values(BY_HAND, "anova"), "test cannot be 'anova'; known: paired-t"),
    (lambda: randomization(BY_HAND, n_flips=0), "0 sign flips are too few"),
    (lambda: tukey_significant(BY_HAND, 1.0), "level cannot be 1.0"),
    (lambda: adjust_p_values(paired_t(BY_HAND), "bonferroni"), "control cannot be 'bonferroni'"),
    (lambda: significant_draws(zeros(2, 2, 3), test="wilcoxon"), "cannot be repeated"),
    (lambda: significant_draws(zeros(2, 2, 1)), "one topic cannot be tested"),
    (
        lambda: significant_draws(zeros(2, 2, 3), test="tukey-hsd", control="holm"),
        "controls for all pairs by it",
    ),
    (lambda: population_draws(zeros(2, 2, 1)), "one topic says nothing"),
    (lambda: compare_runs_by_draws(zeros(2, 2), ci_prob=0.95, rope=-1), "cannot reach to -1"),
    (lambda: generalizability([[1.0, 2.0]]), "two runs and two topics or more"),
    (lambda: dependability(BY_HAND, n_topics=0), "too few topics: 0"),
    (lambda: calibration_table([1.2], [True]), "not between 0 and 1"),
    (lambda: brier_score([0.2, 0.1], [True]), "cannot be graded"),
)


def test_what_cannot_be_answered_is_an_error_that_says_so() -> None:
    for call, said in UNANSWERED:
        with pytest.raises(InputError, match=said):
            call()


def test_effect_sizes_by_hand_and_from_scipy() -> None:
    scores = precisions(3, 20, 7)
    found, ranked = effect_sizes(scores), effect_sizes(scores, "wilcoxon")
    for a, b in pairs(3):
        difference = np.round(scores[a] - scores[b], 12)
        assert found[a, b] == -found[b, a] == pytest.approx(difference.mean() / difference.std(ddof=1))
        rank = stats.rankdata(np.abs(difference[difference != 0]))
        signed = np.sign(difference[difference != 0]) * rank
        assert ranked[a, b] == -ranked[b, a] == pytest.approx(signed.sum() / rank.sum())
    assert np.isnan(np.diag(found)).all()
    same, shifted = [0.1, 0.3, 0.2], [0.2, 0.4, 0.3]
    assert np.isnan(effect_sizes([same, same])[0, 1])
    assert effect_sizes([shifted, same])[0, 1] == np.inf
    assert effect_sizes([shifted, same], "wilcoxon")[0, 1] == 1


N_DRAWS = 10


@cache
def one_by_one(test: Any, control: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draws, and in how many of them each run is significantly better than each other one."""
    draws = known_draws(N_DRAWS, n_runs=6, seed=5)
    expected = np.zeros((6, 6), dtype=int)
    for one in draws:
        p = adjust_p_values(p_values(one / 10, test), control)
        difference = np.subtract.outer(one.sum(axis=1), one.sum(axis=1))
        expected += (p <= 0.05) & (difference > 0)
    return draws, expected


CONTROLS: tuple[tuple[Any, Any], ...] = (
    *(("paired-t", control) for control in ("none", "holm", "benjamini-hochberg")),
    ("tukey-hsd", "none"),
)


@pytest.mark.parametrize("cells", [1 << 21, 100])
def test_significant_draws_are_those_of_the_test_in_each_draw(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayespool.comparisons.draws._MAX_CELLS_OF_DRAWS", cells)
    for test, control in CONTROLS:
        draws, expected = one_by_one(test, control)
        found = significant_draws(draws, test=test, level=0.05, control=control)
        np.testing.assert_array_equal(found.n_greater, expected, err_msg=control)
        assert 0 < expected.sum() < N_DRAWS * 15, "the draws decide nothing"
        assert expected[0, 1] == 0


def test_reversal_risk_counts_draws_that_do_not_bear_the_claim_out() -> None:
    up, down = [[9, 9, 8, 9], [1, 2, 0, 1]], [[1, 2, 0, 1], [9, 9, 8, 9]]
    same = [[5, 4, 5, 6], [5, 4, 5, 6]]
    found = significant_draws(np.array([up] * 7 + [same] * 2 + [down]))
    assert found.prob_significant[0, 1] == 0.8  # seven one way, one the other
    risk = found.reversal_risk(np.array([[False, True], [False, False]]))
    assert risk[0, 1] == risk[1, 0] == pytest.approx(0.3)
    assert np.isnan(found.reversal_risk(np.zeros((2, 2), dtype=bool))).all()


def test_one_difference_with_a_baseline_is_a_t_test() -> None:
    for degrees in (1, 3, 20, 500):
        t = np.array([0.0, 0.7, 2.0, 6.0])
        np.testing.assert_allclose(dunnett_sf(t, 1, degrees), 2 * stats.t.sf(t, degrees), atol=1e-9)


def test_several_differences_are_those_of_scipy_and_of_published_tables() -> None:
    rng = np.random.default_rng(1)
    control, *groups = (rng.normal(mean, 1, 20) for mean in (0, 0.3, 0.8, 1))
    found = stats.dunnett(*groups, control=control)
    np.testing.assert_allclose(dunnett_sf(np.abs(found.statistic), 3, 76), found.pvalue, atol=2e-3)
    # Dunnett (1964), table II: five differences, 20 degrees of freedom
    assert [round(dunnett_critical(level, 5, 20), 2) for level in (0.05, 0.01)] == [2.73, 3.48]


def test_runs_against_a_baseline_share_the_error_of_the_additive_model() -> None:
    scores = np.array([[0.1, 0.4, 0.5, 0.2], [0.3, 0.5, 0.9, 0.3], [0.2, 0.3, 0.9, 0.1]])
    found = dunnett(scores, 0)
    residual = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    t = (scores[1:].mean(axis=1) - scores[0].mean()) / np.sqrt(2 * (residual**2).sum() / 6 / 4)
    both = stats.multivariate_t(shape=[[1, 0.5], [0.5, 1]], df=6, seed=1)
    expected = [1 - both.cdf([abs(x)] * 2, lower_limit=[-abs(x)] * 2) for x in t]
    np.testing.assert_allclose(found[0, 1:], expected, atol=1e-3)
    np.testing.assert_array_equal(found, found.T)
    assert np.isnan(found[1, 2])
    np.testing.assert_allclose(dunnett(scores[:2], 1)[0, 1], paired_t(scores)[0, 1])


@pytest.mark.parametrize("level", [0.05, 0.3])
def test_every_draw_is_tested_against_the_baseline_as_scores_are(level: float) -> None:
    draws = np.random.default_rng(2).integers(0, 10, size=(60, 4, 6)) + np.arange(4)[:, None]
    found = significant_draws(draws, level=level, control="dunnett")
    expected = np.zeros((4, 4), dtype=int)
    for one in draws:
        p = dunnett(one, 2)[2]
        expected[2] += (p <= level) & (one[2].sum() > one.sum(axis=1))
    assert found.n_greater[2].tolist() == expected[2].tolist()
    assert 0 < expected.sum() < 180
