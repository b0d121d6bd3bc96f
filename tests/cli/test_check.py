"""The command ``check``: what it writes, and what it says of wrong input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
from commands import Outcome, campaign


@pytest.mark.slow
def test_folder_holds_tables_figures_containers_and_settings_and_again_the_same_bytes(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    out, asked = (
        tmp_path / "out",
        ("--random-seed", 5, "--folds", 3, "--posterior", "draws=60, mu=Normal(-1, 1)"),
    )
    of_models = (*campaign(small_files), "--models", "ratio,rankings")
    done = run("check", "predictions", *of_models, *asked, "-o", out)
    assert done.status == 0, done.err
    tables = {f"{name}.{kind}" for name in ("calibration", "elpd", "runs") for kind in ("csv", "parquet")}
    figures = {"elpd.png", "predictive-P_10.png", "pit-P_10.png"}
    containers = {"P_10-ratio.nc", "P_10-rankings.nc", "P_10-combined.nc"}
    assert {path.name for path in out.iterdir()} == tables | figures | containers | {"settings.json"}
    settings = json.loads((out / "settings.json").read_text(encoding="utf-8"))
    expected = {"random_seed": 5, "n_folds": 3, "posterior_settings": "draws=60, mu=Normal(-1, 1)"}
    expected |= {"models": ["ratio", "rankings"]}
    assert {name: settings[name] for name in expected} == expected
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in figures)
    with xr.open_datatree(out / "P_10-ratio.nc", engine="h5netcdf") as tree:
        assert tree.attrs["collection_fingerprint"] == settings["fingerprint"]
        assert tree["posterior_predictive"].sizes["draw"] == 240
    runs = pd.read_parquet(out / "runs.parquet")
    pd.testing.assert_frame_equal(runs, pd.read_csv(out / "runs.csv"), check_dtype=False)
    assert ((runs["lower"] <= runs["upper"]) & (runs["n_hidden_relevant"] <= runs["n_hidden"])).all()
    again = tmp_path / "again"
    assert run("check", "predictions", *of_models, *asked, "-o", again).status == 0
    for path in out.iterdir():  # but for the command, which names the folder
        same = path.read_bytes() == (again / path.name).read_bytes()
        assert same or path.name == "settings.json", path.name


@pytest.mark.filterwarnings("ignore::bayespool.errors.PoolWarning")
def test_wrong_input_is_said(run: Callable[..., Outcome], small_files: Path) -> None:
    known = "no model 'rato' to check; did you mean 'ratio'? known: background, interpolated"
    for asked, message in [
        (["--models", "rato"], known),
        (["--models", "ratio", "--posterior", "gamma=Normal(0,1)"], "no prior 'gamma'"),
        (["-o", "/nowhere/out"], "there is no folder"),
        (["--reading", "pooled_run_ids=north-1"], "has 1 organization, and holding some out needs three"),
    ]:
        done = run("check", "predictions", *campaign(small_files), *asked)
        assert done.status == 1, asked
        assert message in " ".join(done.err.split()), asked
