"""Effects of the runs of a component."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayespool.experiments import load_example
from bayespool.measures import Estimates
from bayespool.pooling import StrategyPool
from bayespool.posterior import PosteriorEstimator


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
