"""Effects of the runs of a component."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayespool.collection import qrels_from_frame
from bayespool.experiments import load_example
from bayespool.measures import Estimates
from bayespool.pooling import StrategyPool
from bayespool.posterior import PosteriorEstimator


def test_runs_have_the_slopes_of_their_organizations() -> None:
    """A pooled run those of its evidence; two new ones of one organization the same, and others others."""
    example = load_example()
    runs = [example.pooled_run_ids[0], "new-a", "new-b"]
    (component,) = PosteriorEstimator(model="ratio").complete(example, runs).posteriors[0].components
    fit, own = component.fit.draws(), example.organization[example.run_index(runs[:1])[0]]
    of_evidence = component.fit.coords["organization"]
    position = list(of_evidence).index(example.organizations[own])
    known = fit["slope_effect"].reshape(4000, len(of_evidence), 2)[:, position]
    assert np.array_equal(component.slopes[:, component.whose[0]], known)
    a, b = (component.slopes[:, component.whose[i]] for i in (1, 2))
    assert not (a == b).any()
    normal = (
        a
        / component.new.stretch(example.organizations[example.organization[example.run_index(["new-a"])[0]]])[
            :, None
        ]
    )
    assert normal.std(axis=0) == pytest.approx(np.full(2, np.sqrt((fit["sigma_slope"] ** 2).mean())), rel=0.1)


def test_what_is_assumed_shifts_the_first_rung_alone() -> None:
    """Whether a document is relevant at all is what more of the unjudged ones may be."""

    def effects(shift: float | None) -> list[np.ndarray]:
        estimator = PosteriorEstimator(model="background", draws=50, shift=shift)
        completion = estimator.complete(load_example(), "new-a", "nDCG@10")
        return [posterior.components[0].effect for posterior in completion.posteriors]

    (first, second), (shifted, same) = effects(None), effects(0.7)
    np.testing.assert_allclose(shifted - first, 0.7)
    assert (same == second).all()


# A strategy that looked at judgments


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


def test_a_run_with_judgments_of_its_own_is_not_shifted_twice() -> None:
    """Its effect is learned from documents that no strategy chose."""
    example = load_example()
    unknowns = PosteriorEstimator(draws=1).complete(example, "new-b").unknowns
    pair = int(unknowns.pair[unknowns.place_rank.argmin()])
    judgment = {example.query_ids[example.pair_topic[pair]]: {example.doc_ids[pair].as_py(): 1}}
    own = example.add_judgments(qrels_from_frame(judgment))
    effects = [
        PosteriorEstimator(model="background", draws=50, priors=priors)
        .complete(own, ["new-a", "new-b"])
        .posteriors[0]
        .components[0]
        .effect
        for priors in ({}, {"shift": "Uniform(-1, -1)"})
    ]
    np.testing.assert_allclose(effects[1] - effects[0], np.tile([-1.0, 0.0], (200, 1)))


def test_a_run_far_from_the_others_has_a_wider_interval_for_it() -> None:
    """Far in a predictor: the same run with slopes that hardly differ is surer of itself."""
    example = load_example()
    widths = []
    for scale in ("HalfNormal(0.001)", "HalfNormal(3)"):
        estimator = PosteriorEstimator(model="ratio", priors={"sigma_slope": scale})
        (component,) = (completion := estimator.complete(example, "new-b")).posteriors[0].components
        far = replace(component, predictors=component.predictors + 2.0, log_odds=component.log_odds)
        (posterior,) = completion.posteriors
        posteriors = (replace(posterior, mixture=replace(posterior.mixture, components=(far,))),)
        (values,) = replace(completion, posteriors=posteriors).evaluate("P@10")
        widths.append(values.means()[:, 0].std())
    assert widths[1] > 1.5 * widths[0]
