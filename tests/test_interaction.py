"""Effects of organization × topic: their scale is found, chances keep their means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from bayespool.counts import judgment_counts
from bayespool.models import LinearEvidence
from bayespool.posterior import PosteriorEstimator, interaction_scale, with_interaction
from bayespool.simulation import load_example

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
        return estimates.draws[:, 0]

    without, with_effect = draws_with(0.0), draws_with(2.0)
    several = judgment_counts(example, "new-b", cutoffs=10).n_unjudged[0, :, 0] >= 3
    assert several.sum() >= 3
    assert with_effect[:, several].var(axis=0).mean() > 1.2 * without[:, several].var(axis=0).mean()
    error = without.sum(axis=1).std() * np.sqrt(2 / len(without))
    assert abs(with_effect.sum(axis=1).mean() - without.sum(axis=1).mean()) < 4 * error
