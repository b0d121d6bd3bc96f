"""Groups of topics: their mean by hand, Welch's t test, draws of all three scopes, and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayespool.errors import InputError
from bayespool.measures.groups import Groups, t_test_of_groups, welch_degrees
from bayespool.measures.populations import AddedVariance, mean_draws, population_draws

SIZES = {"android": 12, "gis": 6, "unix": 4}
GROUPS = Groups(tuple(np.repeat(list(SIZES), list(SIZES.values())).tolist()))
RNG = np.random.default_rng(7)
SCORES = np.round(RNG.normal([[0.5], [0.4]], 0.1, size=(2, 22)) + GROUPS.topic_group * 0.1, 3)


def test_groups_have_one_weight_and_topics_another() -> None:
    mixed = Groups(("b", "a", "b", "b"))
    scores = np.array([[[1, 8, 3, 5]], [[0, 2, 0, 3]]])
    assert (mixed.names, mixed.n_topics.tolist()) == (("b", "a"), [3, 1])
    assert mixed.by_group(scores).tolist() == [[[3.0, 8.0]], [[1.0, 2.0]]]
    assert mixed.mean(scores).tolist() == [[5.5], [1.5]]
    with pytest.raises(InputError, match="of 'a' there is one"):
        mixed.refuse_one_topic()


def test_one_group_is_the_paired_t_test_and_several_are_a_sum_of_variances() -> None:
    difference = SCORES[0] - SCORES[1]
    alone = t_test_of_groups(difference, Groups(("all",) * 22))
    assert float(alone.p) == pytest.approx(stats.ttest_rel(*SCORES).pvalue)
    parts = [difference[GROUPS.topic_group == g] for g in range(3)]
    errors = np.array([stats.sem(part) / 3 for part in parts])
    found = t_test_of_groups(difference, GROUPS)
    assert float(found.difference) == pytest.approx(np.mean([part.mean() for part in parts]))
    assert float(found.standard_error) == pytest.approx(np.sqrt((errors**2).sum()))
    freedom = (errors**2).sum() ** 2 / (errors**4 / [11, 5, 3]).sum()
    assert float(found.degrees) == pytest.approx(freedom)
    assert float(found.p) == pytest.approx(2 * stats.t.sf(found.difference / found.standard_error, freedom))
    assert np.isnan(t_test_of_groups(np.zeros(22), GROUPS).p)
    assert welch_degrees(np.zeros(2), np.array([3, 4])) == 7


def test_draws_of_two_runs_are_those_of_the_t_test() -> None:
    draws = mean_draws(np.repeat(SCORES[None], 40_000, axis=0), GROUPS, "population", random_seed=2)
    lead = draws[:, 0] - draws[:, 1]
    found = t_test_of_groups(SCORES[0] - SCORES[1], GROUPS)
    ends = stats.t.interval(0.95, found.degrees, found.difference, found.standard_error)
    np.testing.assert_allclose(np.quantile(lead, [0.025, 0.975]), ends, atol=0.03 * np.ptp(ends))
    assert (lead <= 0).mean() == pytest.approx(found.p / 2, abs=0.005)
    by_group = [SCORES[:, GROUPS.topic_group == g].mean(axis=1) for g in range(3)]
    np.testing.assert_allclose(mean_draws(SCORES[None], GROUPS, "these-topics")[0], np.mean(by_group, axis=0))


def test_groups_are_a_sample_where_it_is_asked() -> None:
    draws = mean_draws(np.repeat(SCORES[None], 40_000, axis=0), GROUPS, "groups", random_seed=2)
    ends = stats.ttest_rel(*GROUPS.by_group(SCORES)).confidence_interval(0.8)
    quantiles = np.quantile(draws[:, 0] - draws[:, 1], [0.1, 0.9])
    np.testing.assert_allclose(quantiles, ends, atol=0.03 * np.ptp(ends))


def test_an_added_variance_has_its_own_degrees_of_freedom() -> None:
    added = AddedVariance(np.full((40_000, 2), 0.02), np.full(40_000, 4.0))
    draws = population_draws(np.repeat(SCORES[None], 40_000, axis=0), added=added, random_seed=2)
    difference = SCORES[0] - SCORES[1]
    parts = np.array([stats.sem(difference) ** 2, 0.04])
    freedom = float(welch_degrees(parts, np.array([21, 4])))
    ends = stats.t.interval(0.9, freedom, difference.mean(), np.sqrt(parts.sum()))
    quantiles = np.quantile(draws[:, 0] - draws[:, 1], [0.05, 0.95])
    np.testing.assert_allclose(quantiles, ends, atol=0.03 * np.ptp(ends))


def test_intervals_hold_the_mean_of_groups_of_unequal_size_and_spread() -> None:
    rng, held = np.random.default_rng(3), []
    spread, truth = np.array([0.1, 0.2, 0.3])[GROUPS.topic_group], np.array([0.1, 0.0, -0.1])
    for seed in range(400):
        difference = rng.normal(truth[GROUPS.topic_group], spread)
        draws = np.repeat(np.stack([difference, np.zeros(22)])[None], 400, axis=0)
        means = population_draws(draws, groups=GROUPS, random_seed=seed)
        low, high = np.quantile(means[:, 0] - means[:, 1], [0.025, 0.975])
        held.append(low <= 0 <= high)
    assert 0.925 <= np.mean(held) <= 0.98
