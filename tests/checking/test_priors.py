"""Draws of all variables from their priors."""

from __future__ import annotations

import numpy as np
import pytest
from checked import every_model, example_hidden, prepared

from bayespool.checking.hidden import row_log_odds
from bayespool.checking.priors import block_log_odds, draw_priors


@every_model
def test_two_ways_to_the_chance_of_a_hidden_document_agree(model: str) -> None:
    """By the structure that the engine differentiates, and by the function that scores runs."""
    one = prepared(model)
    structure, rows = one.structure(), example_hidden().rows(one.evidence)
    draws = draw_priors(structure, 5, np.random.default_rng(1))
    (block,) = (b for b in structure.blocks if b.successes is one.evidence.n_hidden_relevant)
    without = row_log_odds(one.spec, one.evidence, draws, np.arange(len(rows.n_hidden)))
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
