"""Effects of new organizations, and of an organization on a topic."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayespool.checking.fitting import Fitting
from bayespool.checking.hidden import HiddenDocuments
from bayespool.checking.predictions import predict_held_out
from bayespool.collection import Collection
from bayespool.counts import judgment_counts
from bayespool.inference import Laplace
from bayespool.measures import parse_measure
from bayespool.models import LinearEvidence
from bayespool.posterior import (
    PosteriorEstimator,
    Task,
    interaction_scale,
    log_predictive_densities,
    new_organization_effect,
    with_interaction,
)
from bayespool.simulation import SimulationSettings, load_example, simulate


@pytest.mark.parametrize(("n_organizations", "factor"), [(0, 1.0), (1, 2.0), (8, 9 / 8)])
def test_effect_of_a_new_organization_has_its_scale(n_organizations: int, factor: float) -> None:
    sigma = np.repeat([0.5, 2.0], 20_000)
    effect = new_organization_effect(sigma, n_organizations, np.array([4, 9]), np.random.default_rng(1))
    assert effect.shape == (40_000, 2)
    assert (effect != 0).all()
    standard = effect / (sigma * np.sqrt(factor))[:, None]
    for run in (0, 1):
        assert stats.kstest(standard[:, run], stats.norm.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(effect, rowvar=False)[0, 1]) < 0.03


def test_runs_of_one_organization_share_its_effect() -> None:
    effect = new_organization_effect(np.ones(50), 3, np.array([7, 2, 7]), np.random.default_rng(2))
    assert np.array_equal(effect[:, 0], effect[:, 2])
    assert not (effect[:, 0] == effect[:, 1]).any()


N_TOPICS, N_ORGANIZATIONS, N_DOCUMENTS = 50, 30, 6


def evidence_with(scale: float, seed: int) -> tuple[LinearEvidence, dict[str, np.ndarray]]:
    """Hidden documents with effects of topic, organization and both, and draws that know the first two."""
    rng = np.random.default_rng(seed)
    organization, topic = (
        index.ravel().repeat(N_DOCUMENTS) for index in np.indices((N_ORGANIZATIONS, N_TOPICS))
    )
    cell = organization * N_TOPICS + topic
    topic_effect, organization_effect = rng.normal(size=N_TOPICS), 0.5 * rng.normal(size=N_ORGANIZATIONS)
    log_odds = -1 + topic_effect[topic] + organization_effect[organization]
    log_odds = log_odds + scale * rng.normal(size=N_TOPICS * N_ORGANIZATIONS)[cell]
    evidence = LinearEvidence(
        query_ids=tuple(str(t) for t in range(N_TOPICS)),
        organizations=tuple(str(o) for o in range(N_ORGANIZATIONS)),
        predictor_names=("x",),
        run=organization,
        topic=topic,
        organization=organization,
        predictors=np.zeros((len(cell), 1)),
        n_hidden=np.ones(len(cell), dtype=np.int64),
        n_hidden_relevant=(rng.random(len(cell)) < expit(log_odds)).astype(np.int64),
        center=np.zeros(1),
        unit=np.ones(1),
        expected=np.zeros(1),
    )
    draws = {
        "mu": np.full(2, -1.0),
        "beta": np.zeros((2, 1)),
        "topic_effect": np.tile(topic_effect, (2, 1)),
        "organization_effect": np.tile(organization_effect, (2, 1)),
    }
    return evidence, draws


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
def test_scale_is_found(scale: float) -> None:
    found = [interaction_scale(*evidence_with(scale, seed)) for seed in range(8)]
    # given the effects that hold within a cell, not their means over cells, the scale is a little understated
    assert np.mean(found) == pytest.approx(scale, abs=0.12)


def test_cells_that_vary_less_than_chance_have_no_effect() -> None:
    evidence, draws = evidence_with(0.0, 1)
    alike = np.zeros(len(evidence.run), dtype=np.int64)
    alike[::4] = 1
    draws = {name: np.zeros_like(values) for name, values in draws.items()} | {
        "mu": np.full(2, np.log(1 / 3))
    }
    object.__setattr__(evidence, "n_hidden_relevant", alike)
    assert interaction_scale(evidence, draws) == 0


def test_scale_has_an_end() -> None:
    evidence, draws = evidence_with(0.0, 1)
    all_or_none = (np.arange(len(evidence.run)) // N_DOCUMENTS % 2).astype(np.int64)
    object.__setattr__(evidence, "n_hidden_relevant", all_or_none)
    assert interaction_scale(evidence, draws) <= 3


def test_scale_is_found_where_the_density_has_several_maxima() -> None:
    """Many small cells of all or nothing, and a few large ones that are where they should be."""
    n_documents = np.concatenate([np.full(60, 4), np.full(8, 100)])
    cell = np.arange(68).repeat(n_documents)
    relevant = np.where(cell < 60, cell % 2, np.arange(len(cell)) % 2).astype(np.int64)
    evidence, draws = evidence_with(0.0, 1)
    n = len(cell)
    for name, values in {
        "organization": cell % N_ORGANIZATIONS,
        "topic": cell // N_ORGANIZATIONS,
        "predictors": np.zeros((n, 1)),
        "n_hidden": np.ones(n, dtype=np.int64),
        "n_hidden_relevant": relevant,
    }.items():
        object.__setattr__(evidence, name, values)
    assert interaction_scale(evidence, {name: np.zeros_like(values) for name, values in draws.items()}) > 1


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_chances_keep_their_means(scale: float) -> None:
    log_odds = np.tile([-6.0, -2.0, 0.0, 3.0], (200_000, 1))
    drawn = with_interaction(log_odds, scale, np.arange(4), np.random.default_rng(1))
    error = expit(drawn).std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(expit(drawn).mean(axis=0) - expit(log_odds[0])) < 4 * error).all()


def test_a_cell_shares_its_effect_and_others_do_not() -> None:
    log_odds = np.zeros((4000, 3))
    drawn = with_interaction(log_odds, 0.8, np.array([7, 7, 2]), np.random.default_rng(1))
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 2])[0, 1]) < 0.06
    assert drawn[:, 0].std() == pytest.approx(0.8, abs=0.03)


def test_without_a_scale_or_documents_nothing_changes() -> None:
    log_odds, rng = np.ones((5, 2)), np.random.default_rng(1)
    assert with_interaction(log_odds, 0.0, np.arange(2), rng) is log_odds
    assert with_interaction(log_odds[:, :0], 1.0, np.arange(0), rng).shape == (5, 0)


def test_topics_of_a_run_vary_more_for_it_and_its_mean_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    example, estimator = load_example(), PosteriorEstimator(model="evidence")

    def draws_with(scale: float) -> np.ndarray:
        monkeypatch.setattr("bayespool.posterior.preparation.interaction_scale", lambda *_: scale)
        (estimates,) = estimator.estimate(example, "new-b")
        assert estimates.draws is not None
        return estimates.draws.amount[:, 0]

    without, with_effect = draws_with(0.0), draws_with(2.0)
    several = judgment_counts(example, "new-b", cutoffs=10).n_unjudged[0, :, 0] >= 3
    assert several.sum() >= 3
    assert with_effect[:, several].var(axis=0).mean() > 1.2 * without[:, several].var(axis=0).mean()
    error = without.sum(axis=1).std() * np.sqrt(2 / len(without))
    assert abs(with_effect.sum(axis=1).mean() - without.sum(axis=1).mean()) < 4 * error


def drawn(
    scale: float, monkeypatch: pytest.MonkeyPatch, collection: Collection, runs: list[str]
) -> np.ndarray:
    """Draws of relevant documents under the evidence model with a given scale, shape (draw, run, topic)."""
    monkeypatch.setattr("bayespool.posterior.preparation.interaction_scale", lambda *_: scale)
    (estimates,) = PosteriorEstimator(model="evidence").estimate(collection, runs)
    assert estimates.draws is not None
    return estimates.draws.amount


def test_runs_of_one_organization_share_the_effect_on_a_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs without a common document, within topics and draws."""
    simulation = simulate(SimulationSettings(n_new=2), random_seed=3)
    first, second = simulation.new_run_ids
    apart = simulation.collection
    together = dataclasses.replace(
        apart,
        organization=np.where(
            apart.run_index([second])[0] == np.arange(len(apart.run_ids)),
            apart.organization[apart.run_index([first])[0]],
            apart.organization,
        ),
    )

    def correlation(collection: Collection) -> float:
        draws = drawn(3.0, monkeypatch, collection, [first, second]).astype(float)
        counts = judgment_counts(collection, [first, second], cutoffs=10)
        both = (counts.n_unjudged[:, :, 0] >= 2).all(axis=0)
        assert both.sum() >= 3
        centred = draws[:, :, both] - draws[:, :, both].mean(axis=0)
        return float(np.corrcoef(centred[:, 0].ravel(), centred[:, 1].ravel())[0, 1])

    assert correlation(together) > correlation(apart) + 0.15


