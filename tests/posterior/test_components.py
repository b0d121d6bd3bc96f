"""Effects of the runs of a component."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bayespool.experiments import load_example
from bayespool.posterior import PosteriorEstimator


def test_runs_have_the_slopes_of_their_organizations() -> None:
    """A pooled run those of its evidence; two new ones of one organization the same, and others others."""
    example = load_example()
    runs = [example.pooled_run_ids[0], "new-a", "new-b"]
    (component,) = PosteriorEstimator(model="ratio").complete(example, runs).posteriors[0].components
    assert component.slopes is not None
    fit, own = component.fit.draws(), example.organization[example.run_index(runs[:1])[0]]
    of_evidence = component.fit.coords["organization"]
    position = list(of_evidence).index(example.organizations[own])
    known = fit["slope_effect"].reshape(4000, len(of_evidence), 2)[:, position]
    assert np.array_equal(component.slopes[:, component.whose[0]], known)
    a, b = (component.slopes[:, component.whose[i]] for i in (1, 2))
    assert not (a == b).any()
    assert component.new is not None
    normal = (
        a
        / component.new.stretch(example.organizations[example.organization[example.run_index(["new-a"])[0]]])[
            :, None
        ]
    )
    assert normal.std(axis=0) == pytest.approx(np.full(2, np.sqrt((fit["sigma_slope"] ** 2).mean())), rel=0.1)


def test_what_is_assumed_shifts_the_first_rung_alone() -> None:
    """Whether a document is relevant at all is what more of the unjudged ones may be."""
    shifted = PosteriorEstimator(model="background", shift=0.7).complete(load_example(), "new-a", "nDCG@10")
    assert [(posterior.rung.given, posterior.components[0].shift) for posterior in shifted.posteriors] == [
        (0, 0.7),
        (1, 0.0),
    ]


def test_a_run_far_from_the_others_has_a_wider_interval_for_it() -> None:
    """Far in a predictor: the same run with slopes that hardly differ is surer of itself."""
    example = load_example()
    widths = []
    for scale in ("HalfNormal(0.001)", "HalfNormal(3)"):
        estimator = PosteriorEstimator(model="ratio", priors={"sigma_slope": scale})
        (component,) = (completion := estimator.complete(example, "new-b")).posteriors[0].components
        assert component.predictors is not None
        far = replace(component, predictors=component.predictors + 2.0, log_odds=component.log_odds)
        (posterior,) = completion.posteriors
        posteriors = (replace(posterior, mixture=replace(posterior.mixture, components=(far,))),)
        (values,) = replace(completion, posteriors=posteriors).evaluate("P@10")
        widths.append(values.means()[:, 0].std())
    assert widths[1] > 1.5 * widths[0]
