"""Checks of models: tables by hand and against ArviZ, containers, what is refused, and that they repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import arviz_stats
import arviz_stats.utils
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from checked import P10, checks, example_hidden, prepared, with_the_first_arviz_stats
from scipy.special import logsumexp
from toys import from_rankings, toy_collection

from bayespool.errors import InputError
from bayespool.experiments import (
    HeldOutPrediction,
    calibration_frame,
    check_models,
    elpd_frame,
    load_example,
    stack,
)
from bayespool.posterior import stacking_weights
from bayespool.tables import container_bytes
from bayespool.tables.files import atomic_write


def made_up(model: str, log_density: list[float], **changes: Any) -> HeldOutPrediction:
    """Four runs of three organizations on 10 ranks; draws 0 … 9 of each."""
    n = len(log_density)
    values: dict[str, Any] = {
        "model": model,
        "measure": P10,
        "run_ids": tuple(f"r{i}" for i in range(n)),
        "organizations": ("a", "a", "b", "c")[:n],
        "per_mean": 10,
        "known": np.zeros(n, dtype=np.int32),
        "n_hidden": np.full(n, 9, dtype=np.int32),
        "n_hidden_relevant": np.array([0, 4, 5, 9][:n], dtype=np.int32),
        "observed": np.array([0, 4, 5, 9][:n], dtype=np.int32),
        "fold": np.array([0, 0, 1, 2][:n]),
        "draws": np.repeat(np.arange(10, dtype=np.int32)[:, None], n, axis=1),
        "prior_draws": np.zeros((10, n), dtype=np.int32),
        "pit": np.array([0.05, 0.45, 0.55, 0.95][:n]),
        "n_predicted": np.full(n, 4.5),
        "densities": np.array([log_density]),
    }
    return HeldOutPrediction(**values | changes)


def test_calibration_by_hand() -> None:
    frame = calibration_frame([made_up("m", [-1.0] * 4)], [0.5, 0.8, 0.95]).set_index("ci_prob")
    assert frame["pit_inside"].tolist() == [0.5, 0.5, 1.0]
    # organization a has one run inside and one not, which cancel; b is inside, c is not
    # all are inside at 95 %, which says nothing of the error
    assert frame["se"].tolist() == pytest.approx([np.sqrt(0.5**2 + 0.5**2) / 4] * 2 + [np.nan], nan_ok=True)
    # the central 50 % of ten draws are 2 … 7 with ends, of 80 % 1 … 8, of 95 % all
    assert frame["covered"].tolist() == [0.5, 0.5, 1.0]
    assert frame["width"].tolist() == pytest.approx([0.5, 0.7, 0.9])
    assert frame["mae"].tolist() == pytest.approx([(4.5 + 0.5 + 0.5 + 4.5) / 4 / 10] * 3)
    for name, value in {"pit_mean": 0.5, "n_runs": 4, "n_organizations": 3}.items():
        assert (frame[name] == value).all(), name
    p = made_up("m", [-1, -1, -1, np.nan], n_hidden=np.array([9, 9, 9, 0], dtype=np.int32))
    assert (calibration_frame([p])["n_runs"] == 3).all()  # nothing is hidden of the fourth
    assert elpd_frame([p])["n_organizations"].tolist() == [2]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in arviz_stats
@with_the_first_arviz_stats
def test_elpd_counts_organizations_once_and_is_as_arviz_has_it() -> None:
    a, b = made_up("a", [-1.0, -3.0, -2.0, -4.0]), made_up("b", [-2.0, -2.0, -4.0, -4.5])
    frame = elpd_frame([b, a], combined=("a", "b")).set_index("model")
    assert frame.index.tolist() == ["a", "b"]
    assert frame["elpd"].tolist() == [-2 - 2 - 4, -2 - 4 - 4.5]
    assert frame["elpd_diff"].tolist() == [0, 2.5]
    by_organization = {"a": [-2.0, -2.0, -4.0], "b": [-2.0, -4.0, -4.5]}
    theirs = arviz_stats.compare({name: elpd_data(values) for name, values in by_organization.items()})
    for column in ("rank", "elpd", "elpd_diff", "se", "dse"):
        np.testing.assert_allclose(
            frame[column].astype(float), theirs.loc[["a", "b"], column].astype(float), err_msg=column
        )
    assert frame["weight"].sum() == pytest.approx(1)
    assert frame["weight"].tolist() == frame["weight_combined"].tolist()


def elpd_data(values: list[float]) -> Any:
    """ArviZ's own object for log densities of observations."""
    n = len(values)
    return arviz_stats.utils.ELPDData(
        kind="loo_kfold",
        elpd=sum(values),
        se=np.sqrt(n * np.var(values)),
        p=0.0,
        n_samples=100,
        n_data_points=n,
        scale="log",
        warning=False,
        good_k=0.7,
        elpd_i=xr.DataArray(values, dims="organization"),
        pareto_k=xr.DataArray(np.zeros(n), dims="organization"),
    )


