"""Fits of one model at the front door: what containers hold, and what ArviZ and PyMC make of them."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache
from typing import Any

import arviz_stats
import numpy as np
import pytest
from checked import with_the_first_arviz_stats
from each import cases
from fits import TARGETS, compile_once
from graded_example import graded_example
from scipy import stats
from scipy.special import expit

import bayespool
from bayespool import fit, score
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.experiments import load_example
from bayespool.inference import NUTS
from bayespool.models import MODELS
from bayespool.models.formulas import draw_priors
from bayespool.posterior import PosteriorEstimator, ScoringProblem
from bayespool.tables import container_bytes
from bayespool.tables.files import read_container

GROUPS = {
    "posterior", "sample_stats", "prior", "log_likelihood", "observed_data", "constant_data",
    "posterior_predictive", "prior_predictive",
}  # fmt: skip
WITH_PREDICTORS = ("ratio", "evidence")


@cache
def example_fit(model: str) -> Any:
    return fit(load_example(), "P@10", model, run_ids=TARGETS, draws=100)


@cache
def example_evidence_of(model: str) -> Any:
    measure = bayespool.parse_measure("P@10")
    return ScoringProblem(load_example(), (), measure, "complete").prepare(model, {}).source()


def draws_of(tree: Any, group: str = "posterior") -> dict[str, np.ndarray]:
    """By variable, chains one after the other."""
    variables = tree[group].data_vars.items()
    return {str(n): v.values.reshape(-1, *v.shape[2:]) for n, v in variables}


def log_odds_by_hand(model: str, draws: dict[str, np.ndarray]) -> np.ndarray:
    """Of the hidden documents of each row, shape (draw, row)."""
    e = example_evidence_of(model).evidence
    log_odds = MODELS[model].log_odds_of_rows(e, draws)
    if model not in WITH_PREDICTORS:
        return log_odds + draws["organization_effect"][:, e.hidden_organization]
    slopes = draws["slope_effect"].reshape(len(log_odds), -1, e.predictors.shape[1])
    log_odds = log_odds + np.einsum("dik,ik->di", slopes[:, e.organization], e.predictors)
    cell = e.organization * len(e.query_ids) + e.topic
    return log_odds + draws["organization_effect"][:, e.organization] + draws["interaction_effect"][:, cell]


@cases("model", ["background", "interpolated", *WITH_PREDICTORS])
def test_container_is_complete(model: str) -> None:
    tree, source = example_fit(model), example_evidence_of(model)
    assert set(tree.children) == {*GROUPS, "predictions"}
    e, draws = source.evidence, draws_of(tree)
    # the likelihood another way: by scipy, row by row
    log_odds, k, n = log_odds_by_hand(model, draws), e.n_hidden_relevant, e.n_hidden
    likely = stats.binom.logpmf(k, n, expit(log_odds)) - stats.binom.logpmf(k, n, 0.5) - n * np.log(2)
    is_counts = model not in WITH_PREDICTORS
    run, topic = (e.hidden_run, e.hidden_topic) if is_counts else (e.run, e.topic)
    cells = sorted({(r, t) for r, t in zip(run.tolist(), topic.tolist(), strict=True)})
    log_likelihood, constant = draws_of(tree, "log_likelihood")["hidden_relevant"], tree["constant_data"]
    assert log_likelihood.shape == (400, len(cells))
    np.testing.assert_allclose(log_likelihood.sum(axis=1), likely.sum(axis=1), rtol=1e-5)
    for c, (r, t) in list(enumerate(cells))[::25]:
        there = (run == r) & (topic == t)
        np.testing.assert_allclose(log_likelihood[:, c], likely[:, there].sum(axis=1), rtol=1e-5)
        assert tree["observed_data"]["hidden_relevant"].values[c] == k[there].sum()
        assert constant["cell_n_hidden"].values[c] == n[there].sum()
        assert constant["cell_run"].values[c] == source.run_ids[r]
        assert constant["cell_topic"].values[c] == load_example().query_ids[t]
        assert tree["log_likelihood"].coords["cell"].values[c] == f"{source.run_ids[r]}, {e.query_ids[t]}"
    assert ("judged_relevant" in tree["observed_data"]) == (model == "interpolated")
    if model == "interpolated":
        assert tree["observed_data"]["judged_relevant"].values.sum() == e.n_relevant.sum()
        assert constant["ranking_n_judged"].values.sum() == e.n_judged.sum()
    # predictions of a cell have the mean and variance that follow from the draws
    predicted, p = draws_of(tree, "posterior_predictive")["hidden_relevant"], expit(log_odds)
    assert (predicted <= constant["cell_n_hidden"].values).all()
    error = np.sqrt((n * p * (1 - p)).sum() / len(p) / len(p))
    assert abs(predicted.sum(axis=1).mean() - (n * p).sum(axis=1).mean()) < 4 * error
    assert tree["posterior"]["topic_effect"].dims == ("chain", "draw", "topic")
    assert tree["posterior"]["organization_effect"].dims == ("chain", "draw", "organization")
    assert read_container(container_bytes(tree)).identical(tree)


@cases("model", ["background", *WITH_PREDICTORS])
def test_draws_are_those_of_score(model: str) -> None:
    tree = example_fit(model)
    (estimates,) = score(
        load_example(), TARGETS, "P@10", estimators=f"posterior-{model}", posterior_settings="draws=100"
    ).estimates
    np.testing.assert_array_equal(draws_of(tree, "predictions")["P_10"], estimates.draws.means())
    for name, values in estimates.fits[model].variables.items():
        np.testing.assert_array_equal(tree["posterior"][name].values, values)
    assert tree["predictions"]["P_10"].dims == ("chain", "draw", "run_id")
    assert tree.attrs["collection_fingerprint"] == estimates.fingerprint
    alone = fit(load_example(), "P@10", model, draws=100)
    assert set(alone.children) == GROUPS
    for name in estimates.fits[model].variables:  # whether runs are scored changes nothing
        np.testing.assert_array_equal(alone["posterior"][name].values, tree["posterior"][name].values)


def test_prior_is_that_of_the_model_and_can_be_changed() -> None:
    source = example_evidence_of("ratio")
    prior = draw_priors(source.spec.structure(source.evidence), 400, np.random.default_rng([1, 3]))
    tree = example_fit("ratio")
    for name, values in prior.items():
        np.testing.assert_array_equal(draws_of(tree, "prior")[name], values)
    sure = fit(load_example(), "P@10", "ratio", draws=100, priors={"mu": "Normal(-1, 0.05)"})
    assert abs(draws_of(sure)["mu"] + 1).max() < 0.5 < abs(draws_of(tree)["mu"] + 1).min()
    relevant = [t["prior_predictive"]["hidden_relevant"].values.mean() for t in (tree, sure)]
    assert relevant[0] < 0.8 * relevant[1]


def test_standardized_effects_are_effects_over_their_scales() -> None:
    draws = draws_of(example_fit("ratio"))
    for name in ("topic", "organization", "interaction", "slope"):
        again = draws[f"standard_{name}"] * draws[f"standard_sigma_{name}"][:, None]
        np.testing.assert_allclose(again, draws[f"{name}_effect"], atol=1e-12)
    e = example_evidence_of("ratio").evidence
    np.testing.assert_allclose(e.expected + draws["standard_beta"] @ e.rotation.T, draws["beta"], atol=1e-12)


def test_a_graded_measure_has_a_fit_for_each_threshold() -> None:
    graded = graded_example()
    low, high = (fit(graded, "nDCG@10", run_ids=TARGETS, rel=rel, draws=50) for rel in (None, 2))
    assert (low.attrs["model"], high.attrs["model"]) == ("ratio", "ratio, 2 of 1")
    of_level_1 = low["observed_data"]["hidden_relevant"].values.sum()
    assert high["constant_data"]["cell_n_hidden"].values.sum() <= of_level_1
    (estimates,) = score(
        graded, TARGETS, "nDCG@10", estimators="posterior-ratio", posterior_settings="draws=50"
    ).estimates
    for tree in (low, high):  # of the measure, whichever threshold the parameters are of
        np.testing.assert_array_equal(draws_of(tree, "predictions")["nDCG_10"], estimates.draws.means())
        np.testing.assert_array_equal(draws_of(tree)["mu"], estimates.fits[tree.attrs["model"]].draws()["mu"])
    with pytest.raises(InputError, match=r"nDCG@10 has no threshold rel=7; it has 1, 2"):
        fit(graded, "nDCG@10", rel=7)


def test_chains_of_a_sampler_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a sampler's: the draws of the fast engine, in two chains."""
    quick = PosteriorEstimator(model="background", draws=50, chains=2)
    fitted = quick.build_engine().fit

    def in_chains(self: Any, engine: Any, seed: int) -> Any:
        made = fitted(self.spec, self.evidence, seed)
        variables = {n: v.reshape(2, 50, *v.shape[2:]) for n, v in made.variables.items()}
        diverging = {"diverging": np.zeros((2, 50), dtype=bool)}
        return dataclasses.replace(made, variables=variables, sample_stats=diverging)

    monkeypatch.setattr("bayespool.posterior.preparation.PreparedModel.fit", in_chains)
    tree = fit(load_example(), "P@10", "background", draws=50, chains=2)
    assert "diverging" in tree["sample_stats"].data_vars
    for group in ("posterior", "prior", "log_likelihood", "posterior_predictive", "sample_stats"):
        assert (tree[group].sizes["chain"], tree[group].sizes["draw"]) == (2, 50)


