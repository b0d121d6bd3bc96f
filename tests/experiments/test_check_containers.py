"""Containers are what ArviZ reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import arviz_stats
import arviz_stats.utils
import numpy as np
import pytest
import xarray as xr
from checked import P10, checks, example_hidden, prepared

from bayespool.experiments import load_example
from bayespool.tables import container_bytes
from bayespool.tables.files import atomic_write

GROUPS = {
    "posterior", "sample_stats", "prior", "prior_predictive", "posterior_predictive", "predictions",
    "observed_data", "log_likelihood", "constant_data", "predictions_constant_data",
}  # fmt: skip


@pytest.mark.parametrize("model", ["background", pytest.param("rankings", marks=pytest.mark.slow)])
def test_container_is_what_arviz_reads(model: str, tmp_path: Path) -> None:
    atomic_write(tmp_path / "model.nc", container_bytes(checks().containers["P@10", model]))
    with xr.open_datatree(tmp_path / "model.nc", engine="h5netcdf") as opened:
        tree = opened.load()
    assert set(tree.children) == GROUPS
    assert tree.attrs["model"] == model
    assert tree.attrs["collection_fingerprint"] == load_example().fingerprint
    assert tree["posterior"]["topic_effect"].dims == ("chain", "draw", "topic")
    assert tree["posterior"]["topic"].values.tolist() == list(load_example().query_ids)
    assert set(tree["prior"].data_vars) == set(tree["posterior"].data_vars)
    summary = arviz_stats.summary(tree, var_names=["mu", "sigma_topic"], ci_kind="eti", ci_prob=0.9)
    assert summary.loc["mu", "mean"] < -1
    p = checks()[model, P10]
    predictions, observed = tree["predictions"], tree["observed_data"]
    np.testing.assert_array_equal(predictions["n_hidden_relevant"].values.reshape(len(p.draws), -1), p.draws)
    np.testing.assert_allclose(observed["precision"].values, (p.known + p.n_hidden_relevant) / p.per_mean)
    rows = example_hidden().rows(prepared(model).evidence)
    assert observed["hidden_relevant"].values.sum() == rows.n_hidden_relevant.sum()
    for group in ("prior_predictive", "posterior_predictive"):
        drawn = tree[group]["hidden_relevant"].values
        assert (drawn >= 0).all()
        assert (drawn <= tree["constant_data"]["cell_n_hidden"].values).all()
        # the only run of its organization has all of its documents to itself
        own = tree["constant_data"]["cell_run"].values == "ridge-1"
        of_run = tree[group]["n_hidden_relevant"].sel(pooled_run="ridge-1").values
        np.testing.assert_array_equal(drawn[:, :, own].sum(axis=2), of_run)
    # within a tenth of a standard deviation: the fit has seen what it replicates here
    total = tree["posterior_predictive"]["hidden_relevant"].sum("cell").values
    assert abs(total.mean() - rows.n_hidden_relevant.sum()) < 0.5 * total.std()


@pytest.mark.parametrize("model", ["rankings"])
def test_log_likelihood_is_with_effects_of_organizations_on_topics_given_the_documents(model: str) -> None:
    """Their mean and variance given the container's parameters, on a grid of each organization × topic."""
    tree = checks().containers["P@10", model]
    assert "interaction_effect" not in tree["posterior"]
    evidence: Any = prepared(model).evidence
    tau = tree["posterior"]["sigma_interaction"].values.ravel()
    assert tau.mean() > 0.2
    cell, of_row = np.unique(evidence.cell, return_inverse=True)
    eta = log_odds_without_cells(tree, model)
    grid = np.linspace(-6, 6, 121)

    def of_nodes(log_odds: np.ndarray, draw: int) -> tuple[float, float]:
        z = log_odds[:, None] + tau[draw] * grid
        k, n = evidence.n_hidden_relevant[:, None], evidence.n_hidden[:, None]
        likely = np.zeros((len(cell), len(grid)))
        np.add.at(likely, of_row, k * z - n * np.logaddexp(0, z))
        share = np.exp(likely - 0.5 * grid**2 - likely.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        mean = (share * likely).sum(axis=1)
        return mean.sum(), ((share * likely**2).sum(axis=1) - mean**2).sum()

    mean, variance = np.transpose([of_nodes(eta[:, draw], draw) for draw in range(len(tau))])
    drawn = tree["log_likelihood"]["hidden_relevant"].values.astype(float).sum(axis=2).ravel()
    standard = (drawn - mean) / np.sqrt(variance)
    assert abs(standard.mean()) < 4 / np.sqrt(len(tau))
    assert standard.std() == pytest.approx(1, abs=4 / np.sqrt(2 * len(tau)))


def log_odds_without_cells(tree: xr.DataTree, model: str) -> np.ndarray:
    """Of the rows of the evidence, without effects of organization × topic; shape (row, draw)."""
    evidence: Any = prepared(model).evidence
    posterior = tree["posterior"].to_dataset().stack(sample=("chain", "draw"))
    if model == "background":
        topic, organization = evidence.hidden_topic, evidence.hidden_organization
        slopes = 0.0
    else:
        topic, organization = evidence.topic, evidence.organization
        n_slopes = evidence.predictors.shape[1]
        own = posterior["slope_effect"].values.reshape(-1, n_slopes, posterior.sizes["sample"])
        slopes = np.einsum("ik,iks->is", evidence.predictors, posterior["beta"].values + own[organization])
    log_odds: np.ndarray = (
        posterior["mu"].values
        + posterior["topic_effect"].values[topic]
        + posterior["organization_effect"].values[organization]
        + slopes
    )
    return log_odds
