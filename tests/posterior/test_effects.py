"""Effects of new organizations, and of an organization on a topic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bayespool.collection import Collection
from bayespool.evidence import judgment_counts
from bayespool.experiments import SimulationSettings, load_example, simulate
from bayespool.experiments.hidden import Fitting, HiddenDocuments
from bayespool.experiments.predictions import predict_held_out
from bayespool.inference import Laplace
from bayespool.measures import parse_measure
from bayespool.posterior import (
    Completion,
    PosteriorEstimator,
    RungPosterior,
    ScoringProblem,
    held_out_totals,
    new_interaction,
    new_organization_effect,
    new_slopes,
)
from bayespool.posterior.steps import add_slopes

SIGMA = np.repeat([0.5, 2.0], 20_000)


def assert_normal(*columns: np.ndarray) -> None:
    for column in columns:
        assert stats.kstest(column, stats.norm.cdf).pvalue > 1e-4
    assert np.abs(np.corrcoef(np.stack(columns)) - np.eye(len(columns))).max() < 0.03


def test_effects_of_new_organizations_have_their_scale() -> None:
    """Runs of one organization share its effect."""
    for n_organizations, factor in ((0, 1.0), (1, 2.0), (8, 9 / 8)):
        effect = new_organization_effect(
            SIGMA, n_organizations, np.array([4, 9, 4]), np.random.default_rng(1)
        )
        standard = effect / (SIGMA * np.sqrt(factor))[:, None]
        assert_normal(standard[:, 0], standard[:, 1])
        assert np.array_equal(effect[:, 0], effect[:, 2]), n_organizations


def test_cells_and_slopes_have_effects_of_their_own() -> None:
    effect = new_interaction(SIGMA, np.array([7, 7, 2]), np.random.default_rng(1))
    assert (effect[:, 0] == effect[:, 1]).all()
    assert_normal(effect[:, 0] / SIGMA, effect[:, 2] / SIGMA)
    assert new_interaction(SIGMA, np.zeros(0, dtype=int), np.random.default_rng(1)).shape == (40_000, 0)
    slopes = new_slopes(SIGMA, 2, 3, np.random.default_rng(1))
    assert slopes.shape == (40_000, 2, 3)
    assert_normal(*(slopes / SIGMA[:, None, None]).reshape(40_000, 6).T)


def test_slopes_are_added_times_predictors() -> None:
    rng = np.random.default_rng(3)
    slopes, predictors, organization = (
        rng.normal(size=(7, 2, 3)),
        rng.normal(size=(5, 3)),
        np.array([1, 0, 1, 1, 0]),
    )
    source, log_odds = np.array([6, 0, 2, 2]), np.ones((4, 5))
    add_slopes(log_odds, slopes, source, organization, predictors)
    expected = 1 + (slopes[source][:, organization] * predictors).sum(axis=2)
    np.testing.assert_allclose(log_odds, expected, rtol=1e-12)


def with_scale(completion: Completion, scale: float) -> Completion:
    """A completion whose new organizations have effects on topics of this scale."""
    posteriors = []
    for posterior in completion.posteriors:
        usual = posterior.mixture.components
        components = [replace(c, cell_scale=np.full(completion.n_draws, scale)) for c in usual]
        posteriors.append(
            RungPosterior(posterior.rung, replace(posterior.mixture, components=tuple(components)))
        )
    return replace(completion, posteriors=tuple(posteriors))


def drawn(scale: float, collection: Collection, runs: list[str]) -> np.ndarray:
    """Draws of relevant documents under the evidence model with a given scale, shape (draw, run, topic)."""
    completion = PosteriorEstimator(model="evidence").complete(collection, runs)
    return with_scale(completion, scale).evaluate("P@10")[0].amount


def test_topics_of_a_run_vary_more_for_it() -> None:
    example = load_example()
    without, with_effect = (drawn(scale, example, ["new-b"])[:, 0] for scale in (0.0, 2.0))
    several = judgment_counts(example, "new-b", cutoffs=10).n_unjudged[0, :, 0] >= 3
    assert several.sum() >= 3
    assert with_effect[:, several].var(axis=0).mean() > 1.2 * without[:, several].var(axis=0).mean()


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


def test_runs_of_one_organization_share_the_effect_on_a_topic() -> None:
    """Of two runs without a common document, within topics and draws."""
    simulation = simulate(SimulationSettings(n_new=2), random_seed=3)
    first, second = simulation.new_run_ids
    apart = simulation.collection
    together = replace(
        apart,
        organization=np.where(
            apart.run_index([second])[0] == np.arange(len(apart.run_ids)),
            apart.organization[apart.run_index([first])[0]],
            apart.organization,
        ),
    )

    def correlation(collection: Collection) -> float:
        draws = drawn(3.0, collection, [first, second]).astype(float)
        counts = judgment_counts(collection, [first, second], cutoffs=10)
        both = (counts.n_unjudged[:, :, 0] >= 2).all(axis=0)
        assert both.sum() >= 3
        centered = draws[:, :, both] - draws[:, :, both].mean(axis=0)
        return float(np.corrcoef(centered[:, 0].ravel(), centered[:, 1].ravel())[0, 1])

    assert correlation(together) > correlation(apart) + 0.15


def test_document_of_several_organizations_has_one_relevance() -> None:
    example = load_example()
    retrieved = example.document[example.run_index(["new-a"])[0]]
    twin = replace(
        example,
        run_ids=(*example.run_ids, "twin"),
        document=np.concatenate([example.document, retrieved[None]]),
        organizations=(*example.organizations, "twin"),
        organization=np.append(example.organization, np.int32(len(example.organizations))),
        pooled=np.append(example.pooled, False),
        pool=example.pool.of_runs([*range(len(example.run_ids)), 0]),
    )
    found = drawn(2.0, twin, ["new-a", "twin"])
    assert (found[:, 0] == found[:, 1]).all()


def test_slices_of_draws_have_effects_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    example = load_example()
    n_unjudged = judgment_counts(example, "new-b", cutoffs=10).n_unjudged[0, :, 0]
    monkeypatch.setattr("bayespool.posterior.completion.CELLS", int(n_unjudged.max()) * 1000)
    draws = drawn(3.0, example, ["new-b"])[:, 0, int(n_unjudged.argmax())]
    assert abs(np.corrcoef(draws[:1000], draws[1000:2000])[0, 1]) < 0.15


@pytest.mark.slow
def test_predictions_and_weights_know_the_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same fits: runs of new organizations vary more for their effects on topics, and have more
    relevant documents where few are. The density that weighs models has them, too: it is near that of the
    predictions with them.
    """
    task = ScoringProblem(load_example(), (), parse_measure("P@10"), "pooled")
    prepared = task.prepare("evidence", {"sigma_interaction": "HalfNormal(20)"})
    fit = Laplace(draws=400).fit(prepared.spec, prepared.evidence, 1)
    assert fit.draws()["sigma_interaction"].mean() > 0.8

    def found() -> tuple[np.ndarray, np.ndarray]:
        prediction = predict_held_out(prepared, HiddenDocuments(task), Fitting(draws=1000, chains=2))
        return prediction.draws, prediction.log_density[np.isfinite(prediction.log_density)]

    draws, density = found()
    monkeypatch.setattr(
        "bayespool.experiments.hidden.new_interaction", lambda *given: 0 * new_interaction(*given)
    )
    without, narrow = found()
    several = without.std(axis=0) > 0.5
    # 1.036, 1.116 and 0.51 here, with Monte-Carlo errors of about 0.01
    assert draws[:, several].std(axis=0).mean() > 1.02 * without[:, several].std(axis=0).mean()
    assert draws[:, several].mean() > 1.08 * without[:, several].mean()
    densities = held_out_totals({"evidence": prepared}, {"evidence": fit}).log_density
    assert np.abs(densities[:, 0] - density).mean() < 0.65 * np.abs(densities[:, 0] - narrow).mean()


def test_organizations_without_a_hidden_document_have_no_part_in_weights() -> None:
    settings = SimulationSettings(
        n_topics=1, n_candidates=15, n_organizations=5, max_runs=1, n_new=1, pool_depth=5, run_depth=15
    )
    collection = simulate(settings, random_seed=1).collection
    for draws in (1, 200):  # a single draw of scales lays points all the same
        weights = PosteriorEstimator(draws=draws, chains=1).complete(collection, None, "P@5").weights
        assert sum(weights.values()) == pytest.approx(1)
        assert all(0 < weight < 1 for weight in weights.values())