def test_without_a_pool_there_are_parameters_and_priors_alone() -> None:
    nobody = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    tree = fit(nobody, "P@10", "background", draws=50)
    assert {"posterior", "prior"} <= set(tree.children) <= {"posterior", "prior", "sample_stats"}


def test_what_cannot_be_fitted() -> None:
    with pytest.raises(InputError, match="combined is a mixture; name one model: ratio, rankings"):
        fit(load_example(), "P@10", "combined")
    with pytest.raises(InputError, match="no model 'ration'; did you mean 'ratio'"):
        fit(load_example(), "P@10", "ration")
    with pytest.raises(InputError, match="nobody"):
        fit(load_example(), "P@10", run_ids="nobody")
    (estimates,) = score(load_example(), TARGETS, "P@10", estimators="background").estimates
    with pytest.raises(InputError, match="a Estimates where a Collection is expected"):
        fit(estimates)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:Estimated shape parameter")
@with_the_first_arviz_stats
def test_arviz_compares_models() -> None:
    trees = {model: fit(load_example(), "P@10", model) for model in WITH_PREDICTORS}
    for tree in trees.values():
        loo = arviz_stats.loo(tree)
        in_sample = np.log(np.exp(draws_of(tree, "log_likelihood")["hidden_relevant"].astype(float)).mean(0))
        assert loo.n_data_points == len(in_sample)
        assert 0 < in_sample.sum() - loo.elpd < 40
    assert list(arviz_stats.compare(trees).index) == ["evidence", "ratio"]


