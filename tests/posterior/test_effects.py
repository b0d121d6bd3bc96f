"""Effects of new organizations, of an organization on a topic, and what is assumed of unjudged documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayespool.experiments import SimulationSettings, load_example, simulate
from bayespool.measures import Estimates
from bayespool.pooling import StrategyPool
from bayespool.posterior import PosteriorEstimator, new_organization_effect
from bayespool.posterior.steps import add_slopes

SIGMA = np.repeat([0.5, 2.0], 20_000)


def assert_normal(*columns: np.ndarray) -> None:
    for column in columns:
        assert stats.kstest(column, stats.norm.cdf).pvalue > 1e-4
    assert np.abs(np.corrcoef(np.stack(columns)) - np.eye(len(columns))).max() < 0.03


def test_effects_of_new_organizations_have_their_scale() -> None:
    """Runs of one organization share its effect."""
    for n_organizations, factor in ((0, 1.0), (1, 2.0), (8, 9 / 8)):
        rng = np.random.default_rng(1)
        effect = new_organization_effect(SIGMA, n_organizations, np.array([4, 9, 4]), rng)
        standard = effect / (SIGMA * np.sqrt(factor))[:, None]
        assert_normal(standard[:, 0], standard[:, 1])
        assert np.array_equal(effect[:, 0], effect[:, 2]), n_organizations


def test_slopes_are_added_times_predictors() -> None:
    rng = np.random.default_rng(3)
    slopes, predictors = rng.normal(size=(7, 2, 3)), rng.normal(size=(5, 3))
    organization = np.array([1, 0, 1, 1, 0])
    source, log_odds = np.array([6, 0, 2, 2]), np.ones((4, 5))
    add_slopes(log_odds, slopes, source, organization, predictors)
    expected = 1 + (slopes[source][:, organization] * predictors).sum(axis=2)
    np.testing.assert_allclose(log_odds, expected, rtol=1e-12)


def test_a_pooled_run_has_the_effects_of_its_evidence() -> None:
    """Not new ones: where much of an organization is hidden and relevant, what is unjudged is more so."""
    example = load_example().truncate_pool(5)
    run = example.pooled_run_ids[0]
    own = example.organization[example.run_index([run])[0]]
    (component,) = PosteriorEstimator(model="ratio").complete(example, run).posteriors[0].components
    (organization,) = component.cells
    assert organization == own
    assert component.known.tolist() == [True]
    effects = component.cells[organization]
    assert effects.shape == (4000, len(example.query_ids))
    fit = component.fit.draws()
    assert np.array_equal(fit["interaction_effect"], effects)
    assert (np.abs(effects.mean(axis=0)) > 5 * effects.std(axis=0) / np.sqrt(4000)).any()


def test_organizations_without_a_hidden_document_have_no_part_in_weights() -> None:
    settings = SimulationSettings(
        n_topics=1, n_candidates=15, n_organizations=5, max_runs=1, n_new=1, pool_depth=5, run_depth=15
    )
    collection = simulate(settings, random_seed=1).collection
    for draws in (1, 200):  # a single draw of scales lays points all the same
        weights = PosteriorEstimator(draws=draws, chains=1).complete(collection, None, "P@5").weights
        assert sum(weights.values()) == pytest.approx(1)
        assert all(0 < weight < 1 for weight in weights.values())


def test_what_is_assumed_shifts_the_first_rung_alone() -> None:
    """Whether a document is relevant at all is what more of the unjudged ones may be."""

    def effects(shift: float | None) -> list[np.ndarray]:
        estimator = PosteriorEstimator(model="background", draws=50, shift=shift)
        completion = estimator.complete(load_example(), "new-a", "nDCG@10")
        return [posterior.components[0].effect for posterior in completion.posteriors]

    (first, second), (shifted, same) = effects(None), effects(0.7)
    np.testing.assert_allclose(shifted - first, 0.7)
    assert (same == second).all()


def test_hidden_documents_of_a_strategy_that_looked_at_judgments_are_more_relevant() -> None:
    """By how much is the prior's: with a prior of one value, what a fixed shift gives, and a note says so."""
    example = load_example()
    pooled, budget = np.flatnonzero(example.pooled), int(example.judged.sum())
    looked = replace(example, pool=StrategyPool.of(example, pooled, "move-to-front", budget))

    def found(**settings: Any) -> Estimates:
        estimator = PosteriorEstimator(model="background", draws=25, **settings)
        return estimator.estimate(looked, ["new-b"])[0]

    usual, none = found(), found(shift=0.0)
    assert usual.value[0] < none.value[0]
    assert "judgments decided what was judged" in usual.notes[0]
    assert "prior of shift: Normal(-0.25, 0.25)" in usual.notes[0]
    assert "judgments decided" not in none.notes[0]
    fixed, certain = found(shift=-1.0), found(priors={"shift": "Uniform(-1, -1)"})
    np.testing.assert_array_equal(fixed.draws.means(), certain.draws.means())
