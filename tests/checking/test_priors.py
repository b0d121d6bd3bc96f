"""Draws from the priors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checked import every_model, example_hidden, prepared
from scipy import stats

from bayespool.checking.hidden import row_log_odds
from bayespool.checking.priors import block_log_odds, draw_prior, draw_priors
from bayespool.errors import InputError
from bayespool.models import parse_prior


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("Beta(2, 2.5)", stats.beta(2, 2.5)),
        ("Cauchy(1, 2)", stats.cauchy(1, 2)),
        ("Exponential(2)", stats.expon(scale=0.5)),
        ("Gamma(3, 2)", stats.gamma(3, scale=0.5)),
        ("HalfCauchy(2)", stats.halfcauchy(scale=2)),
        ("HalfNormal(0.7)", stats.halfnorm(scale=0.7)),
        ("HalfStudentT(4, 2)", stats.foldnorm(0)),  # replaced below
        ("InverseGamma(3, 2)", stats.invgamma(3, scale=2)),
        ("Laplace(1, 2)", stats.laplace(1, 2)),
        ("LogNormal(0.5, 0.4)", stats.lognorm(0.4, scale=np.exp(0.5))),
        ("Logistic(-1, 0.5)", stats.logistic(-1, 0.5)),
        ("Normal(-2.2, 1.5)", stats.norm(-2.2, 1.5)),
        ("StudentT(5, 1, 2)", stats.t(5, 1, 2)),
        ("Uniform(2, 5)", stats.uniform(2, 3)),
    ],
)
def test_draws_follow_the_prior(text: str, reference: Any) -> None:
    draws = draw_prior(parse_prior(text), 4000, np.random.default_rng(1))
    if text.startswith("HalfStudentT"):
        assert draws.min() >= 0
        draws, reference = np.append(draws, -draws) / 2, stats.t(4)
    assert stats.kstest(draws, reference.cdf).pvalue > 1e-4


def test_unknown_prior_is_named() -> None:
    with pytest.raises(InputError, match=r"no draws from the prior Kumaraswamy\(1, 1\)"):
        draw_prior(parse_prior("Kumaraswamy(1, 1)"), 3, np.random.default_rng(1))
    with pytest.raises(InputError, match="has 1 parameters, not 2"):
        draw_prior(parse_prior("Normal(1)"), 3, np.random.default_rng(1))


@every_model
def test_two_ways_to_the_chance_of_a_hidden_document_agree(model: str) -> None:
    """By the structure that the engine differentiates, and by the function that scores runs."""
    one = prepared(model)
    structure, rows = one.structure(), example_hidden().rows(one.evidence)
    draws = draw_priors(structure, 5, np.random.default_rng(1))
    (block,) = (b for b in structure.blocks if b.successes is one.evidence.n_hidden_relevant)
    without = row_log_odds(model, one.evidence, draws, np.arange(len(rows.n_hidden)))
    np.testing.assert_allclose(
        block_log_odds(structure, block, draws),
        without + draws["organization_effect"][:, rows.organization],
        rtol=1e-9,
    )


def test_effects_of_prior_draws_sum_to_zero_and_have_their_scale() -> None:
    draws = draw_priors(prepared("background").structure(), 4000, np.random.default_rng(1))
    np.testing.assert_allclose(draws["topic_effect"].sum(axis=1), 0, atol=1e-9)
    standard = draws["topic_effect"][:, 0] / draws["sigma_topic"]
    assert standard.std() == pytest.approx(np.sqrt(1 - 1 / 20), rel=0.04)
