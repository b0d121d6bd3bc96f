"""Draws of all variables from their priors."""

from __future__ import annotations

import numpy as np
import pytest
from checked import every_model, example_hidden, prepared

from bayespool.inference import Density, arrow
from bayespool.inference.density import PreparedBlock
from bayespool.models.formulas import draw_priors


@every_model
def test_two_ways_to_the_chance_of_a_hidden_document_agree(model: str) -> None:
    """By the structure that the engine differentiates, and by the function that scores runs."""
    one = prepared(model)
    structure, rows = one.structure(), example_hidden().rows(one.evidence)
    draws = draw_priors(structure, 5, np.random.default_rng(1))
    (block,) = (b for b in structure.blocks if b.successes is one.evidence.n_hidden_relevant)
    without = one.spec.log_odds_of_rows(one.evidence, draws, np.arange(len(rows.n_hidden)))
    expected = without + draws["organization_effect"][:, rows.organization]
    order = np.arange(len(rows.n_hidden))
    if "interaction" in one.spec.effects:  # the engine integrates them and sorts rows by their cells
        order = np.argsort(one.evidence.cell, kind="stable")
        predictors = one.evidence.predictors
        slopes = draws["slope_effect"].reshape(5, -1, predictors.shape[1])
        assert slopes.std() > 0.1
        expected = expected + np.einsum("dik,ik->di", slopes[:, rows.organization], predictors)
    density = Density(structure)
    prepared_block = PreparedBlock(block, density.places)
    for draw, log_odds in enumerate(expected[:, order]):
        x, _ = density.start({name: values[draw : draw + 1] for name, values in draws.items()})
        found = prepared_block.predictors(x)
        if prepared_block.is_product:
            found = arrow.product_terms(found, prepared_block.residual)
        np.testing.assert_allclose(found[0], log_odds, rtol=1e-9, atol=1e-12)


def test_prior_effects_of_organizations_on_topics_are_free_and_only_those_asked_for() -> None:
    one = prepared("ratio")
    n_topics = len(one.evidence.query_ids)
    structure = one.structure(known=(2, 5))
    draws = draw_priors(structure, 4000, np.random.default_rng(1))
    assert draws["interaction_effect"].shape == (4000, 2 * n_topics)
    kept = [one.evidence.coords["organization_topic"][i] for i in structure.groups["interaction"].kept]
    wanted = [one.evidence.organizations[o] for o in (2, 5)]
    assert kept == [f"{o}, {q}" for o in wanted for q in one.evidence.query_ids]
    standard = draws["interaction_effect"] / draws["sigma_interaction"][:, None]
    assert standard.std(axis=0) == pytest.approx(np.ones(2 * n_topics), rel=0.06)
    total = standard.sum(axis=1)  # they do not sum to zero
    assert total.std() == pytest.approx(np.sqrt(2 * n_topics), rel=0.06)
    none = draw_priors(one.structure(known=()), 10, np.random.default_rng(1))
    assert none["interaction_effect"].shape == (10, 0)