def test_mixture_of_a_fold_has_weights_of_the_other_folds() -> None:
    """Model a is better everywhere but in fold 2, whose weights do not know it."""
    a = made_up("a", [-1.0, -1.0, -1.0, -9.0], draws=np.full((50, 4), 3, dtype=np.int32))
    b = made_up("b", [-3.0, -3.0, -3.0, -1.0], draws=np.full((50, 4), 7, dtype=np.int32))
    mixed = stack([a, b])
    densities = np.column_stack([a.log_density, b.log_density])
    weight = np.array([0.5, 0.5, 1.0, 1.0])
    for fold, runs in ((0, [0, 1]), (1, [2]), (2, [3])):
        others = a.fold != fold
        weights = stacking_weights(densities[others], weight[others])
        expected = logsumexp(np.log(weights) + densities[runs], axis=1)
        np.testing.assert_allclose(mixed.log_density[runs], expected)
        share = (mixed.draws[:, runs] == 3).mean(axis=0)
        np.testing.assert_allclose(share, weights[0], atol=0.021)
    assert weights[0] > 0.6  # fold 2: the others speak for a
    assert mixed.model == "combined"
    assert np.isin(mixed.draws, [3, 7]).all()


def test_what_cannot_be_checked_is_refused() -> None:
    same = from_rankings(
        {run: {"1": "abc"} for run in "xyz"},
        {"1": {"a": 1, "b": 0, "c": 0}},
        pooled_run_ids=("x", "y", "z"),
        pool_depth=3,
    )
    for pool, message in ((toy_collection(), "needs three"), (same, "by one organization alone")):
        with pytest.raises(InputError, match=message):
            check_models(pool, "P@3", models="ratio")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"n_folds": 1}, "n_folds cannot be 1"),
        ({"models": ("ratio", "linear")}, "no model 'linear'"),
        ({"models": ("combined",)}, "where all of its models are: ratio, rankings"),
        ({"models": ()}, "models cannot be empty"),
        ({"priors": {"gamma": "Normal(0, 1)"}}, "no prior 'gamma'"),
        ({"engine": "advi"}, "no engine 'advi'"),
        ({"draws": 0}, "draws cannot be 0"),
    ]
    for arguments, message in refused:
        with pytest.raises(InputError, match=message):
            check_models(load_example(), **{"models": "ratio"} | arguments)


@pytest.mark.slow
def test_checks_and_containers_repeat_to_the_byte_and_change_with_the_seed() -> None:
    a, b, other = (
        check_models(load_example(), models="background", draws=20, random_seed=seed) for seed in (1, 1, 2)
    )
    draws = [found["background", P10].draws.tobytes() for found in (a, b, other)]
    assert draws[0] == draws[1] != draws[2]
    pd.testing.assert_frame_equal(a.to_frame("runs"), b.to_frame("runs"))
    first, second = (container_bytes(found.containers["P@10", "background"]) for found in (a, b))
    assert first == second


GROUPS = {
    "posterior", "sample_stats", "prior", "prior_predictive", "posterior_predictive", "predictions",
    "observed_data", "log_likelihood", "constant_data", "predictions_constant_data",
}  # fmt: skip


def test_container_is_what_arviz_reads(tmp_path: Path) -> None:
    model = "background"
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