def test_document_of_several_organizations_keeps_its_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    example = load_example()
    retrieved = example.document[example.run_index(["new-a"])[0]]
    twin = dataclasses.replace(
        example,
        run_ids=(*example.run_ids, "twin"),
        document=np.concatenate([example.document, retrieved[None]]),
        organizations=(*example.organizations, "twin"),
        organization=np.append(example.organization, np.int32(len(example.organizations))),
        pooled=np.append(example.pooled, False),
        pooling=example.pooling.of_runs([*range(len(example.run_ids)), 0]),
    )
    without, with_effect = (drawn(scale, monkeypatch, twin, ["new-a", "twin"]) for scale in (0.0, 2.0))
    assert (with_effect[:, 0] == with_effect[:, 1]).all()
    error = without[:, 0].sum(axis=1).std() * np.sqrt(3 / len(without))
    assert abs(with_effect[:, 0].sum(axis=1).mean() - without[:, 0].sum(axis=1).mean()) < 3 * error


def test_slices_of_draws_have_effects_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    example = load_example()
    n_unjudged = judgment_counts(example, "new-b", cutoffs=10).n_unjudged[0, :, 0]
    monkeypatch.setattr("bayespool.posterior.completion.CELLS", int(n_unjudged.max()) * 1000)
    draws = drawn(3.0, monkeypatch, example, ["new-b"])[:, 0, int(n_unjudged.argmax())]
    assert abs(np.corrcoef(draws[:1000], draws[1000:2000])[0, 1]) < 0.15


def test_predictions_and_weights_know_the_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(load_example(), (), parse_measure("P@10"), "pooled")
    prepared, hidden = task.prepare("evidence", {}), HiddenDocuments(task)

    def found(scale: float) -> tuple[np.ndarray, np.ndarray]:
        monkeypatch.setattr("bayespool.posterior.preparation.interaction_scale", lambda *_: scale)
        prediction = predict_held_out(prepared, hidden, Fitting(draws=500, chains=2))
        fit = Laplace(draws=400).fit(prepared.spec, prepared.evidence, 1)
        densities, _ = log_predictive_densities({"evidence": prepared}, {"evidence": fit}, 1)
        return prediction.draws.std(axis=0), densities

    (std, density), (wider, other_density) = found(0.0), found(3.0)
    assert wider[std > 0.5].mean() > 1.03 * std[std > 0.5].mean()
    assert np.abs(density - other_density).mean() > 0.02
