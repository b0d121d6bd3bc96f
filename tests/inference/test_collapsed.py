"""Thousands of topics, integrated out: the same posterior as of all of them at each point, in less memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from each import cases
from scipy.special import expit

from bayespool.inference import Laplace, collapsed, laplace
from bayespool.inference.collapsed import collapse, integrate, part_of_topics
from bayespool.inference.density import Density
from bayespool.inference.fit import Start
from bayespool.inference.modes import find_center, find_mode
from bayespool.models import MODELS, LinearEvidence

N_ORGANIZATIONS, N_DOCUMENTS = 8, 5


@pytest.fixture(autouse=True)
def hundreds_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (collapsed, laplace):
        monkeypatch.setattr(module, "MANY_TOPICS", 150)


def simulated(n_topics: int, of_topics: float, of_cells: float, seed: int = 1) -> LinearEvidence:
    """Hidden documents with effects of topics, organizations and both, of these standard deviations."""
    rng = np.random.default_rng(seed)
    cells = (index.ravel() for index in np.indices((N_ORGANIZATIONS, n_topics)))
    organization, topic = (np.repeat(index, N_DOCUMENTS) for index in cells)
    of_cell = np.repeat(of_cells * rng.normal(size=N_ORGANIZATIONS * n_topics), N_DOCUMENTS)
    log_rank = np.log(1 + np.tile(np.arange(N_DOCUMENTS), N_ORGANIZATIONS * n_topics))
    log_odds = -0.5 - 0.6 * log_rank + of_topics * rng.normal(size=n_topics)[topic]
    log_odds += 0.4 * rng.normal(size=N_ORGANIZATIONS)[organization] + of_cell
    return LinearEvidence(
        query_ids=tuple(map(str, range(n_topics))),
        organizations=tuple(map(str, range(N_ORGANIZATIONS))),
        predictor_names=("log_rank",),
        run=organization,
        topic=topic,
        organization=organization,
        predictors=(log_rank - log_rank.mean())[:, None],
        n_hidden=np.ones(len(topic), dtype=np.int64),
        n_hidden_relevant=rng.binomial(1, expit(log_odds)),
        center=np.full(1, log_rank.mean()),
        unit=np.ones(1),
        expected=np.zeros(1),
    )


SPEC = MODELS["ratio"]


@cases(("of_topics", "of_cells"), [(0.8, 0.0), (0.0, 0.5)])
def test_the_log_marginal_is_that_of_all_topics(of_topics: float, of_cells: float) -> None:
    """At scales from the posterior; globals have the means of all topics' fit there."""
    evidence = simulated(600, of_topics, of_cells)
    start, density = Laplace().search(SPEC, evidence), Density(SPEC.structure(evidence))
    found, integral = collapse(density, start, 2), integrate(density, start, 2)
    assert found is not None
    assert integral is not None
    of, _ = found
    chosen = np.random.default_rng(3).choice(len(integral.points), 12, p=integral.chance)
    chosen = chosen[(integral.points[chosen] > -4).all(axis=1)]  # at a scale of zero all topics have no mode
    marginals, means, _ = of.conditional(integral.points[chosen])
    exact = np.zeros(len(chosen))
    for k, theta in enumerate(integral.points[chosen]):
        mode = find_mode(density, theta, of.at(Start(theta, start.spread, means[k])), 1e-3)
        x, gaussian, _, exact[k] = find_center(density, theta, mode.x, mode.gaussian, 3)
        deviations = np.sqrt(np.diag(gaussian.covariance()[: of.size, : of.size]))
        assert np.abs((x[: of.size] - means[k]) / deviations).max() < 0.15
    off = exact - marginals
    assert np.abs(off - np.median(off)).max() < 0.75


def test_draws_are_those_of_a_fit_with_nodes_of_all_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = simulated(600, 0.8, 0.5)
    few = Laplace(draws=4000).fit(SPEC, evidence, 1)
    again = Laplace(draws=4000).fit(SPEC, evidence, 1, start=few.start)
    monkeypatch.setattr(laplace, "MANY_TOPICS", 1000)
    whole = Laplace(draws=4000).fit(SPEC, evidence, 1)
    assert few.shape == whole.shape
    ours, theirs = few.draws(), whole.draws()
    for name, drawn in ours.items():
        assert drawn.tobytes() == again.draws()[name].tobytes()
        if name == "interaction_effect":
            continue
        mean, deviation = theirs[name].mean(axis=0), theirs[name].std(axis=0)
        assert np.abs((drawn.mean(axis=0) - mean) / deviation).max() < 0.2, name
        np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.15, err_msg=name)
    np.testing.assert_allclose(ours["topic_effect"].sum(axis=1), 0, atol=1e-3)  # of singles
    assert few.start.interval_error == pytest.approx(whole.start.interval_error, abs=0.01)


def test_where_the_density_is_not_quadratic_nodes_are_of_all_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = simulated(160, 0.8, 0.5)
    monkeypatch.setattr(collapsed, "_MOST_ROUNDS", 0)
    fit, start = Laplace(draws=50).fit(SPEC, evidence, 1), Laplace().search(SPEC, evidence)
    assert integrate(Density(SPEC.structure(evidence)), start, 2) is None
    monkeypatch.setattr(laplace, "MANY_TOPICS", 1000)
    whole = Laplace(draws=50).fit(SPEC, evidence, 1, start=start)
    np.testing.assert_array_equal(fit.draws()["mu"], whole.draws()["mu"])


def test_memory_is_not_of_a_curvature_for_each_node(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, peaks = simulated(600, 0.8, 0.5), []
    for many in (150, 1000):
        monkeypatch.setattr(laplace, "MANY_TOPICS", many)
        Laplace(draws=2, check=False).fit(SPEC, evidence, 1, known=())
        for n_draws in (100, 600):
            tracemalloc.start()
            Laplace(draws=n_draws, check=False).fit(SPEC, evidence, 1, known=())
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    few, more, whole = peaks[:3]
    curvature = (Density(SPEC.structure(evidence, ())).layout.n_global + 1) * 600 * 8
    assert few + 32 * curvature < whole
    assert more - few < 4 * 8 * 600 * 500  # draws


def test_a_part_of_topics_is_at_most_as_many_and_evenly_spaced() -> None:
    for n_topics in (1, 150, 151, 299, 1000):
        part = part_of_topics(n_topics)
        assert 0 < part.sum() <= 150
        assert len(set(np.diff(np.flatnonzero(part)))) < 2
