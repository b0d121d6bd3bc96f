"""What is known of the fits behind estimates."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import arviz_stats
import numpy as np
import pytest
from checked import with_the_first_arviz_stats
from fits import TARGETS
from scipy import stats

from bayespool import fit_container, score
from bayespool.errors import InputError, NoPoolWarning
from bayespool.experiments import load_example
from bayespool.inference.cells import draw_effects
from bayespool.measures import Estimates
from bayespool.models.structure import draw_priors
from bayespool.scoring import Scores
from bayespool.tables import container_bytes
from bayespool.tables.containers import container_of_bytes

GROUPS = {"posterior", "sample_stats", "prior", "log_likelihood", "observed_data", "constant_data"}
MODELS = ["background", "interpolated", "ratio", "combined"]


@cache
def scores() -> Scores:
    return score(load_example(), TARGETS, "P@10", estimators=[f"posterior-{m}" for m in MODELS], draws=100)


def of(model: str) -> Estimates:
    return scores()[f"posterior-{model}", "P@10"]


@pytest.mark.parametrize(
    ("estimator", "model"),
    [("background", "background"), ("interpolated", "interpolated"), ("combined", "ratio")],
)
def test_container_is_complete(estimator: str, model: str) -> None:
    estimates = of(estimator)
    fit = estimates.fits[model]
    tree = fit_container(estimates, model)
    assert set(tree.children) == GROUPS
    for name, values in fit.variables.items():
        np.testing.assert_array_equal(tree["posterior"][name].values, values)
    assert set(tree["prior"].data_vars) == set(tree["posterior"].data_vars)
    kept = fit.source.spec.structure(fit.source.evidence, fit.source.known)
    prior = draw_priors(kept, 400, np.random.default_rng([1, 3]))
    for name in fit.variables:
        drawn = tree["prior"][name].values[0]
        np.testing.assert_array_equal(drawn, prior[name])
    # the likelihood another way: by scipy, document by document, with log odds of the rows of the evidence
    evidence = fit.source.evidence
    counts = model in ("background", "interpolated")
    run, topic, organization = (
        (evidence.hidden_run, evidence.hidden_topic, evidence.hidden_organization)
        if counts
        else (evidence.run, evidence.topic, evidence.organization)
    )
    draws = fit.draws()
    log_odds = (
        fit.source.spec.log_odds_of_rows(evidence, draws) + draws["organization_effect"][:, organization]
    )
    k, n = evidence.n_hidden_relevant, evidence.n_hidden
    if not counts:  # effects of organizations on topics are drawn given the documents
        slopes = draws["slope_effect"].reshape(len(log_odds), -1, evidence.predictors.shape[1])
        log_odds = log_odds + np.einsum("dik,ik->di", slopes[:, organization], evidence.predictors)
        assert fit.source.known == ()
        assert "interaction_effect" not in draws
        which, effects = draw_effects(
            log_odds, k, n, evidence.cell, draws["sigma_interaction"], np.random.default_rng([1, 4])
        )
        assert effects.std() > 0.1
        of_cell = dict(zip(which.tolist(), effects.T, strict=True))
        log_odds = log_odds + np.column_stack([of_cell[c] for c in evidence.cell.tolist()])
    chance = 1 / (1 + np.exp(-log_odds))
    likely = stats.bernoulli.logpmf(1, chance) * k + stats.bernoulli.logpmf(0, chance) * (n - k)
    cells = sorted({(r, t) for r, t in zip(run.tolist(), topic.tolist(), strict=True)})
    found, constant = tree["log_likelihood"]["hidden_relevant"].values[0], tree["constant_data"]
    assert found.shape == (400, len(cells))
    for c, (r, t) in list(enumerate(cells))[::25]:
        there = (run == r) & (topic == t)
        np.testing.assert_allclose(found[:, c], likely[:, there].sum(axis=1), rtol=1e-5)
        assert tree["observed_data"]["hidden_relevant"].values[c] == k[there].sum()
        assert constant["cell_n_hidden"].values[c] == n[there].sum()
        assert constant["cell_run"].values[c] == fit.source.run_ids[r]
        assert constant["cell_topic"].values[c] == load_example().query_ids[t]
    assert set(constant["cell_run"].values) <= set(load_example().pooled_run_ids)
    assert ("judged_relevant" in tree["observed_data"]) == (model == "interpolated")
    if model == "interpolated":
        assert tree["observed_data"]["judged_relevant"].values.sum() == evidence.n_relevant.sum()
        assert constant["ranking_n_judged"].values.sum() == evidence.n_judged.sum()
    read = container_of_bytes(container_bytes(tree))
    assert read.identical(fit_container(estimates, model)), "the same each time it is asked for"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:Estimated shape parameter")
@with_the_first_arviz_stats
def test_arviz_compares_the_models_of_a_mixture() -> None:
    trees = {name: fit_container(of("combined"), name) for name in ("ratio", "rankings")}
    for tree in trees.values():
        loo = arviz_stats.loo(tree)
        likelihood = tree["log_likelihood"]["hidden_relevant"].values[0].astype(float)
        in_sample = np.log(np.exp(likelihood).mean(axis=0))
        assert loo.n_data_points == len(in_sample)
        assert 0 < in_sample.sum() - loo.elpd < 40
    assert set(arviz_stats.compare(trees).index) == set(trees)


def test_fit_of_several_chains_keeps_them() -> None:
    """As a sampler's: the draws of the fast engine, in two chains."""
    estimates = of("background")
    fit = estimates.fits["background"]
    two = dataclasses.replace(
        fit,
        variables={v: draws[:, :100].reshape(2, 50, *draws.shape[2:]) for v, draws in fit.variables.items()},
        sample_stats={"diverging": np.zeros((2, 50), dtype=bool)},
        diagnostics=dataclasses.replace(fit.diagnostics, engine="nuts"),
    )
    tree = fit_container(dataclasses.replace(estimates, fits={"background": two}))
    assert tree.attrs["engine"] == "nuts"
    assert "diverging" in tree["sample_stats"].data_vars
    for group in ("posterior", "prior", "log_likelihood", "sample_stats"):
        assert (tree[group].sizes["chain"], tree[group].sizes["draw"]) == (2, 50)
    for name, draws in two.variables.items():
        np.testing.assert_array_equal(tree["posterior"][name].values, draws)


def test_without_a_pool_there_are_parameters_and_priors_alone() -> None:
    nobody = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    with pytest.warns(NoPoolWarning, match="the collection has no pooled run"):
        (estimates,) = score(nobody, TARGETS, "P@10", estimators="posterior-background", draws=50).estimates
    assert list(estimates.fits) == ["background", "background, new-b"]  # of each run its own
    for name in estimates.fits:
        tree = fit_container(estimates, name)
        assert {"posterior", "prior"} <= set(tree.children) <= {"posterior", "prior", "sample_stats"}


def test_estimates_that_have_no_fit() -> None:
    (judged,) = score(load_example(), TARGETS, "P@10", estimators="background").estimates
    with pytest.raises(InputError, match="nothing was sampled"):
        fit_container(judged)
    everything: Any = score(load_example(), TARGETS, "P@10", estimators="background")
    with pytest.raises(InputError, match="a fit is of estimates, not of Scores; take them from"):
        fit_container(everything, "ratio")
