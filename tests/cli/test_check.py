"""The command ``check``: what it prints, what it writes, and what it says of wrong input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner, Result

from bayespool.cli import app
from bayespool.errors import BayespoolError
from bayespool.experiments import SimulationSettings, simulate

SMALL = SimulationSettings(n_topics=8, n_candidates=60, n_organizations=5, max_runs=2, run_depth=40)

Check = Callable[..., Result]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    simulate(SMALL, random_seed=3).write(folder)
    return folder


@pytest.fixture
def check(files: Path) -> Check:
    """A command on the files, two quick models of the six unless others are named."""

    def run(*arguments: str) -> Result:
        given = ["--qrels", str(files / "qrels.txt"), "--pool", str(files / "pool")]
        given += ["--organizations", str(files / "organizations.csv")]
        if "--models" not in arguments:
            arguments = (*arguments, "--models", "ratio,rankings")
        if "--draws" not in arguments:
            arguments = (*arguments, "--draws", "60")
        return CliRunner().invoke(app, ["check", "predictions", *given, *arguments])

    return run


def table(text: str, heading: str) -> dict[str, list[str]]:
    """Cells by the first word of a row, of the table after a heading."""
    lines = text[text.index(heading) :].splitlines()
    start = next(i for i, line in enumerate(lines) if "───" in line)
    rows = {}
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        name, *cells = line.split()
        rows[name] = cells
    return rows


@pytest.mark.slow
def test_folder_holds_tables_figures_containers_and_settings(check: Check, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = check("-o", str(out), "--seed", "5", "--folds", "3", "--prior", "mu=Normal(-1, 1)")
    assert done.exit_code == 0, done.output
    tables = {f"{name}.{kind}" for name in ("calibration", "elpd", "runs") for kind in ("csv", "parquet")}
    figures = {"elpd.png", "predictive-P_10.png", "pit-P_10.png"}
    containers = {"P_10-ratio.nc", "P_10-rankings.nc"}
    assert {path.name for path in out.iterdir()} == tables | figures | containers | {"settings.json"}
    settings = json.loads((out / "settings.json").read_text(encoding="utf-8"))
    assert settings["random_seed"] == 5
    assert settings["n_folds"] == 3
    assert settings["priors"] == {"mu": "Normal(-1, 1)"}
    assert settings["models"] == ["ratio", "rankings"]
    for name in figures:
        assert (out / name).read_bytes().startswith(b"\x89PNG")
        assert (out / name).stat().st_size > 5000
    with xr.open_datatree(out / "P_10-ratio.nc", engine="h5netcdf") as tree:
        assert tree.attrs["collection_fingerprint"] == settings["fingerprint"]
        assert tree["posterior"].sizes["draw"] == 240
    runs = pd.read_parquet(out / "runs.parquet")
    pd.testing.assert_frame_equal(runs, pd.read_csv(out / "runs.csv"), check_dtype=False)
    assert ((runs["lower"] <= runs["upper"]) & (runs["n_hidden_relevant"] <= runs["n_hidden"])).all()


@pytest.mark.slow
def test_same_command_writes_the_same_bytes(check: Check, tmp_path: Path) -> None:
    for name in ("a", "b"):
        done = check("-o", str(tmp_path / name), "--models", "ratio", "--figures", "svg")
        assert done.exit_code == 0, done.output
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert "predictive-P_10.svg" in names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


@pytest.mark.filterwarnings("ignore::bayespool.errors.PoolWarning")
def test_wrong_input_is_said(check: Check) -> None:
    for arguments, message in [
        (
            ["--models", "rato"],
            "no model 'rato' to check; did you mean 'ratio'? known: background, interpolated",
        ),
        (["--prior", "gamma=Normal(0,1)"], "no prior 'gamma'"),
        (["-o", "/nowhere/out"], "there is no folder"),
        (
            ["--pooled-runs", "north-1"],
            "has 1 organization, and holding some out needs three",
        ),
    ]:
        done = check(*arguments)
        assert done.exit_code == 1, arguments
        assert isinstance(done.exception, BayespoolError), arguments
        assert message in str(done.exception), arguments
