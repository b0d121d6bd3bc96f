"""Slopes of log odds on rank below the pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bayespool import complete
from bayespool.collection.pools import DepthPool
from bayespool.evidence.held_out import held_out_documents
from bayespool.experiments import load_example
from bayespool.experiments.simulation import simulate_example
from bayespool.measures import parse_measure
from bayespool.models.spec import BELOW_POOL_PRIORS
from bayespool.pooling.pools import with_strategy_pool
from bayespool.posterior import Completion, ScoringProblem
from bayespool.posterior.below_pool import slope_within_rankings

CERTAIN = dict.fromkeys(BELOW_POOL_PRIORS, "Uniform(0, 0)")


def completion(priors: dict[str, str]) -> Completion:
    return complete(load_example(), "new-a", "nDCG@30", model="ratio", draws=50, priors=priors)


def log_odds(found: Completion, topic: int) -> list[np.ndarray]:
    """Of a topic's documents by rung, without effects of organizations, shape (draw, document) each."""
    documents = found.unknowns.on_topic(topic)
    return [p.components[0].log_odds(np.arange(200), topic, documents) for p in found.posteriors]


def test_log_odds_fall_with_log_rank_below_the_pool() -> None:
    """By hand: 1 per log(rank / 10) on the first rung, nothing down to rank 10, nothing above that rung."""
    steep = CERTAIN | {"below_pool": "Uniform(-1, -1)"}
    flat, falling = (completion(priors) for priors in (CERTAIN, steep))
    rank = flat.unknowns.rank
    assert rank.min() <= 10 < rank.max()
    for t in range(20):
        (first, above), (fallen, same) = log_odds(flat, t), log_odds(falling, t)
        expected = np.log(np.maximum(rank[flat.unknowns.on_topic(t)], 10) / 10)
        np.testing.assert_allclose(first - fallen, np.tile(expected, (200, 1)), atol=1e-12)
        np.testing.assert_array_equal(above, same)


@pytest.mark.filterwarnings("ignore:Dropped .* groups")
def test_the_slope_within_rankings_is_that_of_conditional_logistic_regression() -> None:
    """By statsmodels; whatever rankings have apart cancels, and one document alone says nothing."""
    from statsmodels.discrete.conditional_models import ConditionalLogit

    rng = np.random.default_rng(1)
    run, topic = (a.ravel() for a in np.mgrid[:30, :10])
    run, topic = np.repeat(run, 5), np.repeat(topic, 5)
    rank = rng.integers(1, 11, len(run))
    apart = rng.normal(-1, 2, size=(30, 10))[run, topic]
    relevant = rng.random(len(run)) < 1 / (1 + np.exp(-apart + 0.4 * np.log(rank)))
    model = ConditionalLogit(relevant.astype(int), np.log(rank)[:, None], groups=run * 10 + topic)
    both = model.fit(disp=False)
    mean, deviation = slope_within_rankings((run, topic, rank, np.zeros(len(run), np.int32), relevant))
    precision = both.bse[0] ** -2 + 0.3**-2
    assert mean == pytest.approx((both.params[0] * both.bse[0] ** -2 - 0.3 * 0.3**-2) / precision, abs=0.01)
    assert deviation == pytest.approx(precision**-0.5, rel=0.02)
    alone = slope_within_rankings(tuple(a[:1] for a in (run, topic, rank, run.astype(np.int32), relevant)))
    assert alone == pytest.approx((-0.3, 0.3))


def test_documents_that_a_strategy_judged_deeper_are_evidence_of_their_ranks() -> None:
    """Its pool is as large as one to depth 6; a twentieth of its hidden documents are below rank 18."""
    simulation = simulate_example()
    full = replace(simulation.complete(), pool=DepthPool.even(100, 23))
    deep = with_strategy_pool(full, "max-mean", 800)
    problem = ScoringProblem(deep, ("new-a",), parse_measure("P@100"), "complete")
    end = np.quantile(held_out_documents(deep, cutoff=100)[2], 0.95)
    assert (deep.pool_depth, end) == (6, 18)
    rank = problem.places(100).rank
    np.testing.assert_allclose(problem.below_pool, np.log(np.maximum(rank, end) / end))
