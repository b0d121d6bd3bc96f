"""Leave-out experiments printed and written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from left_out import few_result, quick_result
from rich.console import Console

from bayespool.comparisons.tables import records
from bayespool.errors import OutputError
from bayespool.experiments import LeaveOutResult, leave_out, load_example, vary_pool_width
from bayespool.report import print_leave_out, write_leave_out
from bayespool.report.random_pools import write_pool_width
from bayespool.report.sentences import leave_out_sentence


@pytest.fixture(scope="module")
def result() -> LeaveOutResult:
    return quick_result()


def test_printed_tables(result: LeaveOutResult) -> None:
    console = Console(width=60, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed with the test
    print_leave_out(result, console)
    console.file.close()
    text = console.export_text()
    lines = text.splitlines()
    assert "P@10, the best 16 of 21 pooled runs" in lines
    rows = {
        (line.split() or [""])[0]: line.split()[1:]
        for line in lines[: lines.index("P@10, the best 16 of 21 pooled runs")]
    }
    row = result.summary_frame().set_index(["measure", "estimator"]).loc["P@5", "condensed-list"]
    numbers = [f"{row[name]:.4f}" for name in ("mae", "rmse", "bias", "topic_rmse")]
    numbers += [f"{row['sre']:.0f}", f"{row['sre_star']:.0f}", f"{row['kendall_tau_b']:.4f}", "–"]
    assert rows["condensed-list"] == numbers
    errors = next(line.split() for line in lines if line.split()[:1] == ["posterior-background"])
    row = result.summary_frame().set_index(["measure", "estimator"]).loc["P@5", "posterior-background"]
    shares = [f"{row[f'{kind}_{level}']:.3f}" for kind in ("coverage", "pit") for level in (50, 80, 95)]
    assert rows["posterior-background"] == [*shares, f"{row['width']:.4f}"]
    assert errors[-1] == f"{row['crps']:.4f}"
    assert "intervals of 16 runs with anything unjudged" in text
    assert f"Eρ² {result.reliability('P@5').generalizability:.3f}" in text
    summary = result.summary_frame()
    for measure in ("P@5", "P@10"):
        said = leave_out_sentence(records(summary[summary["measure"] == measure]))
        assert said.startswith(f"{measure}, over 16 runs left out of the pool: as judged a run is under")
        assert said in lines


def test_clusters_are_told_and_written(tmp_path: Path) -> None:
    """Eight clusters of the example: seven are left out; the eighth is a run."""
    asked = {"by": "cluster", "n_clusters": 8, "top": 75}
    result = leave_out(load_example(), "P@10", estimators="lower-bound", **asked)  # type: ignore[arg-type]
    console = Console(width=60, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed with the test
    print_leave_out(result, console)
    console.file.close()
    text = console.export_text()
    lines = text.splitlines()
    assert lines[0].startswith("each of 8 clusters of runs that retrieve alike left out in turn, mean over")
    told = [line for line in lines if line.startswith("cluster ")]
    assert [line.split(":")[0] for line in told] == [f"cluster {i}" for i in range(1, 9)]
    for line, cluster in zip(told, result.clusters, strict=True):
        assert ", ".join(map(repr, cluster.run_ids)) in line
    alone = result.clusters[-1]
    assert told[-1] == f"cluster 8: a run, stays in the pool (a single run): {alone.run_ids[0]!r}"
    (n_runs,) = set(result.summary_frame()["n_runs"])
    assert f"P@10, the best {n_runs} of 20 runs left out, of 21 pooled runs" in lines
    write_leave_out(result, tmp_path / "one", figures="none")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "one" / "clusters.parquet"), result.clusters_frame()
    )
    written = pd.read_csv(tmp_path / "one" / "clusters.csv")
    assert written["run_id"].tolist() == result.clusters_frame()["run_id"].tolist()
    assert len(written) == 21
    assert json.loads((tmp_path / "one" / "settings.json").read_text())["settings"]["n_clusters"] == 8
    # without clusters the file goes
    write_leave_out(leave_out(load_example(), estimators="lower-bound"), tmp_path / "one", figures="none")
    assert not (tmp_path / "one" / "clusters.csv").exists()


@pytest.mark.slow
def test_written_files(tmp_path: Path) -> None:
    result = few_result()
    for folder in (tmp_path / "one", tmp_path / "two"):
        write_leave_out(result, folder)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == [
        "mae.png",
        "pit-P_10.png",
        "reliability.csv",
        "reliability.parquet",
        "runs.csv",
        "runs.parquet",
        "settings.json",
        "summary.csv",
        "summary.parquet",
        "truth-P_10.png",
    ]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    frame = pd.read_parquet(tmp_path / "one" / "runs.parquet")
    pd.testing.assert_frame_equal(frame, result.frame(reported_only=False))
    summary = pd.read_csv(tmp_path / "one" / "summary.csv")
    np.testing.assert_array_equal(summary["mae"], result.summary_frame()["mae"])
    write_leave_out(result, tmp_path / "three", figures="svg")
    assert (tmp_path / "three" / "mae.svg").read_bytes().startswith(b"<?xml")
    (tmp_path / "three" / "mine.svg").write_text("not ours")
    less = leave_out(load_example(), "P@5", estimators="lower-bound")
    write_leave_out(less, tmp_path / "three", figures="png")
    left = {path.name for path in (tmp_path / "three").iterdir() if path.suffix in (".svg", ".png")}
    assert left == {"mine.svg", "mae.png", "truth-P_5.png"}
    widths = vary_pool_width(load_example(), widths=[2], n_samples=1, estimators="lower-bound")
    before = {path: path.read_bytes() for path in (tmp_path / "three").iterdir()}
    with pytest.raises(OutputError, match="holds the results of leave-out; name another folder"):
        write_pool_width(widths, tmp_path / "three")
    assert {path: path.read_bytes() for path in (tmp_path / "three").iterdir()} == before
    for settings in ('{"files": ["notes.txt"]}', '{"bayespool": 1, "experiment": {}, "files": 5}', "[]", "x"):
        folder = tmp_path / "theirs"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(settings)
        (folder / "notes.txt").write_text("not ours")
        write_leave_out(less, folder, figures="none")
        assert (folder / "notes.txt").read_text() == "not ours"
    named = json.loads((folder / "settings.json").read_text())
    (folder / "settings.json").write_text(json.dumps(named | {"files": ["..", "../notes.txt", "gone.csv"]}))
    (tmp_path / "notes.txt").write_text("not ours")
    write_leave_out(less, folder, figures="none")
    assert (tmp_path / "notes.txt").read_text() == "not ours"
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        write_leave_out(result, tmp_path / "file")
    with pytest.raises(OutputError, match="there is no folder"):
        write_leave_out(result, tmp_path / "no" / "where")
