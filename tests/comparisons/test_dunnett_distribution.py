"""Dunnett's test: its distribution against SciPy and published values, on scores, and in every draw."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayespool.comparisons.dunnett_distribution import dunnett_critical, dunnett_sf
from bayespool.comparisons.significance import dunnett, paired_t, significant_draws


def test_one_difference_is_a_t_test() -> None:
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
def test_every_draw_is_tested_as_scores_are(level: float) -> None:
    draws = np.random.default_rng(2).integers(0, 10, size=(60, 4, 6)) + np.arange(4)[:, None]
    found = significant_draws(draws, level=level, control="dunnett")
    expected = np.zeros((4, 4), dtype=int)
    for one in draws:
        p = dunnett(one, 2)[2]
        expected[2] += (p <= level) & (one[2].sum() > one.sum(axis=1))
    assert found.n_greater[2].tolist() == expected[2].tolist()
    assert 0 < expected.sum() < 180