@pytest.mark.slow
def test_arviz_plots_what_is_predicted_beside_what_is_observed() -> None:
    import arviz_plots
    import matplotlib.pyplot as plt

    tree = example_fit("ratio")
    share = float((tree["observed_data"]["hidden_relevant"] == 0).mean())
    for group in ("posterior_predictive", "prior_predictive"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plots = arviz_plots.plot_ppc_dist(tree, group=group, kind="ecdf", backend="matplotlib")
        assert plots.viz["predictive_dist"]["hidden_relevant"].size > 10
        if group == "posterior_predictive":
            observed = plots.viz["observed_dist"]["hidden_relevant"].item()
            assert observed.get_ydata()[0] == pytest.approx(share)
    plt.close("all")


@pytest.mark.slow
def test_both_engines_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NUTS, "compile", compile_once)
    fast = fit(load_example(), "P@10", "ratio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        nuts = fit(load_example(), "P@10", "ratio(tune=500)", engine="nuts", draws=500, chains=2)
    assert nuts.attrs["engine"] == "nuts"
    assert int(nuts["sample_stats"]["diverging"].sum()) == 0
    for name in ("mu", "beta", "topic_effect", "organization_effect", "interaction_effect"):
        one, other = draws_of(fast)[name], draws_of(nuts)[name]
        assert np.abs(one.mean(axis=0) - other.mean(axis=0)).max() < 0.3 * one.std(axis=0).max()
